"""Which scale each number of vllm-gaudi's attention modules is.

`input_scale` and `scale_*` multiply on the way into FP8, `output_scale` and `d_scale_*` on the way out; the products
take the reciprocals of theirs themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

from gaudi_kv.vllm_gaudi.table import DEQUANT, QUANT

__all__ = ["MHA", "MLA", "Role"]


@dataclass(frozen=True)
class Role:
    """An attribute of a submodule of the attention's implementation, and its place in the table."""

    module: str
    attribute: str
    kind: str
    side: int
    # Has a number for each KV head where the model does; else there is one for the layer.
    per_head: bool = False


def _cache(module: str, kind: str) -> list[Role]:
    return [
        Role(module, "input_scale", kind, QUANT, per_head=True),
        Role(module, "output_scale", kind, DEQUANT, per_head=True),
    ]


def _product(module: str, left: str, right: str) -> list[Role]:
    # A product has one multiplier for each operand.
    return [Role(module, "scale_input", left, QUANT), Role(module, "scale_other", right, QUANT)]


def _fused(q: str, k: str, v: str, prob: str) -> list[Role]:
    module = "fused_scaled_dot_product_attention"
    operands = [("q", q), ("k", k), ("v", v)]
    return [
        *(Role(module, f"scale_{letter}", kind, QUANT) for letter, kind in operands),
        *(Role(module, f"d_scale_{letter}", kind, DEQUANT) for letter, kind in operands),
        Role(module, "scale_amax", prob, QUANT),
        Role(module, "descale_amax", prob, DEQUANT),
    ]


# Between batches and blocks, which has no scale: 1.0, as vllm-gaudi has it.
_BLOCKS = _product("batch2block_matmul", "one", "one") + _product("block2batch_matmul", "one", "one")

MHA = (
    _cache("k_cache", "k")
    + _cache("v_cache", "v")
    + _product("matmul_qk", "q", "k")
    + _product("matmul_av", "prob", "v")
    + _BLOCKS
    + _fused("q", "k", "v", "prob")
)

# Both products of the decode read the latent. The prefill's keys and values are expanded from it and have no scale.
MLA = (
    _cache("latent_cache_k", "k")
    + _product("matmul_qk", "q", "k")
    + _product("matmul_av", "prob", "k")
    + _BLOCKS
    + _fused("one", "one", "one", "one")
)
