"""Arrays of both kinds, the data of the repository, and runs that must not skip tests."""

from __future__ import annotations

import json
import struct
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

DATA = Path(__file__).resolve().parents[2] / "tests" / "data"
ONLY_SKIP = "--only-skip"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(ONLY_SKIP, metavar="REASON", help="what is skipped for another reason than this fails")


def fail_other_skips(report: Any, node: pytest.Item | pytest.Collector) -> None:
    allowed = node.config.getoption(ONLY_SKIP)
    if report.skipped and allowed is not None and allowed not in str(report.longrepr):
        report.outcome, report.longrepr = "failed", f"{node.nodeid} was skipped: {report.longrepr}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    fail_other_skips(report, item)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    fail_other_skips(report, collector)
    return report


class NumPy:
    """NumPy arrays; bfloat16 as its bits."""

    name = "numpy"

    def bf16(self, values: Any) -> Any:
        # Test values are bfloat16 numbers, so cutting the lower half off rounds nothing.
        words = np.ascontiguousarray(values, np.float32).view(np.uint32)
        assert not (words & 0xFFFF).any()
        return (words >> 16).astype(np.uint16)

    def f32(self, values: Any) -> Any:
        return np.ascontiguousarray(values, np.float32)

    def codes(self, *shape: int) -> Any:
        return np.zeros(shape, np.uint8)

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        return np.zeros(shape, np.uint16 if dtype == "bfloat16" else dtype)

    def i64(self, values: Any) -> Any:
        return np.asarray(values, np.int64)

    def i32(self, values: Any) -> Any:
        return np.asarray(values, np.int32)

    def floats(self, array: Any) -> Any:
        if array.dtype == np.uint16:
            return (array.astype(np.uint32) << 16).view(np.float32)
        return np.asarray(array)

    def bytes(self, array: Any) -> Any:
        return array.view(np.uint8)

    def address(self, array: Any) -> int:
        return int(array.__array_interface__["data"][0])


class Torch:
    """torch tensors."""

    name = "torch"

    def __init__(self) -> None:
        self.torch = pytest.importorskip("torch", reason="needs torch")

    def bf16(self, values: Any) -> Any:
        return self.torch.tensor(np.asarray(values, np.float32)).to(self.torch.bfloat16)

    def f32(self, values: Any) -> Any:
        return self.torch.tensor(np.asarray(values, np.float32))

    def codes(self, *shape: int) -> Any:
        return self.torch.zeros(shape, dtype=self.torch.uint8)

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        return self.torch.zeros(shape, dtype=getattr(self.torch, dtype))

    def i64(self, values: Any) -> Any:
        return self.torch.tensor(values, dtype=self.torch.int64)

    def i32(self, values: Any) -> Any:
        return self.torch.tensor(values, dtype=self.torch.int32)

    def floats(self, array: Any) -> Any:
        return array.float().numpy()

    def bytes(self, array: Any) -> Any:
        return array.view(self.torch.uint8).numpy()

    def address(self, array: Any) -> int:
        return int(array.data_ptr())


@pytest.fixture(params=[NumPy, Torch], ids=["numpy", "torch"])
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param()


def tensors(path: Path) -> dict[str, Any]:
    """The tensors of a safetensors file."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    header.pop("__metadata__", None)
    types = {"F32": np.float32, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8}
    data = memoryview(raw)[8 + length :]
    return {
        name: np.frombuffer(data[slice(*entry["data_offsets"])], types[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in header.items()
        if entry["dtype"] in types
    }


@pytest.fixture(params=["gaudi2", "gaudi3"])
def golden(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """A generation and its golden vectors."""
    return request.param, tensors(DATA / "golden" / f"{request.param}.safetensors")
