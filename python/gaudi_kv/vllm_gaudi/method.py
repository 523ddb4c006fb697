"""The KV-cache method of every attention layer, whatever quantization its model has."""

from __future__ import annotations

import logging
from typing import Any

import torch
from vllm.model_executor.layers.quantization.kv_cache import BaseKVCacheMethod

from gaudi_kv.vllm_gaudi.errors import PatchError
from gaudi_kv.vllm_gaudi.plan import ModelPlan, current_plan
from gaudi_kv.vllm_gaudi.roles import MHA, MLA, Role

__all__ = ["KvCacheMethod", "has_fp8_cache", "in_place_of"]

logger = logging.getLogger(f"vllm.{__name__}")

PLACEHOLDERS = (
    *("q_scale", "k_scale", "v_scale", "prob_scale"),
    *("q_zero_point", "k_zero_point", "v_zero_point"),
)
# The layer's own numbers, which vllm-gaudi's attention does not use.
BUFFERS = ("_q_scale", "_k_scale", "_v_scale", "_prob_scale")


class Placeholder(torch.nn.Parameter):
    """A parameter that takes a scale tensor of any shape, without effect: values come from the files."""

    def __new__(cls) -> Placeholder:
        return super().__new__(cls, torch.tensor(1.0), requires_grad=False)

    @staticmethod
    def weight_loader(param: Any, loaded_weight: Any, *args: Any, **kwargs: Any) -> None:
        """Does nothing."""


class KvCacheMethod(BaseKVCacheMethod):
    """Gives a layer's modules the scales that the model's files have for it, as parameters."""

    supports_pre_processed_weights = True
    plan: ModelPlan | None = None

    def create_weights(self, layer: Any) -> None:
        """Makes placeholders, for loaders that insist on a place for each tensor."""
        if self.plan is None:
            self.plan = current_plan("a KV-cache method")
        for name in PLACEHOLDERS:
            setattr(layer, name, Placeholder())

    def process_weights_after_loading(self, layer: Any) -> None:
        """Sets the scales. Once more sets the same ones in the same parameters.

        Raises `ModelError` and `ScaleError` as `ModelPlan` does, `PatchError` where an attribute is missing.
        """
        for name in PLACEHOLDERS:
            if hasattr(layer, name):
                delattr(layer, name)
        if self.plan is None or not has_fp8_cache(layer):
            return
        number = self.plan.layer_number(layer.layer_name)
        device = getattr(getattr(layer, "_k_scale", None), "device", "cpu")
        shown = []
        for role in MLA if is_mla(layer) else MHA:
            value = self.plan.table.scale(number, role.kind, role.side, role.per_head, device)
            if _set(layer, role, value):
                shown.append(f"{role.module}.{role.attribute} {value.flatten().tolist()}")
        logger.debug("%s: %s", layer.layer_name, ", ".join(shown))
        _neutralize(layer)


def in_place_of(replaced: type) -> type[KvCacheMethod]:
    """The method for a quantization that has one of its own."""
    del replaced
    return KvCacheMethod


def is_mla(layer: Any) -> bool:
    """Whether the layer has one cache, of latents."""
    return hasattr(layer.impl, "latent_cache_k")


def has_fp8_cache(layer: Any) -> bool:
    """Whether vllm-gaudi keeps the layer's cache in FP8 with scales of the checkpoint (and not with INC's).

    Raises `PatchError` where it should, and the modules are not known ones, or the cache is of an encoder's output.
    """
    if not str(layer.kv_cache_dtype).startswith("fp8") or not getattr(layer.impl, "enable_fp8_attn", True):
        return False
    cache = getattr(layer.impl, "latent_cache_k" if is_mla(layer) else "k_cache", None)
    if not hasattr(cache, "input_scale"):
        kind = f"{type(layer.impl).__module__}.{type(layer.impl).__qualname__}"
        raise PatchError(f"{layer.layer_name}: {kind} has an FP8 cache, but no cache module with an input_scale")
    if getattr(layer, "attn_type", None) == "encoder_decoder":
        raise PatchError(f"{layer.layer_name}: a cache of an encoder's output has no scales; it needs a bf16 cache")
    return True


def _set(layer: Any, role: Role, value: torch.Tensor) -> bool:
    module = getattr(layer.impl, role.module, None)
    if not hasattr(module, role.attribute):
        # A prefill that is not fused, or fused and not in FP8, has no scales.
        if role.module == "fused_scaled_dot_product_attention" and not hasattr(module, "scale_q"):
            return False
        raise PatchError(f"{layer.layer_name}: its implementation has no {role.module}.{role.attribute}")
    assert module is not None
    parameter = module._parameters.get(role.attribute)
    if parameter is not None and parameter.shape == value.shape:
        # A captured graph reads this memory.
        parameter.data.copy_(value)
    else:
        setattr(module, role.attribute, torch.nn.Parameter(value, requires_grad=False))
    return True


def _neutralize(layer: Any) -> None:
    """Leaves no number of the layer's own that differs from other layers': it would be part of the layer's graph."""
    for name in BUFFERS:
        if isinstance(getattr(layer, name, None), torch.Tensor):
            getattr(layer, name).fill_(1.0)
        if hasattr(layer, f"{name}_float"):
            delattr(layer, f"{name}_float")
