"""What layers of both kinds need."""

from __future__ import annotations

import torch
from vllm.config import VllmConfig

from gaudi_kv._scales import LayerScales
from gaudi_kv.vllm.scales import layer_scales
from gaudi_kv.vllm.settings import is_fp8

__all__ = ["BLOCK_SIZES", "as_plane", "scales_of"]

# What caches take; the first is a Gaudi's. vLLM splits longer blocks into these.
BLOCK_SIZES = (128, 256, 64, 32, 16)


def as_plane(memory: torch.Tensor) -> torch.Tensor:
    """The memory with a type that caches take: vLLM's FP8 types are all bytes to them."""
    return memory.view(torch.uint8) if memory.element_size() == 1 else memory


def scales_of(vllm_config: VllmConfig, layer_name: str, kv_cache_dtype: str) -> LayerScales:
    """The scales of a layer: none where its cache is not FP8.

    Raises `ModelError` or `ScaleError` where its cache is FP8 and the checkpoint is wrong.
    """
    if not is_fp8(kv_cache_dtype):
        return LayerScales(None, None, None, None)
    return layer_scales(vllm_config, layer_name)
