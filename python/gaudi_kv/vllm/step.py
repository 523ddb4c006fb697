"""What a step computes: which rows decode and which prefill."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from vllm.config import VllmConfig
from vllm.v1.attention.backend import AttentionMetadata, AttentionMetadataBuilder, CommonAttentionMetadata
from vllm.v1.kv_cache_interface import AttentionSpec

from gaudi_kv._errors import OptionError
from gaudi_kv._native import Batch

__all__ = ["Step", "StepBuilder"]


@dataclass
class Step(AttentionMetadata):
    """The sequences of a step, those that decode first.

    A sequence decodes where all its new tokens are one, or one and the drafts to verify: those read their own keys from
    the cache. The others prefill, with their new keys as computed and earlier ones from the cache.
    """

    num_actual_tokens: int
    # Where keys and values of the new tokens go, and of padding behind them.
    slot_mapping: torch.Tensor
    decode_tokens: int
    decode: Batch | None
    prefill: Batch | None
    # vLLM's rows in the order of the sequences here; None where that is vLLM's.
    rows: torch.Tensor | None = None
    # vLLM's MLA layer absorbs the queries of its decodes itself. It is told of none, and hands over all as they are.
    num_decodes: int = 0
    num_prefills: int = 0
    num_decode_tokens: int = 0


class StepBuilder(AttentionMetadataBuilder[Step]):
    """Makes the `Step` of a batch, once for all layers of a KV cache group."""

    reorder_batch_threshold: int | None

    def __init__(
        self, kv_cache_spec: AttentionSpec, layer_names: list[str], vllm_config: VllmConfig, device: torch.device
    ) -> None:
        super().__init__(kv_cache_spec, layer_names, vllm_config, device)
        self._init_reorder_batch_threshold(1, supports_spec_as_decode=True)
        assert self.reorder_batch_threshold is not None
        # New tokens of a sequence that decodes, at most.
        self._decode_tokens: int = self.reorder_batch_threshold
        # vLLM would look at the order of its batch before each step. Decodes are behind prefills in few of them.
        self.reorder_batch_threshold = None

    def build(
        self, common_prefix_len: int, common_attn_metadata: CommonAttentionMetadata, fast_build: bool = False
    ) -> Step:
        """Raises `OptionError` where queries see later tokens."""
        common = common_attn_metadata
        if common.causal is not True:
            raise OptionError("attention to later tokens is not emulated; only causal attention is")
        sequences, tokens, slots = common.num_reqs, common.num_actual_tokens, common.slot_mapping
        starts = common.query_start_loc_cpu[: sequences + 1]
        lengths = common.seq_lens[:sequences]
        blocks = common.block_table_tensor[:sequences].contiguous()
        if common.max_query_len <= self._decode_tokens:
            return Step(tokens, slots, tokens, Batch(starts, lengths, blocks), None, num_prefills=sequences)
        counts, rows = starts.diff(), None
        prefills = counts > self._decode_tokens
        if bool((prefills[:-1] & ~prefills[1:]).any()):
            order = prefills.to(torch.uint8).argsort(stable=True)
            rows = torch.cat([torch.arange(starts[i], starts[i + 1]) for i in order.tolist()])
            counts, lengths, blocks = counts[order], lengths[order], blocks[order]
            starts = torch.cat([starts[:1], counts.cumsum(0, dtype=starts.dtype)])
        decodes = sequences - int(prefills.sum())
        split = int(starts[decodes])
        decode = None
        if decodes > 0:
            decode = Batch(starts[: decodes + 1], lengths[:decodes], blocks[:decodes])
        prefill = Batch(starts[decodes:] - split, lengths[decodes:], blocks[decodes:])
        return Step(tokens, slots, split, decode, prefill, rows, num_prefills=sequences)
