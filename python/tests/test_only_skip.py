"""`--only-skip`: what is skipped for another reason fails the run, a test or a module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TEST = """
import pytest
def test_one():
    pytest.skip("needs a Gaudi")
"""
MODULE = """
import pytest
pytest.importorskip("a_package_that_is_not_there", reason="needs a Gaudi")
def test_two(): ...
"""


@pytest.mark.parametrize("source", [TEST, MODULE], ids=["a test", "a module"])
@pytest.mark.parametrize(("reason", "is_failure"), [("a Gaudi", False), ("torch", True), (None, False)])
def test_what_is_skipped_for_another_reason_fails(
    source: str, reason: str | None, is_failure: bool, tmp_path: Path
) -> None:
    (tmp_path / "conftest.py").write_text((Path(__file__).parent / "conftest.py").read_text())
    (tmp_path / "test_skipped.py").write_text(source + "def test_that_runs(): ...\n")
    command = [sys.executable, "-m", "pytest", "-q", str(tmp_path)]
    command += [] if reason is None else ["--only-skip", reason]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    # A module that is skipped leaves nothing to run.
    assert done.returncode in ((1, 2) if is_failure else (0, 5)), done.stdout
    assert ("was skipped: " in done.stdout) == is_failure
