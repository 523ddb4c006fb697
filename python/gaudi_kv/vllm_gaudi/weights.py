"""FP8 weights for a Gaudi2, while they are loaded.

Weights of the range 448 get half of each value, and their scales, of activations too, are doubled, as `gaudi-kv
convert` does it. What a tensor is follows from its parameter's name and the type of the weight that it belongs to:
scales of int8 weights, biases and zero points stay as they are.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import torch

from gaudi_kv._codecs import rerange
from gaudi_kv._errors import ModelError
from gaudi_kv.vllm_gaudi.plan import current_plan, device_generation
from gaudi_kv.vllm_gaudi.scratch import Scratch

__all__ = ["adjusting"]

Loader = Callable[..., Any]

# The weight that a scale belongs to is called `weight`, after the same prefix.
SCALE = re.compile(r"(w13_|w2_|)((weight|input)_scale(_inv)?|activation_scale|act_scale|scale)")
LARGEST_OF_GAUDI2 = 0x77

_scratch = Scratch()


def adjusting(replaced: Callable[..., Any]) -> Callable[[Loader], Loader]:
    """`gaudi_weight_wrapper`, deciding for the model that is being made."""
    del replaced
    return weight_wrapper


def weight_wrapper(weight_loader: Loader) -> Loader:
    """The loader of a layer's parameters, adjusting what it loads where the model needs it.

    The result raises `ModelError` where a weight has NaN codes, or codes that the device does not have though the model
    is labelled for it, or where it is unclear whether a tensor is a scale.
    """
    plan = current_plan("the weights' loader")
    is_due, is_gaudi2 = plan.adjusts_weights, device_generation() == "gaudi2"
    owner = _owner(weight_loader)

    @functools.wraps(weight_loader)
    def load(param: Any, loaded_weight: Any, *args: Any, **kwargs: Any) -> Any:
        if loaded_weight.dtype == torch.float8_e4m3fn and param.dtype == torch.float8_e4m3fn:
            if not is_due:
                if is_gaudi2:
                    _check(loaded_weight, owner, param)
                return weight_loader(param, loaded_weight, *args, **kwargs)

            def load_halved(halved: torch.Tensor) -> Any:
                _halve(loaded_weight, halved, owner, param)
                return weight_loader(param, halved, *args, **kwargs)

            return _scratch.lend(loaded_weight, load_halved)
        if is_due and _is_scale_of_fp8(owner, param):
            loaded_weight = _doubled(loaded_weight, owner, param)
        return weight_loader(param, loaded_weight, *args, **kwargs)

    return load


def _owner(weight_loader: Loader) -> Any:
    """The layer whose method the loader is, below what others have wrapped around it."""
    loader: Any = weight_loader
    while not hasattr(loader, "__self__"):
        inner = getattr(loader, "func", None) or getattr(loader, "__wrapped__", None)
        if inner is None:
            break
        loader = inner
    owner = getattr(loader, "__self__", None)
    if not isinstance(owner, torch.nn.Module):
        raise ModelError(f"{weight_loader!r} is no method of a layer, so nothing says which tensors are its scales")
    return owner


def _name(owner: Any, param: Any) -> str:
    for name, parameter in owner.named_parameters():
        if parameter is param:
            return str(name)
    raise ModelError(f"a parameter {tuple(param.shape)} that {_title(owner)} loads is none of its own")


def _title(owner: Any) -> str:
    return str(getattr(owner, "prefix", None) or getattr(owner, "layer_name", None) or type(owner).__qualname__)


def _is_scale_of_fp8(owner: Any, param: Any) -> bool:
    name = _name(owner, param)
    parameters = dict(owner.named_parameters())
    matched = SCALE.fullmatch(name)
    if matched:
        weight = parameters.get(f"{matched[1]}weight")
        return weight is not None and weight.dtype == torch.float8_e4m3fn
    if "scale" in name and any(weight.dtype == torch.float8_e4m3fn for weight in parameters.values()):
        raise ModelError(f"{_title(owner)}.{name}: beside FP8 weights, and unclear whether it is to be doubled")
    return False


def _halve(codes: torch.Tensor, out: torch.Tensor, owner: Any, param: Any) -> None:
    counts = rerange(codes.detach().to("cpu").contiguous(), "gaudi2", out=out)
    if counts.nan:
        raise ModelError(f"{_title(owner)}.{_name(owner, param)}: {counts.nan} FP8 codes are NaN")


def _check(codes: torch.Tensor, owner: Any, param: Any) -> None:
    largest = int(codes.detach().view(torch.uint8).bitwise_and(0x7F).max()) if codes.numel() else 0
    if largest > LARGEST_OF_GAUDI2:
        raise ModelError(
            f"{_title(owner)}.{_name(owner, param)}: the model is not to be adjusted, but has the code {largest:#04x}, "
            "which is Inf or NaN on a Gaudi2; its fp8_dtype_flavor or VLLM_SCALE_ADJUSTMENT is wrong"
        )


def _doubled(scale: torch.Tensor, owner: Any, param: Any) -> torch.Tensor:
    if scale.dtype == torch.float8_e8m0fnu:
        exponents = scale.view(torch.uint8)
        if int(exponents.max()) < 0xFE:
            return (exponents + 1).view(scale.dtype)
    elif scale.is_floating_point():
        doubled = scale * 2
        if bool(torch.isfinite(doubled).all()):
            return doubled
    raise ModelError(f"{_title(owner)}.{_name(owner, param)}: a scale in {scale.dtype} has no double")
