"""What is replaced, what happens where it cannot be, and that nothing stays."""

from __future__ import annotations

import importlib.util
import inspect
import json
import logging
import subprocess
import sys
from importlib.metadata import entry_points
from typing import Any

import pytest
from served import REPOSITORY, attentions, engine, expected, load, plugin
from standin.loading import module

import gaudi_kv
from gaudi_kv.vllm_gaudi.patches import PATCHES, markdown
from gaudi_kv.vllm_gaudi.patching import Patch


def needs(package: str, title: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(importlib.util.find_spec(package) is None, reason=f"needs {title}")


needs_vllm = needs("vllm", "vLLM 0.32.0 for the CPU")
needs_vllm_gaudi = needs("vllm_gaudi", "vllm-gaudi")

WEIGHT_UTILS = "vllm.model_executor.model_loader.weight_utils"
REMAP = "maybe_remap_kv_scale_name"


def attribute(name: str, path: str) -> Any:
    found: Any = module(name)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def targets() -> dict[str, Any]:
    """What is there now; of class methods, which are bound anew each time, the function."""
    found = {patch.name: attribute(patch.module, patch.attribute) for patch in PATCHES}
    return {name: getattr(value, "__func__", value) for name, value in found.items()}


# What releases of vllm-gaudi do without, whose methods select experts by a function or not.
NOT_DUE = {"0.27.0": {"experts-fp8", "experts-compressed-tensors"}, "0.21.0": {"experts-routed"}}


@pytest.mark.parametrize("version", NOT_DUE)
def test_every_line_replaces_something_and_can_be_put_back(version: str) -> None:
    with engine("gaudi2", with_plugin=False, version=version):
        module("vllm.model_executor.models.decoder")
        before = targets()
        plugin()()
        replaced = targets()
        assert {name for name in before if replaced[name] is before[name]} == NOT_DUE[version]
        module("gaudi_kv.vllm_gaudi.patching").uninstall()
        assert targets() == before
        # Not even an attribute of a subclass that hides that of its base.
        assert "KVCacheMethodCls" not in vars(attribute("vllm_gaudi.ops.hpu_modelopt", "HPUModelOptFp8Config"))


def test_modules_that_have_imported_a_function_get_the_replacement() -> None:
    with engine("gaudi2", with_plugin=False):
        decoder = module("vllm.model_executor.models.decoder")
        original = getattr(decoder, REMAP)
        plugin()()
        assert getattr(decoder, REMAP) is getattr(module(WEIGHT_UTILS), REMAP) is not original
        module("gaudi_kv.vllm_gaudi.patching").uninstall()
        assert getattr(decoder, REMAP) is getattr(module(WEIGHT_UTILS), REMAP) is original


def test_without_the_entry_point_everything_is_vllm_gaudis() -> None:
    """What `pip uninstall` leaves: nothing of this package is in any module, and the numbers are vllm-gaudi's."""
    report = expected("autoround-mla", "gaudi2")["layers"][0]
    with engine("gaudi2", with_plugin=False):
        assert not any(name.startswith("gaudi_kv.vllm_gaudi") for name in sys.modules)
        impl = attentions(load("autoround-mla"))[0].impl
        own = [value for value in targets().values() if "gaudi_kv" in value.__module__]
    assert own == []
    # The larger of both scales of the checkpoint, whatever this package makes of it.
    assert float(impl.latent_cache_k.input_scale) < report["k"]["quant"]
    plain = {type(value) for value in vars(impl.batch2block_matmul).values()}
    assert float in plain


@pytest.mark.parametrize("platform", ["CpuPlatform", "EmulatedGaudiPlatform"])
def test_nothing_is_replaced_elsewhere(platform: str, caplog: pytest.LogCaptureFixture) -> None:
    with engine("gaudi2", with_plugin=False):
        before = targets()
        module("vllm.platforms").current_platform = type(platform, (), {"__module__": "somewhere"})()
        with caplog.at_level(logging.DEBUG):
            plugin()()
        assert targets() == before
    (record,) = (record for record in caplog.records if "gaudi_kv" in record.name)
    assert record.levelno == logging.DEBUG
    assert record.getMessage() == f"the platform is somewhere.{platform}, so nothing is replaced"


def test_a_second_call_changes_nothing() -> None:
    with engine("gaudi2"):
        once = targets()
        plugin()()
        assert targets() == once


# What cannot be without what is left alone.
NEEDING = {
    "models": {"compressed-tensors", "compressed-tensors-mla", "fp8", "modelopt", "quark", "weights", "flavor"},
    "compressed-tensors": {"flavor"},
    "compressed-tensors-mla": {"flavor"},
    "weights": {"flavor"},
}


def test_every_line_can_be_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    for patch in PATCHES:
        version = next(version for version, names in NOT_DUE.items() if patch.name not in names)
        needing = NEEDING.get(patch.name, set())
        caplog.clear()
        off: dict[str, Any] = {"GAUDI_KV_PATCHES_OFF": patch.name}
        with caplog.at_level(logging.WARNING), engine("gaudi2", with_plugin=False, version=version, **off):
            before = targets()
            plugin()()
            after = targets()
            assert {name for name in before if after[name] is before[name]} == {patch.name} | needing | NOT_DUE[version]
        assert len(caplog.records) == 1 + len(needing)
        assert all(f"not replaced, as it needs {patch.name}: {name} (" in caplog.text for name in needing - {"flavor"})
    with engine("gaudi2", with_plugin=False, GAUDI_KV_PATCHES_OFF="all"):
        before = targets()
        plugin()()
        assert targets() == before


@pytest.mark.parametrize("off", ["compressed-tensors", "models", "compressed-tensors, compressed-tensors-mla"])
@pytest.mark.parametrize("name", ["autoround-gqa-gaudi2", "autoround-gqa"])
def test_scales_of_vllm_gaudi_are_as_they_were_where_they_are_left_alone(name: str, off: str) -> None:
    with engine("gaudi2", GAUDI_KV_PATCHES_OFF=off):
        layers = attentions(load(name))
    for report in expected(name, "gaudi2")["layers"]:
        assert float(layers[report["layer"]].impl.k_cache.input_scale) == pytest.approx(report["k"]["quant"])


def test_what_is_left_alone_is_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), engine("gaudi2", GAUDI_KV_PATCHES_OFF="flavor, names"):
        pass
    assert len(caplog.records) == 2
    assert "not replaced, as GAUDI_KV_PATCHES_OFF asks: names (vllm." in caplog.text


