"""What a step is made of, without an engine."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from engines import needs_vllm

pytestmark = needs_vllm


def build(counts: list[int], threshold: int = 1) -> Any:
    """The step of sequences with so many new tokens, 10 cached ones and two blocks each."""
    import torch

    from gaudi_kv.vllm.step import StepBuilder

    builder = StepBuilder.__new__(StepBuilder)
    builder._decode_tokens = threshold
    starts = torch.tensor([0, *counts], dtype=torch.int32).cumsum(0, dtype=torch.int32)
    common = SimpleNamespace(
        causal=True,
        num_reqs=len(counts),
        num_actual_tokens=sum(counts),
        max_query_len=max(counts),
        query_start_loc_cpu=starts,
        seq_lens=torch.tensor(counts, dtype=torch.int32) + 10,
        block_table_tensor=torch.arange(2 * len(counts), dtype=torch.int32).reshape(-1, 2),
        slot_mapping=torch.arange(sum(counts)),
    )
    given: Any = common
    return builder.build(0, given)


def shape(step: Any) -> tuple[Any, Any]:
    """Sequences and tokens of what decodes, and of what prefills."""
    parts = (step.decode, step.prefill)
    decode, prefill = ((part.num_sequences, part.num_tokens) if part else None for part in parts)
    return decode, prefill


@pytest.mark.parametrize(
    ("counts", "threshold", "expected"),
    [
        ([1, 1, 1], 1, ((3, 3), None)),
        ([5, 7], 1, (None, (2, 12))),
        ([1, 1, 5], 1, ((2, 2), (1, 5))),
        ([1, 3, 4], 3, ((2, 4), (1, 4))),
    ],
)
def test_what_is_in_order_stays_as_it_is(counts: list[int], threshold: int, expected: Any) -> None:
    step = build(counts, threshold)
    assert shape(step) == expected
    assert step.rows is None
    assert step.decode_tokens == (expected[0][1] if expected[0] else 0)


def test_decodes_behind_prefills_come_first() -> None:
    # Rows 0 to 3 prefill, 4 decodes, 5 and 6 prefill, 7 decodes.
    step = build([4, 1, 2, 1])
    assert shape(step) == ((2, 2), (2, 6))
    assert step.rows.tolist() == [4, 7, 0, 1, 2, 3, 5, 6]
    assert step.decode_tokens == 2


@pytest.mark.parametrize("counts", [[4, 1, 2, 1], [1, 1], [1, 3, 1]])
def test_attention_does_not_depend_on_the_order(counts: list[int]) -> None:
    """Each sequence alone gives the same rows as all of them in one step."""
    import torch

    from gaudi_kv import Batch, MhaAttention, MhaCache, Scale
    from gaudi_kv._attention import AttentionOptions
    from gaudi_kv._native import Device
    from gaudi_kv.vllm.layer import first, in_order

    torch.manual_seed(0)
    device, one = Device("gaudi2", "fast"), Scale(1.0, 1.0)
    cache = MhaCache(
        device, num_blocks=8, block_size=16, num_kv_heads=2, head_dim=32, k_scale=one, v_scale=one
    )
    slots = torch.arange(8 * 16)
    cache.write(torch.randn(128, 2, 32).bfloat16(), torch.randn(128, 2, 32).bfloat16(), slots)
    options = AttentionOptions(softmax_scale=32**-0.5)
    layer = MhaAttention(device, num_heads=4, num_kv_heads=2, head_dim=32, options=options)
    total = sum(counts)
    q, k, v = (torch.randn(total, heads, 32).bfloat16() for heads in (4, 2, 2))

    def attend(step: Any, output: Any, q: Any, k: Any, v: Any) -> None:
        split = step.decode_tokens
        if step.decode is not None:
            layer.decode(cache, first(q, split), step.decode, out=first(output, split))
        if step.prefill is not None:
            layer.prefill(q[split:], k[split:], v[split:], step.prefill, cache=cache, out=output[split:])

    output = torch.zeros(total, 4, 32, dtype=torch.bfloat16)
    in_order(build(counts), attend, output, q, k, v)
    start = 0
    for number, count in enumerate(counts):
        rows = slice(start, start + count)
        batch = Batch([0, count], [count + 10], torch.tensor([[2 * number, 2 * number + 1]], dtype=torch.int32))
        alone = torch.zeros(count, 4, 32, dtype=torch.bfloat16)
        if count == 1:
            layer.decode(cache, q[rows], batch, out=alone)
        else:
            layer.prefill(q[rows], k[rows], v[rows], batch, cache=cache, out=alone)
        assert torch.equal(output[rows], alone), number
        start += count
