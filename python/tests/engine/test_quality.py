"""Perplexity and greedy text, read through the cache by the real engine."""

from __future__ import annotations

from typing import Any

import pytest
from engines import DATA, measure, needs_vllm
from variants import scaled

pytestmark = needs_vllm

KINDS = ("gqa", "mla")
GENERATIONS = ("gaudi2", "gaudi3")
READS = ("16", "1")
# What the model's keys, values and latents are multiplied by, as a power of two.
POWERS = (0, -9, 9)

Row = tuple[str, int, str]
Table = dict[Row, dict[str, Any]]


@pytest.fixture(scope="session", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def table(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Table:
    """What was measured of a kind of model by generation, power and cache."""
    folder = tmp_path_factory.mktemp(kind)
    cases, rows = [], []
    for power in POWERS:
        plain, with_scales = DATA / f"tiny-{kind}", DATA / f"llmc-{kind}-kv"
        if power != 0:
            plain = scaled(plain, folder / f"plain{power}", power)
            with_scales = scaled(with_scales, folder / f"scales{power}", power)
        for generation in GENERATIONS:
            for cache, model, cache_dtype, q_missing in (
                ("bf16", plain, "bfloat16", "dynamic"),
                ("loaded", with_scales, "auto", "dynamic"),
                ("one", plain, "fp8", "one"),
            ):
                variables = {"GAUDI_KV_EMULATE": generation, "GAUDI_KV_Q_MISSING": q_missing}
                options = {"kv_cache_dtype": cache_dtype}
                cases.append({"model": str(model), "environment": variables, "options": options})
                rows.append((generation, power, cache))
    return dict(zip(rows, measure(cases, GAUDI_KV_EMULATE="gaudi2"), strict=True))


@pytest.fixture(scope="session")
def fp8_prefill(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Table:
    """What was measured where prefills are quantized too."""
    folder = tmp_path_factory.mktemp(f"{kind}-prefill")
    plain, with_scales = DATA / f"tiny-{kind}", DATA / f"llmc-{kind}-kv"
    models = {(0, "loaded"): (with_scales, "dynamic")} | {
        (power, "one"): (scaled(plain, folder / f"plain{power}", power), "one") for power in (-9, 9)
    }
    cases, rows = [], []
    for generation in GENERATIONS:
        for (power, cache), (model, q_missing) in models.items():
            variables = {"GAUDI_KV_EMULATE": generation, "GAUDI_KV_Q_MISSING": q_missing}
            options = {"kv_cache_dtype": "fp8"}
            cases.append({"model": str(model), "environment": variables, "options": options, "chunks": [16]})
            rows.append((generation, power, cache))
    found = measure(cases, GAUDI_KV_EMULATE="gaudi2", GAUDI_KV_PREFILL="fp8")
    return dict(zip(rows, found, strict=True))


@pytest.fixture(scope="session")
def own(kind: str) -> dict[str, Any]:
    """What vLLM's own CPU backend measures, which reads no cache of MLA in chunks."""
    options: dict[str, Any] = {"kv_cache_dtype": "auto"}
    if kind == "mla":
        options["compilation_config"] = {"custom_ops": ["none"]}
        options["max_num_batched_tokens"] = 4096
    chunks = [16] if kind == "gqa" else [128]
    return measure([{"model": str(DATA / f"tiny-{kind}"), "options": options, "chunks": chunks}])[0]


def test_bf16_is_as_vllm_itself(table: Table, own: dict[str, Any], kind: str) -> None:
    (expected,) = own["perplexity"].values()
    # Then `tiny-mla` has two tokens whose logarithms of probability are 0.005 apart in float32; rounding decides.
    alike = {"gqa": 32, "mla": 14}[kind]
    for generation in GENERATIONS:
        for power in POWERS:
            row = table[generation, power, "bf16"]
            assert [row["perplexity"][read] for read in READS] == pytest.approx([expected] * 2, abs=0.02)
            assert row["text"][:alike] == own["text"][:alike]


def test_loaded_scales_are_as_good_as_bf16(table: Table) -> None:
    for generation in GENERATIONS:
        for power in POWERS:
            for read in READS:
                best = table[generation, power, "bf16"]["perplexity"][read]
                assert table[generation, power, "loaded"]["perplexity"][read] == pytest.approx(best, rel=0.01)


def test_loaded_scales_follow_the_values(table: Table) -> None:
    """Scales that are powers of two apart give the same codes, so nothing at all changes."""
    for generation in GENERATIONS:
        for power in POWERS:
            row, base = table[generation, power, "loaded"], table[generation, 0, "loaded"]
            assert row["perplexity"] == pytest.approx(base["perplexity"], rel=1e-6)
            assert row["text"] == base["text"]


def test_scales_of_one_are_worse(table: Table, kind: str) -> None:
    """Token by token, where every query reads codes; in chunks a query sees the newest keys as they are."""
    times = {-9: 1.03, 9: {"mla": 2.0, "gqa": 1.4}[kind]}
    for generation in GENERATIONS:
        for power, worse in times.items():
            best, one = (table[generation, power, cache]["perplexity"] for cache in ("bf16", "one"))
            assert one["1"] >= worse * best["1"], (generation, power)
            assert one["16"] > 1.005 * best["16"], (generation, power)


def test_fp8_prefills_show_it_in_chunks(table: Table, fp8_prefill: Table, kind: str) -> None:
    # An FP8 prefill of MLA has no scales but 1.0 for its expanded operands, so a Gaudi3, which reaches further, loses less.
    times = {"gqa": {"gaudi2": 1.4, "gaudi3": 1.4}, "mla": {"gaudi2": 2.0, "gaudi3": 1.7}}[kind]
    for generation in GENERATIONS:
        best = table[generation, 0, "bf16"]["perplexity"]["16"]
        assert fp8_prefill[generation, 0, "loaded"]["perplexity"]["16"] == pytest.approx(best, rel=0.01)
        for power, worse in ((-9, 1.03), (9, times[generation])):
            one = fp8_prefill[generation, power, "one"]["perplexity"]["16"]
            assert one >= worse * best, (generation, power)
            if kind == "gqa":
                # Every way through the cache gives what the decode does, up to the order of `fast` sums.
                assert one == pytest.approx(table[generation, power, "one"]["perplexity"]["1"], rel=1e-4)
