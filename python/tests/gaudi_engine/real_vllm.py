"""Serves a model with the real vLLM on the CPU, with the plugin's replacements in it, and prints what its layers got.

`real_vllm.py MODEL TOKENIZER KV_CACHE_DTYPE`. vLLM's attention is the emulated Gaudi2's; each implementation is given
the modules that vllm-gaudi's have, from the stand-in, and the plugin finds them as it would there.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

os.environ |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "GAUDI_KV_EMULATE": "gaudi2"}

from standin import loading  # noqa: E402


def add_modules(impl: Any, caches: list[str]) -> None:
    """Gives every implementation the modules of vllm-gaudi's."""
    from vllm_gaudi.attention.backends.hpu_attn import fused
    from vllm_gaudi.extension import utils

    original: Any = impl.__init__
    products = ["matmul_qk", "matmul_av", "batch2block_matmul", "block2batch_matmul"]

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        for name in caches:
            setattr(self, name, utils.VLLMFP8KVCache())
        for name in products:
            setattr(self, name, utils.FP8Matmul())
        self.fused_scaled_dot_product_attention = utils.ModuleFP8FusedSDPA(fused)

    impl.__init__ = __init__


def numbers(layer: Any) -> dict[str, Any]:
    modules = {name: module for name, module in vars(layer.impl).items() if hasattr(module, "named_parameters")}
    return {
        f"{name}.{attribute}": parameter.flatten().tolist()
        for name, module in modules.items()
        for attribute, parameter in module.named_parameters()
        if name != "kv_b_proj"
    }


def main() -> None:
    # The real vLLM, and the stand-in of vllm-gaudi.
    del loading.FOLDERS["vllm"]
    sys.meta_path.insert(0, loading.Finder)
    from vllm import LLM, SamplingParams

    from gaudi_kv.vllm.mha import GaudiMhaImpl
    from gaudi_kv.vllm.mla import GaudiMlaImpl
    from gaudi_kv.vllm_gaudi.patches import PATCHES
    from gaudi_kv.vllm_gaudi.patching import install

    add_modules(GaudiMhaImpl, ["k_cache", "v_cache"])
    add_modules(GaudiMlaImpl, ["latent_cache_k"])
    install([patch for patch in PATCHES if patch.module.startswith("vllm.")])
    model, tokenizer, cache_dtype = sys.argv[1:]
    llm = LLM(
        model,
        tokenizer=tokenizer,
        kv_cache_dtype=cache_dtype,
        max_model_len=128,
        max_num_seqs=2,
        enforce_eager=True,
        kv_cache_memory_bytes=16 << 20,
    )
    (output,) = llm.generate(["And the LORD said unto"], SamplingParams(max_tokens=8, temperature=0), use_tqdm=False)
    runner = llm.llm_engine.engine_core.engine_core.model_executor.driver_worker.worker.model_runner
    layers = [layer for layer in runner.model.modules() if hasattr(layer, "impl")]
    found = {
        "text": output.outputs[0].text,
        "methods": [type(getattr(layer, "quant_method", None)).__module__ for layer in layers],
        "numbers": [numbers(layer) for layer in layers],
    }
    print("FOUND", json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
