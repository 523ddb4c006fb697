"""Paged KV caches, in memory of their own or in tensors of an engine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from gaudi_kv import _native
from gaudi_kv._arrays import Array, empty
from gaudi_kv._blocks import BlockImage
from gaudi_kv._scales import Scale, plane_scale

__all__ = ["MhaCache", "MlaCache"]

CacheDtype = Literal["fp8", "fp8_e4m3", "fp8_inc", "bf16", "bfloat16", "f32", "float32"]


class _Cache:
    """A cache of either kind: its blocks."""

    _inner: _native.Cache

    @property
    def num_blocks(self) -> int:
        """Blocks that hold tokens."""
        return self._inner.num_blocks

    @property
    def block_size(self) -> int:
        """Tokens of a block."""
        return self._inner.block_size

    @property
    def kv_cache_dtype(self) -> str:
        """`fp8`, `bf16` or `f32`."""
        return self._inner.kv_cache_dtype

    @property
    def is_lent(self) -> bool:
        """Whether its memory is that of tensors which were given."""
        return self._inner.is_lent

    def copy_blocks(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Copies whole blocks, `(from, to)` pair by pair in order.

        Raises `ShapeError` where a block is outside the cache; nothing is copied then.
        """
        self._inner.copy_blocks(list(pairs))

    @property
    def fingerprint(self) -> int:
        """A hash of generation, storage type, block size, shape and scales.

        Equal where the same bytes mean the same values, so a part of the key under which blocks may be shared.
        """
        return self._inner.fingerprint

    def export_block(self, block: int) -> BlockImage:
        """One block with all that its bytes mean: to swap it out, or to move it to another cache.

        Raises `ShapeError` where the block is outside the cache.
        """
        return BlockImage._of(self._inner.export_block(block))

    def import_block(self, block: int, image: BlockImage) -> None:
        """Overwrites a block with one that was exported from a cache like this one.

        Raises `DeviceError` where it was stored by another generation, `DtypeError` as another type, `ShapeError` in
        another shape or where the block is outside the cache, `ScaleError` with other scales; nothing is written then.
        """
        self._inner.import_block(block, image._parts())


def _is_fp8(kv_cache_dtype: str) -> bool:
    return kv_cache_dtype.startswith("fp8")


def _holds_codes(plane: Any) -> bool:
    return str(getattr(plane, "dtype", "")).removeprefix("torch.") in ("uint8", "float8_e4m3fn")


