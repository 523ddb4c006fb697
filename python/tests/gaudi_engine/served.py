"""Models loaded by the stand-ins, with the plugin and without it."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from standin.loading import module, standing_in  # noqa: E402

REPOSITORY = Path(__file__).resolve().parents[3]
DATA = REPOSITORY / "tests" / "data"
EXPECTED = REPOSITORY / "tests" / "expected"

DEVICES = ("gaudi2", "gaudi3")
FIXTURES = sorted(path.name for path in DATA.iterdir() if (path / "config.json").is_file())


def expected(name: str, device: str) -> dict[str, Any]:
    """What the oracle says of a fixture, which has not been made by this package."""
    report: dict[str, Any] = json.loads((EXPECTED / f"{name}.{device}.json").read_text())
    return report


def declares_fp8(name: str) -> bool:
    return bool(expected(name, "gaudi2")["kv_cache_dtype"] == "fp8")


FP8_FIXTURES = [name for name in FIXTURES if declares_fp8(name)]


def plugin() -> Any:
    """The function that the entry point names."""
    (entry,) = (entry for entry in entry_points(group="vllm.general_plugins") if entry.name == "gaudi_kv")
    return entry.load()


# The newest release of vllm-gaudi that the stand-ins were written after.
NEWEST = "0.27.0"


@contextmanager
def installed(version: str | None) -> Iterator[None]:
    """A distribution of vllm-gaudi with its version alone."""
    if version is None:
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        info = Path(folder) / f"vllm_gaudi-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm_gaudi\nVersion: {version}\n")
        with mock.patch.object(sys, "path", [folder, *sys.path]):
            yield


@contextmanager
def engine(
    device: str,
    *,
    with_plugin: bool = True,
    is_first: bool = False,
    ranks: tuple[int, int] = (1, 0),
    version: str | None = NEWEST,
    **environment: Any,
) -> Iterator[None]:
    """The stand-ins on a device, in an environment that says nothing of this package but what is given.

    `is_first` is whether the plugin comes before vllm-gaudi's own. `version` is what is installed of vllm-gaudi's, None
    where its distribution is not there.
    """
    ours = ("GAUDI_KV_", "VLLM_SCALE", "QUANT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    with mock.patch.dict(os.environ, kept | environment, clear=True), standing_in(), installed(version):
        ops, platforms, distributed = (
            module(name) for name in ("vllm_gaudi.extension.ops", "vllm.platforms", "vllm.distributed")
        )
        ops.is_hpu_gaudi2, ops.is_hpu_gaudi3 = device == "gaudi2", device == "gaudi3"
        platforms.current_platform = module("vllm_gaudi.platform").HpuPlatform()
        distributed.SIZE, distributed.RANK = ranks
        plugins = [module("vllm_gaudi").register_ops] + ([plugin()] if with_plugin else [])
        for register in reversed(plugins) if is_first else plugins:
            register()
        yield


CONFIGS = {
    "compressed-tensors": ("vllm_gaudi.ops.hpu_compressed_tensors", "HPUCompressedTensorsConfig"),
    "modelopt": ("vllm_gaudi.ops.hpu_modelopt", "HPUModelOptFp8Config"),
    "fp8": ("vllm.model_executor.layers.quantization.fp8", "Fp8Config"),
    "quark": ("vllm.model_executor.layers.quantization.quark.quark", "QuarkConfig"),
}


def quant_config(model_config: Any) -> Any:
    """The quantization that the model's config names, as vLLM makes it; None where it names none."""
    config = model_config.hf_config.get("quantization_config")
    if config is None:
        return None
    name, attribute = CONFIGS[config["quant_method"]]
    return getattr(module(name), attribute).from_config(config)


def load(
    folder: Path | str, kv_cache_dtype: str = "fp8_inc", skip_layers: list[str] | None = None, **options: Any
) -> Any:
    """A model of a folder, or of a fixture's name, loaded by vLLM's loader."""
    config: Any = module("vllm.config")
    model_config = config.ModelConfig(str(DATA / folder))
    cache = config.CacheConfig(kv_cache_dtype, skip_layers or [])
    vllm_config = config.VllmConfig(model_config, cache, quant_config=quant_config(model_config))
    model = loader().load_model(vllm_config, model_config, **options)
    model.vllm_config = vllm_config
    return model


def loader() -> Any:
    return module("vllm.model_executor.model_loader.base_loader").BaseModelLoader()


def attentions(model: Any) -> dict[int, Any]:
    """The attention layers by their numbers."""
    found = [layer for layer in model.modules() if hasattr(layer, "impl")]
    return {int(layer.layer_name.split(".")[2]): layer for layer in found}


def altered(folder: str, into: Path, change: Any) -> Path:
    """A copy of a fixture with another config."""
    shutil.copytree(DATA / folder, into)
    config = json.loads((into / "config.json").read_text())
    change(config)
    (into / "config.json").write_text(json.dumps(config))
    return into

