"""Tokens per second of the emulated platform (`fast`, FP8) beside those of vLLM's own CPU backend; no test.

`speed.py`: each engine is a process of its own, and the two take turns, on one thread each: vLLM's own backend on
torch's, ours on that and with `RAYON_NUM_THREADS=1`. Prefill: 16 prompts of 240 tokens, one new token each. Decode: 16
prompts of 8 tokens, 128 new tokens each. After one that is not counted a process computes eight; what is printed is the
best of all, with the medians of the turns' best ones.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[2] / "tests" / "data"
SEQUENCES, ROUNDS, TURNS = 16, 8, 5
THREADS = {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
WORK = {"prefill": (240, 1), "decode": (8, 128)}


def run(model: str, options: dict[str, Any]) -> dict[str, float]:
    from vllm import LLM, SamplingParams

    llm = LLM(
        model,
        tokenizer=str(DATA / "tiny-mla"),
        max_model_len=256,
        max_num_seqs=SEQUENCES,
        max_num_batched_tokens=4096,
        enable_prefix_caching=False,
        enforce_eager=True,
        kv_cache_memory_bytes=64 << 20,
        **options,
    )
    speeds = {}
    for name, (old, new) in WORK.items():
        prompts = [{"prompt_token_ids": [2 + (7 * i + n) % 1000 for n in range(old)]} for i in range(SEQUENCES)]
        parameters = SamplingParams(max_tokens=new, ignore_eos=True, temperature=0)
        seconds = []
        for _ in range(ROUNDS + 1):
            start = time.perf_counter()
            llm.generate(prompts, parameters, use_tqdm=False)
            seconds.append(time.perf_counter() - start)
        tokens = SEQUENCES * (old if name == "prefill" else new)
        speeds[name] = tokens / min(seconds[1:])
    return speeds


def main() -> None:
    if len(sys.argv) > 1:
        print("MEASURED", json.dumps(run(sys.argv[1], json.loads(sys.argv[2]))))
        return
    for kind in ("gqa", "mla"):
        own_options = {"compilation_config": {"custom_ops": ["none"]}} if kind == "mla" else {}
        sides = {
            "own bf16": (f"tiny-{kind}", own_options, {}),
            "gaudi2 fp8": (f"llmc-{kind}-kv", {"kv_cache_dtype": "fp8"}, {"GAUDI_KV_EMULATE": "gaudi2"}),
        }
        speeds: dict[str, dict[str, list[float]]] = {side: {name: [] for name in WORK} for side in sides}
        for _ in range(TURNS):
            for side, (model, options, variables) in sides.items():
                environment = os.environ | THREADS | {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"} | variables
                command = [sys.executable, __file__, str(DATA / model), json.dumps(options)]
                done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                (line,) = (line for line in done.stdout.splitlines() if line.startswith("MEASURED "))
                for name, speed in json.loads(line.removeprefix("MEASURED ")).items():
                    speeds[side][name].append(speed)
        for name in WORK:
            own, ours = (max(speeds[side][name]) for side in sides)
            middle_own, middle = (statistics.median(speeds[side][name]) for side in sides)
            print(
                f"tiny-{kind} {name}: own {own:.0f}, emulated {ours:.0f} tokens/s, {ours / own:.2f};"
                f" medians {middle_own:.0f}, {middle:.0f}, {middle / middle_own:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
