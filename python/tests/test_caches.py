"""Caches in memory of their own and in tensors of an engine. Codes are computed by hand."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from conftest import NumPy

import gaudi_kv
from gaudi_kv import Batch, Device, MhaCache, MlaCache, Scale

HALF = Scale(2.0, 0.5)
ONE = Scale(1.0, 1.0)


def lent_mha(kind: Any, dtype: str = "uint8", blocks: int = 3) -> tuple[Any, Any, MhaCache]:
    key, value = (kind.empty((blocks, 16, 1, 2), dtype) for _ in range(2))
    return key, value, MhaCache.over(Device("gaudi2"), key, value, k_scale=HALF, v_scale=ONE)


def test_writes_land_in_the_tensors_of_the_engine(kind: Any) -> None:
    key, value, cache = lent_mha(kind)
    addresses = kind.address(key), kind.address(value)
    k = kind.bf16([[[1.0, -1.0]], [[120.0, 300.0]]])
    v = kind.bf16([[[1.0, 0.5]], [[-240.0, 1000.0]]])
    # The last slot of the last block is the engine's as every other: there is no pad block.
    cache.write(k, v, kind.i64([1, 47]))
    assert (kind.address(key), kind.address(value)) == addresses
    # Twice each key: 2 is 0x40, 240 and what lies above 0x77.
    expected = np.zeros((48, 2), np.uint8)
    expected[1], expected[47] = [0x40, 0xC0], [0x77, 0x77]
    np.testing.assert_array_equal(kind.bytes(key).reshape(48, 2), expected)
    expected[1], expected[47] = [0x38, 0x30], [0xF7, 0x77]
    np.testing.assert_array_equal(kind.bytes(value).reshape(48, 2), expected)
    assert cache.is_lent and (cache.num_blocks, cache.block_size, cache.kv_cache_dtype) == (3, 16, "fp8")


def test_what_the_engine_writes_is_read(kind: Any) -> None:
    key, value, cache = lent_mha(kind)
    kind.bytes(key).reshape(48, 2)[5] = [0x40, 0xC0]
    kind.bytes(value).reshape(48, 2)[5] = [0x38, 0x77]
    k, v = cache.read(kind.i64([5, 0]))
    assert type(k).__module__.split(".")[0] == kind.name
    np.testing.assert_array_equal(kind.floats(k), [[[1.0, -1.0]], [[0.0, 0.0]]])
    np.testing.assert_array_equal(kind.floats(v), [[[1.0, 240.0]], [[0.0, 0.0]]])


def test_padding_rows_are_left_out(kind: Any) -> None:
    key, value, cache = lent_mha(kind)
    rows = kind.bf16([[[1.0, 1.0]], [[2.0, 2.0]], [[4.0, 4.0]], [[8.0, 8.0]]])
    cache.write(rows, rows, kind.i64([-1, 3, -1, 4]))
    expected = np.zeros((48, 2), np.uint8)
    expected[3], expected[4] = 0x40, 0x50
    np.testing.assert_array_equal(kind.bytes(value).reshape(48, 2), expected)
    # An error names the place in the mapping that was given; nothing is written.
    with pytest.raises(gaudi_kv.ShapeError, match="slot 48 at index 3"):
        cache.write(rows, rows, kind.i64([-1, 7, -1, 48]))
    np.testing.assert_array_equal(kind.bytes(value).reshape(48, 2), expected)


@pytest.mark.parametrize("slots", [[0, 17, 34], np.array([0, 17, 34], np.int32)], ids=["list", "int32"])
def test_slots_of_other_types(slots: Any) -> None:
    kind = NumPy()
    key, _, cache = lent_mha(kind)
    rows = kind.bf16(np.ones((3, 1, 2)))
    cache.write(rows, rows, slots)
    assert np.flatnonzero(key.reshape(48, 2)[:, 0]).tolist() == [0, 17, 34]


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_caches_that_are_not_fp8_keep_bfloat16_values(kind: Any, dtype: str) -> None:
    key, value = (kind.empty((2, 16, 2, 4), dtype) for _ in range(2))
    cache = MhaCache.over(Device("gaudi3"), key, value)
    rows = np.arange(16.0).reshape(2, 2, 4)
    cache.write(kind.bf16(rows), kind.bf16(-rows), kind.i64([30, 31]))
    np.testing.assert_array_equal(kind.floats(key).reshape(32, 2, 4)[30:], rows)
    k, v = cache.read(kind.i64([31]))
    np.testing.assert_array_equal(kind.floats(k), rows[1:])
    np.testing.assert_array_equal(kind.floats(v), -rows[1:])


def test_latents_in_a_tensor_of_the_engine(kind: Any) -> None:
    latent = kind.codes(2, 16, 6)
    cache = MlaCache.over(Device("gaudi2"), latent, kv_lora_rank=4, k_scale=HALF)
    assert (cache.kv_lora_rank, cache.qk_rope_head_dim, cache.num_blocks) == (4, 2, 2)
    cache.write(kind.bf16([[1.0, 2.0, 4.0, 8.0]]), kind.bf16([[[16.0, 200.0]]]), kind.i64([31]))
    np.testing.assert_array_equal(
        kind.bytes(latent)[1, 15], [0x40, 0x48, 0x50, 0x58, 0x60, 0x77], "2, 4, 8, 16, 32 and 240"
    )
    out = cache.read(kind.i64([31]))
    np.testing.assert_array_equal(kind.floats(out), [[1.0, 2.0, 4.0, 8.0, 16.0, 120.0]])


def test_own_memory_holds_the_same_and_has_a_pad_block(kind: Any) -> None:
    own = MhaCache(
        Device("gaudi2"), num_blocks=3, block_size=16, num_kv_heads=1, head_dim=2, k_scale=HALF, v_scale=ONE
    )
    _, _, lent = lent_mha(kind)
    rng = np.random.default_rng(1)
    rows = kind.bf16(rng.integers(-250, 250, (48, 1, 2)).astype(np.float32))
    for cache in (own, lent):
        cache.write(rows, rows, kind.i64(list(range(48))))
    for mine, other in zip(own.read(kind.i64(list(range(48)))), lent.read(kind.i64(list(range(48)))), strict=True):
        np.testing.assert_array_equal(kind.floats(mine), kind.floats(other))
    own.read(kind.i64([48, 63]))
    with pytest.raises(gaudi_kv.ShapeError, match="slots 0 to 63"):
        own.read(kind.i64([64]))
    with pytest.raises(gaudi_kv.ShapeError, match="slots 0 to 47"):
        lent.read(kind.i64([48]))
    assert not own.is_lent


def test_blocks_are_copied_in_place(kind: Any) -> None:
    key, _, cache = lent_mha(kind)
    kind.bytes(key)[0] = 0x38
    cache.copy_blocks([(0, 2)])
    assert (kind.bytes(key)[2] == 0x38).all() and not kind.bytes(key)[1].any()
    with pytest.raises(gaudi_kv.ShapeError, match="block 3"):
        cache.copy_blocks([(0, 3)])


def test_a_cache_keeps_its_tensors_alive(kind: Any) -> None:
    key, value, cache = lent_mha(kind)
    del key, value
    gc.collect()
    rows = kind.bf16([[[1.0, 1.0]]])
    cache.write(rows, rows, kind.i64([9]))
    np.testing.assert_array_equal(kind.floats(cache.read(kind.i64([9]))[0]), [[[1.0, 1.0]]])


def test_a_tensor_that_was_resized_is_refused() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    key, value = (torch.zeros(2, 16, 1, 2, dtype=torch.uint8) for _ in range(2))
    cache = MhaCache.over(Device("gaudi2"), key, value, k_scale=ONE, v_scale=ONE)
    key.resize_(1000, 16, 1, 2)
    rows = torch.ones(1, 1, 2, dtype=torch.bfloat16)
    with pytest.raises(gaudi_kv.ShapeError, match="key was resized"):
        cache.write(rows, rows, torch.tensor([0]))
    batch = Batch([0, 1], [1], torch.zeros(1, 1, dtype=torch.int32))
    options = gaudi_kv.AttentionOptions(1.0)
    attention = gaudi_kv.MhaAttention(Device("gaudi2"), num_heads=1, num_kv_heads=1, head_dim=2, options=options)
    with pytest.raises(gaudi_kv.ShapeError, match="key was resized"):
        attention.decode(cache, rows, batch)


def test_per_head_scales(kind: Any) -> None:
    key, value = kind.codes(1, 16, 2, 1), kind.codes(1, 16, 2, 1)
    scale = Scale((1.0, 4.0), (1.0, 0.25))
    cache = MhaCache.over(Device("gaudi2"), key, value, k_scale=scale, v_scale=ONE)
    rows = kind.bf16([[[1.0], [1.0]]])
    cache.write(rows, rows, kind.i64([0]))
    assert kind.bytes(key)[0, 0].ravel().tolist() == [0x38, 0x48]
    assert kind.bytes(value)[0, 0].ravel().tolist() == [0x38, 0x38]
