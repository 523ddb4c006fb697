"""The plugin in the real vLLM 0.32.0, which makes, loads and serves a model on the CPU."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from served import DATA, altered, expected, torch
from test_gaudi_scales import f32, numbers

HERE = Path(__file__).resolve().parent

pytestmark = pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="needs vLLM 0.32.0 for the CPU")


def serve(folder: Path, kv_cache_dtype: str) -> dict[str, Any]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GAUDI_KV_", "VLLM_"))}
    quiet = {"OMP_NUM_THREADS": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind", "VLLM_NO_USAGE_STATS": "1"}
    paths = (HERE / "real_vllm.py", folder, DATA / "tiny-mla")
    command = [sys.executable, *map(str, paths), kv_cache_dtype]
    done = subprocess.run(
        command, env=kept | quiet | {"HF_HUB_OFFLINE": "1"}, capture_output=True, text=True, timeout=1800, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    assert len(lines) == 1, done.stdout[-2000:] + done.stderr[-6000:]
    found: dict[str, Any] = json.loads(lines[0].removeprefix("FOUND "))
    assert found["text"]
    return found


def as_native_fp8(name: str, into: Path) -> Path:
    """A fixture with bf16 weights, said to be native fp8: vLLM's CPU build loads no FP8 weights."""
    projections = ("q", "k", "v", "o", "gate", "up", "down", "kv_b")
    linear = [f"{name}_proj" for name in projections] + ["kv_a_proj_with_mqa", "q_a_proj", "q_b_proj"]
    blocks = [f"model.layers.{layer}.{block}" for layer in range(3) for block in ("self_attn", "mlp")]

    def change(config: Any) -> None:
        ignored = [f"{block}.{name}" for block in blocks for name in linear] + ["lm_head"]
        config["quantization_config"] = {
            "quant_method": "fp8",
            "activation_scheme": "dynamic",
            "ignored_layers": ignored,
        }

    return altered(name, into, change)


@pytest.mark.parametrize("name", ["llmc-gqa-kv", "llmc-mla-kv"])
def test_layers_of_a_served_model_have_the_scales_of_its_inspection(name: str, tmp_path: Path) -> None:
    found = serve(as_native_fp8(name, tmp_path / "model"), "fp8")
    assert found["methods"] == ["gaudi_kv.vllm_gaudi.method"] * 3
    for report, layer in zip(expected(name, "gaudi2")["layers"], found["numbers"], strict=True):
        wanted = numbers(report)
        assert layer.keys() == wanted.keys()
        for attribute, value in wanted.items():
            assert torch.equal(f32(layer[attribute]).flatten(), f32(value).flatten()), attribute


def test_a_bf16_cache_of_a_served_model_stays_untouched() -> None:
    found = serve(DATA / "llmc-gqa-kv", "bfloat16")
    assert found["numbers"] == [{}] * 3
