"""The two kinds of arrays, and outputs of the kind of an input."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar, cast

from gaudi_kv._errors import DtypeError

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray

    Array = TypeVar("Array", NDArray[Any], torch.Tensor)
    Other = TypeVar("Other", NDArray[Any], torch.Tensor)
else:
    Array = TypeVar("Array")
    Other = TypeVar("Other")

__all__ = ["Array", "Other", "empty"]


def empty(like: Array, shape: tuple[int, ...], dtype: str) -> Array:
    """An array of the kind of `like`, in CPU memory, of `dtype` as torch names it.

    NumPy has no bfloat16: its bits are `uint16`, unless `like` is an `ml_dtypes` array of bfloat16, whose type is kept.

    Raises `DtypeError` where `like` is neither a NumPy array nor a torch tensor.
    """
    if hasattr(like, "data_ptr"):
        torch_module = sys.modules["torch"]
        return cast("Array", torch_module.empty(shape, dtype=getattr(torch_module, dtype)))
    if not hasattr(like, "__array_interface__"):
        kind = type(like).__name__
        raise DtypeError(f"{kind} is neither a NumPy array nor a torch tensor; give an output")
    import numpy as np

    if dtype == "bfloat16":
        return cast("Array", np.empty(shape, like.dtype if str(like.dtype) == dtype else np.uint16))
    return cast("Array", np.empty(shape, dtype))
