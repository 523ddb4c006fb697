"""Expert selection that gives two values or three.

vLLM's selection once gave weights, ids and the result of experts that compute nothing, and now gives weights and ids.
How many of them vllm-gaudi's FP8 methods take depends on its release.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gaudi_kv.vllm_gaudi.errors import PatchError
from gaudi_kv.vllm_gaudi.releases import installed_release

__all__ = ["as_many_as_taken", "two_values"]

Select = Callable[..., tuple[Any, ...]]


def two_values(select: Select) -> Select:
    """The selection, with two values whatever it gives."""
    return _giving(2, select)


def as_many_as_taken(process: Callable[..., Any]) -> Callable[..., Any]:
    """`process_weights_after_loading` of an MoE method, after which the selection that the method calls, its layer's or
    that of the layer's router, gives as many values as the method takes.
    """
    release = installed_release()

    @functools.wraps(process)
    def process_weights_after_loading(self: Any, layer: Any) -> Any:
        result = process(self, layer)
        owner: Any = getattr(layer, "router", None) if release.selection == "router" else layer
        select = getattr(owner, "select_experts", None)
        if select is not None and not hasattr(select, "gives_values"):
            owner.select_experts = _giving(release.values, select)
        return result

    return process_weights_after_loading


def _giving(count: int, select: Select) -> Select:
    @functools.wraps(select)
    def selected(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        weights, ids, *rest = select(*args, **kwargs)
        if any(value is not None for value in rest):
            raise PatchError("experts that compute nothing were selected; vllm-gaudi would leave out their result")
        return (weights, ids) if count == 2 else (weights, ids, None)

    selected.gives_values = count  # type: ignore[attr-defined]
    return selected
