"""Rotary embedding, by vLLM's kernel where that is right.

vLLM 0.32.0's CPU kernel is wrong where the embedding is interleaved (as GPT-J and DeepSeek have it) and there is more
than one head. The platform turns it off by its name, `rotary_embedding`; the classes here have another name and decide
for each embedding of a model.
"""

from __future__ import annotations

from typing import Any

from vllm.model_executor.custom_op import op_registry_oot
from vllm.model_executor.layers.rotary_embedding import RotaryEmbedding

__all__ = ["NAME", "register"]

# Among the custom ops: `-gaudi_rotary_embedding` leaves all to torch.
NAME = "gaudi_rotary_embedding"


class _InterleavedByTorch:
    is_neox_style: bool

    def forward_cpu(self, positions: Any, query: Any, key: Any = None) -> Any:
        way: Any = super()
        return (way.forward_cpu if self.is_neox_style else way.forward_native)(positions, query, key)


def register() -> None:
    """Puts ours in the place of each class of vLLM's that uses the kernel, in this process. Again changes nothing."""
    for theirs in (RotaryEmbedding, *RotaryEmbedding.__subclasses__()):
        is_ours = issubclass(op_registry_oot.get(theirs.__name__, object), _InterleavedByTorch)
        if theirs.forward_cpu is RotaryEmbedding.forward_cpu and not is_ours:
            ours: Any = type(f"Gaudi{theirs.__name__}", (_InterleavedByTorch, theirs), {})
            theirs.register_oot(ours)
            # Registration gives it the name of the class; all of them are one custom op.
            ours.name = NAME
