"""Expert selection that gives two values or three.

vLLM's selection once gave weights, ids and the result of experts that compute nothing, and now gives weights and ids.
Which of the two vllm-gaudi's FP8 methods unpack depends on its release, so it is read from their code.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable
from typing import Any

from gaudi_kv.vllm_gaudi.patching import PatchError

__all__ = ["accept_either", "two_values"]

SELECTORS = ("select_experts", "select_experts_from_routed")
Select = Callable[..., tuple[Any, ...]]


def two_values(select: Select) -> Select:
    """The selection, with two values whatever it gives."""
    return _giving(2, select)


def accept_either(process: Callable[..., Any]) -> Callable[..., Any]:
    """`process_weights_after_loading` of an MoE method. A layer's own selection then gives what the method unpacks."""

    @functools.wraps(process)
    def process_weights_after_loading(self: Any, layer: Any) -> Any:
        result = process(self, layer)
        count = unpacked_values(type(self))
        owners: tuple[Any, ...] = (layer, getattr(layer, "router", None))
        for owner in owners:
            select = getattr(owner, "select_experts", None)
            if select is not None and not hasattr(select, "gives_values"):
                owner.select_experts = _giving(count, select)
        return result

    return process_weights_after_loading


def unpacked_values(method: type) -> int:
    """How many values the method takes from expert selection.

    Raises `PatchError` where its code does not show it.
    """
    for name in ("apply_monolithic", "apply"):
        has_selected = False
        for instruction in dis.get_instructions(getattr(method, name, lambda: None)):
            has_selected = has_selected or instruction.argval in SELECTORS
            if has_selected and instruction.opname == "UNPACK_SEQUENCE":
                return int(instruction.argval)
    raise PatchError(f"{method.__module__}.{method.__qualname__} does not unpack what expert selection gives")


def _giving(count: int, select: Select) -> Select:
    @functools.wraps(select)
    def selected(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        weights, ids, *rest = select(*args, **kwargs)
        if any(value is not None for value in rest):
            raise PatchError("experts that compute nothing were selected; vllm-gaudi would leave out their result")
        return (weights, ids) if count == 2 else (weights, ids, None)

    selected.gives_values = count  # type: ignore[attr-defined]
    return selected
