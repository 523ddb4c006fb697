"""What is asked for, as the environment says it. Worker processes inherit the environment, so all agree."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from gaudi_kv._errors import OptionError

__all__ = ["OFF", "turned_off"]

OFF = "GAUDI_KV_PATCHES_OFF"


def turned_off(known: Iterable[str], environment: Mapping[str, str] = os.environ) -> frozenset[str]:
    """The names of patches in `GAUDI_KV_PATCHES_OFF`, separated by commas; `all` is every one.

    Raises `OptionError` where a name is not known.
    """
    known = frozenset(known)
    names = frozenset(name.strip() for name in environment.get(OFF, "").split(",")) - {""}
    unknown = names - known - {"all"}
    if unknown:
        raise OptionError(f"{OFF} has {', '.join(sorted(unknown))}; it takes all, {', '.join(sorted(known))}")
    return known if "all" in names else names
