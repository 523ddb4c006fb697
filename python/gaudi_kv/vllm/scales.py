"""The scales of a served model, from its checkpoint.

vLLM's model classes rename scale tensors in ways of their own and leave out what they do not know, so nothing of theirs
is used: the model's files are inspected again, as `gaudi-kv inspect` does it.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any, cast

from vllm.config import VllmConfig
from vllm.logger import init_logger
from vllm.model_executor.models.utils import extract_layer_index

from gaudi_kv._errors import ModelError, ScaleError
from gaudi_kv._inspect import Inspection, inspect
from gaudi_kv._scales import LayerScales, Scale
from gaudi_kv.vllm.settings import Settings

__all__ = ["check_scales", "checkpoint_cache_dtype", "fp8_inspection", "layer_scales", "model_folder"]

logger = init_logger(f"vllm.{__name__}")


def model_folder(vllm_config: VllmConfig) -> str:
    """The folder with the model's files; those of a model hub are fetched, as vLLM does it, where they are not here."""
    model = cast("str", vllm_config.model_config.model)
    if os.path.isdir(model):
        return model
    from huggingface_hub import snapshot_download

    return snapshot_download(
        model,
        revision=vllm_config.model_config.revision,
        cache_dir=vllm_config.load_config.download_dir,
        allow_patterns=["*.json", "*.safetensors"],
    )


def checkpoint_cache_dtype(vllm_config: VllmConfig) -> str:
    """`fp8` or `bf16`, whichever the checkpoint declares.

    Raises `ModelError` where its files cannot be read.
    """
    settings = Settings.from_environment()
    return inspect(model_folder(vllm_config), device=settings.generation).kv_cache_dtype


def fp8_inspection(folder: str, **options: Any) -> Inspection:
    """What a model's scales are with an FP8 cache, by `inspect` with these options. Logs warnings and the decision.

    Raises `ModelError` where the files cannot be read or have errors: then there is no FP8 cache for the model.
    """
    found = inspect(folder, kv_cache_dtype="fp8", **options)
    for warning in found.warnings:
        logger.warning("%s: %s", warning["code"], warning["message"])
    if found.errors:
        reasons = "; ".join(f"{error['code']}: {error['message']}" for error in found.errors)
        raise ModelError(f"{folder} is not served with an FP8 cache: {reasons}")
    adjustment = found["scale_adjustment"]
    done = "adjusted" if adjustment["enabled"] else "not adjusted"
    logger.info("KV scales of %s are %s (%s)", folder, done, adjustment["reason"])
    return found


def check_scales(vllm_config: VllmConfig) -> None:
    """Looks for errors of a model that is to have an FP8 cache, before it is loaded.

    Raises `ModelError` where its files cannot be read or have errors, `OptionError` where it does not fit its ranks.
    """
    _inspection(vllm_config, (vllm_config.parallel_config.tensor_parallel_size, 0))


def layer_scales(vllm_config: VllmConfig, layer_name: str) -> LayerScales:
    """The scales that a layer with an FP8 cache runs with on this rank.

    Raises `ModelError` where the model's files cannot be read or have errors, `ScaleError` where the layer has no
    scales.
    """
    from vllm.distributed import get_tensor_model_parallel_rank, get_tensor_model_parallel_world_size

    ranks = get_tensor_model_parallel_world_size(), get_tensor_model_parallel_rank()
    found = _inspection(vllm_config, ranks)
    layer = extract_layer_index(layer_name)
    try:
        scales = found.layer_scales(layer)
    except KeyError as error:
        known = [report["layer"] for report in found.layers]
        raise ScaleError(f"{layer_name}: the checkpoint has no cache of layer {layer}, but of {known}") from error
    k, v, q = _show(scales.k), _show(scales.v) if scales.v else "the same", _show(scales.q)
    logger.info("%s, in and out: k %s; v %s; q %s", layer_name, k, v, q)
    return scales


def _show(scale: Scale | None) -> Any:
    return "dynamic" if scale is None else f"x {scale.quant}, x {scale.dequant}"


def _inspection(vllm_config: VllmConfig, ranks: tuple[int, int]) -> Inspection:
    folder = model_folder(vllm_config)
    override = os.environ.get("VLLM_SCALE_ADJUSTMENT")
    return _remembered(folder, _changes(folder), override, ranks, Settings.from_environment())


def _changes(folder: str) -> tuple[tuple[str, int], ...]:
    """When each file of a folder was changed last."""
    files = [entry for entry in os.scandir(folder) if entry.is_file()]
    return tuple(sorted((file.name, file.stat().st_mtime_ns) for file in files))


@cache
def _remembered(
    folder: str, changes: object, override: str | None, ranks: tuple[int, int], settings: Settings
) -> Inspection:
    """All layers of a rank have one inspection, for as long as nothing that it depends on changes."""
    del changes, override
    return fp8_inspection(
        folder,
        device=settings.generation,
        mla_scale=settings.mla_scale,
        q_missing=settings.q_missing,
        tensor_parallel=ranks,
    )
