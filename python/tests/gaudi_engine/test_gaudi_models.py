"""Models in one process, loading again, and what a graph of a layer may depend on."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from served import DATA, attentions, engine, expected, load, loader, quant_config, torch
from standin.loading import module
from test_gaudi_scales import assert_scales, f32

import gaudi_kv

RANGES = ("autoround-gqa", "autoround-gqa-gaudi2")


def load_draft(target: Any, folder: str, first_layer: int) -> Any:
    """A draft as vLLM's EAGLE proposer makes it: with the target's configuration but for the model's, and with layers
    that are numbered on from the target's.
    """
    config: Any = module("vllm.config")
    decoder = module("vllm.model_executor.models.decoder").Decoder
    model_config = config.ModelConfig(str(DATA / folder))
    vllm_config = config.VllmConfig(
        target.vllm_config.model_config, target.vllm_config.cache_config, quant_config=quant_config(model_config)
    )
    draft = type("Draft", (decoder,), {"first_layer": first_layer})
    return loader().load_model(vllm_config, model_config, model_class=draft)


@pytest.mark.parametrize("device", ["gaudi2", "gaudi3"])
@pytest.mark.parametrize(("target", "draft"), [RANGES, RANGES[::-1], ("llmc-mla-kv", "autoround-gqa-gaudi2")])
@pytest.mark.parametrize("first_layer", [0, 3])
def test_a_draft_and_its_target_do_not_disturb_each_other(
    target: str, draft: str, first_layer: int, device: str
) -> None:
    with engine(device):
        first = load(target)
        second = load_draft(first, draft, first_layer)
        assert_scales(second, expected(draft, device), first_layer)
        assert_scales(first, expected(target, device))
        # And a model that is loaded after both.
        assert_scales(load(target), expected(target, device))
        # The process's flag is nobody's.
        assert module("vllm_gaudi.extension.runtime").get_config().scale_adjustment is True


@pytest.mark.parametrize(("skipped", "first_layer", "kept"), [("4", 3, 1), ("1", 3, None), ("1", 0, 1)])
def test_layers_are_skipped_by_vllms_numbers_in_a_draft_too(
    skipped: str, first_layer: int, kept: int | None
) -> None:
    with engine("gaudi2"):
        target = load("autoround-gqa", skip_layers=[skipped])
        draft = load_draft(target, "autoround-gqa-gaudi2", first_layer)
        report = expected("autoround-gqa-gaudi2", "gaudi2")["layers"]
        for number, layer in attentions(draft).items():
            own = number - first_layer
            parameters = list(layer.impl.parameters())
            if own == kept:
                assert parameters == []
            else:
                assert torch.equal(layer.impl.k_cache.input_scale, f32(report[own]["k"]["quant"]))


def test_without_the_plugin_the_second_model_is_disturbed() -> None:
    # Why a decision for each model: this is what it replaces. The range of the first model is the second one's.
    name = "autoround-gqa"
    with engine("gaudi2", with_plugin=False):
        undisturbed = attentions(load(name))[0].impl.k_cache.input_scale
        load("autoround-gqa-gaudi2")
        disturbed = attentions(load(name))[0].impl.k_cache.input_scale
    assert float(undisturbed) == pytest.approx(expected(name, "gaudi2")["layers"][0]["k"]["quant"])
    assert float(disturbed) == pytest.approx(448 / 240 * float(undisturbed))


@pytest.mark.parametrize("name", ["autoround-gqa", "autoround-mla", "llmc-gqa-head"])
def test_loading_twice_changes_nothing(name: str) -> None:
    with engine("gaudi2"):
        model = load(name)
        parameters = dict(model.named_parameters())
        before = {name: (p, p.data_ptr(), p.detach().clone()) for name, p in parameters.items()}
        model_config = model.vllm_config.model_config
        loader().load_weights(model, model_config)
        module("vllm.model_executor.model_loader.utils").process_weights_after_loading(model, model_config, "cpu")
        after = dict(model.named_parameters())
        assert after.keys() == before.keys()
        for key, (parameter, address, value) in before.items():
            assert after[key] is parameter and parameter.data_ptr() == address
            assert torch.equal(parameter.detach().float(), value.float()), key
        assert_scales(model, expected(name, "gaudi2"))


@pytest.mark.parametrize("name", ["autoround-gqa", "autoround-mla", "llmc-gqa-head"])
def test_one_table_of_parameters_and_no_numbers_of_python(name: str) -> None:
    with engine("gaudi2"):
        model = load(name)
    layers = attentions(model).values()
    parameters = [parameter for layer in layers for parameter in layer.impl.parameters()]
    # Caches 2 or 4, four products of 2, fused attention 8.
    assert len(parameters) == len(layers) * (18 if "mla" in name else 20)
    assert len({parameter.untyped_storage().data_ptr() for parameter in parameters}) == 1
    assert {type(parameter) for parameter in parameters} == {torch.nn.Parameter}
    for layer in layers:
        modules = [layer, *layer.impl.modules()]
        numbers = [
            name for each in modules for name, value in vars(each).items() if isinstance(value, float)
        ]
        assert numbers == []
        # Whatever still is a tensor of the layer's own is the same in every layer.
        assert {float(buffer) for buffer in layer.buffers()} == {1.0}
    shapes = {tuple((name, p.shape) for name, p in layer.impl.named_parameters()) for layer in layers}
    assert len(shapes) == 1


def test_on_a_device_each_parameter_has_memory_of_its_own() -> None:
    with engine("gaudi2"):
        table = module("gaudi_kv.vllm_gaudi.table")
        found = gaudi_kv.inspect(DATA / "llmc-gqa-head", device="gaudi2", q_missing="one")
        values = table.ScaleTable.of(found)
        here = values.scale(0, "k", table.QUANT, True, "cpu")
        there = values.scale(0, "k", table.QUANT, True, "meta")
        assert here.untyped_storage().data_ptr() == values.values.untyped_storage().data_ptr()
        assert there.device.type == "meta" and there.untyped_storage().nbytes() == 2 * 4


def compilations(layers: list[Any]) -> int:
    """How many graphs torch makes of the layers' attention: writing, reading, both products and the fused one."""
    graphs = []

    def count(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    def attend(impl: Any, x: Any) -> Any:
        cache = impl.k_cache if hasattr(impl, "k_cache") else impl.latent_cache_k
        stored = cache.dequant_output(cache.quant_input(x))
        scores = impl.matmul_qk(impl.batch2block_matmul(x, stored.transpose(-1, -2)), stored)
        (q, _, _), scales = impl.fused_scaled_dot_product_attention(x, x, x)
        return impl.matmul_av(scores, stored.transpose(-1, -2)), q, scales["d_scale_k"]

    torch._dynamo.reset()
    compiled = torch.compile(attend, backend=count, fullgraph=True)
    with torch.no_grad():
        for layer in layers:
            compiled(layer.impl, torch.ones(4, 2, 8, 8, dtype=torch.bfloat16))
    torch._dynamo.reset()
    return len(graphs)


@pytest.mark.parametrize("name", ["autoround-gqa", "autoround-mla"])
def test_layers_share_a_graph(name: str) -> None:
    with engine("gaudi2"):
        layers = list(attentions(load(name)).values())
        assert len({float(layer.impl.matmul_qk.scale_other) for layer in layers}) == len(layers) == 3
        assert compilations(layers) == 1


def test_numbers_of_python_would_make_a_graph_for_each_layer() -> None:
    # That the test above can fail.
    with engine("gaudi2"):
        layers = list(attentions(load("autoround-gqa")).values())
        for number, layer in enumerate(layers):
            del layer.impl.k_cache.input_scale
            layer.impl.k_cache.input_scale = 1.5 + number
        assert compilations(layers) > 1


def test_a_layer_that_the_checkpoint_has_not_is_refused() -> None:
    with engine("gaudi2"):
        target = load("autoround-gqa")
        with pytest.raises(gaudi_kv.ScaleError, match=r"layers.3.self_attn.attn: .* of layer 3, but of 0, 1, 2"):
            # Of the same files as the target, so its layers are numbered as those of the checkpoint.
            load_draft(target, "autoround-gqa", 3)


def test_an_implementation_of_another_shape_is_refused() -> None:
    with engine("gaudi2"):
        utils = module("vllm_gaudi.attention.backends.hpu_attn")

        class Renamed(utils.FP8Matmul):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.scale_of_other = self.scale_other
                del self.scale_other

        utils.FP8Matmul = Renamed
        with pytest.raises(gaudi_kv.GaudiKvError, match="has no matmul_qk.scale_other"):
            load("autoround-gqa")
    with engine("gaudi2"):
        utils = module("vllm_gaudi.attention.backends.hpu_attn")
        utils.VLLMFP8KVCache = utils.VLLMKVCache
        with pytest.raises(gaudi_kv.GaudiKvError, match="no cache module with an input_scale"):
            load("autoround-gqa")


def test_scales_of_inc_are_left_alone() -> None:
    with engine("gaudi2", QUANT_CONFIG="inc.json"):
        for layer in attentions(load("llmc-gqa-kv")).values():
            assert list(layer.impl.parameters()) == []


def test_attention_between_encoder_and_decoder_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with engine("gaudi2"):
        layer = module("vllm.model_executor.layers.attention").Attention
        monkeypatch.setattr(layer, "attn_type", "encoder_decoder")
        with pytest.raises(gaudi_kv.GaudiKvError, match=r"layers.0.self_attn.attn: a cache of an encoder's output"):
            load("llmc-gqa-kv")
        # And a bf16 cache is not.
        load("llmc-gqa-kv", kv_cache_dtype="auto")


@pytest.mark.parametrize("first_layer", ["0.1", "one"])
def test_a_name_that_does_not_tell_the_layer_is_refused(first_layer: str) -> None:
    with engine("gaudi2"):
        layer = attentions(load("llmc-gqa-kv"))[0]
        layer.layer_name = f"model.layers.{first_layer}.attn"
        with pytest.raises(gaudi_kv.GaudiKvError, match=rf"layers.{first_layer}.attn: which layer it is"):
            layer.quant_method.process_weights_after_loading(layer)


def test_unified_attention_is_refused() -> None:
    """It has caches with scales, and no products."""
    with engine("gaudi2"):
        backend = module("vllm_gaudi.attention.backends.hpu_attn")
        original = backend.HPUAttentionImpl

        class Unified(original):  # type: ignore[misc, valid-type]
            def __init__(self, *args: object) -> None:
                super().__init__(*args)
                for name in ("matmul_qk", "matmul_av", "batch2block_matmul", "block2batch_matmul"):
                    delattr(self, name)
                del self.fused_scaled_dot_product_attention

        backend.HPUAttentionImpl = Unified
        with pytest.raises(gaudi_kv.GaudiKvError, match=r"layers.0.self_attn.attn: .* has no matmul_qk.scale_input"):
            load("llmc-gqa-kv")
        load("llmc-gqa-kv", kv_cache_dtype="auto")


def test_a_method_stays_with_its_model() -> None:
    with engine("gaudi2"):
        layer = attentions(load("autoround-gqa"))[0]
        plan = layer.quant_method.plan
        # While another model is made, as when a layer gets its placeholders for weights that are loaded again.
        models, other = module("gaudi_kv.vllm_gaudi.plan"), load("autoround-gqa-gaudi2").vllm_config
        with models.making(models.ModelPlan(other, other.model_config, str)):
            layer.quant_method.create_weights(layer)
        assert layer.quant_method.plan is plan


def test_decisions_and_warnings_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), engine("gaudi2"):
        load("llmc-gqa-w8kv")
        load("tiny-gqa")
    text = caplog.text
    assert f"FP8 weights of {DATA / 'llmc-gqa-w8kv'} are adjusted" in text
    assert f"KV scales of {DATA / 'llmc-gqa-w8kv'} are adjusted" in text
    assert "scale-missing" in text


def test_what_vllm_gaudi_gets_wrong_with_an_fp8_cache_is_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), engine("gaudi2"):
        implementation = module("vllm_gaudi.attention.backends.hpu_attn").HPUAttentionImpl
        implementation.kv_sharing_target_layer_name = "model.layers.0.self_attn.attn"
        load("llmc-gqa-kv", kv_cache_dtype="auto")
        assert "reads the cache of" not in caplog.text
        load("llmc-gqa-kv")
    assert "model.layers.2.self_attn.attn reads the cache of model.layers.0.self_attn.attn" in caplog.text


def test_nothing_is_read_of_a_model_with_a_bf16_cache_and_no_fp8_weights() -> None:
    with engine("gaudi2"):
        models = module("gaudi_kv.vllm_gaudi.models")

        def refuse(source: Any) -> str:
            raise AssertionError("its folder was looked for")

        models.model_folder = refuse
        load("tiny-gqa", kv_cache_dtype="auto")
