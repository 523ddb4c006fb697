"""Inspections and checks of models."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from gaudi_kv import _native
from gaudi_kv._scales import LayerScales

if TYPE_CHECKING:
    from typing_extensions import Unpack

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


CacheDtype = Literal["auto", "bf16", "bfloat16", "fp8", "fp8_e4m3", "fp8_inc"]


class Options(TypedDict, total=False):
    """What `inspect` and `check` may be asked for."""

    device: str | None
    kv_cache_dtype: CacheDtype
    mla_scale: Literal["k-only", "max-kv"]
    q_missing: Literal["dynamic", "one"]
    tensor_parallel: tuple[int, int] | None
    skip_layers: Iterable[int | Literal["sliding_window"]]
    scale_adjustment: bool | None
    verify_weights: bool
    strict: bool


DEFAULTS: Options = {
    "device": None,
    "kv_cache_dtype": "auto",
    "mla_scale": "k-only",
    "q_missing": "dynamic",
    "tensor_parallel": None,
    "skip_layers": (),
    "scale_adjustment": None,
    "verify_weights": False,
    "strict": False,
}


def _complete(options: Options) -> dict[str, Any]:
    """All options by name. Raises `TypeError` where there is no such one."""
    unknown = ", ".join(sorted(options.keys() - DEFAULTS.keys()))
    if unknown:
        raise TypeError(f"unexpected keyword arguments: {unknown}; there are {', '.join(DEFAULTS)}")
    complete = DEFAULTS | options
    return {**complete, "skip_layers": list(complete["skip_layers"])}


def inspect(model: str | os.PathLike[str], **options: Unpack[Options]) -> Inspection:
    """Finds a model's KV scales, decides whether they must be adjusted for a device, and says what is wrong.

    `model` is a folder with `config.json` and `*.safetensors`. The options, with their defaults:

    - `device` (of the generation of this machine's Gaudi, else `gaudi2`): `gaudi2` or `gaudi3`, which are emulated; `hpu`, or
      `hpu:3` for that of module 3, is a Gaudi of this machine, which `check` runs on.
    - `kv_cache_dtype` (`auto`): `auto`, `bf16` or `fp8`.
    - `mla_scale` (`k-only`): `k-only` or `max-kv`.
    - `q_missing` (`dynamic`): `dynamic` or `one`.
    - `tensor_parallel` (None): the number of ranks, and the rank whose part of per-head scales is wanted.
    - `skip_layers` (none): layers that keep a bf16 cache, by number, or `sliding_window`.
    - `scale_adjustment` (None): overrides the decision; None leaves it to the environment's `VLLM_SCALE_ADJUSTMENT`,
      where that is set, else to the checkpoint.
    - `verify_weights` (False): reads FP8 weights too, which may contradict what the config says of their range.
    - `strict` (False): a scale of zero is an error, not a warning.

    What is wrong with the model is in `errors`. Raises `ModelError` where a file cannot be read, `OptionError` where an
    option does not fit, `DeviceError` where there is no such Gaudi.
    """
    return Inspection(json.loads(_native.inspect(os.fspath(model), _complete(options))))


def check(
    model: str | os.PathLike[str],
    *,
    mode: Literal["exact", "fast"] | None = None,
    activations: str | os.PathLike[str] | None = None,
    **options: Unpack[Options],
) -> Inspection:
    """Inspects a model, runs its caches on the device and compares attention with float64.

    Returns the inspection with one more key, `check`, as `gaudi-kv check --json` prints it. `mode` is of emulated devices
    alone, `exact` where it is not given. `activations` is a safetensors file with `layers.N.{q,k,v}` or
    `layers.N.{q_nope,q_pe,kv_c,k_pe}`; without it they are drawn. The other options are those of `inspect`.

    Raises `ModelError` where a file or a weight cannot be read, `OptionError` where an option does not fit, `DeviceError`
    where a Gaudi cannot be taken or fails.
    """
    activation_file = None if activations is None else os.fspath(activations)
    return Inspection(json.loads(_native.check(os.fspath(model), _complete(options), mode, activation_file)))
