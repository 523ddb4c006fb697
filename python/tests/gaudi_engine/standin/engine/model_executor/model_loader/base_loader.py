"""The loader."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from vllm.model_executor.model_loader.utils import initialize_model, process_weights_after_loading
from vllm.model_executor.model_loader.weight_utils import safetensors_weights_iterator


@contextmanager
def set_default_torch_dtype(dtype: torch.dtype) -> Iterator[None]:
    """A tensor that is made of numbers without a type has this one meanwhile."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


class BaseModelLoader:
    def load_model(self, vllm_config: Any, model_config: Any, prefix: str = "", model_class: Any = None) -> Any:
        with set_default_torch_dtype(model_config.dtype):
            model = initialize_model(
                vllm_config=vllm_config, model_config=model_config, prefix=prefix, model_class=model_class
            )
            self.load_weights(model, model_config)
            process_weights_after_loading(model, model_config, "cpu")
        return model

    def load_weights(self, model: Any, model_config: Any) -> None:
        model.load_weights(safetensors_weights_iterator(model_config.model))
