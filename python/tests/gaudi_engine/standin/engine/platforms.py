"""The platform, which the test sets."""

from typing import Any


class CpuPlatform:
    """Not a Gaudi."""


current_platform: Any = CpuPlatform()
