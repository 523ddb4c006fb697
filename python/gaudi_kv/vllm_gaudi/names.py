"""Names of scale tensors while weights are loaded.

Scales are read from the model's files, so a scale tensor that comes by is only to be led to a placeholder, which takes
anything, or to be passed over. A layer's name decides whether it is an MLA layer, and not the model's other layers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gaudi_kv import _native

__all__ = ["by_grammar"]


def by_grammar(replaced: Callable[..., Any]) -> Callable[[str, Mapping[str, Any]], str | None]:
    """`maybe_remap_kv_scale_name` by the grammar of names of this package."""
    del replaced
    return parameter_of


def parameter_of(name: str, params_dict: Mapping[str, Any]) -> str | None:
    """The model's parameter that a checkpoint's tensor is loaded into; None where it is to be passed over."""
    if name in params_dict:
        return name
    parameters = _native.kv_scale_parameters(name)
    if parameters is None:
        return name
    return next((parameter for parameter in parameters if parameter in params_dict), None)
