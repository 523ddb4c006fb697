"""What vLLM calls in each of its processes, by the entry point `gaudi_kv` of the group `vllm.general_plugins`."""

from __future__ import annotations

from gaudi_kv.vllm.settings import is_requested

__all__ = ["register"]


def register() -> None:
    """Where an emulation is asked for, makes sure of its platform and replaces layers of vLLM's that are wrong there;
    elsewhere does what vllm-gaudi needs.

    One plugin for both, so that a `VLLM_PLUGINS` that names `gaudi_kv` has all of this package.

    Raises `OptionError` where vLLM has passed over the platform, else as `gaudi_kv.vllm_gaudi.register` does.
    """
    if is_requested():
        from gaudi_kv.vllm import rope
        from gaudi_kv.vllm.guard import check_platform

        check_platform()
        rope.register()
    else:
        from gaudi_kv import vllm_gaudi

        vllm_gaudi.register()
