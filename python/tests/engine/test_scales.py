"""Inspections of a served model are of its files as they are."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from engines import DATA, needs_vllm

pytestmark = needs_vllm


@pytest.fixture
def inspections(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that gives the inspection of a folder, and the list of folders that were read for it."""
    from gaudi_kv.vllm import scales

    read: list[str] = []
    inspect = scales.fp8_inspection

    def counted(folder: str, **options: Any) -> Any:
        read.append(folder)
        return inspect(folder, **options)

    monkeypatch.setattr(scales, "fp8_inspection", counted)
    monkeypatch.setenv("GAUDI_KV_EMULATE", "gaudi2")
    monkeypatch.delenv("VLLM_SCALE_ADJUSTMENT", raising=False)

    def inspection(folder: Path, size: int = 1, rank: int = 0) -> Any:
        config: Any = SimpleNamespace(model_config=SimpleNamespace(model=str(folder)))
        return scales._inspection(config, (size, rank))

    return inspection, read


def test_layers_share_an_inspection_until_something_changes(
    inspections: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspection, read = inspections
    folder = tmp_path / "model"
    shutil.copytree(DATA / "llmc-gqa-kv", folder)
    first = inspection(folder)
    assert first["scale_adjustment"]["enabled"] and inspection(folder) is first and len(read) == 1

    monkeypatch.setenv("VLLM_SCALE_ADJUSTMENT", "0")
    assert not inspection(folder)["scale_adjustment"]["enabled"]
    monkeypatch.delenv("VLLM_SCALE_ADJUSTMENT")

    config = json.loads((folder / "config.json").read_text())
    config["quantization_config"]["fp8_dtype_flavor"] = "float8_e4m3fnuz"
    (folder / "config.json").write_text(json.dumps(config))
    assert not inspection(folder)["scale_adjustment"]["enabled"]

    # Other weights of the same length, in the same file.
    before = len(read)
    os.utime(folder / "model.safetensors", ns=(1, 1))
    inspection(folder)
    assert len(read) == before + 1
