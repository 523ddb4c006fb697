"""What vLLM does around attention, with an FP8 cache: the same greedy text by every way."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
from engines import DATA, measure, needs_vllm

pytestmark = needs_vllm

PROMPT = "And the LORD said unto Moses, Speak unto the children of Israel, and say unto them, I am the LORD your God. "
ROUNDS = [[PROMPT, "In the beginning", "And it came to pass", "Blessed is the man that", PROMPT + "And", "Then"]]
ALONE = [[prompt] for prompt in ROUNDS[0]]

CASES: dict[str, dict[str, Any]] = {
    "alone": {"rounds": ALONE, "options": {"max_num_seqs": 1}},
    "together": {},
    "two at a time": {"options": {"max_num_seqs": 2}},
    "small blocks": {"options": {"block_size": 16}},
    "blocks of 32": {"options": {"block_size": 32}},
    "blocks of 64": {"options": {"block_size": 64}},
    "blocks of 256": {"options": {"block_size": 256}},
    "prefix caching": {"rounds": ROUNDS * 2, "options": {"enable_prefix_caching": True, "block_size": 16}},
    "chunked prefill": {"options": {"long_prefill_token_threshold": 16}},
    "fp8": {"options": {"kv_cache_dtype": "fp8"}},
    "fp8_e4m3": {"options": {"kv_cache_dtype": "fp8_e4m3"}},
    "fp8_inc": {"options": {"kv_cache_dtype": "fp8_inc"}},
    "exact": {"environment": {"GAUDI_KV_MODE": "exact"}},
    # Behind the others: once numba is loaded, vLLM starts no second engine in the same process, only in workers.
    "drafts from the text": {
        "options": {
            "speculative_config": {
                "method": "ngram",
                "num_speculative_tokens": 3,
                "prompt_lookup_min": 1,
                "prompt_lookup_max": 3,
            }
        }
    },
    "two ranks": {"options": {"tensor_parallel_size": 2}},
}


# vLLM finds n-grams with it.
DRAFTS = "drafts from the text"
has_numba = importlib.util.find_spec("numba") is not None
run = {name: case for name, case in CASES.items() if name != DRAFTS or has_numba}


@pytest.fixture(scope="module", params=["gqa", "mla"])
def measured(request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    cases = [
        {"model": str(DATA / f"llmc-{request.param}-kv"), "chunks": [], "rounds": ROUNDS} | case
        for case in run.values()
    ]
    return dict(zip(run, measure(cases, GAUDI_KV_EMULATE="gaudi2"), strict=True))


@pytest.mark.parametrize("name", [name for name in CASES if name != "alone"])
def test_the_text_is_the_same(measured: dict[str, dict[str, Any]], name: str) -> None:
    if name not in run:
        pytest.skip("needs numba")
    expected = [text for (text,) in measured["alone"]["rounds"]]
    for texts in measured[name]["rounds"]:
        agreeing = sum(text == other for text, other in zip(texts, expected, strict=True))
        # Sums in another order may turn a near tie, and a text differs from there on.
        assert agreeing >= len(expected) - 1, name


def test_prefixes_are_taken_from_the_cache(measured: dict[str, dict[str, Any]]) -> None:
    assert measured["prefix caching"]["cached_tokens"] >= 16
