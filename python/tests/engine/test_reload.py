"""Weights that are loaded again are the ones that are used."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from engines import DATA, environment, needs_vllm

pytestmark = needs_vllm

# MLA attention keeps a copy of `kv_b_proj`. Zeros in it make every output of attention zero.
SCRIPT = """
import json, os, sys
os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
import torch
from vllm import LLM, SamplingParams
from vllm.model_executor.layers.attention.mla_attention import MLAAttention

def answer():
    prompt, parameters = {"prompt_token_ids": list(range(2, 40))}, SamplingParams(max_tokens=8, temperature=0)
    (output,) = llm.generate([prompt], parameters, use_tqdm=False)
    return list(output.outputs[0].token_ids)

def reload(factor):
    def change(model):
        for layer in model.modules():
            if isinstance(layer, MLAAttention):
                layer.kv_b_proj.weight.data.mul_(factor)
                layer.process_weights_after_loading(torch.bfloat16)
    llm.apply_model(change)

llm = LLM(
    sys.argv[1], tokenizer=sys.argv[2], max_model_len=128, enforce_eager=True, kv_cache_memory_bytes=32 << 20,
    enable_prefix_caching=False,
)
answers = [answer()]
for factor in (2.0, 0.5, 0.0):
    reload(factor)
    answers.append(answer())
# From the files, as vLLM itself does it.
llm.collective_rpc("reload_weights")
answers.append(answer())
print("ANSWERS", json.dumps(answers))
"""


def test_attention_uses_the_weights_of_the_last_load() -> None:
    command = [sys.executable, "-c", SCRIPT, str(DATA / "llmc-mla-kv"), str(DATA / "tiny-mla")]
    changes = {"GAUDI_KV_EMULATE": "gaudi2", "VLLM_ALLOW_INSECURE_SERIALIZATION": "1"}
    done = subprocess.run(
        command, env=environment(**changes), capture_output=True, text=True, timeout=1200, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("ANSWERS ")]
    assert lines, done.stderr[-4000:]
    answers: list[Any] = json.loads(lines[0].removeprefix("ANSWERS "))
    first, doubled, halved, without, reloaded = answers
    assert halved == first
    assert doubled != first
    assert without not in (first, doubled)
    assert reloaded == first
