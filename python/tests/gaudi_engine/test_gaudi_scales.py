"""The numbers on each submodule are those of `gaudi-kv inspect --json`, as an independent oracle has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from served import DATA, DEVICES, FIXTURES, FP8_FIXTURES, altered, attentions, engine, expected, load, torch

import gaudi_kv

ONE = {"quant": 1.0, "dequant": 1.0}
FUSED = "fused_scaled_dot_product_attention"


def f32(numbers: Any) -> Any:
    return torch.tensor(numbers, dtype=torch.float32)


def largest(scale: dict[str, Any], side: str) -> float:
    """One number for the layer: that of the head with the largest values."""
    numbers = scale[side] if isinstance(scale[side], list) else [scale[side]]
    return float(min(numbers) if side == "quant" else max(numbers))


def numbers(layer: dict[str, Any]) -> dict[str, Any]:
    """Each attribute's value, written down from what vllm-gaudi does with it."""
    k, prob = layer["k"], layer["prob"]
    # vllm-gaudi's products have static scales: a query without one is quantized as it is.
    q = layer["q"] if layer["q"]["quant"] is not None else ONE
    is_mla = layer["attention"] == "mla"
    v = k if is_mla else layer["v"]
    values: dict[str, Any] = {
        "matmul_qk.scale_input": largest(q, "quant"),
        "matmul_qk.scale_other": largest(k, "quant"),
        "matmul_av.scale_input": prob["quant"],
        "matmul_av.scale_other": largest(v, "quant"),
    }
    caches = {"latent_cache_k": k} if is_mla else {"k_cache": k, "v_cache": v}
    for cache, scale in caches.items():
        values |= {f"{cache}.input_scale": scale["quant"], f"{cache}.output_scale": scale["dequant"]}
    # What an MLA layer's prefill computes with is expanded and has no scale.
    fused = {"q": ONE, "k": ONE, "v": ONE} if is_mla else {"q": q, "k": k, "v": v}
    for letter, scale in fused.items():
        values |= {f"{FUSED}.scale_{letter}": largest(scale, "quant")}
        values |= {f"{FUSED}.d_scale_{letter}": largest(scale, "dequant")}
    probability = ONE if is_mla else prob
    values |= {f"{FUSED}.scale_amax": probability["quant"], f"{FUSED}.descale_amax": probability["dequant"]}
    for product in ("batch2block_matmul", "block2batch_matmul"):
        values |= {f"{product}.scale_input": 1.0, f"{product}.scale_other": 1.0}
    return values


def assert_scales(model: Any, report: dict[str, Any], first: int = 0) -> None:
    layers = attentions(model)
    assert sorted(layers) == [first + layer["layer"] for layer in report["layers"]]
    for layer in report["layers"]:
        impl = layers[first + layer["layer"]].impl
        for name, value in numbers(layer).items():
            parameter = impl.get_parameter(name)
            assert parameter.dtype == torch.float32 and not parameter.requires_grad
            assert torch.equal(parameter.flatten(), f32(value).flatten()), (layer["layer"], name)


def environment_for(name: str) -> dict[str, Any]:
    # The weights of this one are refused; its scales are those of its inspection all the same.
    return {"GAUDI_KV_PATCHES_OFF": "weights"} if name == "autoround-mla-mislabelled" else {}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", FP8_FIXTURES)
def test_every_fixture_gets_the_scales_of_its_inspection(name: str, device: str) -> None:
    with engine(device, **environment_for(name)):
        assert_scales(load(name), expected(name, device))


@pytest.mark.parametrize("name", ["autoround-gqa", "autoround-mla", "modelopt-gqa"])
def test_the_order_of_plugins_does_not_matter(name: str) -> None:
    with engine("gaudi2", is_first=True):
        assert_scales(load(name), expected(name, "gaudi2"))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("method", ["fp8", "quark"])
@pytest.mark.parametrize("name", ["llmc-gqa-kv", "llmc-mla-kv"])
def test_methods_that_vllm_gaudi_never_applies_are_applied(
    name: str, method: str, device: str, tmp_path: Path
) -> None:
    linear = ("qkv_proj", "q_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj", "gate_up_proj", "down_proj")
    blocks = [f"model.layers.{layer}.{block}" for layer in range(3) for block in ("self_attn", "mlp")]

    def say_method(config: Any) -> None:
        # Their weights are bf16.
        ignored = [f"{block}.{name}" for block in blocks for name in linear]
        config["quantization_config"].update(quant_method=method, ignored_layers=ignored)

    with engine(device):
        assert_scales(load(altered(name, tmp_path / "model", say_method)), expected(name, device))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", FIXTURES)
