"""The method that reads KV scales into a layer's own numbers."""

from typing import Any

import torch
from vllm.model_executor.layers.quantization.base_config import QuantizeMethodBase


class KVCacheScaleParameter(torch.nn.Parameter):
    """-1.0 is that nothing was loaded."""

    def __new__(cls) -> Any:
        return super().__new__(cls, torch.tensor(-1.0), requires_grad=False)

    @staticmethod
    def weight_loader(param: Any, loaded_weight: Any) -> None:
        if loaded_weight.numel() != 1:
            raise ValueError(f"one scale is expected, and not {tuple(loaded_weight.shape)}")
        param.data.copy_(loaded_weight.reshape(()))


class BaseKVCacheMethod(QuantizeMethodBase):
    def __init__(self, quant_config: Any) -> None:
        self.quant_config = quant_config

    def create_weights(self, layer: Any) -> None:
        for letter in ("q", "k", "v", "prob"):
            setattr(layer, f"{letter}_scale", KVCacheScaleParameter())

    def process_weights_after_loading(self, layer: Any) -> None:
        if not hasattr(layer, "q_scale"):
            return
        k, v = float(layer.k_scale), float(layer.v_scale)
        if k < 0 and v < 0:
            k = v = 1.0
        elif not (k > 0 and v > 0):
            assert k > 0
            k = v = max(k, v)
        for letter, value in (("q", max(float(layer.q_scale), 0.0) or 1.0), ("k", k), ("v", v)):
            getattr(layer, f"_{letter}_scale").copy_(value)
            setattr(layer, f"_{letter}_scale_float", value)
        del layer.q_scale, layer.k_scale, layer.v_scale, layer.prob_scale
