"""Says so where an emulation is asked for and vLLM passes over its platform."""

from __future__ import annotations

import os

from gaudi_kv._errors import OptionError
from gaudi_kv.vllm.settings import EMULATE

__all__ = ["check_platform"]


def check_platform() -> None:
    """Does nothing where vLLM has taken the platform of this package. For processes in which an emulation is asked for,
    before vLLM makes an engine.

    Raises `OptionError` where vLLM has another platform: it would serve, and nothing would be emulated.
    """
    from vllm.platforms import current_platform

    from gaudi_kv.vllm.platform import EmulatedGaudiPlatform

    if not isinstance(current_platform, EmulatedGaudiPlatform):
        raise OptionError(
            f"{EMULATE} is {os.environ[EMULATE]!r}, but vLLM has taken its {type(current_platform).__name__} and "
            "nothing would be emulated: VLLM_TARGET_DEVICE must not be cpu"
        )
