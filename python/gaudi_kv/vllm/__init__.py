"""An emulated Gaudi as a platform of vLLM, on the CPU.

vLLM finds it by the entry points `gaudi_kv` of the groups `vllm.platform_plugins` and `vllm.general_plugins`. It is
active where `GAUDI_KV_EMULATE` is set to `gaudi2` or `gaudi3`; vLLM then serves with its own CPU kernels, and with this
package's caches and attention.
"""

from __future__ import annotations

from gaudi_kv.vllm.settings import is_requested

__all__ = ["register", "register_ops"]


def register() -> str | None:
    """The platform's class for vLLM, or None where no emulation is asked for.

    A wrong value of a setting is not an error here, where vLLM would pass over it, but in the platform's constructor.
    """
    return "gaudi_kv.vllm.platform.EmulatedGaudiPlatform" if is_requested() else None


def register_ops() -> None:
    """Replaces layers of vLLM's, in every process of an engine, where an emulation is asked for."""
    if is_requested():
        from gaudi_kv.vllm import rope

        rope.register()
