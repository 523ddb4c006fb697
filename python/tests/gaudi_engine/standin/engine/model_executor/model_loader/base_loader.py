"""The loader."""

from typing import Any

from vllm.model_executor.model_loader.utils import initialize_model, process_weights_after_loading
from vllm.model_executor.model_loader.weight_utils import safetensors_weights_iterator


class BaseModelLoader:
    def load_model(self, vllm_config: Any, model_config: Any, prefix: str = "", model_class: Any = None) -> Any:
        model = initialize_model(
            vllm_config=vllm_config, model_config=model_config, prefix=prefix, model_class=model_class
        )
        self.load_weights(model, model_config)
        process_weights_after_loading(model, model_config, "cpu")
        return model

    def load_weights(self, model: Any, model_config: Any) -> None:
        model.load_weights(safetensors_weights_iterator(model_config.model))
