"""Layers of MHA and of MLA alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import torch
from vllm.config import VllmConfig, get_current_vllm_config
from vllm.v1.attention.backend import AttentionBackend, AttentionType, MultipleOf
from vllm.v1.kv_cache_interface import KVCacheLayout, KVCacheSpec

from gaudi_kv._errors import OptionError
from gaudi_kv._native import Device
from gaudi_kv._scales import LayerScales
from gaudi_kv.vllm.scales import layer_scales
from gaudi_kv.vllm.settings import CACHE_DTYPES, Settings, is_fp8
from gaudi_kv.vllm.step import Step, StepBuilder

__all__ = ["GaudiBackend", "GaudiLayer", "as_plane", "first", "in_order", "refuse_quantized"]

# What caches take; the first is a Gaudi's. vLLM splits longer blocks into these.
BLOCK_SIZES = (128, 256, 64, 32, 16)


class GaudiBackend(AttentionBackend):
    """What vLLM has to know about the caches: their types, block sizes and layout."""

    supported_dtypes: ClassVar[list[torch.dtype]] = [torch.bfloat16]
    supported_kv_cache_dtypes: ClassVar[list[str]] = list(CACHE_DTYPES)

    @staticmethod
    def get_name() -> str:
        # The name has to be one that vLLM knows.
        return "CUSTOM"

    @staticmethod
    def get_builder_cls() -> type[StepBuilder]:
        return StepBuilder

    @staticmethod
    def get_supported_kernel_block_sizes(kv_cache_spec: KVCacheSpec | None = None) -> list[int | MultipleOf]:
        return list(BLOCK_SIZES)

    @classmethod
    def supported_kv_cache_layouts(cls) -> tuple[KVCacheLayout, ...]:
        # All blocks of a layer in one piece.
        return (KVCacheLayout.LBNHC,)

    @classmethod
    def supports_kv_connector(cls) -> bool:
        return False


class GaudiLayer:
    """A layer of a served model, of either kind: what it is made with, and when its cache and its attention are made."""

    def _set_up(
        self,
        *,
        num_heads: int,
        head_size: int,
        scale: float,
        num_kv_heads: int,
        kv_cache_dtype: str,
        attn_type: str,
        kv_sharing_target_layer_name: str | None,
    ) -> None:
        """Raises `OptionError` where a layer of this kind is not emulated, or a setting has a wrong value."""
        if attn_type != AttentionType.DECODER:
            raise OptionError(f"attention of the type {attn_type} is not emulated; only a decoder's is")
        if kv_sharing_target_layer_name is not None:
            raise OptionError(f"a layer that reads the cache of {kv_sharing_target_layer_name} is not emulated")
        self.num_heads = num_heads
        self.head_size = head_size
        self.scale = float(scale)
        self.num_kv_heads = num_kv_heads
        self.kv_cache_dtype = kv_cache_dtype
        self._config = get_current_vllm_config()
        settings = Settings.from_environment()
        self._device = Device(settings.generation, settings.mode)
        self._is_fp8_prefill = settings.prefill == "fp8"
        # The memory that cache and attention were made for.
        self._bound: torch.Tensor | None = None

    def _bind(self, kv_cache: torch.Tensor) -> None:
        """Makes the cache over vLLM's memory, and the attention, when the layer first has its cache and its weights."""
        if self._bound is kv_cache:
            return
        name = self._layer_name()
        self._make(name, kv_cache, scales_of(self._config, name, self.kv_cache_dtype))
        self._bound = kv_cache

    def _make(self, name: str, kv_cache: torch.Tensor, scales: LayerScales) -> None:
        """Makes the cache and the attention of the layer of that name.

        Raises `ShapeError` where the memory is not of the shape that is expected.
        """
        raise NotImplementedError

    def _layer_name(self) -> str:
        """The name of the layer: the one in vLLM's list that has this implementation."""
        layers = self._config.compilation_config.static_forward_context
        return next(name for name, layer in layers.items() if getattr(layer, "impl", None) is self)

    def process_weights_after_loading(self, act_dtype: torch.dtype) -> None:
        """Weights were loaded, perhaps others than before: what was made from them is made again at its next use."""
        self._bound = None


def refuse_quantized(*scales: torch.Tensor | None) -> None:
    """Raises `OptionError` where one of the scales of an output is given."""
    if any(scale is not None for scale in scales):
        raise OptionError("outputs that are quantized with the attention are not emulated")


def in_order(step: Step, run: Callable[..., None], output: torch.Tensor, *operands: torch.Tensor) -> None:
    """Runs attention over the rows of a step, those that decode first: `run(step, output, *operands)`."""
    if step.rows is None:
        run(step, output, *operands)
        return
    ordered = output.new_empty((step.num_actual_tokens, *output.shape[1:]))
    run(step, ordered, *(operand[step.rows] for operand in operands))
    output[step.rows] = ordered


def first(rows: torch.Tensor, count: int) -> torch.Tensor:
    """The first rows: the tensor itself where there are no more, for a slice costs as much as a small kernel."""
    return rows if len(rows) == count else rows[:count]


def as_plane(memory: torch.Tensor) -> torch.Tensor:
    """The memory with a type that caches take: vLLM's FP8 types are all bytes to them."""
    return memory.view(torch.uint8) if memory.element_size() == 1 else memory


def scales_of(vllm_config: VllmConfig, layer_name: str, kv_cache_dtype: str) -> LayerScales:
    """The scales of a layer: none where its cache is not FP8.

    Raises `ModelError` or `ScaleError` where its cache is FP8 and the checkpoint is wrong.
    """
    if not is_fp8(kv_cache_dtype):
        return LayerScales(None, None, None, None)
    return layer_scales(vllm_config, layer_name)
