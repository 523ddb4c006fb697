"""Runs vLLM over a model and prints what it measured as JSON; a process of its own for each engine.

`measure.py MODEL [key=value ..]`: the keys are arguments of `vllm.LLM`. Perplexity is of the first 2,048 tokens of the
held-out text in windows of 128, all windows at once, with `chunk` new tokens of each in a step; the keys and values of
earlier ones are read from the cache.
"""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path
from typing import Any

os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
DATA = Path(__file__).resolve().parents[3] / "tests" / "data"
TOKENS, WINDOW = 2048, 128
PROMPT = "And the LORD said unto"


def engine(model: str, chunk: int, **options: Any) -> Any:
    from vllm import LLM

    windows = TOKENS // WINDOW
    return LLM(
        model,
        tokenizer=str(DATA / "tiny-mla"),
        max_model_len=256,
        max_num_seqs=windows,
        max_num_batched_tokens=max(256, windows * chunk),
        long_prefill_token_threshold=chunk,
        enable_prefix_caching=options.pop("enable_prefix_caching", False),
        enforce_eager=True,
        kv_cache_memory_bytes=64 << 20,
        disable_log_stats=True,
        seed=0,
        **options,
    )


def perplexity(llm: Any) -> float:
    from tokenizers import Tokenizer
    from vllm import SamplingParams

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


def text(llm: Any, max_tokens: int = 32) -> list[int]:
    from vllm import SamplingParams

    (output,) = llm.generate([PROMPT], SamplingParams(max_tokens=max_tokens, temperature=0), use_tqdm=False)
    return list(output.outputs[0].token_ids)


def value(written: str) -> Any:
    try:
        return json.loads(written)
    except json.JSONDecodeError:
        return written


def main() -> None:
    model, *pairs = sys.argv[1:]
    options = {key: value(written) for key, written in (pair.split("=", 1) for pair in pairs)}
    chunk = options.pop("chunk", 16)
    llm = engine(model, chunk, **options)
    result = {"perplexity": perplexity(llm), "text": text(llm)}
    print("MEASURED", json.dumps(result))


if __name__ == "__main__":
    main()
