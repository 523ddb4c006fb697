"""Rotary embedding: vLLM's kernel where it is right, torch elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from engines import environment, needs_vllm

pytestmark = needs_vllm

# An embedding of each style over four heads, by itself and by torch, with the kernel turned off by vLLM's name for it.
SCRIPT = """
import json, torch
from vllm.config import CompilationConfig, VllmConfig, set_current_vllm_config
from vllm.plugins import load_general_plugins
from vllm.platforms import current_platform
load_general_plugins()
from gaudi_kv import _plugin
_plugin.register()
current_platform.import_kernels()
from vllm.model_executor.layers.rotary_embedding import get_rope
config = VllmConfig(compilation_config=CompilationConfig(custom_ops=["all", "-rotary_embedding"]))
found = {}
with set_current_vllm_config(config):
    for neox in (True, False):
        for kind in ("default", "llama3"):
            extra = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64}
            parameters = {"rope_type": kind, "rope_theta": 10000.0} | (extra if kind == "llama3" else {})
            rope = get_rope(32, 128, neox, parameters, dtype=torch.bfloat16)
            query, key = torch.randn(7, 4 * 32).bfloat16(), torch.randn(7, 32).bfloat16()
            positions = torch.arange(7) * 9
            expected = rope.forward_native(positions, query.clone(), key.clone())
            given = query.clone(), key.clone()
            out = rope(positions, *given)
            found[f"{kind} {neox}"] = {
                "class": type(rope).__name__,
                "distance": max(float((a.float() - b.float()).abs().max()) for a, b in zip(out, expected)),
                "in place": out[0].data_ptr() == given[0].data_ptr(),
            }
print("FOUND", json.dumps(found))
"""


def run(**changes: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment(**changes), capture_output=True, text=True, timeout=600, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    assert lines, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(lines[0].removeprefix("FOUND "))
    return found


@pytest.fixture(scope="module")
def emulated() -> dict[str, Any]:
    return run(GAUDI_KV_EMULATE="gaudi2")


@pytest.mark.parametrize("kind", ["default", "llama3"])
def test_the_kernel_computes_what_is_not_interleaved(emulated: dict[str, Any], kind: str) -> None:
    found = emulated[f"{kind} True"]
    # The kernel writes where it reads.
    assert found["in place"]
    assert found["class"].startswith("Gaudi")
    # A step of bfloat16 at 4.
    assert found["distance"] <= 1 / 32


@pytest.mark.parametrize("kind", ["default", "llama3"])
def test_torch_computes_what_is_interleaved(emulated: dict[str, Any], kind: str) -> None:
    found = emulated[f"{kind} False"]
    assert not found["in place"]
    assert found["distance"] == 0.0


def test_without_an_emulation_vllm_is_as_it_was() -> None:
    assert not any(found["class"].startswith("Gaudi") for found in run().values())
