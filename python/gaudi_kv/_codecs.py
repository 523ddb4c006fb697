"""FP8 codecs."""

from __future__ import annotations

from typing import Literal, NamedTuple

from gaudi_kv import _native
from gaudi_kv._arrays import Array, Other, empty

__all__ = ["RerangeCounts", "dequant_fp8", "quant_fp8", "rerange", "round_bf16"]

Generation = Literal["gaudi2", "gaudi3"]


def quant_fp8(x: Array, quant: float, generation: Generation, out: Array | None = None) -> Array:
    """The e4m3 codes of `x * quant`, rounded to nearest even and saturating at 240 (gaudi2) or 448 (gaudi3).

    `x` is float32, or bfloat16, whose product with `quant` rounded to bfloat16 is rounded to bfloat16 first, as a cache
    is written. `out` has the shape of `x` and takes uint8 or float8_e4m3fn; without it a uint8 array of the kind of
    `x` is made. NaN becomes a NaN code.

    Raises `ScaleError` where `quant` is not finite and positive, also in bfloat16, `ShapeError` and `DtypeError` where
    an array does not fit.
    """
    out = empty(x, tuple(x.shape), "uint8") if out is None else out
    _native.quant_fp8(x, quant, generation, out)
    return out


def dequant_fp8(
    codes: Array,
    dequant: float,
    generation: Generation,
    out: Array | None = None,
    *,
    dtype: Literal["bfloat16", "float32"] = "bfloat16",
) -> Array:
    """The values of e4m3 codes times `dequant`.

    A bfloat16 result is the value times `dequant` rounded to bfloat16, rounded to bfloat16, as a cache is read; a
    float32 one is a float32 product. `codes` is uint8 or float8_e4m3fn. `out` has the shape of `codes`; without it an
    array of `dtype`, of the kind of `codes`, is made (`dtype` says nothing about an `out` that is given).

    Raises `ScaleError` where `dequant` is not finite and positive, also in bfloat16, `ShapeError` and `DtypeError` where
    an array does not fit.
    """
    out = empty(codes, tuple(codes.shape), dtype) if out is None else out
    _native.dequant_fp8(codes, dequant, generation, out)
    return out


class RerangeCounts(NamedTuple):
    """What became of codes that were rewritten. Every code is counted once."""

    exact: int
    rounded: int
    flushed: int
    saturated: int
    nan: int


def rerange(codes: Array, to: Generation, out: Array | None = None) -> RerangeCounts:
    """Rewrites e4m3 codes for the range of another generation: in place, or into `out`, and then `codes` stay as they are.

    To `gaudi2`, codes of the range 448 get half of each value, so their scale is to be doubled; to `gaudi3`, codes of
    the range 240 get twice each value, and their scale is to be halved. Only denormal results are inexact.

    `out` has the shape of `codes`, which may be read-only then. Raises `ShapeError` and `DtypeError` where an array does
    not fit.
    """
    return RerangeCounts(*_native.rerange(codes, to, out))


def round_bf16(x: Array, out: Other | None = None) -> Array | Other:
    """float32 rounded to bfloat16 as the device does it: to nearest even, every NaN as 0x7FFF.

    `out` has the shape of `x`; without it an array of the kind of `x` is made, in NumPy the bits as uint16.

    Raises `ShapeError` and `DtypeError` where an array does not fit.
    """
    result = empty(x, tuple(x.shape), "bfloat16") if out is None else out
    _native.round_bf16(x, result)
    return result
