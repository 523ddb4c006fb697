"""Where vLLM puts KV-scale tensors, asked of vLLM itself.

Reads from stdin a JSON list of cases:

    {"name": "model.layers.0.self_attn.k_proj.k_scale",
     "quant_method": "modelopt",            # whose mapper of KV-scale names applies
     "route": "autoload",                   # how the model loads its weights, see below
     "is_mla": false,                       # the layer's attention, which decides its parameters
     "attention": "model.layers.0.self_attn",  # the attention module in vLLM's model; null: it has none
     "model": "gpt_j:GPTJForCausalLM",      # optional: a model class whose own renaming applies first
     "times": 2}                            # optional: feed the result again

and writes {"version": .., "results": [{"mapped": .., "outcome": ..}, ..]} to stdout, in the same order. "mapped" is the
name after vLLM's renaming, null if that dropped it. "outcome" is one of

    loaded    a parameter of the model takes the tensor
    dropped   it is ignored: the model loads without it
    fails     loading the model fails on it

Routes:

    autoload        AutoWeightsLoader with the mapper of the quantization config: most models
    autoload+remap  the same around a model that then calls maybe_remap_kv_scale_name: DeepSeek-V2/V3, Llama 4, DBRX, ..
    remap           maybe_remap_kv_scale_name alone: draft models such as DeepSeek's MTP

Nothing is loaded from disk and nothing from the network.
"""

import contextlib
import functools
import importlib
import json
import logging
import os
import sys

os.environ["VLLM_NO_USAGE_STATS"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

ROLES = ("q", "k", "v")


def parameter_names(attention, is_mla, quant_method):
    """The parameters that vLLM's KV-cache method of this quantization creates in an attention layer."""
    if attention is None:
        return ()
    inner = f"{attention}.mla_attn.mla_attn" if is_mla else f"{attention}.attn"
    names = [f"{inner}.{role}_scale" for role in ROLES]
    if quant_method == "compressed-tensors":
        names += [f"{inner}.{role}_zero_point" for role in ROLES]
    else:
        names.append(f"{inner}.prob_scale")
    return tuple(names)


class Engine:
    """vLLM's name handling."""

    def __init__(self):
        import torch
        from vllm.model_executor.layers.quantization import get_quantization_config
        from vllm.model_executor.model_loader import weight_utils
        from vllm.model_executor.models.utils import AutoWeightsLoader, WeightsMapper

        self.torch = torch
        self.auto_weights_loader = AutoWeightsLoader
        self.weights_mapper = WeightsMapper
        self.get_quantization_config = get_quantization_config
        self.remap = weight_utils.maybe_remap_kv_scale_name
        self.module = functools.lru_cache(maxsize=None)(self._module)
        self.quant_config = functools.lru_cache(maxsize=None)(self._quant_config)
        self.model_class = functools.lru_cache(maxsize=None)(self._model_class)

    def answer(self, case):
        """Where one tensor goes."""
        result = self._once(case, case["name"])
        for _ in range(case.get("times", 1) - 1):
            if result["mapped"] is None:
                break
            result = self._once(case, result["mapped"])
        return result

    def _once(self, case, name):
        method, route = case["quant_method"], case["route"]
        params = parameter_names(case["attention"], case["is_mla"], method)
        if route == "remap":
            mapped = self.remap(name, dict.fromkeys(params))
            return self._looked_up(mapped, params)
        renaming = self.weights_mapper()
        if "model" in case:
            model = self.model_class(case["model"])
            if hasattr(model, "maybe_remap_mistral"):
                # It looks at the model's shapes only for weights. This model gives the loader no mapper of its own.
                name, _ = model.maybe_remap_mistral(model, name, None)
            else:
                renaming = model.hf_to_vllm_mapper
        config = self.quant_config(method)
        mapper = renaming | config.get_cache_scale_mapper() | config.get_checkpoint_weight_mapper()
        mapped = mapper.map_name(name)
        if route == "autoload+remap":
            if mapped is not None:
                mapped = self.remap(mapped, dict.fromkeys(params))
            return self._looked_up(mapped, params)
        return {"mapped": mapped, "outcome": self._autoload(name, renaming, config, params, mapped)}

    @staticmethod
    def _looked_up(mapped, params):
        """A model's own load_weights drops what the remapping drops, and looks the rest up in its parameters."""
        if mapped is None:
            return {"mapped": None, "outcome": "dropped"}
        return {"mapped": mapped, "outcome": "loaded" if mapped in params else "fails"}

    def _autoload(self, name, renaming, config, params, mapped):
        """Lets the real loader put a tensor into a model that has the attention layer's parameters alone."""
        module = self.module(params)
        module.quant_config = config
        loader = self.auto_weights_loader(module)
        try:
            loaded = loader.load_weights([(name, self.torch.ones(()))], mapper=renaming)
        except ValueError:
            return "fails"
        if not loaded:
            return "dropped"
        assert loaded == {mapped}, f"{name}: loaded as {loaded}, mapped to {mapped}"
        return "loaded"

    def _module(self, params):
        root = self.torch.nn.Module()
        for param in params or ("unrelated",):
            *parents, last = param.split(".")
            module = root
            for parent in parents:
                if parent not in dict(module.named_children()):
                    module.add_module(parent, self.torch.nn.Module())
                module = dict(module.named_children())[parent]
            value = self.torch.zeros(())
            module.register_parameter(last, self.torch.nn.Parameter(value, requires_grad=False))
        return root

    def _quant_config(self, method):
        # The mappers need no settings, so that no config has to be made up.
        config = self.get_quantization_config(method)
        return config.__new__(config)

    @staticmethod
    def _model_class(path):
        module, name = path.split(":")
        return getattr(importlib.import_module(f"vllm.model_executor.models.{module}"), name)


def main():
    """Answers the cases on stdin."""
    cases = json.load(sys.stdin)
    # Nothing that vLLM prints may reach stdout.
    with contextlib.redirect_stdout(sys.stderr):
        import vllm

        # A warning for each name that vLLM does not load says nothing new here.
        logging.disable(logging.WARNING)
        engine = Engine()
        results = [engine.answer(case) for case in cases]
    json.dump({"version": vllm.__version__, "results": results}, sys.stdout)


if __name__ == "__main__":
    main()
