"""Inspections and checks of models."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, cast

from gaudi_kv import _native
from gaudi_kv._scales import LayerScales

__all__ = ["Inspection", "check", "inspect"]


class Inspection(Mapping[str, Any]):
    """What is known about a model's KV scales on a device.

    A mapping with the keys of `gaudi-kv inspect --json`; the most used ones are attributes too.
    """

    def __init__(self, report: Mapping[str, Any]) -> None:
        self._report = report

    def __getitem__(self, key: str) -> Any:
        return self._report[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._report)

    def __len__(self) -> int:
        return len(self._report)

    def __repr__(self) -> str:
        model = self["model"]
        return f"<Inspection of {model['path']} for {self.device}, {self.kv_cache_dtype} cache>"

    @property
    def device(self) -> str:
        """`gaudi2` or `gaudi3`."""
        return cast("str", self["device"])

    @property
    def kv_cache_dtype(self) -> str:
        """`fp8` or `bf16`, once `auto` is resolved."""
        return cast("str", self["kv_cache_dtype"])

    @property
    def layers(self) -> list[dict[str, Any]]:
        """The layers that have a KV cache, draft layers last."""
        return cast("list[dict[str, Any]]", self["layers"])

    @property
    def notes(self) -> list[dict[str, Any]]:
        """What is worth knowing: `code`, `layer`, `message`."""
        return cast("list[dict[str, Any]]", self["notes"])

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """What may be wrong: `code`, `layer`, `message`."""
        return cast("list[dict[str, Any]]", self["warnings"])

    @property
    def errors(self) -> list[dict[str, Any]]:
        """What is wrong: `code`, `layer`, `message`."""
        return cast("list[dict[str, Any]]", self["errors"])

    def is_fine(self, *, strict: bool = False) -> bool:
        """Whether the model can be run as asked: no errors, and under `strict` no warnings either."""
        return not self.errors and not (strict and self.warnings)

    def layer_scales(self, layer: int) -> LayerScales:
        """The scales that the layer of that number runs with.

        Raises `KeyError` where no such layer has a cache, `ScaleError` where an error of the model left it without.
        """
        for report in self.layers:
            if report["layer"] == layer:
                return LayerScales.from_report(report)
        raise KeyError(layer)


Generation = Literal["gaudi2", "gaudi3"]
CacheDtype = Literal["auto", "bf16", "bfloat16", "fp8", "fp8_e4m3", "fp8_inc"]


def inspect(
    model: str | os.PathLike[str],
    *,
    device: Generation | None = None,
    kv_cache_dtype: CacheDtype = "auto",
    mla_scale: Literal["k-only", "max-kv"] = "k-only",
    q_missing: Literal["dynamic", "one"] = "dynamic",
    tensor_parallel: tuple[int, int] | None = None,
    skip_layers: Iterable[int | Literal["sliding_window"]] = (),
    scale_adjustment: bool | None = None,
    verify_weights: bool = False,
    strict: bool = False,
) -> Inspection:
    """Finds a model's KV scales, decides whether they must be adjusted for a device, and says what is wrong.

    `model` is a folder with `config.json` and `*.safetensors`. `device` is by default the Gaudi of this machine, else
    `gaudi2`. `tensor_parallel` is the number of ranks and the rank whose part of per-head scales is wanted.
    `skip_layers` keep a bf16 cache. `scale_adjustment` overrides the decision; None leaves it to the environment's
    `VLLM_SCALE_ADJUSTMENT`, where that is set, else to the checkpoint. What is wrong with the model is in `errors`.

    Raises `ModelError` where a file cannot be read, `OptionError` where an option does not fit.
    """
    options = {
        "device": device,
        "kv_cache_dtype": kv_cache_dtype,
        "mla_scale": mla_scale,
        "q_missing": q_missing,
        "tensor_parallel": tensor_parallel,
        "skip_layers": list(skip_layers),
        "scale_adjustment": scale_adjustment,
        "verify_weights": verify_weights,
        "strict": strict,
    }
    return Inspection(json.loads(_native.inspect(os.fspath(model), options)))


def check(
    model: str | os.PathLike[str],
    *,
    mode: Literal["exact", "fast"] = "exact",
    activations: str | os.PathLike[str] | None = None,
    device: Generation | None = None,
    kv_cache_dtype: CacheDtype = "auto",
    mla_scale: Literal["k-only", "max-kv"] = "k-only",
    q_missing: Literal["dynamic", "one"] = "dynamic",
    tensor_parallel: tuple[int, int] | None = None,
    skip_layers: Iterable[int | Literal["sliding_window"]] = (),
    scale_adjustment: bool | None = None,
    verify_weights: bool = False,
    strict: bool = False,
) -> Inspection:
    """Inspects a model, runs its caches on the emulated device and compares attention with float64.

    Returns the inspection with one more key, `check`, as `gaudi-kv check --json` prints it. `activations` is a
    safetensors file with `layers.N.{q,k,v}` or `layers.N.{q_nope,q_pe,kv_c,k_pe}`; without it they are drawn. The
    other options are those of `inspect`.

    Raises `ModelError` where a file or a weight cannot be read, `OptionError` where an option does not fit.
    """
    options = {
        "device": device,
        "kv_cache_dtype": kv_cache_dtype,
        "mla_scale": mla_scale,
        "q_missing": q_missing,
        "tensor_parallel": tensor_parallel,
        "skip_layers": list(skip_layers),
        "scale_adjustment": scale_adjustment,
        "verify_weights": verify_weights,
        "strict": strict,
    }
    activation_file = None if activations is None else os.fspath(activations)
    return Inspection(json.loads(_native.check(os.fspath(model), options, mode, activation_file)))
