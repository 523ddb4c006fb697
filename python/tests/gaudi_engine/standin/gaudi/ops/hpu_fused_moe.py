"""Expert selection for layers that have no router of their own."""

from typing import Any


def select_experts_from_routed(layer: Any, hidden_states: Any, router_logits: Any) -> Any:
    """Hands on what vLLM's selection gives."""
    return layer.upstream_selection(hidden_states, router_logits)
