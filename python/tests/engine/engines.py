"""Processes with vLLM, and the models of the repository."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[2] / "tests" / "data"

needs_vllm = pytest.mark.skipif(
    importlib.util.find_spec("vllm") is None, reason="needs vLLM 0.32.0 for the CPU"
)


def environment(**changes: str) -> dict[str, str]:
    """This process's environment without settings of ours, and with these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GAUDI_KV_")}
    # Threads of torch wait for one another by spinning, and these models give several of them nothing to do.
    quiet = {"OMP_NUM_THREADS": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind", "VLLM_NO_USAGE_STATS": "1"}
    return kept | quiet | {"HF_HUB_OFFLINE": "1"} | changes


def measure(cases: list[dict[str, Any]], **changes: str) -> list[dict[str, Any]]:
    """What `measure.py` says of cases, in one process with an environment."""
    command = [sys.executable, str(HERE / "measure.py"), json.dumps(cases)]
    done = subprocess.run(
        command, env=environment(**changes), capture_output=True, text=True, timeout=3600, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("MEASURED ")]
    assert len(lines) == len(cases), done.stderr[-4000:]
    return [json.loads(line.removeprefix("MEASURED ")) for line in lines]