def test_a_wrong_name_of_a_setting_is_an_error() -> None:
    with engine("gaudi2", with_plugin=False, GAUDI_KV_PATCHES_OFF="weight"):
        with pytest.raises(gaudi_kv.OptionError, match="GAUDI_KV_PATCHES_OFF has weight; it takes all, "):
            plugin()()
    with engine("gaudi2", GAUDI_KV_MLA_SCALE="k"):
        with pytest.raises(gaudi_kv.OptionError, match="takes k-only and max-kv"):
            load("llmc-mla-kv")


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.name)
def test_a_missing_target_is_an_error_that_names_it(patch: Patch) -> None:
    version = next(version for version, names in NOT_DUE.items() if patch.name not in names)
    with engine("gaudi2", with_plugin=False, version=version):
        *parents, leaf = patch.attribute.split(".")
        owner = attribute(patch.module, ".".join(parents)) if parents else module(patch.module)
        for holder in inspect.getmro(owner) if isinstance(owner, type) else (owner,):
            if leaf in vars(holder):
                delattr(holder, leaf)
        with pytest.raises(gaudi_kv.GaudiKvError, match=rf"{patch.name} \(.*{leaf}\): there is no such attribute"):
            plugin()()
        rest = [other for other in PATCHES if other.name != patch.name and "." not in other.attribute]
        assert not any("gaudi_kv" in attribute(other.module, other.attribute).__module__ for other in rest)


