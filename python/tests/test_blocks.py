"""Blocks that leave a cache and come into another. Codes are computed by hand."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gaudi_kv
from gaudi_kv import BlockImage, Device, MhaCache, MlaCache, PlaneImage, Scale

HALF = Scale(2.0, 0.5)
ONE = Scale(1.0, 1.0)


def filled(kind: Any) -> tuple[Any, Any, MhaCache]:
    """Planes of an engine with one token in the last slot of block 1."""
    key, value = kind.codes(3, 16, 1, 2), kind.codes(3, 16, 1, 2)
    cache = MhaCache.over(Device("gaudi2"), key, value, k_scale=HALF, v_scale=ONE)
    cache.write(kind.bf16([[[1.0, -1.0]]]), kind.bf16([[[1.0, 0.5]]]), kind.i64([31]))
    return key, value, cache


def own(generation: str = "gaudi2", k_scale: Scale = HALF, **changes: Any) -> MhaCache:
    sizes: dict[str, Any] = {"num_blocks": 2, "block_size": 16, "num_kv_heads": 1, "head_dim": 2} | changes
    return MhaCache(Device(generation), k_scale=k_scale, v_scale=ONE, **sizes)


def test_a_block_is_its_bytes_and_what_they_mean(kind: Any) -> None:
    _, _, cache = filled(kind)
    image = cache.export_block(1)
    # Twice 1 and -1; 1 and 0.5.
    key, value = bytes(30) + b"\x40\xc0", bytes(30) + b"\x38\x30"
    planes = (PlaneImage("fp8", 16, 1, 2, key), PlaneImage("fp8", 16, 1, 2, value))
    assert image == BlockImage("gaudi2", cache.fingerprint, planes)
    assert cache.export_block(0).planes[0].data == bytes(32)


def test_a_block_moves_to_another_cache(kind: Any) -> None:
    _, _, cache = filled(kind)
    image = pickle.loads(pickle.dumps(cache.export_block(1)))
    other = own()
    assert other.fingerprint == cache.fingerprint
    other.import_block(0, image)
    k, v = other.read(kind.i64([15, 14]))
    np.testing.assert_array_equal(kind.floats(k), [[[1.0, -1.0]], [[0.0, 0.0]]])
    np.testing.assert_array_equal(kind.floats(v), [[[1.0, 0.5]], [[0.0, 0.0]]])


def test_a_block_comes_into_the_tensors_of_an_engine(kind: Any) -> None:
    key, value, cache = filled(kind)
    address = kind.address(key)
    cache.import_block(2, cache.export_block(1))
    assert kind.address(key) == address
    expected = np.zeros((48, 2), np.uint8)
    expected[31] = expected[47] = [0x40, 0xC0]
    np.testing.assert_array_equal(kind.bytes(key).reshape(48, 2), expected)
    expected[31] = expected[47] = [0x38, 0x30]
    np.testing.assert_array_equal(kind.bytes(value).reshape(48, 2), expected)


def test_latents_and_bfloat16(kind: Any) -> None:
    latent = kind.empty((2, 16, 3), "bfloat16")
    cache = MlaCache.over(Device("gaudi3"), latent, kv_lora_rank=2)
    cache.write(kind.bf16([[1.0, 2.0]]), kind.bf16([[-4.0]]), kind.i64([16]))
    image = cache.export_block(1)
    (plane,) = image.planes
    assert (image.generation, plane.kv_cache_dtype, plane.num_heads, plane.head_dim) == ("gaudi3", "bf16", 1, 3)
    # Little endian.
    assert plane.data == b"\x80\x3f\x00\x40\x80\xc0" + bytes(90)
    cache.import_block(0, image)
    np.testing.assert_array_equal(kind.floats(cache.read(kind.i64([0]))), [[1.0, 2.0, -4.0]])


def test_a_block_of_another_cache_is_refused() -> None:
    from conftest import NumPy

    _, _, cache = filled(NumPy())
    image = cache.export_block(1)
    refusals: list[tuple[MhaCache, BlockImage, type[Exception], str]] = [
        (own("gaudi3"), image, gaudi_kv.DeviceError, "stored by a gaudi2, this cache belongs to a gaudi3"),
        (own(kv_cache_dtype="bf16"), image, gaudi_kv.DtypeError, "stored as fp8, this cache as bf16"),
        (own(head_dim=4), image, gaudi_kv.ShapeError, "1 heads of 2 .* 1 heads of 4"),
        (own(block_size=32), image, gaudi_kv.ShapeError, "16 tokens of 1 heads .* 32 tokens"),
        (own(k_scale=ONE), image, gaudi_kv.ScaleError, "stored with other scales"),
        (own(), replace(image, planes=image.planes[:1]), gaudi_kv.ShapeError, "1 planes, this cache 2 planes"),
        (
            own(),
            replace(image, planes=(replace(image.planes[0], data=b"\x40"), image.planes[1])),
            gaudi_kv.ShapeError,
            "1 bytes",
        ),
        (own(), replace(image, generation="gaudi1"), gaudi_kv.OptionError, "gaudi2 and gaudi3"),
    ]
    for other, refused, error, message in refusals:
        with pytest.raises(error, match=message):
            other.import_block(0, refused)
        assert other.export_block(0).planes[0].data == bytes(len(other.export_block(0).planes[0].data))
    with pytest.raises(gaudi_kv.ShapeError, match="block 3; the cache has blocks 0 to 2"):
        cache.export_block(3)
    with pytest.raises(gaudi_kv.ShapeError, match="block -1"):
        cache.import_block(-1, image)
