"""What this package has to know of each release of vllm-gaudi, as read in its sources. Releases follow vLLM's."""

from __future__ import annotations

import functools
import logging
import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from gaudi_kv.vllm_gaudi.errors import PatchError

__all__ = ["RELEASES", "Release", "Selection", "installed_release", "markdown", "span"]

logger = logging.getLogger(f"vllm.{__name__}")

# Whose `select_experts` the FP8 methods call: the layer's, its router's, or the function
# `select_experts_from_routed`, which calls vLLM's.
Selection = Literal["layer", "router", "function"]
Numbers = tuple[int, int, int]


@dataclass(frozen=True)
class Release:
    """Releases from `first` to `last`: what selects the experts of FP8 methods, and how many values they take of it."""

    first: Numbers
    last: Numbers
    selection: Selection
    values: Literal[2, 3]


# By age. Each `last` is the newest release that was looked at.
RELEASES = (
    Release((0, 13, 0), (0, 13, 0), "layer", 3),
    Release((0, 14, 1), (0, 21, 0), "router", 2),
    Release((0, 24, 0), (0, 27, 0), "function", 2),
)


@functools.cache
def installed_release() -> Release:
    """The line of the table for the vllm-gaudi that is installed. One that is newer than the table, or whose version is
    not known, counts as the newest line, and the log says so.

    Raises `PatchError` where it is older than the table.
    """
    newest = RELEASES[-1]
    try:
        found = version("vllm-gaudi")
    except PackageNotFoundError:
        logger.warning("vllm-gaudi's version is not known; it is taken to be as %s", _text(newest.last))
        return newest
    numbers = _numbers(found)
    if numbers is None or numbers > newest.last:
        logger.warning("vllm-gaudi %s is not known; it is taken to be as %s", found, _text(newest.last))
        return newest
    for release in reversed(RELEASES):
        if numbers >= release.first:
            return release
    raise PatchError(f"vllm-gaudi {found} is older than {_text(RELEASES[0].first)}, the oldest that is known")


def _numbers(text: str) -> Numbers | None:
    """The numbers of a version: of a candidate or a later build those of its release. None where a checkout without
    tags was built, which counts from zero.
    """
    matched = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    if matched is None or (text.startswith(("0.0", "0.1.")) and ".dev" in text):
        return None
    major, minor, patch = matched.groups(default="0")
    return int(major), int(minor), int(patch)


def _text(numbers: Numbers) -> str:
    return ".".join(map(str, numbers))


def span(selections: tuple[Selection, ...]) -> str:
    """The releases with one of the selections, for people; all where none is given."""
    found = [release for release in RELEASES if not selections or release.selection in selections]
    if len(found) == len(RELEASES):
        return "all"
    if found[-1] is RELEASES[-1]:
        return f"from {_text(found[0].first)}"
    return f"{_text(found[0].first)} to {_text(found[-1].last)}"


def markdown() -> str:
    """The table of releases, in Markdown."""
    called = {
        "layer": "`layer.select_experts`",
        "router": "`layer.router.select_experts`",
        "function": "`select_experts_from_routed`",
    }
    lines = ["| vllm-gaudi | its FP8 methods select experts by | values that they take |", "| --- | --- | --- |"]
    for release in RELEASES:
        first, last = _text(release.first), _text(release.last)
        title = first if first == last else f"{first} to {last}"
        lines.append(f"| {title} | {called[release.selection]} | {release.values} |")
    return "\n".join(lines)
