"""ModelOpt."""

from typing import Any

from vllm.model_executor.layers.quantization.base_config import QuantizationConfig
from vllm.model_executor.layers.quantization.kv_cache import BaseKVCacheMethod


class ModelOptKVCacheMethod(BaseKVCacheMethod):
    def __init__(self, quant_config: Any) -> None:
        super().__init__(quant_config)


class ModelOptQuantConfigBase(QuantizationConfig):
    KVCacheMethodCls: type = BaseKVCacheMethod


class ModelOptFp8Config(ModelOptQuantConfigBase):
    pass


ModelOptFp8Config.KVCacheMethodCls = ModelOptKVCacheMethod
