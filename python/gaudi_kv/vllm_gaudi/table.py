"""One table with the scales of all layers of a model."""

from __future__ import annotations

from typing import Any

import torch

from gaudi_kv._errors import ScaleError
from gaudi_kv._inspect import Inspection
from gaudi_kv._scales import LayerScales, Scale

__all__ = ["DEQUANT", "QUANT", "ScaleTable"]

# Where a layer's scale of a kind is; `one` is 1.0 in every layer.
KINDS = {"k": 0, "v": 1, "q": 2, "prob": 3, "one": 4}
QUANT, DEQUANT = 0, 1


class ScaleTable:
    """A float32 tensor `[layers, kinds, 2, 1 + heads]`: for each kind of a layer what multiplies on the way in and out.

    The first of the last dimension serves the whole layer; where a scale has one number for each head it is that of the
    largest, so that nothing saturates. The others are those of the heads, and are there in every layer or in none, so
    that all layers have parameters of the same shapes.
    """

    def __init__(self, rows: dict[int, int], values: torch.Tensor) -> None:
        self.rows = rows
        self.values = values

    @classmethod
    def of(cls, inspection: Inspection) -> ScaleTable:
        """Of an inspection's layers that have an FP8 cache.

        Raises `ScaleError` where one of them has no numbers.
        """
        layers = {
            layer["layer"]: LayerScales.from_report(layer)
            for layer in inspection.layers
            if layer["kv_cache_dtype"] == "fp8"
        }
        rows = {number: row for row, number in enumerate(layers)}
        heads = {_heads(scale) for scales in layers.values() for scale in (scales.k, scales.v)} - {0}
        if len(heads) > 1:
            raise ScaleError(f"layers have scales for {' and '.join(map(str, sorted(heads)))} heads")
        width = max(heads, default=0)
        values = torch.ones((len(layers), len(KINDS), 2, 1 + width), dtype=torch.float32, device="cpu")
        for number, scales in layers.items():
            for kind in ("k", "v", "q", "prob"):
                scale = getattr(scales, kind)
                if scale is not None:
                    _fill(values[rows[number], KINDS[kind]], scale)
        return cls(rows, values)

    def scale(self, layer: int, kind: str, side: int, per_head: bool, device: Any) -> torch.Tensor:
        """A scale for a device: in the CPU's memory a view of the table, elsewhere a copy. There a view would give each
        layer a place of its own in one tensor, and with it a graph of its own.

        Its shape is `()`, or `[heads, 1]` where `per_head` and the model has scales for each head.
        """
        numbers = self.values[self.rows[layer], KINDS[kind], side]
        has_heads = per_head and numbers.numel() > 1
        return (numbers[1:].unsqueeze(-1) if has_heads else numbers[0]).to(device)


def _heads(scale: Scale | None) -> int:
    return len(scale.quant) if scale is not None and isinstance(scale.quant, tuple) else 0


def _fill(numbers: torch.Tensor, scale: Scale) -> None:
    # While vLLM loads, bfloat16 is the default type and the device the default device.
    sides = (scale.quant, scale.dequant)
    quant, dequant = (torch.tensor(side, dtype=torch.float32, device="cpu") for side in sides)
    heads = numbers.shape[-1] - 1
    for side, values, whole in ((QUANT, quant, quant.min()), (DEQUANT, dequant, dequant.max())):
        numbers[side, 0] = whole
        if values.numel() in (1, heads):
            numbers[side, 1:] = values
