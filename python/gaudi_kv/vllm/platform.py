"""The platform: vLLM's for the CPU, with other attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from vllm.logger import init_logger
from vllm.platforms.cpu import CpuPlatform

from gaudi_kv._errors import ModelError, OptionError
from gaudi_kv.vllm.settings import CACHE_DTYPES, Settings, is_fp8

# vLLM needs its platform while it defines its configuration.
if TYPE_CHECKING:
    from vllm.config import VllmConfig

__all__ = ["EmulatedGaudiPlatform"]

logger = init_logger(f"vllm.{__name__}")

ROPE = "rotary_embedding"
# A Gaudi's block size; MLA of vLLM's CPU platform would have 16.
BLOCK_SIZE = 128
# Methods whose drafts come from the text: a drafting model has layers whose scales are another checkpoint's.
SPECULATIVE_METHODS = ("ngram", "suffix")


class EmulatedGaudiPlatform(CpuPlatform):
    """A Gaudi that is emulated on the CPU.

    Raises `OptionError` where a variable of the environment has a value that it does not take.
    """

    def __init__(self) -> None:
        settings = Settings.from_environment()
        logger.info("KV caches and attention of an emulated %s, %s", settings.generation, settings.mode)

    @property
    def supported_dtypes(self) -> list[torch.dtype]:
        """What attention computes with."""
        return [torch.bfloat16]

    @classmethod
    def get_attn_backend_cls(
        cls, selected_backend: Any, attn_selector_config: Any, num_heads: int | None = None
    ) -> str:
        """The backend for a layer.

        Raises `OptionError` where another backend is asked for, or the layer has what none of ours can.
        """
        from gaudi_kv.vllm.mha import GaudiMhaBackend
        from gaudi_kv.vllm.mla import GaudiMlaBackend

        if selected_backend is not None:
            name = selected_backend.name
            raise OptionError(f"attention backend {name}: an emulated Gaudi has its own; leave it unset")
        backend = GaudiMlaBackend if attn_selector_config.use_mla else GaudiMhaBackend
        reasons = backend.validate_configuration(device_capability=None, **attn_selector_config._asdict())
        if reasons:
            raise OptionError(f"{attn_selector_config}: {', '.join(reasons)} by an emulated Gaudi")
        return f"{backend.__module__}.{backend.__qualname__}"

    @classmethod
    def check_and_update_config(cls, vllm_config: VllmConfig) -> None:
        """Refuses what cannot be emulated, and sets what differs from vLLM's CPU platform.

        Raises `OptionError`, and `ModelError` where the cache is FP8 and the checkpoint's files have errors.
        """
        from gaudi_kv.vllm.scales import check_scales

        model_config = vllm_config.model_config
        if model_config is None:
            super().check_and_update_config(vllm_config)
            return
        _resolve_cache_dtype(vllm_config)
        for is_refused, reason in _refusals(vllm_config):
            if is_refused:
                raise OptionError(f"not with an emulated Gaudi: {reason}")
        if is_fp8(vllm_config.cache_config.cache_dtype):
            check_scales(vllm_config)
        _set_rope(vllm_config)
        cache, scheduler = vllm_config.cache_config, vllm_config.scheduler_config
        if not cache.user_specified_block_size:
            cache.block_size = BLOCK_SIZE
        # For MLA vLLM's CPU platform sets what its own backend needs, which ours does not.
        kept = (
            cache.block_size,
            cache.enable_prefix_caching,
            scheduler.enable_chunked_prefill,
            scheduler.max_num_batched_tokens,
        )
        super().check_and_update_config(vllm_config)
        (
            cache.block_size,
            cache.enable_prefix_caching,
            scheduler.enable_chunked_prefill,
            scheduler.max_num_batched_tokens,
        ) = kept
        if model_config.use_mla:
            logger.info_once(
                "MLA on an emulated Gaudi: chunked prefill %s, prefix caching %s, block size %s",
                scheduler.enable_chunked_prefill,
                cache.enable_prefix_caching,
                cache.block_size,
            )


def _resolve_cache_dtype(vllm_config: VllmConfig) -> None:
    """Gives `auto` the type that the checkpoint declares, for vLLM knows fewer declarations."""
    from gaudi_kv.vllm.scales import checkpoint_cache_dtype

    cache = vllm_config.cache_config
    if cache.cache_dtype != "auto":
        return
    try:
        declared = checkpoint_cache_dtype(vllm_config)
    except ModelError as error:
        logger.warning("whether the checkpoint declares an FP8 cache is not known, it gets a bf16 one: %s", error)
        return
    if declared == "fp8":
        logger.info("the checkpoint declares an FP8 cache")
        cache.cache_dtype = "fp8"


def _refusals(vllm_config: VllmConfig) -> list[tuple[bool, str]]:
    model, cache, parallel = vllm_config.model_config, vllm_config.cache_config, vllm_config.parallel_config
    speculative = vllm_config.speculative_config
    method = None if speculative is None else speculative.method
    return [
        (model.dtype != torch.bfloat16, f"a model in {model.dtype}, it computes in bfloat16 (--dtype bfloat16)"),
        (
            cache.cache_dtype not in CACHE_DTYPES,
            f"--kv-cache-dtype {cache.cache_dtype}; it has {', '.join(CACHE_DTYPES)}",
        ),
        (
            bool(cache.kv_cache_dtype_skip_layers) and is_fp8(cache.cache_dtype),
            # vLLM clears their blocks by a layout of keys and values that is not ours.
            "--kv-cache-dtype-skip-layers with an FP8 cache, which makes caches of several types",
        ),
        (model.is_hybrid, "layers that keep another state than keys and values"),
        (
            vllm_config.kv_transfer_config is not None,
            "a KV connector: it would read the cache by a layout that is not ours",
        ),
        (
            method is not None and method not in SPECULATIVE_METHODS,
            f"speculative decoding by {method}, whose layers have no scales in this checkpoint; "
            f"it has {' and '.join(SPECULATIVE_METHODS)}",
        ),
        (
            model.use_mla and vllm_config.lora_config is not None,
            "LoRA on MLA, whose attention has its own copy of a projection",
        ),
        (parallel.decode_context_parallel_size > 1, "decode context parallelism"),
        (parallel.prefill_context_parallel_size > 1, "prefill context parallelism"),
        (parallel.pipeline_parallel_size > 1, "pipeline parallelism, which is not tested"),
        (
            f"+{ROPE}" in vllm_config.compilation_config.custom_ops,
            f"custom_ops with +{ROPE}: vLLM's CPU kernel is wrong for interleaved rotary embedding",
        ),
    ]


def _set_rope(vllm_config: VllmConfig) -> None:
    """Turns vLLM's CPU kernel off, which is wrong where rotary embedding is interleaved and has several heads.

    The classes of `gaudi_kv.vllm.rope` use it where it is right; without them torch does all.
    """
    custom_ops = vllm_config.compilation_config.custom_ops
    if "none" not in custom_ops and f"-{ROPE}" not in custom_ops:
        custom_ops.append(f"-{ROPE}")
