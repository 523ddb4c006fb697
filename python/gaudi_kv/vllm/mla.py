"""vLLM's attention backend for MLA."""

from __future__ import annotations

from typing import Any

import torch
from vllm.model_executor.layers.quantization.utils.quant_utils import get_and_maybe_dequant_weights
from vllm.v1.attention.backend import MLAAttentionImpl

from gaudi_kv._attention import ONE, AttentionOptions, MlaAttention
from gaudi_kv._caches import MlaCache
from gaudi_kv._errors import OptionError, ShapeError
from gaudi_kv._scales import LayerScales
from gaudi_kv.vllm.layer import GaudiBackend, GaudiLayer, as_plane, first, in_order, refuse_quantized
from gaudi_kv.vllm.step import Step

__all__ = ["GaudiMlaBackend", "GaudiMlaImpl"]


class GaudiMlaBackend(GaudiBackend):
    """Latents, keys and values at once."""

    @staticmethod
    def get_impl_cls() -> type[GaudiMlaImpl]:
        return GaudiMlaImpl

    @classmethod
    def is_mla(cls) -> bool:
        return True


class GaudiMlaImpl(GaudiLayer, MLAAttentionImpl[Step]):
    """A layer of a served model with one latent for keys and values."""

    supports_pcp = False
    supports_dense_mha_prefill = True

    def __init__(
        self,
        num_heads: int,
        head_size: int,
        scale: float,
        num_kv_heads: int,
        alibi_slopes: list[float] | None,
        sliding_window: int | None,
        kv_cache_dtype: str,
        logits_soft_cap: float | None,
        attn_type: str,
        kv_sharing_target_layer_name: str | None,
        *,
        q_lora_rank: int | None,
        kv_lora_rank: int,
        qk_nope_head_dim: int,
        qk_rope_head_dim: int,
        qk_head_dim: int,
        v_head_dim: int,
        kv_b_proj: Any,
        indexer: object | None = None,
        q_pad_num_heads: int | None = None,
    ) -> None:
        self._set_up(
            num_heads=num_heads,
            head_size=head_size,
            scale=scale,
            num_kv_heads=num_kv_heads,
            kv_cache_dtype=kv_cache_dtype,
            attn_type=attn_type,
            kv_sharing_target_layer_name=kv_sharing_target_layer_name,
        )
        if indexer is not None:
            raise OptionError("sparse MLA is not emulated")
        self.kv_lora_rank = kv_lora_rank
        self.qk_nope_head_dim = qk_nope_head_dim
        self.qk_rope_head_dim = qk_rope_head_dim
        self.v_head_dim = v_head_dim
        self.kv_b_proj = kv_b_proj
        self._options = AttentionOptions(
            softmax_scale=self.scale,
            logits_soft_cap=logits_soft_cap or None,
            alibi_slopes=alibi_slopes,
            sliding_window=sliding_window,
            fp8_prefill=self._is_fp8_prefill,
        )
        self._cache: MlaCache
        self._attention: MlaAttention

    def _make(self, name: str, kv_cache: torch.Tensor, scales: LayerScales) -> None:
        """Makes the cache and the attention of the layer of that name."""
        if not kv_cache.is_contiguous():
            raise ShapeError(f"{name}: the blocks of the cache are not in one piece")
        self._cache = MlaCache.over(
            self._device, as_plane(kv_cache), kv_lora_rank=self.kv_lora_rank, k_scale=scales.k
        )
        weight = get_and_maybe_dequant_weights(self.kv_b_proj, out_dtype=torch.bfloat16)
        self._attention = MlaAttention(
            self._device,
            num_heads=self.num_heads,
            kv_lora_rank=self.kv_lora_rank,
            qk_nope_head_dim=self.qk_nope_head_dim,
            qk_rope_head_dim=self.qk_rope_head_dim,
            v_head_dim=self.v_head_dim,
            kv_b_proj=weight.detach().contiguous(),
            options=self._options,
            q_scale=scales.q,
            prob_scale=scales.prob or ONE,
        )

    def do_kv_cache_update(
        self,
        kv_c_normed: torch.Tensor,
        k_pe: torch.Tensor,
        kv_cache: torch.Tensor,
        slot_mapping: torch.Tensor,
        kv_cache_dtype: str,
        k_scale: torch.Tensor,
    ) -> None:
        """Stores the new latents of a step. `k_scale` is vLLM's and is not used."""
        if kv_cache.numel() == 0:
            return
        self._bind(kv_cache)
        slots = slot_mapping.flatten()
        tokens = slots.shape[0]
        self._cache.write(first(kv_c_normed, tokens).contiguous(), first(k_pe, tokens).contiguous(), slots)

    def forward_mha(
        self,
        q: torch.Tensor,
        kv_c_normed: torch.Tensor,
        k_pe: torch.Tensor,
        kv_c_and_k_pe_cache: torch.Tensor,
        attn_metadata: Step,
        k_scale: torch.Tensor,
        output: torch.Tensor,
        output_scale: torch.Tensor | None = None,
    ) -> None:
        """Attention of all rows of a step, decodes and prefills, into `output`."""
        refuse_quantized(output_scale)
        in_order(attn_metadata, self._attend, output, q, kv_c_normed, k_pe)

    def _attend(
        self, step: Step, output: torch.Tensor, q: torch.Tensor, kv_c_normed: torch.Tensor, k_pe: torch.Tensor
    ) -> None:
        split = step.decode_tokens
        q_nope = q[..., : self.qk_nope_head_dim].contiguous()
        q_pe = q[..., self.qk_nope_head_dim :].contiguous()
        if step.decode is not None:
            parts = first(q_nope, split), first(q_pe, split)
            self._attention.decode(self._cache, *parts, step.decode, out=first(output, split))
        if step.prefill is not None:
            self._attention.prefill(
                q_nope[split:],
                q_pe[split:],
                kv_c_normed[split:].contiguous(),
                k_pe[split:].contiguous(),
                step.prefill,
                cache=self._cache,
                out=output[split:],
            )

    def forward_mqa(self, q: Any, kv_c_and_k_pe_cache: torch.Tensor, attn_metadata: Step, layer: Any) -> Any:
        """Never called: a `Step` tells vLLM of no decodes."""
        raise OptionError("queries that vLLM has absorbed are not emulated")
