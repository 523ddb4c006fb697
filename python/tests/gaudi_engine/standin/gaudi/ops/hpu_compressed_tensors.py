"""compressed-tensors: weights, KV scales, the names of scales, and the flavor."""

import re
from typing import Any

import torch
import vllm.model_executor.model_loader.weight_utils as vllm_weight_utils
import vllm_gaudi.extension.ops as hpu_ops
from vllm.model_executor.layers.attention import Attention, MLAAttention
from vllm.model_executor.layers.linear import register_fp8_weights
from vllm.model_executor.layers.quantization.compressed_tensors import compressed_tensors
from vllm.model_executor.layers.quantization.compressed_tensors.compressed_tensors import (
    CompressedTensorsConfig,
    CompressedTensorsKVCacheMethod,
    CompressedTensorsLinearMethod,
)
from vllm_gaudi.extension.runtime import get_config
from vllm_gaudi.ops.hpu_fused_moe import select_experts_from_routed


class HPUCompressedTensorsLinearMethod(CompressedTensorsLinearMethod):
    def create_weights(self, layer: Any, weight_loader: Any) -> None:
        if hpu_ops.is_hpu_gaudi2:
            weight_loader = hpu_ops.gaudi_weight_wrapper(weight_loader)
        register_fp8_weights(layer, weight_loader, self.quant_config.is_per_channel)


class HPUCompressedTensorsW8A8Fp8MoEMethod:
    def process_weights_after_loading(self, layer: Any) -> None:
        layer.is_processed = True

    def apply_monolithic(self, layer: Any, x: Any, router_logits: Any, **kwargs: Any) -> Any:
        topk_weights, topk_ids = select_experts_from_routed(layer, x, router_logits)
        return layer.moe_op(x, topk_ids.to(torch.int64), topk_weights.to(x.dtype))


class HPUCompressedTensorsKVCacheMethod(CompressedTensorsKVCacheMethod):
    SUBMODULES_TO_CHECK: tuple[str, ...] = ("k_cache", "v_cache", "matmul_qk", "matmul_av")
    OLD_SCALE_ATTRS = ("_k_scale", "_v_scale", "_q_scale", "_k_scale_float", "_v_scale_float", "_q_scale_float")

    def _update_kv_cache_scales(self, layer: Any, k_scale: Any, v_scale: Any) -> None:
        for cache, scale in ((layer.impl.k_cache, k_scale), (layer.impl.v_cache, v_scale)):
            cache.input_scale, cache.output_scale = scale, 1.0 / scale

    def process_weights_after_loading(self, layer: Any, submodules_to_check: Any = None) -> None:
        super().process_weights_after_loading(layer)
        quantized_to = 448.0 if get_config().scale_adjustment else 240.0
        q, k, v = (
            hpu_ops.fp8_max() / (getattr(layer, f"_{letter}_scale") * quantized_to) for letter in ("q", "k", "v")
        )
        self._update_kv_cache_scales(layer, k, v)
        layer.impl.matmul_qk.scale_input, layer.impl.matmul_qk.scale_other = q, k
        layer.impl.matmul_av.scale_input, layer.impl.matmul_av.scale_other = 1.0, v
        for letter, scale in (("q", q), ("k", k), ("v", v)):
            setattr(layer.impl.fused_scaled_dot_product_attention, f"scale_{letter}", scale.detach())
            setattr(layer.impl.fused_scaled_dot_product_attention, f"d_scale_{letter}", 1 / scale.detach())
        for name in self.OLD_SCALE_ATTRS:
            delattr(layer, name)
        for name in submodules_to_check or self.SUBMODULES_TO_CHECK:
            module = getattr(layer.impl, name)
            for attribute in ("input_scale", "output_scale", "scale_input", "scale_other"):
                if hasattr(module, attribute):
                    value = torch.as_tensor(getattr(module, attribute), dtype=torch.float32).clone()
                    setattr(module, attribute, torch.nn.Parameter(value, requires_grad=False))


class HPUCompressedTensorsKVCacheMethodForMLA(HPUCompressedTensorsKVCacheMethod):
    SUBMODULES_TO_CHECK = ("latent_cache_k", "matmul_qk", "matmul_av")

    def _update_kv_cache_scales(self, layer: Any, k_scale: Any, v_scale: Any) -> None:
        layer.impl.latent_cache_k.input_scale = k_scale
        layer.impl.latent_cache_k.output_scale = 1.0 / k_scale

    def process_weights_after_loading(self, layer: Any, submodules_to_check: Any = None) -> None:
        larger = max(layer.k_scale.data, layer.v_scale.data).clone()
        layer.k_scale.data.copy_(larger)
        layer.v_scale.data.copy_(larger)
        super().process_weights_after_loading(layer, self.SUBMODULES_TO_CHECK)


class HPUCompressedTensorsConfig(CompressedTensorsConfig):
    kv_cache_scheme: Any

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        if self.kv_cache_scheme is not None:
            self.kv_cache_dtype = "fp8_inc"
            self.kv_cache_scheme = None

    def get_quant_method(self, layer: torch.nn.Module, prefix: str) -> Any:
        if isinstance(layer, MLAAttention):
            return HPUCompressedTensorsKVCacheMethodForMLA(self)
        if isinstance(layer, Attention):
            return HPUCompressedTensorsKVCacheMethod(self)
        return super().get_quant_method(layer, prefix)

    @classmethod
    def _update_scale_adjustment_if_needed(cls, config: dict[str, Any]) -> None:
        if get_config().scale_adjustment is False or not hpu_ops.is_hpu_gaudi2:
            return
        if config.get("fp8_dtype_flavor") == "float8_e4m3fnuz":
            get_config().scale_adjustment = False

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        cls._update_scale_adjustment_if_needed(config)
        return super().from_config(config)


compressed_tensors.CompressedTensorsLinearMethod = HPUCompressedTensorsLinearMethod
compressed_tensors.CompressedTensorsConfig = HPUCompressedTensorsConfig


def oot_maybe_remap_kv_scale_name(name: str, params_dict: dict[str, Any]) -> str | None:
    """By the first rule that fits; the inner module is MLA's where any parameter of the model has it."""
    if not name.endswith((".k_scale", ".v_scale", ".q_scale")):
        return name
    inner = "mla_attn.mla_attn" if any("mla_attn" in key for key in params_dict) else "attn"
    rules = (
        (r"\.self_attn\.([qkv])_scale$", rf".self_attn.{inner}.\1_scale"),
        (r"\.self_attn\.([kv])_proj\.([kv])_scale$", rf".self_attn.{inner}.\2_scale"),
        (r"\.([kv])_scale$", r".attn.\1_scale"),
    )
    for pattern, replacement in rules:
        if re.search(pattern, name):
            remapped = re.sub(pattern, replacement, name)
            return remapped if remapped in params_dict else None
    return name


vllm_weight_utils.maybe_remap_kv_scale_name = oot_maybe_remap_kv_scale_name
