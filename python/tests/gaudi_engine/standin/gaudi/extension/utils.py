"""Modules of attention. Operations of the device are written with torch's."""

from typing import Any

import torch
from vllm_gaudi.extension.ops import fp8_max
from vllm_gaudi.extension.runtime import get_config


def cast_to_fp8(x: Any, scale: Any) -> Any:
    return (x * scale).float().clamp(-fp8_max(), fp8_max()).to(torch.float8_e4m3fn)


def cast_from_fp8(x: Any, scale: Any) -> Any:
    return (x.float() * scale).to(torch.bfloat16)


class Matmul(torch.nn.Module):
    def forward(self, x: Any, y: Any, **kwargs: Any) -> Any:
        return torch.matmul(x, y, **kwargs)


class B2BMatmul(Matmul):
    pass


class FP8Matmul(torch.nn.Module):
    """Quantizes both operands; the result is multiplied by the reciprocals of their multipliers."""

    def __init__(self, scale_input: Any = 1.0, scale_other: Any = 1.0) -> None:
        super().__init__()
        self.scale_input = scale_input
        self.scale_other = scale_other

    def forward(self, input: Any, other: Any, **kwargs: Any) -> Any:
        left, right = cast_to_fp8(input, self.scale_input), cast_to_fp8(other, self.scale_other)
        product = torch.matmul(left.float(), right.float())
        return (product * (1.0 / self.scale_input) * (1.0 / self.scale_other)).to(torch.bfloat16)


class VLLMKVCache(torch.nn.Module):
    def __init__(self, is_v_cache: bool = False) -> None:
        super().__init__()
        self.use_contiguous_pa = get_config().use_contiguous_pa
        self.is_v_cache = is_v_cache

    def forward(self, input: Any, cache: Any, slot_mapping: Any, **kwargs: Any) -> Any:
        if input is not None:
            cache.view(torch.uint8 if cache.element_size() == 1 else cache.dtype).index_copy_(
                0, slot_mapping, input.view(torch.uint8) if input.element_size() == 1 else input
            )
        return cache

    def fetch_from_cache(self, cache: Any, blocks: Any, *args: Any, **kwargs: Any) -> Any:
        return cache.view(torch.uint8).index_select(0, blocks).view(cache.dtype)


class VLLMFP8KVCache(VLLMKVCache):
    def __init__(self, input_scale: Any = 1.0) -> None:
        super().__init__()
        self.input_scale = input_scale
        self.output_scale = 1.0 / self.input_scale

    def quant_input(self, input: Any) -> Any:
        return cast_to_fp8(input, self.input_scale)

    def dequant_output(self, output: Any) -> Any:
        return cast_from_fp8(output, self.output_scale)

    def forward(self, input: Any, *args: Any, **kwargs: Any) -> Any:
        return super().forward(self.quant_input(input), *args, **kwargs)

    def fetch_from_cache(self, cache: Any, blocks: Any, *args: Any, **kwargs: Any) -> Any:
        return self.dequant_output(super().fetch_from_cache(cache, blocks))


class ModuleFusedSDPA(torch.nn.Module):
    """Fused attention that is not in FP8."""


class ModuleFP8FusedSDPA(torch.nn.Module):
    def __init__(self, fusedSDPA: Any) -> None:
        super().__init__()
        self.fp8_fused_sdpa = fusedSDPA
        for name in ("descale_amax", "scale_amax", "scale_q", "scale_k", "scale_v"):
            setattr(self, name, torch.tensor(1.0, dtype=torch.float32))
        for name in ("d_scale_q", "d_scale_k", "d_scale_v"):
            setattr(self, name, torch.tensor(1.0, dtype=torch.float32))

    def forward(self, query: Any, key: Any, value: Any, **kwargs: Any) -> Any:
        quantized = [cast_to_fp8(x, s) for x, s in ((query, self.scale_q), (key, self.scale_k), (value, self.scale_v))]
        return self.fp8_fused_sdpa(
            *quantized,
            d_scale_q=self.d_scale_q,
            d_scale_k=self.d_scale_k,
            d_scale_v=self.d_scale_v,
            q_scale_s=self.scale_amax,
            d_scale_s=self.descale_amax,
            **kwargs,
        )
