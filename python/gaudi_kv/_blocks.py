"""Blocks of caches on their way to another cache, process or machine."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BlockImage", "PlaneImage"]

# What the native module takes and gives.
Parts = tuple[str, int, list[tuple[str, int, int, int, bytes]]]


@dataclass(frozen=True)
class PlaneImage:
    """The bytes of one plane of a block.

    `data` is `[block_size, num_heads, head_dim]` of `kv_cache_dtype` (`fp8`, `bf16` or `f32`), little endian.
    `numpy.frombuffer` and `torch.frombuffer` look at it without a copy.
    """

    kv_cache_dtype: str
    block_size: int
    num_heads: int
    head_dim: int
    data: bytes


@dataclass(frozen=True)
class BlockImage:
    """A block of a cache with all that its bytes mean. It can be pickled.

    `fingerprint` is that of the cache. `planes` are key and value, or the latent.
    """

    generation: str
    fingerprint: int
    planes: tuple[PlaneImage, ...]

    @classmethod
    def _of(cls, parts: Parts) -> BlockImage:
        generation, fingerprint, planes = parts
        return cls(generation, fingerprint, tuple(PlaneImage(*plane) for plane in planes))

    def _parts(self) -> Parts:
        planes = [(p.kv_cache_dtype, p.block_size, p.num_heads, p.head_dim, p.data) for p in self.planes]
        return self.generation, self.fingerprint, planes