def test_other_parameters_are_an_error_that_names_them() -> None:
    with engine("gaudi2", with_plugin=False):

        def wrapper(weight_loader: Any, layer: Any) -> Any:
            raise AssertionError

        module("vllm_gaudi.extension.ops").gaudi_weight_wrapper = wrapper
        expectation = (
            r"weights \(vllm_gaudi.extension.ops.gaudi_weight_wrapper\): its parameters are \(weight_loader, layer\), "
            r"known are \(weight_loader\)\. GAUDI_KV_PATCHES_OFF turns"
        )
        with pytest.raises(gaudi_kv.GaudiKvError, match=expectation):
            plugin()()


def test_a_missing_module_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with engine("gaudi2", with_plugin=False):
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, "vllm_gaudi.ops.hpu_fused_moe", None)
            with pytest.raises(gaudi_kv.GaudiKvError, match="experts-routed .*: the module cannot be imported"):
                plugin()()


def test_a_method_that_was_left_alone_is_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), engine("gaudi2", GAUDI_KV_PATCHES_OFF="modelopt"):
        load("modelopt-gqa")
    assert "has scales by vllm.model_executor.layers.quantization.modelopt.ModelOptKVCacheMethod" in caplog.text


def test_the_entry_point_is_declared() -> None:
    (entry,) = (entry for entry in entry_points(group="vllm.general_plugins") if entry.name == "gaudi_kv")
    assert entry.value == "gaudi_kv._plugin:register"


def test_every_line_says_where_why_and_until_when() -> None:
    for patch in PATCHES:
        assert patch.file.endswith(".py") and patch.reason and patch.until
        assert f"| `{patch.file}` |" in markdown() and f"| {patch.until} |" in markdown()


def test_the_documents_print_the_table() -> None:
    document = (REPOSITORY / "docs" / "vllm.md").read_text()
    assert markdown() in document
    printed = subprocess.run(
        [sys.executable, "-m", "gaudi_kv.vllm_gaudi"], capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == markdown()


# What the stand-in of vLLM has, beside the targets of patches, that the plugin relies on.
RELIED_ON = {
    "vllm.distributed": ["get_tensor_model_parallel_rank", "get_tensor_model_parallel_world_size"],
    "vllm.model_executor.models.utils": ["extract_layer_index"],
    "vllm.model_executor.layers.quantization.kv_cache": [
        "BaseKVCacheMethod.create_weights",
        "BaseKVCacheMethod.process_weights_after_loading",
    ],
}

ASK = """
import importlib, inspect, json, sys
for name, path in json.loads(sys.argv[1]):
    found = importlib.import_module(name)
    for part in path.split("."):
        found = getattr(found, part)
    print("SIGNATURE", json.dumps([name, path, list(inspect.signature(found).parameters)]))
"""


def signatures(asked: list[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
    """The parameters of what is installed, from a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", ASK, json.dumps(asked)], capture_output=True, text=True, check=False, timeout=600
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("SIGNATURE ")]
    found = [json.loads(line.removeprefix("SIGNATURE ")) for line in lines]
    assert len(found) == len(asked), done.stderr[-4000:]
    return {(name, path): parameters for name, path, parameters in found}


@needs_vllm
def test_the_real_vllm_has_the_targets_and_the_stand_in_is_shaped_like_it() -> None:
    patched = {(p.module, p.attribute): list(p.parameters) for p in PATCHES if p.module.partition(".")[0] == "vllm"}
    relied = [(name, path) for name, paths in RELIED_ON.items() for path in paths]
    found = signatures([*patched, *relied])
    assert {key: found[key] for key in patched} == patched
    with engine("gaudi2", with_plugin=False):
        for name, path in relied:
            own = list(inspect.signature(attribute(name, path)).parameters)
            # vLLM's may have more, with defaults.
            assert found[name, path][: len(own)] == own, (name, path)


@needs_vllm_gaudi
def test_the_real_vllm_gaudi_has_the_targets() -> None:
    patched = {(p.module, p.attribute): list(p.parameters) for p in PATCHES if p.module.startswith("vllm_gaudi")}
    assert signatures(list(patched)) == patched
