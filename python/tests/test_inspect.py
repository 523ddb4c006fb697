"""Inspections against the expected JSON, which another program wrote, and against hand computations."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA

import gaudi_kv

EXPECTED = sorted((DATA.parent / "expected").glob("*.json"))


def assert_holds(found: Any, expected: Any, where: str) -> None:
    """Everything that is expected is there; numbers are float32."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            assert key in found, f"{where}.{key}"
            assert_holds(found[key], value, f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_holds(one, other, f"{where}[{number}]")
    elif isinstance(expected, float):
        assert np.float32(found) == np.float32(expected), where
    else:
        assert found == expected, where


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.stem)
def test_inspections_are_the_expected_ones(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_SCALE_ADJUSTMENT", raising=False)
    model, device, *verify = path.stem.split(".")
    found = gaudi_kv.inspect(DATA / model, device=device, verify_weights=bool(verify))
    expected = json.loads(path.read_text())
    assert Path(found["model"]["path"]).name == expected["model"].pop("path")
    assert_holds(found, expected, path.stem)


def test_there_are_expected_inspections() -> None:
    assert len(EXPECTED) >= 20


def test_layer_scales_are_what_the_checkpoint_says() -> None:
    found = gaudi_kv.inspect(DATA / "llmc-gqa-kv", device="gaudi3", scale_adjustment=False)
    layer = found.layers[0]
    scales = found.layer_scales(layer["layer"])
    assert scales.k is not None and scales.v is not None
    # On a Gaudi3, 448 cancels: the dequantization factor is the checkpoint's scale, to an ulp.
    assert scales.k.dequant == pytest.approx(layer["k"]["checkpoint"], rel=1e-6)
    assert scales.q is None, "a query without a scale is dynamic"
    assert scales.prob == gaudi_kv.Scale(1.0, 1.0)
    with pytest.raises(KeyError):
        found.layer_scales(99)


def test_per_head_scales_and_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_SCALE_ADJUSTMENT", "no")
    found = gaudi_kv.inspect(DATA / "llmc-gqa-head", device="gaudi2")
    assert found["scale_adjustment"]["source"] == "environment"
    scales = found.layer_scales(0)
    assert scales.k is not None and isinstance(scales.k.quant, tuple)
    assert len(scales.k.quant) == found["model"]["num_kv_heads"]
    # What the call says goes before the environment.
    wished = gaudi_kv.inspect(DATA / "llmc-gqa-head", device="gaudi2", scale_adjustment=True)
    assert wished["scale_adjustment"]["enabled"]


def test_a_bf16_cache_has_no_scales() -> None:
    found = gaudi_kv.inspect(DATA / "llmc-gqa-kv", device="gaudi2", kv_cache_dtype="bf16")
    assert found.layer_scales(0) == gaudi_kv.LayerScales(None, None, None, None)
    assert found.is_fine()
    assert len(found) == len(dict(found)) and "llmc-gqa-kv" in repr(found)


def test_an_inspection_has_all_keys_of_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_SCALE_ADJUSTMENT", raising=False)
    rows = (DATA.parents[1] / "docs" / "inspect.md").read_text().splitlines()
    table = rows[rows.index("| key | content |") + 2 :]
    keys = {key for row in table[: table.index("")] for key in re.findall("`([a-z_]+)`", row.split("|")[1])}
    found = gaudi_kv.inspect(DATA / "llmc-gqa-w8kv", device="gaudi2", verify_weights=True, tensor_parallel=(1, 0))
    assert "backend" in keys and keys - {"check"} <= found.keys()


def test_options_that_do_not_exist_are_no_options() -> None:
    misspelt: dict[str, Any] = {"devise": "gaudi2"}
    for run in (gaudi_kv.inspect, gaudi_kv.check):
        with pytest.raises(TypeError, match="unexpected keyword arguments: devise; there are device, kv_cache_dtype"):
            run(DATA / "llmc-gqa-kv", **misspelt)


def test_checks_are_made() -> None:
    found = gaudi_kv.check(DATA / "llmc-gqa-kv", device="gaudi2", mode="fast")
    assert found["backend"] == "emulated"
    check = found["check"]
    assert (check["activations"], check["mode"]) == ("synthetic", "fast")
    assert len(check["layers"]) == len(found.layers)
    # An e4m3 number is off by at most a sixteenth.
    assert all(0 < layer["decode"]["scales"]["rel_l2_error"] < 1 / 16 for layer in check["layers"])
    assert check["verdict"].startswith("fine")


def test_checks_read_activations() -> None:
    file = DATA / "activations-tiny-mla.safetensors"
    check = gaudi_kv.check(DATA / "llmc-mla-kv", device="gaudi2", mode="fast", activations=file)["check"]
    assert check["activations"] == "file"
    with pytest.raises(gaudi_kv.ModelError, match="missing.safetensors"):
        gaudi_kv.check(DATA / "llmc-mla-kv", device="gaudi2", activations=DATA / "missing.safetensors")
