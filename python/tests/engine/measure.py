"""Runs vLLM over models and prints what it measured, a line of JSON for each.

`measure.py CASES`: a JSON list of objects with `model`, `environment` (for that one alone), `options` (arguments of
`vllm.LLM`), `chunks` and `rounds` (of prompts that are answered together). Perplexity is of the first 2,048 tokens of
the held-out text in windows of 128, all at once, with so many new tokens of each in a step as `chunks` says; the keys
and values of earlier ones are read from the cache.
"""

from __future__ import annotations

import gc
import json
import math
import os
import sys
from pathlib import Path
from typing import Any
from unittest import mock

os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
DATA = Path(__file__).resolve().parents[3] / "tests" / "data"
TOKENS, WINDOW = 2048, 128
PROMPT = "And the LORD said unto"


def engine(model: str, **options: Any) -> Any:
    from vllm import LLM

    given: dict[str, Any] = {
        "tokenizer": str(DATA / "tiny-mla"),
        "max_model_len": 256,
        "max_num_seqs": TOKENS // WINDOW,
        "max_num_batched_tokens": 512,
        "enable_prefix_caching": False,
        "enforce_eager": True,
        "kv_cache_memory_bytes": 64 << 20,
        "seed": 0,
    }
    return LLM(model, **(given | options))


def perplexity(llm: Any, chunk: int) -> float:
    from tokenizers import Tokenizer
    from vllm import SamplingParams

    llm.llm_engine.engine_core.engine_core.scheduler.scheduler_config.long_prefill_token_threshold = chunk
    tokenizer = Tokenizer.from_file(str(DATA / "tiny-mla" / "tokenizer.json"))
    ids = tokenizer.encode((DATA / "kjv-heldout.txt").read_text()[: TOKENS * 8], add_special_tokens=False).ids[:TOKENS]
    assert len(ids) == TOKENS
    prompts = [{"prompt_token_ids": ids[start : start + WINDOW]} for start in range(0, TOKENS, WINDOW)]
    outputs = llm.generate(prompts, SamplingParams(max_tokens=1, prompt_logprobs=0, temperature=0), use_tqdm=False)
    losses = [
        -entry[token].logprob
        for output in outputs
        for token, entry in zip(output.prompt_token_ids[1:], output.prompt_logprobs[1:], strict=True)
    ]
    return math.exp(sum(losses) / len(losses))


def texts(llm: Any, prompts: list[str]) -> list[list[int]]:
    from vllm import SamplingParams

    outputs = llm.generate(prompts, SamplingParams(max_tokens=32, temperature=0), use_tqdm=False)
    return [list(output.outputs[0].token_ids) for output in outputs]


def cached_tokens(llm: Any, prompt: str) -> int:
    (output,) = llm.generate([prompt], use_tqdm=False)
    return int(output.num_cached_tokens)


def measure(case: dict[str, Any]) -> dict[str, Any]:
    from vllm.distributed import cleanup_dist_env_and_memory

    llm = engine(case["model"], **case.get("options", {}))
    read = {str(chunk): perplexity(llm, chunk) for chunk in case.get("chunks", [16, 1])}
    rounds = [texts(llm, prompts) for prompts in case.get("rounds", [[PROMPT]])]
    result: dict[str, Any] = {"perplexity": read, "rounds": rounds, "text": rounds[0][0]}
    if "enable_prefix_caching" in case.get("options", {}):
        result["cached_tokens"] = cached_tokens(llm, case["rounds"][0][0])
    llm.llm_engine.engine_core.shutdown()
    del llm
    gc.collect()
    cleanup_dist_env_and_memory()
    return result


def main() -> None:
    for case in json.loads(sys.argv[1]):
        with mock.patch.dict(os.environ, case.get("environment", {})):
            result = measure(case)
        print("MEASURED", json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
