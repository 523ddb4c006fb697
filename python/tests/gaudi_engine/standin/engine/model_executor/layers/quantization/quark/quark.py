"""Quark. Here it leaves weights as they are."""

from typing import Any

from vllm.model_executor.layers.attention import Attention
from vllm.model_executor.layers.quantization.base_config import QuantizationConfig
from vllm.model_executor.layers.quantization.kv_cache import BaseKVCacheMethod


class QuarkConfig(QuantizationConfig):
    def get_quant_method(self, layer: Any, prefix: str) -> Any:
        return QuarkKVCacheMethod(self) if isinstance(layer, Attention) else None


class QuarkKVCacheMethod(BaseKVCacheMethod):
    def __init__(self, quant_config: Any) -> None:
        super().__init__(quant_config)
