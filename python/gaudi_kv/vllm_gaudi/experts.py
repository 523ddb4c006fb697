"""Expert selection that gives two values or three.

vLLM's selection once gave weights, ids and the result of experts that compute nothing, and now gives weights and ids.
Which of the two vllm-gaudi's FP8 methods unpack depends on its release, so it is read from their code.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from gaudi_kv.vllm_gaudi.patching import PatchError

__all__ = ["accept_either", "two_values"]

OWN, ROUTED = "select_experts", "select_experts_from_routed"
Select = Callable[..., tuple[Any, ...]]


def two_values(select: Select) -> Select:
    """The selection, with two values whatever it gives."""
    return _giving(2, select)


def accept_either(process: Callable[..., Any]) -> Callable[..., Any]:
    """`process_weights_after_loading` of an MoE method. A layer's own selection then gives what the method unpacks."""

    @functools.wraps(process)
    def process_weights_after_loading(self: Any, layer: Any) -> Any:
        result = process(self, layer)
        used = used_selection(type(self))
        owners: dict[str, Any] = {"layer": layer, "router": getattr(layer, "router", None)}
        for name in used.owners:
            owner = owners[name]
            select = getattr(owner, OWN, None)
            if select is not None and not hasattr(select, "gives_values"):
                owner.select_experts = _giving(used.values, select)
        return result

    return process_weights_after_loading


class Used(NamedTuple):
    """The expert selection that a method uses: whose (`layer`, `router`), and how many values it takes."""

    owners: frozenset[str]
    values: int


def used_selection(method: type) -> Used:
    """What the method's code says. A selection that is a function of a module has no owner.

    Raises `PatchError` where it does not show how many values are taken.
    """
    for name in ("apply_monolithic", "apply"):
        owners, count, has_selected, before = set(), None, False, None
        for instruction in dis.get_instructions(getattr(method, name, lambda: None)):
            if instruction.argval == OWN:
                owners.add("router" if before == "router" else "layer")
            has_selected = has_selected or instruction.argval in (OWN, ROUTED)
            if has_selected and count is None and instruction.opname == "UNPACK_SEQUENCE":
                count = int(instruction.argval)
            before = instruction.argval
        if count is not None:
            return Used(frozenset(owners), count)
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