class MhaCache(_Cache):
    """Keys and values of MHA, GQA or MQA, `[num_blocks, block_size, num_kv_heads, head_dim]` each.

    Made like this it has memory of its own, and one block more, which takes the writes of padding rows that an engine
    sends to slot `num_blocks * block_size` and behind. `num_blocks` is at least 1, `block_size` a power of two from 16
    to 256 (Gaudi uses 128). `v_head_dim` is by default `head_dim`. An FP8 cache needs both scales; others ignore them.

    Raises `ShapeError`, `ScaleError` or `OptionError` where something does not fit, `DeviceError` without memory.
    """

    _inner: _native.MhaCache

    def __init__(
        self,
        device: _native.Device,
        *,
        num_blocks: int,
        block_size: int,
        num_kv_heads: int,
        head_dim: int,
        v_head_dim: int | None = None,
        kv_cache_dtype: CacheDtype = "fp8",
        k_scale: Scale | None = None,
        v_scale: Scale | None = None,
    ) -> None:
        is_fp8 = _is_fp8(kv_cache_dtype)
        allocation = {"num_blocks": num_blocks, "block_size": block_size, "kv_cache_dtype": kv_cache_dtype}
        dims = (head_dim, head_dim if v_head_dim is None else v_head_dim)
        scales = (plane_scale("k_scale", k_scale, is_fp8), plane_scale("v_scale", v_scale, is_fp8))
        self._inner = _native.MhaCache.allocate(device, allocation, num_kv_heads, dims, scales)

    @classmethod
    def over(
        cls,
        device: _native.Device,
        key: Array,
        value: Array,
        *,
        k_scale: Scale | None = None,
        v_scale: Scale | None = None,
    ) -> MhaCache:
        """A cache in tensors of an engine, without a copy and without a pad block: all their blocks are its blocks.

        `key` is `[num_blocks, block_size, num_kv_heads, head_dim]`, `value` the same or with another last size; both
        contiguous, of uint8 or float8_e4m3fn (FP8 codes of the device), bfloat16 (in NumPy uint16) or float32. What
        they hold stays. The cache keeps them alive, and sees what the engine writes to them between calls. Resizing
        one of them makes the cache useless: every call then raises `ShapeError`.

        Raises `ShapeError`, `DtypeError` or `ScaleError` where something does not fit.
        """
        scales = (
            plane_scale("k_scale", k_scale, _holds_codes(key)),
            plane_scale("v_scale", v_scale, _holds_codes(value)),
        )
        cache = cls.__new__(cls)
        cache._inner = _native.MhaCache.over(device, key, value, scales)
        return cache

    @property
    def num_kv_heads(self) -> int:
        """Heads of keys and values."""
        return self._inner.num_kv_heads

    @property
    def head_dim(self) -> int:
        """Elements of a key."""
        return self._inner.head_dim

    @property
    def v_head_dim(self) -> int:
        """Elements of a value."""
        return self._inner.v_head_dim

    def write(self, k: Array, v: Array, slot_mapping: Any) -> None:
        """Stores keys and values of tokens at their slots: FP8 codes of `x * quant`, saturating, or bfloat16.

        `k` and `v` are bfloat16 `[tokens, num_kv_heads, head_dim]`, or with the last two sizes in one; the rows of a
        tensor may be apart, as those of a slice of wider rows are. `slot_mapping` is
        `[tokens]`, int64 (anything else is copied): block times `block_size` plus place in the block. Rows whose slot
        is -1 are padding and are left out.

        Raises `ShapeError` or `DtypeError` where something does not fit; nothing is written then.
        """
        self._inner.write(k, v, slot_mapping)

    def read(self, slot_mapping: Array, out: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
        """The keys and values at slots as bfloat16, `[slots, num_kv_heads, head_dim]`: `value * dequant`, rounded.

        Without `out` they are made, of the kind of `slot_mapping`.

        Raises `ShapeError` or `DtypeError` where something does not fit, as a slot of -1.
        """
        if out is None:
            slots, heads = slot_mapping.shape[0], self.num_kv_heads
            out = (
                empty(slot_mapping, (slots, heads, self.head_dim), "bfloat16"),
                empty(slot_mapping, (slots, heads, self.v_head_dim), "bfloat16"),
            )
        self._inner.read(slot_mapping, *out)
        return out


class MlaCache(_Cache):
    """Latents of MLA, `[num_blocks, block_size, kv_lora_rank + qk_rope_head_dim]`, with the one scale `k_scale`.

    Made like this it has memory of its own, and one block more, which takes the writes of padding rows that an engine
    sends to slot `num_blocks * block_size` and behind. `num_blocks` is at least 1, `block_size` a power of two from 16
    to 256 (Gaudi uses 128). An FP8 cache needs `k_scale`; others ignore it.

    Raises `ShapeError`, `ScaleError` or `OptionError` where something does not fit, `DeviceError` without memory.
    """

    _inner: _native.MlaCache

    def __init__(
        self,
        device: _native.Device,
        *,
        num_blocks: int,
        block_size: int,
        kv_lora_rank: int,
        qk_rope_head_dim: int,
        kv_cache_dtype: CacheDtype = "fp8",
        k_scale: Scale | None = None,
    ) -> None:
        allocation = {"num_blocks": num_blocks, "block_size": block_size, "kv_cache_dtype": kv_cache_dtype}
        scale = plane_scale("k_scale", k_scale, _is_fp8(kv_cache_dtype))
        self._inner = _native.MlaCache.allocate(device, allocation, kv_lora_rank, qk_rope_head_dim, scale)

    @classmethod
    def over(
        cls, device: _native.Device, latent: Array, *, kv_lora_rank: int, k_scale: Scale | None = None
    ) -> MlaCache:
        """A cache in a tensor of an engine, without a copy and without a pad block: all its blocks are the cache's.

        `latent` is `[num_blocks, block_size, kv_lora_rank + qk_rope_head_dim]`, contiguous, of uint8 or float8_e4m3fn
        (FP8 codes of the device), bfloat16 (in NumPy uint16) or float32. What it holds stays. The cache keeps it alive,
        and sees what the engine writes to it between calls. Resizing it makes the cache useless: every call then raises
        `ShapeError`.

        Raises `ShapeError`, `DtypeError` or `ScaleError` where something does not fit.
        """
        scale = plane_scale("k_scale", k_scale, _holds_codes(latent))
        cache = cls.__new__(cls)
        cache._inner = _native.MlaCache.over(device, latent, kv_lora_rank, scale)
        return cache

    @property
    def kv_lora_rank(self) -> int:
        """Elements of a latent without its rope part."""
        return self._inner.kv_lora_rank

    @property
    def qk_rope_head_dim(self) -> int:
        """Elements of the rope part."""
        return self._inner.qk_rope_head_dim

    def write(self, kv_c: Array, k_pe: Array, slot_mapping: Any) -> None:
        """Stores latents of tokens at their slots, both parts with the one scale.

        `kv_c` is bfloat16 `[tokens, kv_lora_rank]`, normalized; `k_pe` `[tokens, qk_rope_head_dim]` or
        `[tokens, 1, qk_rope_head_dim]`, after rotary embedding. `slot_mapping` is as in `MhaCache.write`.

        Raises `ShapeError` or `DtypeError` where something does not fit; nothing is written then.
        """
        self._inner.write(kv_c, k_pe, slot_mapping)

    def read(self, slot_mapping: Array, out: Array | None = None) -> Array:
        """The latents at slots as bfloat16, `[slots, kv_lora_rank + qk_rope_head_dim]`: `value * dequant`, rounded.

        Without `out` it is made, of the kind of `slot_mapping`.

        Raises `ShapeError` or `DtypeError` where something does not fit, as a slot of -1.
        """
        if out is None:
            shape = (slot_mapping.shape[0], self.kv_lora_rank + self.qk_rope_head_dim)
            out = empty(slot_mapping, shape, "bfloat16")
        self._inner.read(slot_mapping, out)
        return out
