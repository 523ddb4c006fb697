"""What the device is, and the loader of weights."""

from collections.abc import Callable
from typing import Any

import torch
from vllm_gaudi.extension.runtime import get_config

# The test sets them.
is_hpu_gaudi2 = True
is_hpu_gaudi3 = False


def fp8_max() -> float:
    return 240.0 if is_hpu_gaudi2 else 448.0


def gaudi_weight_wrapper(weight_loader: Callable[..., Any]) -> Callable[..., Any]:
    """Halves what is FP8 and doubles everything else, where the process adjusts."""

    def wrapper(*args: Any, **kwargs: Any) -> None:
        param, tensor, *others = args
        if get_config().scale_adjustment:
            is_fp8 = tensor.dtype == torch.float8_e4m3fn
            tensor = (tensor.float() * 0.5).to(torch.float8_e4m3fn) if is_fp8 else tensor.data * 2.0
        weight_loader(param, tensor, *others, **kwargs)

    return wrapper
