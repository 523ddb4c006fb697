"""Codecs against the golden vectors of the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import DATA, tensors

import gaudi_kv

# The mode of a KV cache: Inf and NaN as in IEEE on a Gaudi2, NaN only on a Gaudi3.
MODES = {"gaudi2": "mode0", "gaudi3": "mode2"}


def test_every_stimulus_is_encoded_as_the_device_does(golden: tuple[Any, dict[str, Any]], kind: Any) -> None:
    generation, vectors = golden
    expected = vectors[f"enc.e4m3.{MODES[generation]}.bias7.rne.clip"]
    codes = gaudi_kv.quant_fp8(kind.f32(vectors["stim"]), 1.0, generation)
    assert type(codes).__module__.split(".")[0] == kind.name
    np.testing.assert_array_equal(kind.bytes(codes), expected)


def test_every_code_is_decoded_as_the_device_does(golden: tuple[Any, dict[str, Any]], kind: Any) -> None:
    generation, vectors = golden
    codes = kind.codes(256)
    kind.bytes(codes)[:] = np.arange(256)
    values = gaudi_kv.dequant_fp8(codes, 1.0, generation, dtype="float32")
    expected = vectors[f"dec.e4m3.{MODES[generation]}.bias7"]
    np.testing.assert_array_equal(kind.bytes(values).view(np.uint32), expected)
    # Every e4m3 value is a bfloat16 one; a NaN keeps its upper half.
    halves = gaudi_kv.dequant_fp8(codes, 1.0, generation)
    np.testing.assert_array_equal(kind.bytes(halves).view(np.uint16), expected >> 16)


def test_rounding_to_bfloat16_is_the_devices(kind: Any) -> None:
    vectors = tensors(DATA / "golden" / "gaudi3.safetensors")
    rounded = gaudi_kv.round_bf16(kind.f32(vectors["f32_to_bf16.in"].view(np.float32)))
    np.testing.assert_array_equal(kind.bytes(rounded).view(np.uint16), vectors["f32_to_bf16.out"])


def test_scales_multiply_in_the_type_of_the_input(kind: Any) -> None:
    # 0.99 is nearest to 1 (0x38); 165, between 160 (0x72) and 176, to 160; -0.33, between -0.3125 and -0.34375 (0xAB), to
    # the latter. As bfloat16, 0.33 is 0.330078125, which changes none of them.
    values, expected = [3.0, 500.0, -1.0, 0.0], [0x38, 0x72, 0xAB, 0x00]
    for array in (kind.f32(values), kind.bf16(values)):
        codes = gaudi_kv.quant_fp8(array, 0.33, "gaudi2")
        np.testing.assert_array_equal(kind.bytes(codes), expected)


def test_the_type_of_the_input_decides_how_the_product_is_rounded(kind: Any) -> None:
    # 1.0625 * 1.00390625 = 1.066650390625 lies above the tie 1.0625 of 1.0 and 1.125, so in float32 it is 1.125 (0x39).
    # In bfloat16 the scale is a tie of 1.0 and 1.0078125 and becomes 1.0; the product is the tie 1.0625, so 1.0 (0x38).
    scale = 1.00390625
    assert kind.bytes(gaudi_kv.quant_fp8(kind.f32([1.0625]), scale, "gaudi2")).tolist() == [0x39]
    assert kind.bytes(gaudi_kv.quant_fp8(kind.bf16([1.0625]), scale, "gaudi2")).tolist() == [0x38]


def test_outputs_are_filled_in_place(kind: Any) -> None:
    x, out = kind.f32([[1.0, 2.0], [-300.0, 300.0]]), kind.codes(2, 2)
    address = kind.address(out)
    assert gaudi_kv.quant_fp8(x, 1.0, "gaudi2", out) is out
    assert kind.address(out) == address
    np.testing.assert_array_equal(kind.bytes(out), [[0x38, 0x40], [0xF7, 0x77]])


def test_codes_are_reranged_into_another_array(kind: Any) -> None:
    # 448 and 1 have halves, the smallest denormal ties to zero; longer than a piece of the copy, and no multiple of one.
    codes, halved = kind.codes(3, 100_000), kind.codes(3, 100_000)
    kind.bytes(codes)[:] = np.array([[0x7E], [0xB8], [0x01]])
    counts = gaudi_kv.rerange(codes, "gaudi2", out=halved)
    np.testing.assert_array_equal(kind.bytes(halved), np.broadcast_to([[0x76], [0xB0], [0x00]], (3, 100_000)))
    np.testing.assert_array_equal(kind.bytes(codes)[:, 0], [0x7E, 0xB8, 0x01])
    assert (counts.exact, counts.flushed) == (200_000, 100_000)
    with pytest.raises(gaudi_kv.ShapeError, match="has the shape"):
        gaudi_kv.rerange(codes, "gaudi2", out=kind.codes(3, 4))
    with pytest.raises(gaudi_kv.ShapeError, match="overlap"):
        gaudi_kv.rerange(codes, "gaudi2", out=codes)


def test_codes_are_reranged_in_place(kind: Any) -> None:
    # 448, 1.0, the smallest denormal (2^-9, whose half is a tie and becomes zero), three of them (1.5, to even: 2), -0.
    codes = kind.codes(5)
    kind.bytes(codes)[:] = [0x7E, 0x38, 0x01, 0x03, 0x80]
    counts = gaudi_kv.rerange(codes, "gaudi2")
    np.testing.assert_array_equal(kind.bytes(codes), [0x76, 0x30, 0x00, 0x02, 0x80])
    assert counts == gaudi_kv.RerangeCounts(exact=3, rounded=1, flushed=1, saturated=0, nan=0)
    gaudi_kv.rerange(codes, "gaudi3")
    np.testing.assert_array_equal(kind.bytes(codes), [0x7E, 0x38, 0x00, 0x04, 0x80])


def test_other_types_that_hold_the_same_bits() -> None:
    types = pytest.importorskip("ml_dtypes", reason="needs ml_dtypes")
    x = np.array([1.0, 2.5], types.bfloat16)
    codes = gaudi_kv.quant_fp8(x, 1.0, "gaudi3", np.zeros(2, types.float8_e4m3fn))
    assert codes.astype(np.float32).tolist() == [1.0, 2.5]
    assert gaudi_kv.dequant_fp8(codes, 1.0, "gaudi3").dtype == np.uint16


def test_float8_tensors() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    x = torch.tensor([1.0, 2.5, 449.0])
    out = torch.empty(3, dtype=torch.float8_e4m3fn)
    assert gaudi_kv.quant_fp8(x, 1.0, "gaudi3", out).float().tolist() == [1.0, 2.5, 448.0]


def test_empty_arrays(kind: Any) -> None:
    assert gaudi_kv.quant_fp8(kind.f32([]), 1.0, "gaudi2").shape == (0,)
    assert gaudi_kv.rerange(kind.codes(0), "gaudi2") == (0, 0, 0, 0, 0)
