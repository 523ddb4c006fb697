"""The settings, without an engine."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points
from types import SimpleNamespace

import pytest
from engines import HERE, environment

from gaudi_kv import OptionError
from gaudi_kv.vllm import register
from gaudi_kv.vllm.settings import Settings, is_fp8, is_requested


def test_the_entry_point_is_there() -> None:
    (point,) = (point for point in entry_points(group="vllm.platform_plugins") if point.name == "gaudi_kv")
    assert point.load() is register


def test_a_plugin_that_every_process_loads_looks_at_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    (point,) = (point for point in entry_points(group="vllm.general_plugins") if point.name == "gaudi_kv")
    called: list[str] = []
    monkeypatch.setattr("gaudi_kv.vllm_gaudi.register", lambda: called.append("vllm_gaudi"))
    guard = SimpleNamespace(check_platform=lambda: called.append("guard"))
    monkeypatch.setitem(sys.modules, "gaudi_kv.vllm.guard", guard)
    monkeypatch.setitem(sys.modules, "gaudi_kv.vllm.rope", SimpleNamespace(register=lambda: called.append("rope")))
    monkeypatch.delenv("GAUDI_KV_EMULATE", raising=False)
    point.load()()
    assert called == ["vllm_gaudi"]
    monkeypatch.setenv("GAUDI_KV_EMULATE", "gaudi2")
    point.load()()
    assert called == ["vllm_gaudi", "guard", "rope"]


def test_nothing_is_registered_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GAUDI_KV_EMULATE", raising=False)
    assert register() is None
    monkeypatch.setenv("GAUDI_KV_EMULATE", "")
    assert register() is None
    monkeypatch.setenv("GAUDI_KV_EMULATE", "gaudi3")
    assert register() == "gaudi_kv.vllm.platform.EmulatedGaudiPlatform"
    # vLLM passes over an error here; the platform's class says what is wrong.
    monkeypatch.setenv("GAUDI_KV_EMULATE", "gaudi1")
    assert register() == "gaudi_kv.vllm.platform.EmulatedGaudiPlatform"


def test_each_measured_case_has_its_own_environment() -> None:
    code = """
import os, measure
measure.measure = lambda case: {"mode": os.environ.get("GAUDI_KV_MODE"), "ranks": os.environ.get("RANKS")}
measure.main()
"""
    exact, fast = {"GAUDI_KV_MODE": "exact"}, {"GAUDI_KV_MODE": "fast", "RANKS": "2"}
    cases = [{"environment": exact}, {}, {"environment": fast}, {}]
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(cases)],
        env=environment(PYTHONPATH=str(HERE)),
        capture_output=True,
        text=True,
        check=True,
    )
    found = [json.loads(line.removeprefix("MEASURED ")) for line in done.stdout.splitlines()]
    nothing = {"mode": None, "ranks": None}
    assert found == [{"mode": "exact", "ranks": None}, nothing, {"mode": "fast", "ranks": "2"}, nothing]


def test_settings_have_defaults() -> None:
    assert Settings.from_environment({"GAUDI_KV_EMULATE": "gaudi2", "GAUDI_KV_MODE": ""}) == Settings(
        "gaudi2", "fast", "dynamic", "k-only", "bf16"
    )
    given = {
        "GAUDI_KV_EMULATE": "gaudi3",
        "GAUDI_KV_MODE": "exact",
        "GAUDI_KV_Q_MISSING": "one",
        "GAUDI_KV_MLA_SCALE": "max-kv",
        "GAUDI_KV_PREFILL": "fp8",
    }
    assert Settings.from_environment(given) == Settings("gaudi3", "exact", "one", "max-kv", "fp8")


@pytest.mark.parametrize(
    ("name", "value", "choices"),
    [
        ("GAUDI_KV_EMULATE", "gaudi1", "gaudi2 and gaudi3"),
        ("GAUDI_KV_EMULATE", "", "gaudi2 and gaudi3"),
        ("GAUDI_KV_MODE", "Fast", "fast and exact"),
        ("GAUDI_KV_Q_MISSING", "none", "dynamic and one"),
        ("GAUDI_KV_MLA_SCALE", "max", "k-only and max-kv"),
        ("GAUDI_KV_PREFILL", "bfloat16", "bf16 and fp8"),
    ],
)
def test_a_wrong_value_is_named(name: str, value: str, choices: str) -> None:
    with pytest.raises(OptionError, match=f"{name} is '{value}'; it takes {choices}"):
        Settings.from_environment({"GAUDI_KV_EMULATE": "gaudi2", name: value})


def test_which_caches_hold_codes() -> None:
    assert [is_fp8(name) for name in ("auto", "bfloat16", "fp8", "fp8_e4m3", "fp8_inc")] == [False, False] + 3 * [True]
    assert not is_requested({}) and is_requested({"GAUDI_KV_EMULATE": "x"})
