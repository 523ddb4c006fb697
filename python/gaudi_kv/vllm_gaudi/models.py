"""A model while it is made."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from gaudi_kv.vllm.scales import model_folder
from gaudi_kv.vllm_gaudi.method import KvCacheMethod, has_fp8_cache
from gaudi_kv.vllm_gaudi.plan import ModelPlan, making

__all__ = ["planned"]

logger = logging.getLogger(f"vllm.{__name__}")


class Source(NamedTuple):
    """What `model_folder` reads of vLLM's configuration. A draft's model is not the configuration's."""

    model_config: Any
    load_config: Any


def planned(initialize_model: Callable[..., Any]) -> Callable[..., Any]:
    """`initialize_model` that remembers which model it makes, and gives each layer with an FP8 cache a method."""

    @functools.wraps(initialize_model)
    def initialize(
        vllm_config: Any, *, prefix: str = "", model_class: Any = None, model_config: Any = None
    ) -> Any:
        plan = ModelPlan(vllm_config, model_config or vllm_config.model_config, _folder)
        with making(plan) as plan:
            model = initialize_model(
                vllm_config, prefix=prefix, model_class=model_class, model_config=model_config
            )
            _attach(plan, model)
        return model

    return initialize


def _folder(plan: ModelPlan) -> str:
    source: Any = Source(plan.model_config, plan.load_config)
    return model_folder(source)


def _attach(plan: ModelPlan, model: Any) -> None:
    """Gives a method to the layers whose quantization has none, MLA layers of most of them for example."""
    layers = [layer for layer in model.modules() if _is_attention(layer)]
    plan.number_layers([layer.layer_name for layer in layers])
    for layer in layers:
        method = getattr(layer, "quant_method", None)
        if not has_fp8_cache(layer):
            logger.debug("%s keeps its cache as it is", layer.layer_name)
            continue
        owner = getattr(layer.impl, "kv_sharing_target_layer_name", None)
        if owner is not None:
            logger.warning(
                "%s reads the cache of %s, and vllm-gaudi's prefill does that without the scales: "
                "a bf16 cache is safe",
                layer.layer_name,
                owner,
            )
        if method is None:
            layer.quant_method = KvCacheMethod(None)
            layer.quant_method.create_weights(layer)
        elif not isinstance(method, KvCacheMethod):
            kind = type(method)
            logger.warning("%s has scales by %s.%s", layer.layer_name, kind.__module__, kind.__qualname__)


def _is_attention(module: Any) -> bool:
    return all(hasattr(module, name) for name in ("impl", "kv_cache_dtype", "layer_name"))
