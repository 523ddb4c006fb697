"""`Device("hpu")`, over the emulated SynapseAI library, computes what the emulated device computes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gaudi_kv
from gaudi_kv import Device

HERE = Path(__file__).resolve().parent
TARGET = HERE.parents[1] / "target"
FP8_MAX = {"gaudi2": 240.0, "gaudi3": 448.0}


def library() -> Path | None:
    """The emulated library: the one that `GAUDI_KV_SYNAPSE` names, or one that was built in this repository."""
    named = os.environ.get("GAUDI_KV_SYNAPSE")
    built = (TARGET / profile / "libSynapse.so" for profile in ("debug", "debug/deps", "release"))
    return Path(named) if named else next(filter(Path.is_file, built), None)


needs_library = pytest.mark.skipif(library() is None, reason="needs cargo build -p synapse-emu")


def python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GAUDI_KV_", "SYNAPSE_"))}
    return subprocess.run(
        [sys.executable, *arguments], env=kept | environment, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.fixture(scope="module", params=["gaudi2", "gaudi3"])
def found(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What a process with a Gaudi of this generation says."""
    environment = {"GAUDI_KV_SYNAPSE": str(library()), "SYNAPSE_EMU_DEVICE": request.param}
    done = python(str(HERE / "hpu_and_emulated.py"), **environment)
    lines = [line for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    assert len(lines) == 1, done.stderr[-4000:]
    return {"generation": request.param, **json.loads(lines[0].removeprefix("FOUND "))}


@needs_library
def test_caches_and_attention_have_the_emulated_devices_bits(found: dict[str, Any]) -> None:
    assert found["differing"] == []


@needs_library
def test_a_gaudi_says_what_it_is(found: dict[str, Any]) -> None:
    generation = found["generation"]
    assert found["device"] == ["Device('hpu')", generation, "hpu", "hpu", FP8_MAX[generation]]
    assert found["inspection"] == ["hpu", generation]
    assert found["emulated"] == [f"Device('{generation}', 'exact')", "exact", "emulated"]


@needs_library
def test_what_a_gaudi_cannot_do_is_an_error(found: dict[str, Any]) -> None:
    assert found["over"].startswith("DeviceError: the caches of a Gaudi lie in its own memory")
    assert found["module"].startswith("DeviceError: ")
    assert found["mode"].startswith("OptionError: a mode is for an emulated device")


def test_without_a_library_there_is_no_gaudi(tmp_path: Path) -> None:
    missing = str(tmp_path / "libSynapse.so")
    done = python("-c", "import gaudi_kv; gaudi_kv.Device('hpu')", GAUDI_KV_SYNAPSE=missing)
    assert done.returncode == 1 and "DeviceError: " in done.stderr and missing in done.stderr


@pytest.mark.parametrize("name", ["gaudi1", "hpu:", "hpu:x", "Hpu", "cpu"])
def test_other_names_are_options_that_do_not_exist(name: str) -> None:
    with pytest.raises(gaudi_kv.OptionError, match=name):
        Device(name)
