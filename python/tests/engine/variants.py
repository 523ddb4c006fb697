"""Models that compute the same function with other keys, values and latents."""

from __future__ import annotations

import json
import shutil
from pathlib import Path


def scaled(source: Path, target: Path, power: int) -> Path:
    """A copy of a tiny model whose keys, values and latents, and the scales for them, are `2**power` times as large.

    What multiplies with them is as much smaller: the query, the output projection, and for MLA `kv_b_proj`. Powers of
    two change no digit of a bfloat16, so the function is the same to the last bit.
    """
    from safetensors.torch import load_file, save_file

    shutil.copytree(source, target)
    config = json.loads((source / "config.json").read_text())
    tensors = load_file(target / "model.safetensors")
    up, down = 2.0**power, 2.0**-power
    for name, tensor in tensors.items():
        part = name.split("self_attn.")[-1]
        if part in ("k_proj.weight", "k_proj.bias", "v_proj.weight", "v_proj.bias", "kv_a_layernorm.weight"):
            tensor.mul_(up)
        elif part in ("k_scale", "v_scale"):
            tensor.mul_(up)
        elif part == "kv_a_proj_with_mqa.weight":
            tensor[config["kv_lora_rank"] :].mul_(up)
        elif part == "kv_b_proj.weight":
            tensor.mul_(down)
        elif part in ("q_proj.weight", "q_proj.bias") and "kv_lora_rank" in config:
            heads = tensor.view(config["num_attention_heads"], config["qk_head_dim"], -1)
            heads[:, config["qk_nope_head_dim"] :].mul_(down)
        elif part in ("q_proj.weight", "q_proj.bias", "o_proj.weight") and "kv_lora_rank" not in config:
            tensor.mul_(down)
    save_file(tensors, target / "model.safetensors", {"format": "pt"})
    return target
