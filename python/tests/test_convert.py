"""Conversions against hand computations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA, tensors

import gaudi_kv


def flavor(model: Path) -> Any:
    return json.loads((model / "config.json").read_text())["quantization_config"].get("fp8_dtype_flavor")


def test_scales_are_multiplied_and_the_model_is_labelled(tmp_path: Path) -> None:
    source, target = DATA / "autoround-gqa", tmp_path / "converted"
    done = gaudi_kv.convert(source, target, to="gaudi2")
    assert (done["outcome"], done["to"], done["weight_factor"]) == ("converted", "gaudi2", 0.5)
    assert done["fp8_dtype_flavor"] == flavor(target) == "float8_e4m3fnuz"
    old, new = gaudi_kv.inspect(source, device="gaudi2"), gaudi_kv.inspect(target, device="gaudi2")
    assert old["scale_adjustment"]["enabled"] and not new["scale_adjustment"]["enabled"]
    for before, after in zip(old.layers, new.layers, strict=True):
        for role in ("k", "v"):
            scale = np.float32(before[role]["checkpoint"] * 448 / 240)
            assert abs(np.float32(after[role]["checkpoint"]) - scale) <= np.spacing(scale)
            # What the device multiplies by is the same to the bit.
            assert after[role]["quant"] == before[role]["quant"]
    # Codes: half of each value, in the weights of the copy.
    counts = done["weights"]
    assert counts["codes"] == counts["exact"] + counts["rounded"] + counts["flushed"] > 0
    assert not {name for name, values in tensors(target / "model.safetensors").items() if np.isnan(values).any()}


def test_nothing_is_written_where_nothing_is_to_do(tmp_path: Path) -> None:
    done = gaudi_kv.convert(DATA / "tiny-gqa", tmp_path / "converted", to="gaudi2")
    assert done["outcome"] == "nothing-to-do" and "neither FP8" in (done["reason"] or "")
    assert list(tmp_path.iterdir()) == []


def test_shares_make_one_result(tmp_path: Path) -> None:
    source, target = DATA / "llmc-gqa-kv", tmp_path / "converted"
    outcomes = [gaudi_kv.convert(source, target, to="gaudi2", shards=(share, 2))["outcome"] for share in (1, 2)]
    assert outcomes == ["part-done", "converted"]
    assert flavor(target) == "float8_e4m3fnuz"


def test_what_is_refused(tmp_path: Path) -> None:
    source, target = DATA / "llmc-gqa-kv", tmp_path / "converted"
    with pytest.raises(gaudi_kv.ModelError, match="missing"):
        gaudi_kv.convert(tmp_path / "missing", target, to="gaudi2")
    with pytest.raises(gaudi_kv.ModelError, match="not converted: .*240"):
        gaudi_kv.convert(DATA / "autoround-mla-mislabelled", target, to="gaudi2")
    options: list[tuple[dict[str, Any], str]] = [
        ({"to": "gaudi1"}, "gaudi2 and gaudi3"),
        ({"factor": "half"}, "power-of-two and exact"),
        ({"shards": (3, 2)}, "3 of 2"),
    ]
    for option, message in options:
        with pytest.raises(gaudi_kv.OptionError, match=message):
            gaudi_kv.convert(source, target, **({"to": "gaudi2"} | option))
    assert not target.exists()
    target.mkdir()
    (target / "letters.txt").write_text("kept")
    for force in (False, True):
        with pytest.raises(gaudi_kv.OptionError, match="converted"):
            gaudi_kv.convert(source, target, to="gaudi2", force=force)
    assert (target / "letters.txt").read_text() == "kept"
    (target / "letters.txt").unlink()
    assert gaudi_kv.convert(source, target, to="gaudi2", force=True)["outcome"] == "converted"
    # A model is replaced where that is asked for, and only then.
    with pytest.raises(gaudi_kv.OptionError, match="converted"):
        gaudi_kv.convert(source, target, to="gaudi2")
    done = gaudi_kv.convert(source, target, to="gaudi2", factor="exact", sync=True, force=True)
    assert (done["outcome"], done["factor"]) == ("converted", "exact")
