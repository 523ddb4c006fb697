"""A decoder with attention of either kind, loading as vLLM's model classes do."""

from collections.abc import Iterable
from typing import Any

import torch
from vllm.model_executor.layers.attention import Attention, MLAAttention
from vllm.model_executor.layers.linear import LinearBase
from vllm.model_executor.model_loader.weight_utils import maybe_remap_kv_scale_name

STACKED = (
    (".qkv_proj.", ".q_proj.", "q"),
    (".qkv_proj.", ".k_proj.", "k"),
    (".qkv_proj.", ".v_proj.", "v"),
    (".gate_up_proj.", ".gate_proj.", 0),
    (".gate_up_proj.", ".up_proj.", 1),
)


def _linear(shards: dict[Any, int], inputs: int, quant: Any, prefix: str) -> LinearBase:
    return LinearBase(shards, inputs, quant, prefix)


class _Mha(torch.nn.Module):
    def __init__(self, c: dict[str, Any], quant: Any, prefix: str) -> None:
        super().__init__()
        heads, kv_heads, hidden = c["num_attention_heads"], c["num_key_value_heads"], c["hidden_size"]
        dim = c.get("head_dim") or hidden // heads
        shards: dict[Any, int] = {"q": heads * dim, "k": kv_heads * dim, "v": kv_heads * dim}
        self.qkv_proj = _linear(shards, hidden, quant, f"{prefix}.qkv_proj")
        self.o_proj = _linear({0: hidden}, heads * dim, quant, f"{prefix}.o_proj")
        self.attn = Attention(heads, dim, kv_heads, quant, f"{prefix}.attn")


class _Wrapper(torch.nn.Module):
    def __init__(self, heads: int, quant: Any, prefix: str) -> None:
        super().__init__()
        self.mla_attn = MLAAttention(heads, quant, f"{prefix}.mla_attn")


class _Mla(torch.nn.Module):
    def __init__(self, c: dict[str, Any], quant: Any, prefix: str) -> None:
        super().__init__()
        heads, hidden, rank = c["num_attention_heads"], c["hidden_size"], c["kv_lora_rank"]
        nope, rope, value = c["qk_nope_head_dim"], c["qk_rope_head_dim"], c["v_head_dim"]
        self.q_proj = _linear({0: heads * (nope + rope)}, hidden, quant, f"{prefix}.q_proj")
        self.kv_a_proj_with_mqa = _linear({0: rank + rope}, hidden, quant, f"{prefix}.kv_a_proj_with_mqa")
        self.kv_b_proj = _linear({0: heads * (nope + value)}, rank, quant, f"{prefix}.kv_b_proj")
        self.o_proj = _linear({0: hidden}, heads * value, quant, f"{prefix}.o_proj")
        self.mla_attn = _Wrapper(heads, quant, f"{prefix}.mla_attn")


class _Mlp(torch.nn.Module):
    def __init__(self, c: dict[str, Any], quant: Any, prefix: str) -> None:
        super().__init__()
        hidden, inner = c["hidden_size"], c["intermediate_size"]
        self.gate_up_proj = _linear({0: inner, 1: inner}, hidden, quant, f"{prefix}.gate_up_proj")
        self.down_proj = _linear({0: hidden}, inner, quant, f"{prefix}.down_proj")


class _Block(torch.nn.Module):
    def __init__(self, c: dict[str, Any], quant: Any, prefix: str) -> None:
        super().__init__()
        kind = _Mla if "kv_lora_rank" in c else _Mha
        self.self_attn = kind(c, quant, f"{prefix}.self_attn")
        self.mlp = _Mlp(c, quant, f"{prefix}.mlp")


class _Body(torch.nn.Module):
    def __init__(self, c: dict[str, Any], quant: Any, first_layer: int, prefix: str) -> None:
        super().__init__()
        names = [f"{prefix}.layers.{first_layer + number}" for number in range(c["num_hidden_layers"])]
        self.layers = torch.nn.ModuleList(_Block(c, quant, name) for name in names)


class Decoder(torch.nn.Module):
    """`first_layer` is where a draft's layers are numbered from."""

    first_layer = 0

    def __init__(self, *, vllm_config: Any, prefix: str = "", model_config: Any = None) -> None:
        super().__init__()
        self.model = _Body(model_config.hf_config, vllm_config.quant_config, self.first_layer, "model")

    def load_weights(self, weights: Iterable[tuple[str, torch.Tensor]]) -> set[str]:
        parameters = dict(self.named_parameters())
        loaded = set()
        for original, tensor in weights:
            name: str | None = original
            if "scale" in original or "zero_point" in original:
                name = maybe_remap_kv_scale_name(original, parameters)
            if name is None or "layers" not in name or "norm" in name:
                continue
            shard: Any = ()
            for fused, own, number in STACKED:
                if own in name and "mla_attn" not in name and name.replace(own, fused) in parameters:
                    name, shard = name.replace(own, fused), (number,)
                    break
            parameter = parameters[name]
            loader = getattr(parameter, "weight_loader", _load_whole)
            loader(parameter, tensor, *shard)
            loaded.add(name)
        return loaded


def _load_whole(param: Any, loaded_weight: Any) -> None:
    assert param.numel() == loaded_weight.numel(), (param.shape, loaded_weight.shape)
    param.data.copy_(loaded_weight.reshape(param.shape))
