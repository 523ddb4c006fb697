"""Implementations of attention: their modules only."""

import os
from typing import Any

import torch
from vllm_gaudi.extension.utils import (
    B2BMatmul,
    FP8Matmul,
    Matmul,
    ModuleFP8FusedSDPA,
    ModuleFusedSDPA,
    VLLMFP8KVCache,
    VLLMKVCache,
)


def fused(*operands: Any, **scales: Any) -> Any:
    """What the device's fused attention is called with."""
    return operands, scales


class _Impl(torch.nn.Module):
    kv_sharing_target_layer_name: str | None = None

    def __init__(self, kv_cache_dtype: str) -> None:
        super().__init__()
        self.kv_cache_dtype = kv_cache_dtype
        self.enable_fp8_attn = kv_cache_dtype == "fp8_inc" and os.environ.get("QUANT_CONFIG") is None
        product = FP8Matmul if self.enable_fp8_attn else Matmul
        self.matmul_qk = product()
        self.matmul_av = product()
        self.batch2block_matmul = FP8Matmul() if self.enable_fp8_attn else B2BMatmul()
        self.block2batch_matmul = FP8Matmul() if self.enable_fp8_attn else B2BMatmul()
        self.fused_scaled_dot_product_attention: Any = (
            ModuleFP8FusedSDPA(fused) if self.enable_fp8_attn else ModuleFusedSDPA()
        )

    def process_weights_after_loading(self, act_dtype: torch.dtype) -> None:
        pass


class HPUAttentionImpl(_Impl):
    def __init__(self, num_heads: int, num_kv_heads: int, head_size: int, kv_cache_dtype: str) -> None:
        super().__init__(kv_cache_dtype)
        self.num_heads, self.num_kv_heads, self.head_size = num_heads, num_kv_heads, head_size
        self.k_cache = VLLMFP8KVCache() if self.enable_fp8_attn else VLLMKVCache()
        self.v_cache = VLLMFP8KVCache() if self.enable_fp8_attn else VLLMKVCache(is_v_cache=True)


class HPUMLAImpl(_Impl):
    def __init__(self, num_heads: int, kv_cache_dtype: str) -> None:
        super().__init__(kv_cache_dtype)
        self.num_heads = num_heads
        self.latent_cache_k = VLLMFP8KVCache() if self.enable_fp8_attn else VLLMKVCache()
