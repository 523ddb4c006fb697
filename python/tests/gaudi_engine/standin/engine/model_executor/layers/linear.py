"""Linear layers: one matrix for several of the checkpoint's, each of which is loaded into its rows."""

from collections.abc import Callable
from typing import Any

import torch


class LinearBase(torch.nn.Module):
    def __init__(self, shards: dict[str | int, int], input_size: int, quant_config: Any, prefix: str) -> None:
        super().__init__()
        self.shards, self.input_size, self.prefix = shards, input_size, prefix
        self.output_size = sum(shards.values())
        self.quant_method = quant_config.get_quant_method(self, prefix) if quant_config else None
        if self.quant_method is None:
            self._register("weight", torch.zeros(self.output_size, input_size, dtype=torch.bfloat16))
        else:
            self.quant_method.create_weights(self, weight_loader=self.weight_loader)
        self._register("bias", torch.zeros(self.output_size, dtype=torch.bfloat16))

    def _register(self, name: str, data: torch.Tensor) -> None:
        register(self, name, data, self.weight_loader)

    def weight_loader(self, param: Any, loaded_weight: Any, shard_id: Any = None) -> None:
        names = list(self.shards)
        start = sum(self.shards[name] for name in names[: names.index(shard_id)]) if shard_id is not None else 0
        rows = self.shards[shard_id] if shard_id is not None else self.output_size
        if param.shape[0] == len(self.shards) and loaded_weight.numel() == 1:
            start, rows = names.index(shard_id) if shard_id is not None else 0, 1
        param.data.narrow(0, start, rows).copy_(loaded_weight.reshape(rows, *param.shape[1:]))


def register(layer: Any, name: str, data: torch.Tensor, weight_loader: Callable[..., Any]) -> None:
    parameter: Any = torch.nn.Parameter(data, requires_grad=False)
    parameter.weight_loader = weight_loader
    layer.register_parameter(name, parameter)


def register_fp8_weights(layer: Any, weight_loader: Callable[..., Any], is_per_channel: bool) -> None:
    """FP8 weights with a scale for each channel, or for each of the checkpoint's matrices, and static activations."""
    weight = torch.zeros(layer.output_size, layer.input_size, dtype=torch.float8_e4m3fn)
    register(layer, "weight", weight, weight_loader)
    shape = (layer.output_size, 1) if is_per_channel else (len(layer.shards),)
    register(layer, "weight_scale", torch.zeros(shape, dtype=torch.float32), weight_loader)
    register(layer, "input_scale", torch.zeros(len(layer.shards), dtype=torch.float32), weight_loader)
