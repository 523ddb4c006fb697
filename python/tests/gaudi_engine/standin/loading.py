"""Importing the stand-ins under the names of what they stand for."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FOLDERS = {"vllm": HERE / "engine", "vllm_gaudi": HERE / "gaudi"}


class Finder:
    """Finds `vllm.a.b` in `engine/a/b.py`, and vllm_gaudi's modules in `gaudi`."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        top, *parts = name.split(".")
        if top not in FOLDERS:
            return None
        base = FOLDERS[top].joinpath(*parts)
        if (base / "__init__.py").is_file():
            found = [str(base)]
            return importlib.util.spec_from_file_location(
                name, base / "__init__.py", submodule_search_locations=found
            )
        file = base.with_suffix(".py")
        return importlib.util.spec_from_file_location(name, file) if file.is_file() else None


def _is_concerned(name: str) -> bool:
    return name.partition(".")[0] in FOLDERS or name.startswith("gaudi_kv.vllm")


@contextmanager
def standing_in() -> Iterator[None]:
    """Has `vllm` and `vllm_gaudi` mean the stand-ins, freshly imported, whatever is installed or was imported."""
    before = {name: module for name, module in sys.modules.items() if _is_concerned(name)}
    _forget()
    sys.meta_path.insert(0, Finder)
    try:
        yield
    finally:
        sys.meta_path.remove(Finder)
        _forget()
        sys.modules.update(before)


def _forget() -> None:
    for name in [name for name in sys.modules if _is_concerned(name)]:
        del sys.modules[name]


def module(name: str) -> Any:
    """A module of the stand-ins, or of the plugin over them."""
    return importlib.import_module(name)
