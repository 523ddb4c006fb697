"""Names of scale tensors while weights are loaded."""

from __future__ import annotations

from typing import Any

import pytest
from served import engine
from standin.loading import module

MHA = "model.layers.0.self_attn.attn"
MLA = "model.layers.1.self_attn.mla_attn.mla_attn"
# A model with layers of both kinds.
PARAMETERS = {f"{layer}.{letter}_scale": None for layer in (MHA, MLA) for letter in ("q", "k", "v")} | {
    "model.layers.0.self_attn.qkv_proj.weight_scale": None,
    "vision_tower.vision_model.encoder.layers.0.self_attn.k_scale": None,
}


def remap(name: str, parameters: dict[str, Any] | None = None) -> str | None:
    function = module("vllm.model_executor.model_loader.weight_utils").maybe_remap_kv_scale_name
    found: str | None = function(name, PARAMETERS if parameters is None else parameters)
    return found


SPELLINGS = [
    ("k_scale", "k_scale"),
    ("q_scale", "q_scale"),
    ("kv_scale", "k_scale"),
    ("k_proj.k_scale", "k_scale"),
    ("v_proj.v_scale", "v_scale"),
    ("q_proj.q_scale", "q_scale"),
    ("qkv_proj.v_scale", "v_scale"),
    ("k_proj.output_scale", "k_scale"),
    ("v_cache.scale", "v_scale"),
    ("k_fake_quantizer.qscale_act", "k_scale"),
    ("attn.v_scale", "v_scale"),
    ("mla_attn.mla_attn.k_scale", "k_scale"),
]


@pytest.mark.parametrize(("spelling", "parameter"), SPELLINGS)
def test_each_layer_gets_its_own_kind_of_name(spelling: str, parameter: str) -> None:
    with engine("gaudi2"):
        assert remap(f"model.layers.0.self_attn.{spelling}") == f"{MHA}.{parameter}"
        assert remap(f"model.layers.1.self_attn.{spelling}") == f"{MLA}.{parameter}"


@pytest.mark.parametrize(
    "name",
    [
        "model.layers.0.self_attn.qkv_proj.weight_scale",
        "model.layers.0.self_attn.k_proj.weight_scale",
        "model.layers.0.self_attn.k_proj.input_scale",
        "model.layers.0.mlp.down_proj.weight_scale_inv",
        "vision_tower.vision_model.encoder.layers.0.self_attn.k_scale",
        f"{MHA}.k_scale",
    ],
)
def test_other_names_stay(name: str) -> None:
    with engine("gaudi2"):
        assert remap(name) == name


@pytest.mark.parametrize(
    "name",
    [
        # No parameter of the model's, crossed letters, zero points, an int8 cache's, another role's.
        "model.layers.2.self_attn.k_scale",
        "model.layers.0.self_attn.prob_scale",
        "model.layers.0.self_attn.k_proj.v_scale",
        "model.layers.0.self_attn.k_zero_point",
        "model.layers.0.self_attn.k_proj.kv_cache_scale",
        "model.layers.0.self_attn.q_max",
    ],
)
def test_what_no_layer_takes_is_passed_over(name: str) -> None:
    with engine("gaudi2"):
        assert remap(name) is None


def test_without_the_plugin_one_mla_layer_makes_all_layers_mla() -> None:
    # Why the grammar: this is what it replaces.
    with engine("gaudi2", with_plugin=False):
        assert remap("model.layers.0.self_attn.k_scale") is None
        assert remap("model.layers.1.self_attn.k_scale") == f"{MLA}.k_scale"
