"""Making a model, and what follows loading."""

from typing import Any

from vllm.config import set_current_vllm_config
from vllm.model_executor.layers.attention import Attention, MLAAttention
from vllm.model_executor.layers.quantization.base_config import QuantizeMethodBase


def initialize_model(
    vllm_config: Any, *, prefix: str = "", model_class: Any = None, model_config: Any = None
) -> Any:
    from vllm.model_executor.models.decoder import Decoder

    with set_current_vllm_config(vllm_config):
        return (model_class or Decoder)(
            vllm_config=vllm_config, prefix=prefix, model_config=model_config or vllm_config.model_config
        )


def process_weights_after_loading(model: Any, model_config: Any, target_device: Any) -> None:
    for module in model.modules():
        method = getattr(module, "quant_method", None)
        if isinstance(method, QuantizeMethodBase):
            method.process_weights_after_loading(module)
    for module in model.modules():
        if isinstance(module, (Attention, MLAAttention)):
            module.process_weights_after_loading(model_config.dtype)
