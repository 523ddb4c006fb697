"""Replacing attributes of other packages in this process, and putting them back."""

from __future__ import annotations

import importlib
import inspect
import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gaudi_kv.vllm_gaudi.errors import PatchError
from gaudi_kv.vllm_gaudi.releases import Selection, installed_release
from gaudi_kv.vllm_gaudi.settings import OFF, turned_off

__all__ = ["Patch", "install", "uninstall"]

logger = logging.getLogger(f"vllm.{__name__}")

MISSING = object()


@dataclass(frozen=True)
class Patch:
    """One replaced attribute.

    `attribute` may be that of a class in the module. `parameters` are those of what is replaced. `replacement` takes
    what is replaced and gives what takes its place. `reason` is why it is replaced, `until` when the patch can go. With
    `by_name` modules that have imported the attribute get the replacement too. Where one of the patches that it `needs`
    is left alone, it is too. `selections` are those of the releases of vllm-gaudi that need it; all do where none is given.
    """

    name: str
    module: str
    attribute: str
    parameters: tuple[str, ...]
    replacement: Callable[[Any], Any]
    reason: str
    until: str
    by_name: bool = False
    needs: tuple[str, ...] = ()
    selections: tuple[Selection, ...] = ()

    @property
    def file(self) -> str:
        """The file of vLLM or vllm-gaudi that has the attribute."""
        return f"{self.module.replace('.', '/')}.py"

    def __str__(self) -> str:
        return f"{self.name} ({self.module}.{self.attribute})"


@dataclass(frozen=True)
class Target:
    """Where a patch goes: the object that has the attribute, its name, and its value."""

    owner: Any
    leaf: str
    value: Any


# What was there before, in the order in which it was replaced: owner, attribute, value or MISSING.
_replaced: list[tuple[Any, str, Any]] = []


def install(patches: Sequence[Patch]) -> None:
    """Replaces what the patches name and the installed vllm-gaudi needs, but for those that `GAUDI_KV_PATCHES_OFF` turns
    off and those that need one of them. Again changes nothing.

    Raises `PatchError`, and replaces nothing, where the target of a patch is missing or has other parameters or
    vllm-gaudi is too old, `OptionError` where the setting has an unknown name.
    """
    if _replaced:
        return
    left = _left_alone(patches)
    for patch in patches:
        if patch.name in left:
            logger.warning("not replaced, as %s: %s: %s", left[patch.name], patch, patch.reason)
    wanted = [patch for patch in patches if patch.name not in left and _is_due(patch)]
    targets = _find(wanted)
    replacements = [patch.replacement(target.value) for patch, target in zip(wanted, targets, strict=True)]
    for patch, target, replacement in zip(wanted, targets, replacements, strict=True):
        _set(target.owner, target.leaf, replacement)
        if patch.by_name:
            for module in _importers(target):
                _set(module, target.leaf, replacement)
        logger.info("replaced %s: %s", patch, patch.reason)


def _is_due(patch: Patch) -> bool:
    """Whether the installed vllm-gaudi needs it."""
    return not patch.selections or installed_release().selection in patch.selections


def _left_alone(patches: Sequence[Patch]) -> dict[str, str]:
    """The names of patches that are not to be installed, with the reason."""
    left = {name: f"{OFF} asks" for name in turned_off(patch.name for patch in patches)}
    while True:
        more = {
            patch.name: f"it needs {need}"
            for patch in patches
            for need in patch.needs
            if need in left and patch.name not in left
        }
        if not more:
            return left
        left |= more


def uninstall() -> None:
    """Puts back everything that `install` replaced."""
    while _replaced:
        owner, leaf, before = _replaced.pop()
        if before is MISSING:
            delattr(owner, leaf)
        else:
            setattr(owner, leaf, before)


def _find(patches: Sequence[Patch]) -> list[Target]:
    # Importing vllm-gaudi's modules replaces attributes of vLLM's, so all of them come before the first look.
    problems = [problem for patch in patches if (problem := _import_problem(patch)) is not None]
    targets = []
    for patch in patches if not problems else ():
        try:
            targets.append(_target(patch))
        except PatchError as error:
            problems.append(str(error))
    if problems:
        raise PatchError(
            f"vllm-gaudi or vLLM is not of the shape that is replaced: {'; '.join(problems)}. "
            f"{OFF} turns single replacements off, by their names, or all"
        )
    return targets


def _import_problem(patch: Patch) -> str | None:
    try:
        importlib.import_module(patch.module)
    except ImportError as error:
        return f"{patch}: the module cannot be imported: {error}"
    return None


def _target(patch: Patch) -> Target:
    owner: Any = sys.modules[patch.module]
    *parents, leaf = patch.attribute.split(".")
    for parent in parents:
        owner = getattr(owner, parent, MISSING)
    value: Any = getattr(owner, leaf, MISSING)
    if value is MISSING:
        raise PatchError(f"{patch}: there is no such attribute")
    try:
        parameters = tuple(inspect.signature(value).parameters)
    except (TypeError, ValueError) as error:
        raise PatchError(f"{patch}: it cannot be called: {error}") from error
    if parameters != patch.parameters:
        known = ", ".join(patch.parameters)
        raise PatchError(f"{patch}: its parameters are ({', '.join(parameters)}), known are ({known})")
    return Target(owner, leaf, value)


def _importers(target: Target) -> list[Any]:
    return [
        module
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in ("vllm", "vllm_gaudi")
        and module is not target.owner
        and getattr(module, "__dict__", {}).get(target.leaf) is target.value
    ]


def _set(owner: Any, leaf: str, value: Any) -> None:
    # Not getattr, which would bind a class method, and would find an attribute of a base class.
    _replaced.append((owner, leaf, vars(owner).get(leaf, MISSING)))
    setattr(owner, leaf, value)
