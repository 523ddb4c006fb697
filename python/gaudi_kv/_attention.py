"""Attention over the caches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gaudi_kv import _native
from gaudi_kv._arrays import Array, empty
from gaudi_kv._caches import MhaCache, MlaCache
from gaudi_kv._errors import ScaleError
from gaudi_kv._scales import Scale

__all__ = ["AttentionOptions", "MhaAttention", "MlaAttention"]


@dataclass(frozen=True)
class AttentionOptions:
    """What changes the scores of a layer, in this order, and its optional FP8 prefill.

    `softmax_scale` multiplies the product of query and key. `logits_soft_cap`: `cap * tanh(score / cap)`.
    `alibi_slopes`: one for each query head, times the distance of the key. `sliding_window`: a query sees itself and
    that many keys less one before it. `sinks`: one score for each query head, without a value. `fp8_prefill`: q, k and v
    of a prefill over an FP8 cache are quantized too, with their scales for MHA and with 1.0 for MLA.
    """

    softmax_scale: float
    logits_soft_cap: float | None = None
    alibi_slopes: Sequence[float] | None = None
    sliding_window: int | None = None
    sinks: Sequence[float] | None = None
    fp8_prefill: bool = False


def _pair(q_scale: Scale | None) -> Any:
    return None if q_scale is None else q_scale._pair()


def _prob_pair(prob_scale: Scale) -> tuple[float, float]:
    quant, dequant = prob_scale._pair()
    if isinstance(quant, tuple) or isinstance(dequant, tuple):
        raise ScaleError("prob_scale is per head; the probabilities of all heads are quantized together")
    return quant, dequant


ONE = Scale(1.0, 1.0)


class MhaAttention:
    """A layer of `num_heads` query heads that share `num_kv_heads` KV heads in equal groups.

    `v_head_dim` is by default `head_dim`. A query without `q_scale` is quantized by the amax of each token and head;
    `prob_scale` quantizes the probabilities. Neither plays a part over a cache that is not FP8.

    Raises `ShapeError`, `OptionError` or `ScaleError` where something does not fit.
    """

    def __init__(
        self,
        device: _native.Device,
        *,
        num_heads: int,
        num_kv_heads: int,
        head_dim: int,
        options: AttentionOptions,
        v_head_dim: int | None = None,
        q_scale: Scale | None = None,
        prob_scale: Scale = ONE,
    ) -> None:
        dims = (head_dim, head_dim if v_head_dim is None else v_head_dim)
        self._out_row = (num_heads, dims[1])
        self._inner = _native.MhaAttention(
            device, (num_heads, num_kv_heads), dims, _pair(q_scale), _prob_pair(prob_scale), vars(options)
        )

    def prefill(
        self,
        q: Array,
        k: Array,
        v: Array,
        batch: _native.Batch,
        *,
        cache: MhaCache | None = None,
        out: Array | None = None,
    ) -> Array:
        """Attention of new tokens, with their keys and values as computed and earlier ones read from the cache.

        `q` is bfloat16 `[tokens, num_heads, head_dim]`, `k` and `v` `[tokens, num_kv_heads, ..]`; the last two sizes
        may be one, and the rows of a tensor may be apart, as those of a slice of wider rows are. Returns `[tokens,
        num_heads, v_head_dim]` in float32 or in `out`, which may be bfloat16: the values are bfloat16 ones. Whether the
        new tokens are in the cache already makes no difference.

        Raises `ShapeError` or `DtypeError` where an operand or the batch does not fit, or where a sequence has cached
        tokens and there is no cache.
        """
        out = empty(q, (batch.num_tokens, *self._out_row), "float32") if out is None else out
        self._inner.prefill(None if cache is None else cache._inner, q, k, v, batch, out)
        return out

    def decode(self, cache: MhaCache, q: Array, batch: _native.Batch, *, out: Array | None = None) -> Array:
        """Attention of tokens whose keys and values, and those of all tokens before them, are in the cache.

        `q` is bfloat16 `[tokens, num_heads, head_dim]`, one or several tokens a sequence; the rows of a tensor may be
        apart. Returns `[tokens, num_heads, v_head_dim]` in float32 or in `out`, which may be bfloat16: the values are
        bfloat16 ones.

        Raises `ShapeError` or `DtypeError` where an operand or the batch does not fit; `out` is unchanged then.
        """
        out = empty(q, (batch.num_tokens, *self._out_row), "float32") if out is None else out
        self._inner.decode(cache._inner, q, batch, out)
        return out


class MlaAttention:
    """A layer over latents, with the weight of its `kv_b_proj`.

    `kv_b_proj` is bfloat16 `[num_heads * (qk_nope_head_dim + v_head_dim), kv_lora_rank]`, for each head the key's rows,
    then the value's; it is copied. A query without `q_scale` is quantized by the amax of each token and head;
    `prob_scale` quantizes the probabilities. Neither plays a part over a cache that is not FP8.

    Raises `ShapeError`, `DtypeError`, `OptionError` or `ScaleError` where something does not fit.
    """

    def __init__(
        self,
        device: _native.Device,
        *,
        num_heads: int,
        kv_lora_rank: int,
        qk_nope_head_dim: int,
        qk_rope_head_dim: int,
        v_head_dim: int,
        kv_b_proj: Any,
        options: AttentionOptions,
        q_scale: Scale | None = None,
        prob_scale: Scale = ONE,
    ) -> None:
        shape = (num_heads, kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim, v_head_dim)
        self._out_row = (num_heads, v_head_dim)
        self._inner = _native.MlaAttention(
            device, shape, kv_b_proj, _pair(q_scale), _prob_pair(prob_scale), vars(options)
        )

    def prefill(
        self,
        q_nope: Array,
        q_pe: Array,
        kv_c: Array,
        k_pe: Array,
        batch: _native.Batch,
        *,
        cache: MlaCache | None = None,
        out: Array | None = None,
    ) -> Array:
        """Attention of new tokens over expanded keys and values; earlier latents are read from the cache.

        `q_nope` is bfloat16 `[tokens, num_heads, qk_nope_head_dim]`, `q_pe` `[tokens, num_heads, qk_rope_head_dim]`,
        `kv_c` `[tokens, kv_lora_rank]`, `k_pe` `[tokens, qk_rope_head_dim]`. Returns `[tokens, num_heads, v_head_dim]` in
        float32 or in `out`, which may be bfloat16: the values are bfloat16 ones.

        Raises `ShapeError` or `DtypeError` where an operand or the batch does not fit, or where a sequence has cached
        tokens and there is no cache.
        """
        out = empty(q_nope, (batch.num_tokens, *self._out_row), "float32") if out is None else out
        inner = None if cache is None else cache._inner
        self._inner.prefill(inner, q_nope, q_pe, kv_c, k_pe, batch, out)
        return out

    def decode(
        self, cache: MlaCache, q_nope: Array, q_pe: Array, batch: _native.Batch, *, out: Array | None = None
    ) -> Array:
        """Attention of tokens whose latents, and those of all tokens before them, are in the cache, absorbed.

        `q_nope` and `q_pe` are as in `prefill`. Returns `[tokens, num_heads, v_head_dim]` in float32 or in `out`, which
        may be bfloat16: the values are bfloat16 ones.

        Raises `ShapeError` or `DtypeError` where an operand or the batch does not fit; `out` is unchanged then.
        """
        out = empty(q_nope, (batch.num_tokens, *self._out_row), "float32") if out is None else out
        self._inner.decode(cache._inner, q_nope, q_pe, batch, out)
        return out
