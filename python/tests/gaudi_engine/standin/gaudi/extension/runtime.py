"""Settings of the process."""

from types import SimpleNamespace
from typing import Any

_config = SimpleNamespace(scale_adjustment=True, use_contiguous_pa=False)


def get_config() -> Any:
    """One object for the whole process."""
    return _config
