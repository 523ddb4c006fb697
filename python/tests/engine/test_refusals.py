"""What the platform refuses, and what it decides on."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from engines import DATA, environment, needs_vllm

pytestmark = needs_vllm

GQA, MLA = str(DATA / "tiny-gqa"), str(DATA / "tiny-mla")
GPTJ = "custom_ops with +rotary_embedding"
CASES: list[tuple[dict[str, Any], str]] = [
    ({"model": GQA, "kv_cache_dtype": "fp8_e5m2"}, "--kv-cache-dtype fp8_e5m2; it has auto, bfloat16, fp8"),
    ({"model": GQA, "dtype": "float32"}, "a model in torch.float32"),
    ({"model": GQA, "kv_cache_dtype": "fp8", "kv_cache_dtype_skip_layers": ["0"]}, "--kv-cache-dtype-skip-layers"),
    ({"model": MLA, "kv_cache_dtype": "fp8", "kv_cache_dtype_skip_layers": ["0"]}, "--kv-cache-dtype-skip-layers"),
    ({"model": GQA, "pipeline_parallel_size": 2}, "pipeline parallelism"),
    ({"model": MLA, "enable_lora": True}, "LoRA on MLA"),
    (
        {"model": GQA, "speculative_config": {"method": "draft_model", "model": GQA, "num_speculative_tokens": 2}},
        "speculative decoding by draft_model",
    ),
    (
        {"model": GQA, "kv_transfer_config": {"kv_connector": "ExampleConnector", "kv_role": "kv_both"}},
        "a KV connector",
    ),
    ({"model": MLA, "compilation_config": {"custom_ops": ["+rotary_embedding"]}}, GPTJ),
    ({"model": MLA}, "accepted with auto, ['all', '-rotary_embedding']"),
    ({"model": str(DATA / "llmc-mla-kv")}, "accepted with fp8, ['all', '-rotary_embedding']"),
    ({"model": str(DATA / "llmc-mla-kv"), "kv_cache_dtype": "bfloat16"}, "accepted with bfloat16"),
    ({"model": MLA, "kv_cache_dtype": "fp8_inc"}, "accepted with fp8_inc"),
]


def ask(cases: list[dict[str, Any]], **variables: str) -> list[str]:
    """What vLLM says of cases, in one process with an environment."""
    given = [{"enforce_eager": True, "max_model_len": 256, "tokenizer": MLA} | case for case in cases]
    command = [sys.executable, str(Path(__file__).parent / "refusals.py"), json.dumps(given)]
    done = subprocess.run(
        command, env=environment(**variables), capture_output=True, text=True, timeout=600, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("ANSWERED ")]
    assert len(lines) == len(cases), done.stderr[-4000:]
    return [json.loads(line.removeprefix("ANSWERED ")) for line in lines]


@pytest.fixture(scope="module")
def answers() -> list[str]:
    return ask([case for case, _ in CASES], GAUDI_KV_EMULATE="gaudi2")


@pytest.mark.parametrize("number", range(len(CASES)))
def test_the_answer_is(answers: list[str], number: int) -> None:
    assert CASES[number][1] in answers[number]


@pytest.mark.parametrize("name", ["llmc-gqa-kv", "llmc-mla-kv"])
def test_a_model_with_errors_is_refused_before_it_is_loaded(name: str, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "model"
    shutil.copytree(DATA / name, folder)
    tensors = load_file(folder / "model.safetensors")
    tensors["model.layers.1.self_attn.k_scale"].fill_(float("nan"))
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    cases = [{"model": str(folder), "kv_cache_dtype": cache_dtype} for cache_dtype in ("auto", "fp8", "bfloat16")]
    *refused, accepted = ask(cases, GAUDI_KV_EMULATE="gaudi2")
    for answer in refused:
        assert "is not served with an FP8 cache: " in answer and "layers.1.self_attn.k_scale" in answer
    assert accepted.startswith("accepted with bfloat16")


def test_an_emulation_that_vllm_passes_over_is_an_error() -> None:
    (answer,) = ask([{"model": GQA}], GAUDI_KV_EMULATE="gaudi2", VLLM_TARGET_DEVICE="cpu")
    assert answer.startswith("OptionError: GAUDI_KV_EMULATE is 'gaudi2', but vLLM has taken its CpuPlatform")


def test_without_an_emulation_vllm_is_as_it_was() -> None:
    (answer,) = ask([{"model": GQA, "dtype": "float32"}], VLLM_TARGET_DEVICE="cpu")
    assert answer.startswith("accepted with auto")


@pytest.mark.parametrize(
    ("name", "value"), [("GAUDI_KV_EMULATE", "gaudi1"), ("GAUDI_KV_MODE", "slow"), ("GAUDI_KV_MLA_SCALE", "v-only")]
)
def test_a_wrong_setting_is_no_other_platform(name: str, value: str) -> None:
    code = "from vllm.platforms import current_platform; print(type(current_platform).__name__)"
    variables = environment(**({"GAUDI_KV_EMULATE": "gaudi2"} | {name: value}))
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"OptionError: {name} is '{value}'" in done.stderr


@pytest.mark.parametrize(("variables", "expected"), [({}, "CpuPlatform"), ({"GAUDI_KV_EMULATE": "gaudi3"}, "Emulated")])
def test_the_platform_is(variables: dict[str, str], expected: str) -> None:
    code = "from vllm.platforms import current_platform; print(type(current_platform).__name__)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(**variables), capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1].startswith(expected)
