"""Base classes."""

from typing import Any


class QuantizeMethodBase:
    supports_pre_processed_weights = False

    def create_weights(self, layer: Any, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError

    def process_weights_after_loading(self, layer: Any) -> None:
        """Nothing, where a method needs nothing."""


class QuantizationConfig:
    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        return cls(config)
