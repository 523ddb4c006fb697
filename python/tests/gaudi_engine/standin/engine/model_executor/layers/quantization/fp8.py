"""Native fp8. It has no method for MLA layers."""

from typing import Any

from vllm.model_executor.layers.attention import Attention
from vllm.model_executor.layers.linear import LinearBase, register_fp8_weights
from vllm.model_executor.layers.quantization.base_config import QuantizationConfig, QuantizeMethodBase
from vllm.model_executor.layers.quantization.kv_cache import BaseKVCacheMethod


class Fp8Config(QuantizationConfig):
    def get_quant_method(self, layer: Any, prefix: str) -> Any:
        if isinstance(layer, LinearBase):
            return None if prefix in self.config.get("ignored_layers", ()) else Fp8LinearMethod(self)
        return Fp8KVCacheMethod(self) if isinstance(layer, Attention) else None


class Fp8LinearMethod(QuantizeMethodBase):
    def __init__(self, quant_config: Any) -> None:
        self.quant_config = quant_config

    def create_weights(self, layer: Any, weight_loader: Any) -> None:
        register_fp8_weights(layer, weight_loader, is_per_channel=False)


class Fp8MoEMethod(QuantizeMethodBase):
    def __init__(self, quant_config: Any, layer: Any) -> None:
        self.quant_config = quant_config


class Fp8KVCacheMethod(BaseKVCacheMethod):
    def __init__(self, quant_config: Any) -> None:
        super().__init__(quant_config)
