"""vLLM on a Gaudi: this package's KV scales and weight adjustment in place of vllm-gaudi's.

vLLM finds it by the entry point `gaudi_kv` of the group `vllm.general_plugins`. Where vllm-gaudi is the platform, the
functions and classes in `gaudi_kv.vllm_gaudi.patches` are replaced in this process; nothing is written anywhere, so
without the entry point everything is as it was. `python -m gaudi_kv.vllm_gaudi` prints what is replaced.
"""

from __future__ import annotations

import logging

__all__ = ["register"]


def register() -> None:
    """Replaces what `patches` lists, where vllm-gaudi is the platform, and does nothing elsewhere.

    Raises `PatchError` where vllm-gaudi or vLLM is not of the shape that is replaced, `OptionError` where a setting is
    wrong.
    """
    from vllm.platforms import current_platform

    logger = logging.getLogger(f"vllm.{__name__}")
    platform = type(current_platform)
    if platform.__module__.partition(".")[0] != "vllm_gaudi":
        logger.debug("the platform is %s.%s, so nothing is replaced", platform.__module__, platform.__qualname__)
        return
    from gaudi_kv.vllm_gaudi.patches import PATCHES
    from gaudi_kv.vllm_gaudi.patching import install

    install(PATCHES)
