"""Conversions of models for the FP8 range of a device."""

from __future__ import annotations

import json
import os
from typing import Any, Literal, TypedDict, cast

from gaudi_kv import _native

__all__ = ["Conversion", "convert"]


class Conversion(TypedDict):
    """What a conversion did: the object of `gaudi-kv convert --json`."""

    outcome: Literal["converted", "nothing-to-do", "part-done"]
    # Why there was nothing to do, or who has still to do what.
    reason: str | None
    to: Literal["gaudi2", "gaudi3"]
    factor: Literal["power-of-two", "exact"]
    # What weights were multiplied by, where there were any, and KV scales.
    weight_factor: float | None
    kv_scale_factor: float
    # The label of the new range, and where it was written, as `file: key`.
    fp8_dtype_flavor: str | None
    labelled: list[str]
    # Codes by what became of them, and how many scales and files were changed.
    weights: dict[str, int]
    weight_scales: int
    activation_scales: int
    kv_scales: int
    files: dict[str, int]
    bytes_written: int
    notes: list[str]
    # As in an inspection: `code`, `layer`, `message`.
    warnings: list[dict[str, Any]]


def convert(
    source: str | os.PathLike[str],
    destination: str | os.PathLike[str],
    *,
    to: Literal["gaudi2", "gaudi3"],
    factor: Literal["power-of-two", "exact"] = "power-of-two",
    force: bool = False,
    sync: bool = False,
    shards: tuple[int, int] | None = None,
) -> Conversion:
    """Rewrites a checkpoint so that a device loads it without scale adjustment, as `gaudi-kv convert` does.

    `source` is a model folder and is only read. `destination` appears when it is complete and not before; where the
    source serves as it is, the outcome says `nothing-to-do` and nothing is written. `factor` is what FP8 weights are
    multiplied by: 0.5 (to gaudi3: 2), or 240/448 (448/240). `force` replaces a `destination` that is a model folder or
    empty, even `source`. `sync` flushes everything to disk first. `shards` is the share of this process, from 1, and
    how many there are. A process that is killed leaves a hidden folder behind, and the same call goes on from there.

    Raises `ModelError` where a file cannot be read or written or the model has errors, `OptionError` where an option does
    not fit or `destination` is refused; nothing has appeared under its name then.
    """
    options = {"to": to, "factor": factor, "force": force, "sync": sync, "shards": shards}
    return cast("Conversion", json.loads(_native.convert(os.fspath(source), os.fspath(destination), options)))
