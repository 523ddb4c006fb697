"""ModelOpt."""

from typing import Any

import torch
import vllm_gaudi.extension.ops as hpu_ops
from vllm.model_executor.layers.attention import Attention
from vllm.model_executor.layers.linear import LinearBase, register_fp8_weights
from vllm.model_executor.layers.quantization import modelopt
from vllm.model_executor.layers.quantization.base_config import QuantizeMethodBase
from vllm.model_executor.layers.quantization.modelopt import ModelOptFp8Config


class HPUModelOptFp8Config(ModelOptFp8Config):
    def get_quant_method(self, layer: torch.nn.Module, prefix: str) -> Any:
        if isinstance(layer, Attention):
            return self.KVCacheMethodCls(self)
        return HPUModelOptFp8LinearMethod(self) if isinstance(layer, LinearBase) else None


class HPUModelOptFp8LinearMethod(QuantizeMethodBase):
    def __init__(self, quant_config: Any) -> None:
        self.quant_config = quant_config

    def create_weights(self, layer: Any, weight_loader: Any) -> None:
        if hpu_ops.is_hpu_gaudi2:
            weight_loader = hpu_ops.gaudi_weight_wrapper(weight_loader)
        register_fp8_weights(layer, weight_loader, is_per_channel=False)


modelopt.ModelOptFp8Config = HPUModelOptFp8Config
