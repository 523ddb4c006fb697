"""What is known of one model while it is made, loaded and served. Nothing here belongs to the process.

vLLM's current configuration is the target's also while a draft is made, so the model in question is remembered here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

from vllm.distributed import get_tensor_model_parallel_rank, get_tensor_model_parallel_world_size
from vllm.model_executor.models.utils import extract_layer_index

from gaudi_kv._errors import DeviceError, ScaleError
from gaudi_kv._inspect import Inspection, inspect
from gaudi_kv.vllm.scales import fp8_inspection
from gaudi_kv.vllm.settings import mla_scale
from gaudi_kv.vllm_gaudi.errors import PatchError
from gaudi_kv.vllm_gaudi.table import ScaleTable

__all__ = ["ModelPlan", "current_plan", "device_generation", "making"]

logger = logging.getLogger(f"vllm.{__name__}")

_current: ContextVar[ModelPlan | None] = ContextVar("model", default=None)


def device_generation() -> Literal["gaudi2", "gaudi3"]:
    """The device, as vllm-gaudi has found it.

    Raises `DeviceError` where it is neither a Gaudi2 nor a Gaudi3.
    """
    ops = import_module("vllm_gaudi.extension.ops")
    if ops.is_hpu_gaudi2:
        return "gaudi2"
    if ops.is_hpu_gaudi3:
        return "gaudi3"
    raise DeviceError("vllm-gaudi has found neither a Gaudi2 nor a Gaudi3")


class ModelPlan:
    """A model's files, and what they say for this device and rank. Files are read when something is first asked for."""

    def __init__(self, vllm_config: Any, model_config: Any, folder: Callable[[Any], str]) -> None:
        self.model_config = model_config
        self.load_config = vllm_config.load_config
        self.skipped = list(getattr(vllm_config.cache_config, "kv_cache_dtype_skip_layers", None) or ())
        # A draft with a checkpoint of its own may number its layers on from the target's last one.
        self.is_separate = model_config.model != vllm_config.model_config.model
        self.first_layer = 0
        self._folder = folder

    @cached_property
    def folder(self) -> str:
        """The folder with the model's files."""
        return self._folder(self)

    @cached_property
    def adjusts_weights(self) -> bool:
        """Whether FP8 weights are of the range 448 and the device reads no further than 240.

        Raises `ModelError` where the files cannot be read.
        """
        # Of a bf16 cache: errors of KV scales are no affair of the weights.
        adjustment = inspect(self.folder, device=device_generation(), kv_cache_dtype="bf16")["scale_adjustment"]
        is_due = bool(adjustment["enabled"])
        done = "adjusted" if is_due else "not adjusted"
        logger.info("FP8 weights of %s are %s (%s)", self.folder, done, adjustment["reason"])
        return is_due

    @cached_property
    def inspection(self) -> Inspection:
        """What the model's scales are with an FP8 cache, on this rank.

        Raises `ModelError` where the files cannot be read or have errors: then there is no FP8 cache for the model.
        """
        return fp8_inspection(
            self.folder,
            device=device_generation(),
            mla_scale=mla_scale(),
            # vllm-gaudi's products have static scales only.
            q_missing="one",
            tensor_parallel=(get_tensor_model_parallel_world_size(), get_tensor_model_parallel_rank()),
            skip_layers=self._skipped_layers(),
        )

    @cached_property
    def table(self) -> ScaleTable:
        """The scales of all layers with an FP8 cache. Raises as `inspection` does."""
        return ScaleTable.of(self.inspection)

    def _skipped_layers(self) -> list[Any]:
        """The layers that vLLM keeps a bf16 cache for, by the numbers of the checkpoint."""
        numbers = [int(layer) - self.first_layer for layer in self.skipped if layer.isdecimal()]
        return [
            *(number for number in numbers if number >= 0),
            *(layer for layer in self.skipped if not layer.isdecimal()),
        ]

    def number_layers(self, layer_names: list[str]) -> None:
        """Finds where the numbers of the model's attention layers start.

        Raises `PatchError` where the name of one does not have one number.
        """
        if self.is_separate and layer_names:
            self.first_layer = min(_number(name) for name in layer_names)

    def layer_number(self, layer_name: str) -> int:
        """The layer's number in the checkpoint.

        Raises `ScaleError` where the checkpoint has no such layer with a cache, `PatchError` where the name does not
        have one number.
        """
        number = _number(layer_name) - self.first_layer
        if number not in self.table.rows:
            known = ", ".join(str(known) for known in self.table.rows)
            raise ScaleError(f"{layer_name}: {self.folder} has no FP8 cache of layer {number}, but of {known}")
        return number


def _number(layer_name: str) -> int:
    try:
        return int(extract_layer_index(layer_name))
    except AssertionError as error:
        raise PatchError(f"{layer_name}: which layer it is cannot be told by its name") from error


def current_plan(what: str) -> ModelPlan:
    """The model that is being made.

    Raises `ScaleError`, with what asks, where none is.
    """
    plan = _current.get()
    if plan is None:
        raise ScaleError(f"{what}: no model is being made that `initialize_model` knows of")
    return plan


@contextmanager
def making(plan: ModelPlan) -> Iterator[ModelPlan]:
    """Makes the plan the current one. A part of a model that has the same files shares the plan of the whole."""
    outer = _current.get()
    if outer is not None and outer.model_config.model == plan.model_config.model:
        yield outer
        return
    token = _current.set(plan)
    try:
        yield plan
    finally:
        _current.reset(token)
