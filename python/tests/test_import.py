"""The package is imported, and used, without torch; and it is typed."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import subprocess
import sys

from conftest import DATA

PROGRAM = """
import sys
for name in {blocked}:
    sys.modules[name] = None
import gaudi_kv
found = gaudi_kv.inspect({model!r}, device="gaudi3")
assert found.layer_scales(0).k is not None
{more}
"""

WITHOUT_TORCH = """
import numpy
assert gaudi_kv.quant_fp8(numpy.ones(1, numpy.float32), 1.0, "gaudi2").tolist() == [0x38]
assert not [name for name in sys.modules if name.startswith("torch.")]
"""


def run(blocked: list[str], more: str) -> None:
    program = PROGRAM.format(blocked=blocked, model=str(DATA / "llmc-gqa-kv"), more=more)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_without_torch() -> None:
    run(["torch"], WITHOUT_TORCH)


def test_without_torch_and_numpy() -> None:
    run(["torch", "numpy"], "assert 'numpy.linalg' not in sys.modules")


def test_the_licences_are_in_the_package() -> None:
    files = importlib.metadata.files("gaudi-kv") or []
    for name in ("LICENSE-APACHE", "LICENSE-MIT"):
        (text,) = (file.read_text() for file in files if file.name == name)
        assert text == (DATA.parents[1] / name).read_text()


def test_the_package_is_marked_as_typed() -> None:
    files = importlib.resources.files("gaudi_kv")
    assert (files / "py.typed").is_file() and (files / "_native.pyi").is_file()
