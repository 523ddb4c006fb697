"""What a step computes: which rows decode and which prefill."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from vllm.config import VllmConfig
from vllm.v1.attention.backend import AttentionMetadata, AttentionMetadataBuilder, CommonAttentionMetadata
from vllm.v1.attention.backends.utils import split_decodes_and_prefills
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
    decode_tokens: int
    decode: Batch | None
    prefill: Batch | None
    # vLLM's MLA layer absorbs the queries of its decodes itself. It is told of none, and hands over all as they are.
    num_decodes: int = 0
    num_prefills: int = 0
    num_decode_tokens: int = 0


class StepBuilder(AttentionMetadataBuilder[Step]):
    """Makes the `Step` of a batch, once for all layers of a KV cache group."""

    def __init__(
        self, kv_cache_spec: AttentionSpec, layer_names: list[str], vllm_config: VllmConfig, device: torch.device
    ) -> None:
        super().__init__(kv_cache_spec, layer_names, vllm_config, device)
        self._init_reorder_batch_threshold(1, supports_spec_as_decode=True)

    def build(
        self, common_prefix_len: int, common_attn_metadata: CommonAttentionMetadata, fast_build: bool = False
    ) -> Step:
        """Raises `OptionError` where queries see later tokens."""
        common = common_attn_metadata
        if common.causal is not True:
            raise OptionError("attention to later tokens is not emulated; only causal attention is")
        assert self.reorder_batch_threshold is not None
        decodes, _, decode_tokens, _ = split_decodes_and_prefills(common, self.reorder_batch_threshold)
        starts = common.query_start_loc_cpu[: common.num_reqs + 1]
        lengths = common.seq_lens[: common.num_reqs]
        blocks = common.block_table_tensor[: common.num_reqs].contiguous()
        decode = prefill = None
        if decodes > 0:
            decode = Batch(starts[: decodes + 1], lengths[:decodes], blocks[:decodes])
        if decodes < common.num_reqs:
            prefill = Batch(starts[decodes:] - decode_tokens, lengths[decodes:], blocks[decodes:])
        return Step(common.num_actual_tokens, decode_tokens, decode, prefill, num_prefills=common.num_reqs)
