"""The error of replacing parts of other packages."""

from __future__ import annotations

from gaudi_kv._errors import GaudiKvError

__all__ = ["PatchError"]


class PatchError(GaudiKvError):
    """What is to be replaced is not there, or is not what this package knows."""
