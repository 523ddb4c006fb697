"""Scales of caches and attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gaudi_kv._errors import ScaleError

__all__ = ["LayerScales", "Scale"]

Multipliers = float | tuple[float, ...]


@dataclass(frozen=True)
class Scale:
    """What multiplies on the way into FP8 (`quant`) and on the way out (`dequant`): one number, or one for each KV head.

    Each must be finite and positive, in float32 and rounded to bfloat16; that is checked where the scale is used.
    """

    quant: Multipliers
    dequant: Multipliers

    @classmethod
    def from_report(cls, report: Mapping[str, Any]) -> Scale:
        """The scale of a layer's `k`, `v`, `q` or `prob` in an inspection.

        Raises `ScaleError` where it has no numbers, as a dynamic one.
        """
        if report["quant"] is None or report["dequant"] is None:
            raise ScaleError(f"the scale is {report['origin']}; it has no numbers")
        return cls(_multipliers(report["quant"]), _multipliers(report["dequant"]))

    def _pair(self) -> tuple[Multipliers, Multipliers]:
        return self.quant, self.dequant


def _multipliers(numbers: float | Sequence[float]) -> Multipliers:
    return tuple(numbers) if isinstance(numbers, Sequence) else numbers


@dataclass(frozen=True)
class LayerScales:
    """The scales that a layer runs with.

    `k` is None where the layer's cache is not FP8, and so are the others. `v` is None for MLA, whose one latent has the
    scale `k`. `q` is None where the query is quantized by the amax of each token and head.
    """

    k: Scale | None
    v: Scale | None
    q: Scale | None
    prob: Scale | None

    @classmethod
    def from_report(cls, layer: Mapping[str, Any]) -> LayerScales:
        """Of a layer in an inspection.

        Raises `ScaleError` where the layer's cache is FP8 and an error of the model left it without a scale.
        """
        if layer["kv_cache_dtype"] != "fp8":
            return cls(None, None, None, None)
        needed = ["k", "q", "prob"] + (["v"] if layer["attention"] == "mha" else [])
        for role in needed:
            if layer[role] is None:
                raise ScaleError(f"layer {layer['layer']} has no {role} scale; see the errors of the inspection")
        v = layer["v"] if layer["attention"] == "mha" else None
        return cls(
            k=Scale.from_report(layer["k"]),
            v=None if v is None else Scale.from_report(v),
            q=None if layer["q"]["origin"] == "dynamic" else Scale.from_report(layer["q"]),
            prob=Scale.from_report(layer["prob"]),
        )


def plane_scale(role: str, scale: Scale | None, is_fp8: bool) -> tuple[Multipliers, Multipliers]:
    """The multipliers of a plane. One that is not FP8 needs none and takes no notice of those that are given.

    Raises `ScaleError` where an FP8 plane has none: `Scale(1.0, 1.0)` is to be asked for.
    """
    if scale is None:
        if is_fp8:
            raise ScaleError(f"an FP8 cache needs {role}; Scale(1.0, 1.0) stores values as they are")
        return 1.0, 1.0
    return scale._pair()
