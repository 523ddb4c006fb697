"""Attention over caches of both kinds, against float64 and hand computations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gaudi_kv
from gaudi_kv import AttentionOptions, Batch, Device, MhaAttention, MhaCache, MlaAttention, MlaCache, Scale

ONE = Scale(1.0, 1.0)
HEADS, KV_HEADS, DIM, BLOCK = 4, 2, 8, 16
# Sequences of 21, 5 and 40 tokens in blocks that are not in order.
LENS = [21, 5, 40]
TABLE = [[4, 1, 0], [6, 0, 0], [2, 5, 3]]


def halves(rng: np.random.Generator, *shape: int) -> Any:
    """Normal numbers that bfloat16 holds."""
    words = rng.standard_normal(shape).astype(np.float32).view(np.uint32) & 0xFFFF0000
    return words.view(np.float32)


def slots_of(sequence: int) -> list[int]:
    return [TABLE[sequence][t // BLOCK] * BLOCK + t % BLOCK for t in range(LENS[sequence])]


def reference(q: Any, k: Any, v: Any) -> Any:
    """Causal attention in float64; the last query is the last key."""
    group = q.shape[1] // k.shape[1]
    k, v = (np.repeat(x.astype(np.float64), group, axis=1) for x in (k, v))
    scores = np.einsum("qhd,khd->hqk", q.astype(np.float64), k) * DIM**-0.5
    late = np.arange(k.shape[0]) > np.arange(k.shape[0] - q.shape[0], k.shape[0])[:, None]
    scores[:, late] = -np.inf
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("hqk,khd->qhd", p / p.sum(-1, keepdims=True), v)


def assert_close(found: Any, expected: Any, relative: float) -> None:
    error = np.linalg.norm(found - expected) / np.linalg.norm(expected)
    assert error < relative, error


@pytest.fixture(params=["exact", "fast"])
def device(request: pytest.FixtureRequest) -> Device:
    return Device("gaudi2", request.param)


def layer(device: Device, **options: Any) -> MhaAttention:
    options = {"options": AttentionOptions(DIM**-0.5), **options}
    return MhaAttention(device, num_heads=HEADS, num_kv_heads=KV_HEADS, head_dim=DIM, **options)


@pytest.mark.parametrize(("dtype", "relative"), [("bfloat16", 0.01), ("uint8", 0.08)])
def test_decodes_and_prefills_over_lent_planes(kind: Any, device: Device, dtype: str, relative: float) -> None:
    rng = np.random.default_rng(7)
    q, k, v = halves(rng, 66, HEADS, DIM), halves(rng, 66, KV_HEADS, DIM), halves(rng, 66, KV_HEADS, DIM)
    starts = np.cumsum([0, *LENS])
    planes = [kind.empty((7, BLOCK, KV_HEADS, DIM), dtype) for _ in range(2)]
    scale = Scale(50.0, 0.02) if dtype == "uint8" else None
    cache = MhaCache.over(device, *planes, k_scale=scale, v_scale=scale)
    own = MhaCache(
        device,
        num_blocks=7,
        block_size=BLOCK,
        num_kv_heads=KV_HEADS,
        head_dim=DIM,
        kv_cache_dtype="fp8" if dtype == "uint8" else "bf16",
        k_scale=scale,
        v_scale=scale,
    )
    slots = kind.i64(sum((slots_of(sequence) for sequence in range(3)), []))
    for each in (cache, own):
        each.write(kind.bf16(k), kind.bf16(v), slots)
    attention = layer(device)

    # The last token of the first, two of the second, three of the third.
    tokens = [range(20, 21), range(24, 26), range(63, 66)]
    rows = kind.bf16(q[np.concatenate(tokens)])
    batch = Batch(kind.i32([0, 1, 3, 6]), kind.i32(LENS), kind.i32(TABLE))
    assert (batch.num_sequences, batch.num_tokens) == (3, 6)
    found = kind.floats(attention.decode(cache, rows, batch))
    expected = np.concatenate(
        [
            reference(q[list(tokens[s])], k[starts[s] : starts[s + 1]], v[starts[s] : starts[s + 1]])
            for s in range(3)
        ]
    )
    assert_close(found, expected, relative)
    # Where the memory is plays no part, nor does the type of the output.
    np.testing.assert_array_equal(kind.floats(attention.decode(own, rows, batch)), found)
    out = kind.empty((6, HEADS * DIM), "bfloat16")
    address = kind.address(out)
    assert attention.decode(cache, rows, batch, out=out) is out
    assert kind.address(out) == address
    np.testing.assert_array_equal(kind.floats(out).reshape(found.shape), found)

    # A prefill of the last ten tokens of the third, with the first thirty read from the cache.
    chunk = slice(56, 66)
    batch = Batch([0, 10], [40], kind.i64(TABLE[2:]))
    new_q, new_k, new_v = (kind.bf16(x[chunk]) for x in (q, k, v))
    found = kind.floats(attention.prefill(new_q, new_k, new_v, batch, cache=cache))
    assert_close(found, reference(q[chunk], k[26:], v[26:]), relative)
    # Without a cache: all of the second.
    chunk = slice(21, 26)
    new_q, new_k, new_v = (kind.bf16(x[chunk]) for x in (q, k, v))
    found = kind.floats(attention.prefill(new_q, new_k, new_v, Batch([0, 5], [5])))
    assert_close(found, reference(q[chunk], k[chunk], v[chunk]), 0.01)


def test_one_key_gives_its_value(kind: Any, device: Device) -> None:
    # The probability is 1, so the result is the value: its code times `dequant`. 1.1 * 8 = 8.8 is stored as 9.
    key, value = kind.codes(1, 16, 1, 2), kind.codes(1, 16, 1, 2)
    cache = MhaCache.over(device, key, value, k_scale=ONE, v_scale=Scale(8.0, 0.125))
    row = kind.bf16([[[1.1015625, -2.0]]])
    cache.write(row, row, kind.i64([3]))
    # Only the last of four tokens is seen.
    attention = MhaAttention(
        device, num_heads=1, num_kv_heads=1, head_dim=2, options=AttentionOptions(1.0, sliding_window=1)
    )
    out = attention.decode(cache, row, Batch([0, 1], [4], kind.i32([[0]])))
    np.testing.assert_array_equal(kind.floats(out), [[[1.125, -2.0]]])


def test_latents(kind: Any, device: Device) -> None:
    heads, rank, nope, rope, v_dim = 3, 8, 4, 2, 4
    rng = np.random.default_rng(3)
    weight = halves(rng, heads * (nope + v_dim), rank)
    kv_c, k_pe = halves(rng, 20, rank), halves(rng, 20, rope)
    q_nope, q_pe = halves(rng, 20, heads, nope), halves(rng, 20, heads, rope)
    latent = kind.codes(2, 16, rank + rope)
    cache = MlaCache.over(device, latent, kv_lora_rank=rank, k_scale=Scale(40.0, 0.025))
    cache.write(kind.bf16(kv_c), kind.bf16(k_pe), kind.i64([16 + t if t < 16 else t - 16 for t in range(20)]))
    attention = MlaAttention(
        device,
        num_heads=heads,
        kv_lora_rank=rank,
        qk_nope_head_dim=nope,
        qk_rope_head_dim=rope,
        v_head_dim=v_dim,
        kv_b_proj=kind.bf16(weight),
        options=AttentionOptions(DIM**-0.5),
    )
    w = weight.reshape(heads, nope + v_dim, rank).astype(np.float64)
    k = np.concatenate(
        [np.einsum("tr,hdr->thd", kv_c, w[:, :nope]), np.repeat(k_pe[:, None], heads, axis=1)], axis=2
    )
    v = np.einsum("tr,hdr->thd", kv_c, w[:, nope:])
    expected = reference(np.concatenate([q_nope, q_pe], axis=2)[-2:], k, v)
    q = kind.bf16(q_nope[-2:]), kind.bf16(q_pe[-2:])
    batch = Batch([0, 2], [20], kind.i32([[1, 0]]))
    assert_close(kind.floats(attention.decode(cache, *q, batch)), expected, 0.08)
    out = kind.empty((2, heads, v_dim), "bfloat16")
    attention.decode(cache, *q, batch, out=out)
    np.testing.assert_array_equal(kind.floats(out), kind.floats(attention.decode(cache, *q, batch)))
    new = kind.bf16(kv_c[-2:]), kind.bf16(k_pe[-2:])
    assert_close(kind.floats(attention.prefill(*q, *new, batch, cache=cache)), expected, 0.08)


def test_scales_of_the_query_matter(kind: Any, device: Device) -> None:
    key, value = kind.codes(1, 16, KV_HEADS, DIM), kind.codes(1, 16, KV_HEADS, DIM)
    cache = MhaCache.over(device, key, value, k_scale=ONE, v_scale=ONE)
    rng = np.random.default_rng(5)
    rows = kind.bf16(halves(rng, 4, KV_HEADS, DIM))
    cache.write(rows, rows, kind.i64([0, 1, 2, 3]))
    q, batch = kind.bf16(halves(rng, 1, HEADS, DIM)), Batch([0, 1], [4], kind.i32([[0]]))
    dynamic = kind.floats(layer(device).decode(cache, q, batch))
    # A scale that saturates every element of the query: all are plus or minus 240 / 10000, the same scores but for size.
    loaded = kind.floats(layer(device, q_scale=Scale(1e4, 1e-4)).decode(cache, q, batch))
    assert np.abs(dynamic - loaded).max() > 0.01


def test_a_batch_serves_caches_of_several_sizes(kind: Any, device: Device) -> None:
    rows, batch = kind.bf16(np.ones((1, 1, 2))), Batch([0, 1], [1], kind.i32([[0, 9]]))
    attention = MhaAttention(device, num_heads=1, num_kv_heads=1, head_dim=2, options=AttentionOptions(1.0))
    for blocks, size in [(1, 16), (4, 32), (1, 16)]:
        planes = [kind.empty((blocks, size, 1, 2), "bfloat16") for _ in range(2)]
        cache = MhaCache.over(device, *planes)
        cache.write(rows, rows, [0])
        np.testing.assert_array_equal(kind.floats(attention.decode(cache, rows, batch)), [[[1.0, 1.0]]])


def test_rows_that_are_apart(device: Device) -> None:
    """Queries, keys and values in one tensor, as a model projects them, are what they are one by one."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(3)
    tokens, sizes = 40, (HEADS * DIM, KV_HEADS * DIM, KV_HEADS * DIM)
    joined = torch.randn(tokens, sum(sizes)).bfloat16()
    heads = (HEADS, KV_HEADS, KV_HEADS)
    apart = [part.view(tokens, n, DIM) for part, n in zip(joined.split(sizes, dim=-1), heads, strict=True)]
    together = [part.contiguous() for part in apart]
    assert not any(part.is_contiguous() for part in apart)
    batch = Batch([0, tokens], [tokens], np.array([TABLE[2]], np.int32))
    results = []
    for q, k, v in (apart, together):
        cache = MhaCache(
            device, num_blocks=8, block_size=BLOCK, num_kv_heads=KV_HEADS, head_dim=DIM, k_scale=ONE, v_scale=ONE
        )
        cache.write(k, v, torch.tensor(slots_of(2)))
        attention = layer(device)
        stored = cache.read(torch.tensor(slots_of(2)))
        results.append((*stored, attention.prefill(q, k, v, batch), attention.decode(cache, q, batch)))
    for found, expected in zip(*results, strict=True):
        assert torch.equal(found, expected)
    shared = torch.randn(1, HEADS, DIM).bfloat16().expand(tokens, HEADS, DIM)
    with pytest.raises(gaudi_kv.ShapeError, match="not contiguous"):
        layer(device).decode(cache, shared, batch)
    with pytest.raises(gaudi_kv.ShapeError, match="not contiguous"):
        layer(device).decode(cache, joined[:, : sizes[0]].view(tokens, DIM, HEADS).transpose(1, 2), batch)
