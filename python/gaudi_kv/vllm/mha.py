"""vLLM's attention backend for MHA, GQA and MQA."""

from __future__ import annotations

from typing import Any

import torch
from vllm.v1.attention.backend import AttentionImpl, AttentionType

from gaudi_kv._attention import ONE, AttentionOptions, MhaAttention
from gaudi_kv._caches import MhaCache
from gaudi_kv._errors import ShapeError
from gaudi_kv._scales import LayerScales
from gaudi_kv.vllm.layer import GaudiBackend, GaudiLayer, as_plane, first, in_order, refuse_quantized
from gaudi_kv.vllm.step import Step

__all__ = ["GaudiMhaBackend", "GaudiMhaImpl"]


class GaudiMhaBackend(GaudiBackend):
    """Keys and values, each in a plane of its own."""

    # One operation of torch instead of two.
    forward_includes_kv_cache_update = True

    @staticmethod
    def get_impl_cls() -> type[GaudiMhaImpl]:
        return GaudiMhaImpl

    @classmethod
    def supports_sink(cls) -> bool:
        return True

    @classmethod
    def supports_sliding_window(cls) -> bool:
        return True

    @classmethod
    def supports_per_head_quant_scales(cls) -> bool:
        return True


class GaudiMhaImpl(GaudiLayer, AttentionImpl[Step]):
    """A layer of a served model with keys and values for each KV head."""

    def __init__(
        self,
        num_heads: int,
        head_size: int,
        scale: float,
        num_kv_heads: int | None = None,
        alibi_slopes: list[float] | None = None,
        sliding_window: int | None = None,
        kv_cache_dtype: str = "auto",
        logits_soft_cap: float | None = None,
        attn_type: str = AttentionType.DECODER,
        kv_sharing_target_layer_name: str | None = None,
        sinks: torch.Tensor | None = None,
    ) -> None:
        self._set_up(
            num_heads=num_heads,
            head_size=head_size,
            scale=scale,
            num_kv_heads=num_heads if num_kv_heads is None else num_kv_heads,
            kv_cache_dtype=kv_cache_dtype,
            attn_type=attn_type,
            kv_sharing_target_layer_name=kv_sharing_target_layer_name,
        )
        self.alibi_slopes = alibi_slopes
        self.sliding_window = sliding_window
        self.logits_soft_cap = logits_soft_cap or None
        self.sinks = sinks
        self._cache: MhaCache
        self._attention: MhaAttention

    def _make(self, name: str, kv_cache: torch.Tensor, scales: LayerScales) -> None:
        """Makes the cache and the attention of the layer of that name.

        vLLM's view is `[blocks, heads, block size, key and value]`. Nothing but this layer reads the memory, and it has
        a plane of keys in the first half, a plane of values in the second, each contiguous.
        """
        blocks, heads, block_size, both = kv_cache.shape
        if both != 2 * self.head_size or heads != self.num_kv_heads:
            shape = tuple(kv_cache.shape)
            raise ShapeError(f"{name}: the cache is {shape}; values must be as wide as keys")
        if not kv_cache.transpose(1, 2).is_contiguous():
            raise ShapeError(f"{name}: the blocks of the cache are not in one piece")
        memory = kv_cache.transpose(1, 2).view(2, blocks, block_size, heads, self.head_size)
        key, value = as_plane(memory[0]), as_plane(memory[1])
        self._cache = MhaCache.over(self._device, key, value, k_scale=scales.k, v_scale=scales.v)
        options = AttentionOptions(
            softmax_scale=self.scale,
            logits_soft_cap=self.logits_soft_cap,
            alibi_slopes=self.alibi_slopes,
            sliding_window=self.sliding_window,
            sinks=None if self.sinks is None else self.sinks.float().tolist(),
            fp8_prefill=self._is_fp8_prefill,
        )
        self._attention = MhaAttention(
            self._device,
            num_heads=self.num_heads,
            num_kv_heads=self.num_kv_heads,
            head_dim=self.head_size,
            options=options,
            q_scale=scales.q,
            prob_scale=scales.prob or ONE,
        )

    def forward(
        self,
        layer: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        kv_cache: torch.Tensor,
        attn_metadata: Step | None,
        output: torch.Tensor,
        output_scale: torch.Tensor | None = None,
        output_block_scale: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Stores the new keys and values of a step, then computes attention of its rows into `output`.

        A profiling run, which has no step, gets zeros.
        """
        if attn_metadata is None:
            return output.fill_(0)
        refuse_quantized(output_scale, output_block_scale)
        self._bind(kv_cache)
        slots = attn_metadata.slot_mapping
        stored = len(slots)
        self._cache.write(first(key, stored), first(value, stored), slots)
        in_order(attn_metadata, self._attend, output, query, key, value)
        return output

    def _attend(
        self, step: Step, output: torch.Tensor, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
    ) -> None:
        split, end = step.decode_tokens, step.num_actual_tokens
        if step.decode is not None:
            self._attention.decode(self._cache, first(query, split), step.decode, out=first(output, split))
        if step.prefill is not None:
            q, k, v = query[split:end], key[split:end], value[split:end]
            self._attention.prefill(q, k, v, step.prefill, cache=self._cache, out=output[split:end])
