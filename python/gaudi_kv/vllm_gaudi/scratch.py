"""Memory that is used again: fresh memory costs several times what is done in it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

__all__ = ["Scratch"]

# More than this is given back to the system.
KEPT_BYTES = 256 << 20


class Scratch(threading.local):
    """Memory of one thread."""

    _memory: NDArray[np.uint8] | None = None

    def lend(self, like: torch.Tensor, use: Callable[[torch.Tensor], Any]) -> Any:
        """What `use` gives for a contiguous tensor in the CPU's memory, of the shape and the one-byte type of another
        and with any content. Where `use` lets someone keep it, or a view of it, the memory is theirs from then on.
        """
        memory, self._memory = self._memory, None
        if memory is None or memory.size < like.numel():
            memory = np.empty(max(like.numel(), 1), np.uint8)
        # Every tensor over this view has it, through the storage that they share.
        view = memory[: like.numel()]
        in_use = weakref.ref(view)
        tensor = torch.from_numpy(view).view(like.dtype).view(like.shape)
        del view
        result = use(tensor)
        del tensor
        if memory.nbytes <= KEPT_BYTES and in_use() is None:
            self._memory = memory
        return result
