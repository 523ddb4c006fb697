"""FP8 weights while they are loaded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served import DATA, altered, engine, load, torch
from standin.loading import module

import gaudi_kv

FP8 = torch.float8_e4m3fn


def linear_parameters(model: Any) -> dict[str, Any]:
    """Codes as bytes, for NaN differs from itself and -0 does not from 0."""
    return {
        name: parameter.detach().view(torch.uint8) if parameter.dtype == FP8 else parameter.detach()
        for name, parameter in model.named_parameters()
        if ".impl." not in name
    }


def assert_same(left: dict[str, Any], right: dict[str, Any]) -> None:
    assert left.keys() == right.keys()
    for name, parameter in left.items():
        assert torch.equal(parameter, right[name]), name


@pytest.mark.parametrize("name", ["llmc-gqa-w8kv", "autoround-gqa", "autoround-mla", "modelopt-gqa"])
def test_weights_come_out_as_convert_writes_them(name: str, tmp_path: Path) -> None:
    converted = tmp_path / "converted"
    gaudi_kv.convert(DATA / name, converted, to="gaudi2")
    with engine("gaudi2"):
        adjusted = linear_parameters(load(name))
        # The result says that it needs nothing.
        assert_same(adjusted, linear_parameters(load(converted)))
    with engine("gaudi3"):
        source = linear_parameters(load(name))
    halved = [parameter for parameter in source if not torch.equal(source[parameter], adjusted[parameter])]
    assert {parameter.rpartition(".")[2] for parameter in halved} == {"weight", "weight_scale", "input_scale"}


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("autoround-gqa-gaudi2", "gaudi2"),
        ("autoround-mla-gaudi2", "gaudi2"),
        ("autoround-gqa", "gaudi3"),
        ("autoround-mla-gaudi2", "gaudi3"),
        ("tiny-gqa", "gaudi2"),
    ],
)
def test_weights_stay_where_nothing_is_due(name: str, device: str) -> None:
    with engine(device):
        loaded = linear_parameters(load(name))
    with engine("gaudi3", with_plugin=False):
        # Where there is no Gaudi2, vllm-gaudi loads weights as they are.
        assert_same(loaded, linear_parameters(load(name, kv_cache_dtype="auto")))


def test_codes_that_contradict_the_label_are_refused() -> None:
    with engine("gaudi2"), pytest.raises(gaudi_kv.ModelError, match=r"_proj.weight: .*code 0x7e.*fp8_dtype_flavor"):
        load("autoround-mla-mislabelled")
    with engine("gaudi3"):
        load("autoround-mla-mislabelled")


def test_turning_adjustment_off_does_not_hand_inf_to_the_device() -> None:
    with engine("gaudi2", VLLM_SCALE_ADJUSTMENT="false"):
        with pytest.raises(gaudi_kv.ModelError, match="VLLM_SCALE_ADJUSTMENT is wrong"):
            load("autoround-gqa")


class Layer(torch.nn.Module):  # type: ignore[misc]
    """A layer with parameters of its own, whose loader copies and says so."""

    def __init__(self, **parameters: Any) -> None:
        super().__init__()
        self.prefix = "model.layers.0.mlp.down_proj"
        self.kept: list[Any] = []
        for name, data in parameters.items():
            setattr(self, name, torch.nn.Parameter(data, requires_grad=False))

    def weight_loader(self, param: Any, loaded_weight: Any, *args: Any, **kwargs: Any) -> bool:
        self.kept.append(loaded_weight)
        param.data.copy_(loaded_weight.reshape(param.shape))
        return True


@pytest.fixture
def wrapped() -> Iterator[Any]:
    """The loader of a layer in a model that needs adjusting, on a Gaudi2."""
    with engine("gaudi2"):
        plans = module("gaudi_kv.vllm_gaudi.plan")
        config: Any = module("vllm.config")
        model_config = config.ModelConfig(str(DATA / "llmc-gqa-w8kv"))
        vllm_config = config.VllmConfig(model_config, config.CacheConfig("auto"))
        plan = plans.ModelPlan(vllm_config, model_config, lambda plan: plan.model_config.model)

        def wrap(layer: Layer) -> Any:
            with plans.making(plan):
                return module("vllm_gaudi.extension.ops").gaudi_weight_wrapper(layer.weight_loader)

        yield wrap


def fp8(*codes: int) -> Any:
    return torch.tensor(codes, dtype=torch.uint8).view(FP8)


def codes(tensor: Any) -> list[int]:
    return list(tensor.view(torch.uint8).tolist())


def test_every_code_is_halved_to_the_nearest_even(wrapped: Any) -> None:
    every = [code for code in range(256) if code & 0x7F != 0x7F]
    layer = Layer(weight=fp8(*[0] * len(every)))
    assert wrapped(layer)(layer.weight, fp8(*every)) is True
    values = fp8(*every).float().double() / 2
    # Nearest even, by hand: eighths of a binade are exact, steps of 2^-9 below 2^-6 may be ties.
    steps = (values.abs() / 2.0**-9).where(values.abs() < 2.0**-6, torch.zeros(()).double())
    rounded = torch.round(steps) * 2.0**-9
    nearest = torch.where(steps > 0, torch.copysign(rounded, values), values)
    assert torch.equal(layer.weight.float().double(), nearest)
    signs = [code & 0x80 for code in codes(layer.weight)]
    assert signs == [code & 0x80 for code in every]


def test_scales_of_fp8_weights_are_doubled_in_any_type(wrapped: Any) -> None:
    e8m0 = torch.tensor([118, 121], dtype=torch.uint8).view(torch.float8_e8m0fnu)
    scales = [torch.tensor([0.5, 3.0]).to(dtype) for dtype in (torch.float32, torch.bfloat16, torch.float16)]
    for scale in (*scales, e8m0):
        for name in ("weight_scale", "weight_scale_inv", "input_scale"):
            layer = Layer(weight=fp8(0, 0), **{name: torch.zeros(2)})
            wrapped(layer)(layer.get_parameter(name), scale)
            assert torch.equal(layer.get_parameter(name), 2 * scale.float())
            assert layer.kept[0].dtype == scale.dtype


def test_fused_experts_have_names_of_their_own(wrapped: Any) -> None:
    layer = Layer(
        w13_weight=fp8(0, 0),
        w13_weight_scale=torch.zeros(2),
        w2_weight=torch.zeros(2, dtype=torch.int8),
        w2_weight_scale=torch.zeros(2),
    )
    load = wrapped(layer)
    assert load(layer.w13_weight, fp8(0x7E, 0x40), "w13_weight", shard_id="w1", expert_id=0) is True
    load(layer.w13_weight_scale, torch.ones(2))
    load(layer.w2_weight_scale, torch.ones(2))
    assert codes(layer.w13_weight) == [0x76, 0x38]
    assert layer.w13_weight_scale.tolist() == [2.0, 2.0] and layer.w2_weight_scale.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32, torch.bfloat16])
def test_what_is_not_fp8_stays_as_it_is(wrapped: Any, dtype: Any) -> None:
    layer = Layer(
        weight=torch.zeros(3, dtype=dtype),
        weight_scale=torch.zeros(3),
        input_scale=torch.zeros(3),
        weight_zero_point=torch.zeros(3, dtype=torch.int8),
        bias=torch.zeros(3, dtype=torch.bfloat16),
    )
    load = wrapped(layer)
    for name, parameter in layer.named_parameters():
        tensor = torch.tensor([3, 5, 7]).to(parameter.dtype)
        load(parameter, tensor)
        assert torch.equal(parameter, tensor) and layer.kept[-1] is tensor, name


def test_a_bias_beside_fp8_weights_stays_as_it_is(wrapped: Any) -> None:
    layer = Layer(weight=fp8(0), bias=torch.zeros(1, dtype=torch.bfloat16))
    wrapped(layer)(layer.bias, torch.tensor([3.0]).bfloat16())
    assert layer.bias.tolist() == [3.0]


def test_without_the_plugin_int8_weights_are_doubled() -> None:
    # Why the plugin goes by type and role: this is what it replaces.
    with engine("gaudi2", with_plugin=False):
        layer = Layer(weight=torch.zeros(2, dtype=torch.int8))
        module("vllm_gaudi.extension.ops").gaudi_weight_wrapper(layer.weight_loader)(
            layer.weight, torch.tensor([3, 5], dtype=torch.int8)
        )
        assert layer.weight.tolist() == [6, 10]


def test_what_the_caller_has_is_not_changed_and_may_be_loaded_again(wrapped: Any) -> None:
    layer = Layer(weight=fp8(0, 0), weight_scale=torch.zeros(1))
    weight, scale, load = fp8(0x7E, 0x41), torch.tensor([3.0]), wrapped(layer)
    for _ in range(2):
        load(layer.weight, weight)
        load(layer.weight_scale, scale)
        assert codes(weight) == [0x7E, 0x41] and scale.tolist() == [3.0]
        assert codes(layer.weight) == [0x76, 0x39] and layer.weight_scale.tolist() == [6.0]


def test_memory_that_a_loader_keeps_is_not_used_again(wrapped: Any) -> None:
    layer = Layer(weight=fp8(0, 0))
    load = wrapped(layer)
    load(layer.weight, fp8(0x7E, 0x41))
    load(layer.weight, fp8(0x20, 0x21))
    assert [codes(tensor) for tensor in layer.kept] == [[0x76, 0x39], [0x18, 0x19]]
    assert layer.kept[0].data_ptr() != layer.kept[1].data_ptr()


def test_memory_that_nobody_keeps_is_used_again() -> None:
    with engine("gaudi2"):
        scratch = module("gaudi_kv.vllm_gaudi.scratch").Scratch()
        addresses = [scratch.lend(fp8(1, 2), lambda memory: memory.data_ptr()) for _ in range(3)]
        assert len(set(addresses)) == 1
        views = [scratch.lend(fp8(1, 2), lambda memory: memory[:1]) for _ in range(3)]
        assert len({view.data_ptr() for view in views}) == 3


def test_transposed_and_empty_weights(wrapped: Any) -> None:
    layer = Layer(weight=fp8(0, 0, 0, 0, 0, 0).reshape(3, 2))
    wrapped(layer)(layer.weight, fp8(0x40, 0x48, 0x50, 0x58, 0x60, 0x68).reshape(2, 3).t())
    assert codes(layer.weight.flatten()) == [0x38, 0x50, 0x40, 0x58, 0x48, 0x60]
    empty = Layer(weight=fp8())
    wrapped(empty)(empty.weight, fp8())


def test_what_is_unclear_is_refused(wrapped: Any) -> None:
    layer = Layer(weight=fp8(0, 0), weight_scale_2=torch.zeros(1), weight_scale=torch.zeros(1))
    load = wrapped(layer)
    with pytest.raises(gaudi_kv.ModelError, match=r"down_proj.weight_scale_2: beside FP8 weights"):
        load(layer.weight_scale_2, torch.ones(1))
    with pytest.raises(gaudi_kv.ModelError, match=r"down_proj.weight: 1 FP8 codes are NaN"):
        load(layer.weight, fp8(0x7F, 0x40))
    with pytest.raises(gaudi_kv.ModelError, match=r"down_proj.weight_scale: a scale in torch.float32 has no double"):
        load(layer.weight_scale, torch.tensor([3e38]))
    with pytest.raises(gaudi_kv.ModelError, match=r"down_proj.weight_scale: a scale in torch.uint8 has no double"):
        load(layer.weight_scale, torch.tensor([3], dtype=torch.uint8))
    with pytest.raises(gaudi_kv.ModelError, match="is none of its own"):
        load(torch.nn.Parameter(torch.zeros(1)), torch.ones(1))


def test_a_loader_of_no_layer_is_refused(wrapped: Any) -> None:
    class Other:
        @staticmethod
        def weight_loader(param: Any, loaded_weight: Any) -> None:
            raise AssertionError

    with pytest.raises(gaudi_kv.ModelError, match="is no method of a layer"):
        wrapped(Other)


def test_wrapping_outside_of_a_model_is_refused() -> None:
    with engine("gaudi2"), pytest.raises(gaudi_kv.ScaleError, match="no model is being made"):
        module("vllm_gaudi.extension.ops").gaudi_weight_wrapper(Layer().weight_loader)


def test_a_label_decides_for_weights_too(tmp_path: Path) -> None:
    def label(config: Any) -> None:
        config["quantization_config"]["fp8_dtype_flavor"] = "float8_e4m3fnuz"

    folder = altered("autoround-gqa", tmp_path / "model", label)
    standalone = folder / "quantization_config.json"
    config = json.loads(standalone.read_text())
    label({"quantization_config": config})
    standalone.write_text(json.dumps(config))
    with engine("gaudi2"), pytest.raises(gaudi_kv.ModelError, match="not to be adjusted, but has the code"):
        load(folder)
