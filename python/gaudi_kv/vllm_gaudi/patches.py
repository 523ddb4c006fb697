"""What is replaced where vllm-gaudi is the platform, why, and how not to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from gaudi_kv.vllm_gaudi import releases
from gaudi_kv.vllm_gaudi.patching import Patch
from gaudi_kv.vllm_gaudi.releases import span
from gaudi_kv.vllm_gaudi.settings import OFF

__all__ = ["PATCHES", "markdown"]

QUANTIZATION = "vllm.model_executor.layers.quantization"
HPU = "vllm_gaudi.ops"


def _late(module: str, function: str) -> Callable[[Any], Any]:
    """A function of this package that gives the replacement. Its module needs vLLM, which is there by then."""

    def replacement(replaced: Any) -> Any:
        return getattr(import_module(f"gaudi_kv.vllm_gaudi.{module}"), function)(replaced)

    return replacement


def _method(name: str, module: str, attribute: str, reason: str, until: str) -> Patch:
    replacement = _late("method", "in_place_of")
    return Patch(name, module, attribute, ("quant_config",), replacement, reason, until, needs=("models",))


def _experts(name: str, module: str, method: str) -> Patch:
    return Patch(
        name,
        module,
        f"{method}.process_weights_after_loading",
        ("self", "layer"),
        _late("experts", "as_many_as_taken"),
        "a layer's own selection of experts may give two values or three, whatever the method takes",
        "no vllm-gaudi of these releases is served",
        selections=("layer", "router"),
    )


def _undecided(replaced: Any) -> Any:
    """In place of a class method that decides for the process what is a model's."""
    del replaced
    return classmethod(lambda cls, config: None)


PATCHES = (
    Patch(
        "models",
        "vllm.model_executor.model_loader.utils",
        "initialize_model",
        ("vllm_config", "prefix", "model_class", "model_config"),
        _late("models", "planned"),
        "a draft is told from its target, and a layer with an FP8 cache whose quantization has no KV-cache method gets "
        "one (MLA layers of native fp8 and Quark)",
        "vLLM's current configuration names a draft while it is made, and every quantization has a method for MLA layers",
        by_name=True,
    ),
    _method(
        "compressed-tensors",
        f"{HPU}.hpu_compressed_tensors",
        "HPUCompressedTensorsKVCacheMethod",
        "adjusts by a flag of the process, reads one scale a layer, takes 1.0 for a v_scale that is missing",
        "vllm-gaudi decides for each model, reads a scale for each head, and takes the other scale for one that is missing",
    ),
    _method(
        "compressed-tensors-mla",
        f"{HPU}.hpu_compressed_tensors",
        "HPUCompressedTensorsKVCacheMethodForMLA",
        "takes the larger of k_scale and v_scale, and 1.0 for one that is missing",
        "vllm-gaudi takes k_scale alone for the latent",
    ),
    _method(
        "fp8",
        f"{QUANTIZATION}.fp8",
        "Fp8KVCacheMethod",
        "loads scales that vllm-gaudi never applies",
        "vllm-gaudi has a KV-cache method for native fp8",
    ),
    _method(
        "modelopt",
        f"{QUANTIZATION}.modelopt",
        "ModelOptFp8Config.KVCacheMethodCls",
        "loads scales that vllm-gaudi never applies",
        "vllm-gaudi has a KV-cache method for ModelOpt",
    ),
    _method(
        "quark",
        f"{QUANTIZATION}.quark.quark",
        "QuarkKVCacheMethod",
        "loads scales that vllm-gaudi never applies",
        "vllm-gaudi has a KV-cache method for Quark",
    ),
    Patch(
        "names",
        "vllm.model_executor.model_loader.weight_utils",
        "maybe_remap_kv_scale_name",
        ("name", "params_dict"),
        _late("names", "by_grammar"),
        "takes all layers for MLA layers where one is, and does not know many spellings",
        "vllm-gaudi decides for each layer, and vLLM knows the spellings of docs/names.md",
        by_name=True,
    ),
    Patch(
        "flavor",
        f"{HPU}.hpu_compressed_tensors",
        "HPUCompressedTensorsConfig._update_scale_adjustment_if_needed",
        ("config",),
        _undecided,
        "turns adjusting off for the process, and with it for a draft or target of another range",
        "vllm-gaudi decides for each model",
        # What is left of vllm-gaudi's goes by the flag of the process.
        needs=("compressed-tensors", "compressed-tensors-mla", "weights"),
    ),
    Patch(
        "weights",
        "vllm_gaudi.extension.ops",
        "gaudi_weight_wrapper",
        ("weight_loader",),
        _late("weights", "adjusting"),
        "doubles whatever is not FP8, int8 weights among it, decides by a flag of the process, goes through float32",
        "vllm-gaudi decides for each model and doubles scales of FP8 weights alone",
        needs=("models",),
    ),
    _experts("experts-fp8", f"{HPU}.hpu_fp8", "HPUFp8MoEMethod"),
    _experts("experts-compressed-tensors", f"{HPU}.hpu_compressed_tensors", "HPUCompressedTensorsW8A8Fp8MoEMethod"),
    Patch(
        "experts-routed",
        f"{HPU}.hpu_fused_moe",
        "select_experts_from_routed",
        ("layer", "hidden_states", "router_logits"),
        _late("experts", "two_values"),
        "hands on what vLLM's selection gives, two values or three, to callers that take two",
        "every vLLM that is served gives two values, as 0.32 does",
        by_name=True,
        selections=("function",),
    ),
)


def markdown() -> str:
    """The table of what is replaced, and that of vllm-gaudi's releases, in Markdown."""
    heads = ("replaced", "in", "releases of vllm-gaudi", "why", "can go when", f"left alone by `{OFF}=..`", "and with")
    lines = [_line(heads), _line(["---"] * len(heads))]
    for patch in PATCHES:
        needs = ", ".join(f"`{need}`" for need in patch.needs)
        name, attribute, file = (f"`{text}`" for text in (patch.name, patch.attribute, patch.file))
        lines.append(_line([attribute, file, span(patch.selections), patch.reason, patch.until, name, needs]))
    return "\n".join([*lines, "", releases.markdown()])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
