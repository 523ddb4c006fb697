"""What is emulated, as the environment says it. Worker processes inherit the environment, so all agree."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gaudi_kv._errors import OptionError

__all__ = ["CACHE_DTYPES", "Settings", "is_fp8", "is_requested", "mla_scale"]

# What `--kv-cache-dtype` takes; `auto` is resolved by the platform, and is then a cache of the model's type.
CACHE_DTYPES = ("auto", "bfloat16", "fp8", "fp8_e4m3", "fp8_inc")

EMULATE = "GAUDI_KV_EMULATE"
MLA_SCALE = "GAUDI_KV_MLA_SCALE"
CHOICES = {
    EMULATE: ("gaudi2", "gaudi3"),
    "GAUDI_KV_MODE": ("fast", "exact"),
    "GAUDI_KV_Q_MISSING": ("dynamic", "one"),
    MLA_SCALE: ("k-only", "max-kv"),
    "GAUDI_KV_PREFILL": ("bf16", "fp8"),
}


def is_requested(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether an emulation is asked for; an empty variable asks for none."""
    return environment.get(EMULATE, "") != ""


def is_fp8(kv_cache_dtype: str) -> bool:
    """Whether the cache holds FP8 codes."""
    return kv_cache_dtype.startswith("fp8")


@dataclass(frozen=True)
class Settings:
    """`GAUDI_KV_EMULATE`, `GAUDI_KV_MODE`, `GAUDI_KV_Q_MISSING`, `GAUDI_KV_MLA_SCALE` and `GAUDI_KV_PREFILL`.

    `mode` is `fast` (the default) or `exact`; `q_missing` and `mla_scale` are the options of `gaudi_kv.inspect`;
    `prefill` is `fp8` where q, k and v of a prefill over an FP8 cache are quantized too.
    """

    generation: Literal["gaudi2", "gaudi3"]
    mode: Literal["fast", "exact"]
    q_missing: Literal["dynamic", "one"]
    mla_scale: Literal["k-only", "max-kv"]
    prefill: Literal["bf16", "fp8"]

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """The settings of this process.

        Raises `OptionError` where a variable has a value that it does not take.
        """
        return cls(*(_chosen(name, environment) for name in CHOICES))


def mla_scale(environment: Mapping[str, str] = os.environ) -> Literal["k-only", "max-kv"]:
    """`GAUDI_KV_MLA_SCALE`, also where nothing is emulated.

    Raises `OptionError` where it has a value that it does not take.
    """
    value: Literal["k-only", "max-kv"] = _chosen(MLA_SCALE, environment)
    return value


def _chosen(name: str, environment: Mapping[str, str]) -> Any:
    choices = CHOICES[name]
    value = environment.get(name, "")
    if value == "" and name != EMULATE:
        value = choices[0]
    if value not in choices:
        raise OptionError(f"{name} is {value!r}; it takes {' and '.join(choices)}")
    return value
