"""Attention layers."""

from typing import Any

import torch
from vllm.config import get_current_vllm_config


def set_default_quant_scales(layer: Any, register_buffer: bool = False) -> None:
    for letter in ("k", "v", "q", "prob"):
        if register_buffer:
            layer.register_buffer(f"_{letter}_scale", torch.tensor(1.0, dtype=torch.float32))
        else:
            getattr(layer, f"_{letter}_scale").fill_(1.0)
        setattr(layer, f"_{letter}_scale_float", 1.0)


class _Layer(torch.nn.Module):
    impl: Any
    attn_type = "decoder"

    def _init_kv_cache(self, quant_config: Any, prefix: str) -> None:
        self.layer_name, self.quant_config = prefix, quant_config
        cache = get_current_vllm_config().cache_config
        number = next(part for part in prefix.split(".") if part.isdecimal())
        self.kv_cache_dtype = "auto" if number in cache.kv_cache_dtype_skip_layers else cache.cache_dtype
        set_default_quant_scales(self, register_buffer=True)
        method = quant_config.get_quant_method(self, prefix) if quant_config else None
        if method is not None:
            self.quant_method = method
            method.create_weights(self)

    def process_weights_after_loading(self, act_dtype: torch.dtype) -> None:
        self.impl.process_weights_after_loading(act_dtype)
        method = self.quant_config.get_quant_method(self, self.layer_name) if self.quant_config else None
        if method is None:
            set_default_quant_scales(self)


class Attention(_Layer):
    def __init__(self, num_heads: int, head_size: int, num_kv_heads: int, quant_config: Any, prefix: str) -> None:
        from vllm_gaudi.attention.backends.hpu_attn import HPUAttentionImpl

        super().__init__()
        self.num_kv_heads = num_kv_heads
        self._init_kv_cache(quant_config, prefix)
        self.impl = HPUAttentionImpl(num_heads, num_kv_heads, head_size, self.kv_cache_dtype)


class MLAAttention(_Layer):
    def __init__(self, num_heads: int, quant_config: Any, prefix: str) -> None:
        from vllm_gaudi.attention.backends.hpu_attn import HPUMLAImpl

        super().__init__()
        self.num_kv_heads = 1
        self._init_kv_cache(quant_config, prefix)
        self.impl = HPUMLAImpl(num_heads, self.kv_cache_dtype)