def test_a_bf16_cache_stays_untouched(name: str, device: str) -> None:
    with engine(device, **environment_for(name)):
        for layer in attentions(load(name, kv_cache_dtype="auto")).values():
            assert list(layer.impl.parameters()) == []
            assert not any(hasattr(module, "input_scale") for module in layer.impl.modules())


@pytest.mark.parametrize("name", ["tiny-gqa", "tiny-mla"])
def test_a_checkpoint_without_scales_gets_ones(name: str) -> None:
    with engine("gaudi2"):
        for layer in attentions(load(name)).values():
            values = [float(parameter) for parameter in layer.impl.parameters()]
            assert len(values) > 10 and set(values) == {1.0}


def test_skipped_layers_stay_untouched() -> None:
    with engine("gaudi2"):
        layers = attentions(load("llmc-gqa-kv", skip_layers=["1"]))
        assert list(layers[1].impl.parameters()) == []
        assert float(layers[2].impl.k_cache.input_scale) == pytest.approx(
            expected("llmc-gqa-kv", "gaudi2")["layers"][2]["k"]["quant"]
        )


@pytest.mark.parametrize("rank", [0, 1])
def test_ranks_get_the_scales_of_their_heads(rank: int) -> None:
    with engine("gaudi2", ranks=(2, rank)):
        layers = attentions(load("llmc-gqa-head"))
    for report in expected("llmc-gqa-head", "gaudi2")["layers"]:
        impl = layers[report["layer"]].impl
        # Two heads, and one of them on each rank: a list of one number.
        for cache, scale in ((impl.k_cache, report["k"]), (impl.v_cache, report["v"])):
            assert torch.equal(cache.input_scale.flatten(), f32([scale["quant"][rank]]))
            assert torch.equal(cache.output_scale.flatten(), f32([scale["dequant"][rank]]))
        assert torch.equal(impl.matmul_qk.scale_other, f32(report["k"]["quant"][rank]))


def test_heads_have_scales_of_their_own_in_the_cache() -> None:
    with engine("gaudi2"):
        impl = attentions(load("llmc-gqa-head"))[0].impl
        assert impl.k_cache.input_scale.shape == (2, 1)
        tokens = torch.ones(5, 2, 32, dtype=torch.bfloat16)
        codes = torch.zeros(8, 2, 32, dtype=torch.float8_e4m3fn)
        impl.k_cache(tokens, codes, torch.arange(5))
        stored = codes[:5].float()
        read = impl.k_cache.fetch_from_cache(codes, torch.arange(5)).float()
    # 68.84 and 74.07 of the expected file, to FP8: 72 (tie-free) and 72.
    assert stored[:, 0].unique().tolist() == [72.0] and stored[:, 1].unique().tolist() == [72.0]
    first, second = expected("llmc-gqa-head", "gaudi2")["layers"][0]["k"]["dequant"]
    assert read[:, 0].unique().tolist() == [float(f32(72 * first).bfloat16())]
    assert read[:, 1].unique().tolist() == [float(f32(72 * second).bfloat16())]


@pytest.mark.parametrize("device", DEVICES)
def test_the_larger_of_two_scales_is_a_setting_of_mla(device: str) -> None:
    with engine(device, GAUDI_KV_MLA_SCALE="max-kv"):
        layers = attentions(load("autoround-mla"))
    generation: Any = device
    largest_of_both = gaudi_kv.inspect(DATA / "autoround-mla", device=generation, mla_scale="max-kv")
    k_only = expected("autoround-mla", device)
    differing = 0
    for report, own in zip(largest_of_both.layers, k_only["layers"], strict=True):
        impl = layers[report["layer"]].impl
        assert torch.equal(impl.latent_cache_k.input_scale, f32(report["k"]["quant"]))
        assert torch.equal(impl.matmul_av.scale_other, f32(report["k"]["quant"]))
        differing += report["k"]["quant"] != own["k"]["quant"]
    assert differing > 0


def test_errors_of_the_model_refuse_an_fp8_cache_and_no_other(tmp_path: Path) -> None:
    def not_symmetric(config: Any) -> None:
        config["quantization_config"]["kv_cache_scheme"].update(type="int")

    folder = altered("llmc-gqa-kv", tmp_path / "model", not_symmetric)
    found = gaudi_kv.inspect(folder, device="gaudi2", kv_cache_dtype="fp8")
    assert found.errors, "the test needs a model with errors"
    with engine("gaudi2"):
        with pytest.raises(gaudi_kv.ModelError, match=found.errors[0]["code"]):
            load(folder)
        load(folder, kv_cache_dtype="auto")
