"""Runs caches and attention on a Gaudi and on the emulated device of its generation, and prints what differs.

`hpu_and_emulated.py`: the library is found as `Device("hpu")` finds it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import gaudi_kv
from gaudi_kv import AttentionOptions, Batch, Device, MhaAttention, MhaCache, MlaAttention, MlaCache, Scale

BLOCK, BLOCKS = 16, 4
TOKENS, NEW = 37, 5
HEADS, KV_HEADS, DIM, VALUE_DIM = 4, 2, 16, 8
RANK, NOPE, ROPE = 32, 16, 8
SCALE = Scale(8.0, 0.125)


def bf16(seed: int, *shape: int) -> Any:
    x = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return gaudi_kv.round_bf16(x)


def batches() -> tuple[Batch, Batch]:
    """The last tokens of one sequence, whose blocks are out of order, and one query of each of two."""
    table = np.array([[2, 0, 3, 1]], np.int32)
    newest = Batch([0, NEW], [TOKENS], table)
    return newest, Batch([0, 1, 3], [TOKENS, TOKENS - 7], np.repeat(table, 2, axis=0))


def slots() -> Any:
    blocks = np.array([2, 0, 3, 1], np.int64)
    tokens = np.arange(TOKENS)
    return blocks[tokens // BLOCK] * BLOCK + tokens % BLOCK


def mha(device: Device, kv_cache_dtype: Any) -> dict[str, Any]:
    scales = {"k_scale": SCALE, "v_scale": Scale((8.0, 4.0), (0.125, 0.25))}
    cache = MhaCache(
        device,
        num_blocks=BLOCKS,
        block_size=BLOCK,
        num_kv_heads=KV_HEADS,
        head_dim=DIM,
        v_head_dim=VALUE_DIM,
        kv_cache_dtype=kv_cache_dtype,
        **(scales if kv_cache_dtype == "fp8" else {}),
    )
    attention = MhaAttention(
        device,
        num_heads=HEADS,
        num_kv_heads=KV_HEADS,
        head_dim=DIM,
        v_head_dim=VALUE_DIM,
        options=AttentionOptions(0.25, sliding_window=29),
        q_scale=Scale(4.0, 0.25),
    )
    k, v = bf16(1, TOKENS, KV_HEADS, DIM), bf16(2, TOKENS, KV_HEADS, VALUE_DIM)
    cache.write(k, v, slots())
    cache.copy_blocks([(1, 0)])
    newest, queries = batches()
    q = bf16(3, NEW, HEADS, DIM)
    keys, values = cache.read(slots())
    blocks = [cache.export_block(block) for block in range(BLOCKS)]
    cache.import_block(0, blocks[3])
    return {
        "keys": keys,
        "values": values,
        "blocks": np.frombuffer(b"".join(plane.data for block in blocks for plane in block.planes), np.uint8),
        "prefill": attention.prefill(q, k[-NEW:], v[-NEW:], newest, cache=cache),
        "decode": attention.decode(cache, q[:3], queries),
    }


def mla(device: Device, kv_cache_dtype: Any) -> dict[str, Any]:
    cache = MlaCache(
        device,
        num_blocks=BLOCKS,
        block_size=BLOCK,
        kv_lora_rank=RANK,
        qk_rope_head_dim=ROPE,
        kv_cache_dtype=kv_cache_dtype,
        k_scale=SCALE if kv_cache_dtype == "fp8" else None,
    )
    attention = MlaAttention(
        device,
        num_heads=HEADS,
        kv_lora_rank=RANK,
        qk_nope_head_dim=NOPE,
        qk_rope_head_dim=ROPE,
        v_head_dim=VALUE_DIM,
        kv_b_proj=bf16(4, HEADS * (NOPE + VALUE_DIM), RANK),
        options=AttentionOptions(0.25),
    )
    kv_c, k_pe = bf16(5, TOKENS, RANK), bf16(6, TOKENS, ROPE)
    cache.write(kv_c, k_pe, slots())
    newest, queries = batches()
    q_nope, q_pe = bf16(7, NEW, HEADS, NOPE), bf16(8, NEW, HEADS, ROPE)
    return {
        "latents": cache.read(slots()),
        "prefill": attention.prefill(q_nope, q_pe, kv_c[-NEW:], k_pe[-NEW:], newest, cache=cache),
        "decode": attention.decode(cache, q_nope[:3], q_pe[:3], queries),
    }


def error_of(run: Any) -> str:
    try:
        run()
    except gaudi_kv.GaudiKvError as error:
        return f"{type(error).__name__}: {error}"
    return ""


def main() -> None:
    gaudi = Device("hpu")
    emulated: Any = Device(gaudi.generation)
    differing = [
        f"{run.__name__} {dtype} {name}"
        for run in (mha, mla)
        for dtype in ("fp8", "bf16")
        for (name, ours), theirs in zip(run(gaudi, dtype).items(), run(emulated, dtype).values(), strict=True)
        if ours.shape != theirs.shape or ours.tobytes() != theirs.tobytes()
    ]
    codes = np.zeros((BLOCKS, BLOCK, RANK + ROPE), np.uint8)
    model = str(Path(__file__).resolve().parents[2] / "tests" / "data" / "llmc-gqa-kv")
    inspection = gaudi_kv.inspect(model, device="hpu")
    found = {
        "inspection": [inspection["backend"], inspection.device],
        "device": [repr(gaudi), gaudi.generation, gaudi.mode, gaudi.backend, gaudi.fp8_max],
        "emulated": [repr(emulated), emulated.mode, emulated.backend],
        "differing": differing,
        "over": error_of(lambda: MlaCache.over(gaudi, codes, kv_lora_rank=RANK, k_scale=SCALE)),
        "module": error_of(lambda: Device("hpu:77")),
        "mode": error_of(lambda: Device("hpu", "fast")),
    }
    print("FOUND", json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
