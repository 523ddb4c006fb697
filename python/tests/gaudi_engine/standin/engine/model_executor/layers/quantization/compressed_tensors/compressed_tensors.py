"""compressed-tensors."""

from typing import Any

import torch
from vllm.model_executor.layers.attention import Attention
from vllm.model_executor.layers.linear import LinearBase
from vllm.model_executor.layers.quantization.base_config import QuantizationConfig, QuantizeMethodBase
from vllm.model_executor.layers.quantization.kv_cache import BaseKVCacheMethod


class CompressedTensorsConfig(QuantizationConfig):
    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.kv_cache_scheme = config.get("kv_cache_scheme")
        weights = [group["weights"] for group in config.get("config_groups", {}).values()]
        self.has_fp8_weights = bool(weights)
        self.is_per_channel = bool(weights) and weights[0]["strategy"] == "channel"

    def get_quant_method(self, layer: torch.nn.Module, prefix: str) -> Any:
        if isinstance(layer, LinearBase):
            return CompressedTensorsLinearMethod(self) if self.has_fp8_weights else None
        return CompressedTensorsKVCacheMethod(self) if isinstance(layer, Attention) else None


class CompressedTensorsLinearMethod(QuantizeMethodBase):
    def __init__(self, quant_config: Any) -> None:
        self.quant_config = quant_config


class CompressedTensorsKVCacheMethod(BaseKVCacheMethod):
    def __init__(self, quant_config: Any) -> None:
        super().__init__(quant_config)

    def create_weights(self, layer: Any) -> None:
        for letter in ("q", "k", "v"):
            for name, value in ((f"{letter}_scale", 1.0), (f"{letter}_zero_point", 0.0)):
                data = torch.tensor([value], dtype=torch.float32)
                setattr(layer, name, torch.nn.Parameter(data, requires_grad=False))

    def process_weights_after_loading(self, layer: Any) -> None:
        for letter in ("q", "k", "v"):
            scale = getattr(layer, f"{letter}_scale")
            layer.register_buffer(f"_{letter}_scale", scale.detach())
            setattr(layer, f"_{letter}_scale_float", float(scale.max()))
            delattr(layer, f"{letter}_scale")
            delattr(layer, f"{letter}_zero_point")
