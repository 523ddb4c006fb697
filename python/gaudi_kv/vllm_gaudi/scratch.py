"""Memory that is used again: fresh memory costs several times what is done in it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch

__all__ = ["Scratch"]

# More than this is given back to the system.
KEPT_BYTES = 256 << 20


class Scratch(threading.local):
    """Memory of one thread."""

    _memory: torch.Tensor | None = None

    def lend(self, like: torch.Tensor, use: Callable[[torch.Tensor], Any]) -> Any:
        """What `use` gives for a contiguous tensor in the CPU's memory, of the shape and the one-byte type of another
        and with any content. Where `use` lets someone keep it, or a view of it, the memory is theirs from then on.
        """
        memory, self._memory = self._memory, None
        if memory is None or memory.numel() < like.numel():
            memory = torch.empty(max(like.numel(), 1), dtype=torch.uint8, device="cpu")
        result = use(memory[: like.numel()].view(like.dtype).view(like.shape))
        if memory.numel() <= KEPT_BYTES and _is_unshared(memory):
            self._memory = memory
        return result


def _is_unshared(memory: torch.Tensor) -> bool:
    """Whether no other tensor has this memory. Where torch does not say so, it may have."""
    count = getattr(torch._C, "_storage_Use_Count", None)
    storage = memory.untyped_storage()
    # The tensor itself, and the storage's object in Python.
    return count is not None and count(storage._cdata) == 2
