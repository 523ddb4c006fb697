#!/usr/bin/env python3
"""Head counts, sizes, windows and softmax scales that transformers derives from a configuration, layer by layer.

    python3 tests/oracle/derived_layers.py [MODEL_TYPE ..]    write tests/data/model-types/layers.jsonl

Needs torch and the transformers of tests/oracle/requirements.txt. Every model type for which transformers has a
language model is built on torch's meta device and run once; what attention is called with and what the cache is given
is written down. One JSON object a line, sorted by `model_type`, then `variant`:

- `model_type`, `variant`, `config`: the config.json that the model was built from. The variants are `minimal`
  ({"model_type", "architectures"} alone), `full` (all keys at their defaults), `diff` (what transformers saves, which
  leaves out many defaults), both of few layers, `small` (other counts and sizes than the defaults, all different from
  each other) and `listed` (as `small`, with other layer types than the class derives). Keys that do not concern
  attention are left out; the model was built without them too.
- `layers`: those with a KV cache of the text decoder (its self attention) and those that read another layer's. Layers
  that are the same are one entry. The keys are those of `gaudi-kv inspect --json`:
  - `layer`: the list of their numbers;
  - `num_heads`, `num_kv_heads`: as attention is called with, before heads are repeated;
  - `head_dim`, `v_head_dim`: elements of a query or key head (of MLA with its rope part) and of a value head;
  - `attention`: "mha", or "mla" where the cache holds one latent, with `kv_lora_rank` and `qk_rope_head_dim`;
    `num_kv_heads` is absent then;
  - `sliding_window`: tokens, or null; `chunk`: tokens of a chunk, where attention is in chunks;
  - `layer_type`: the configuration's word for the layer, absent where its class has none;
  - `softmax_scale`: what scores are multiplied with; `logits_soft_cap`, where there is one;
  - `cache_owner`: the layer whose cache it reads.
  A key that could not be found out is absent.
- `layers_without_cache`: how many layers of the text decoder have none.
- `reason_absent`: why there are no `layers`.

Where a model does not run at its own defaults, the facts are those that its modules of attention hold.
"""

import copy
import inspect
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "critical")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import transformers
from attention_recorder import ATTENTION, record
from model_types import configuration_classes
from model_variants import filtered, listed, text_class, variants
from transformers.initialization import no_init_weights
from transformers.models.auto import modeling_auto

OUT = Path(__file__).resolve().parent.parent / "data/model-types/layers.jsonl"

MAPPINGS = (
    "IMAGE_TEXT_TO_TEXT",
    "MULTIMODAL_LM",
    "SPEECH_SEQ_2_SEQ",
    "SEQ_TO_SEQ_CAUSAL_LM",
    "CAUSAL_LM",
    "TEXT_TO_WAVEFORM",
)

def model_classes():
    """Model classes by model type."""
    found = {}
    for mapping in MAPPINGS:
        for model_type, names in getattr(modeling_auto, f"MODEL_FOR_{mapping}_MAPPING_NAMES", {}).items():
            found.setdefault(model_type, []).extend([names] if isinstance(names, str) else names)
    return found


def build(cls, config, architecture):
    """A model on the meta device and its configuration."""
    made = cls(**copy.deepcopy(config))
    model_class = getattr(transformers, architecture)
    expected = model_class.config_class
    use = made if expected is None or isinstance(made, expected) else made.get_text_config(decoder=True)
    key = architecture + json.dumps(filtered(use.to_dict(), type(use)), sort_keys=True)
    with torch.device("meta"), no_init_weights():
        return use, model_class._from_config(use, attn_implementation="eager"), key


def is_cross(entry):
    """Whether a call or an update is of cross attention or an encoder."""
    return getattr(entry.get("cache"), "is_cross", False)


def attribute(module, *names):
    """The first of several numbers that a module has."""
    return next((n for n in (getattr(module, name, None) for name in names) if isinstance(n, (int, float))), None)


def scale(call):
    """What a call multiplies the scores with, with what the query was multiplied with before."""
    given = call["scaling"]
    if given is None:
        return call["query"][-1] ** -0.5
    own = getattr(call["module"], "scaling", None)
    return own if given == 1.0 and isinstance(own, float) else float(given)


def layer_of(update, call, config, softmaxes):
    """The facts of a layer that has an update of the cache or a call of attention."""
    text = config.get_text_config(decoder=True)
    module = (update or call)["module"]
    layer = update["layer"] if update else getattr(module, "layer_idx", None)
    facts = {"layer": layer}
    types = getattr(text, "layer_types", None)
    if types and isinstance(layer, int) and layer < len(types):
        facts["layer_type"] = types[layer]
    rank = getattr(module, "kv_lora_rank", None)
    is_latent = update and rank and update["key"][-1] == rank and update["key"][1] == 1
    facts["attention"] = "mla" if is_latent else "mha"
    if call:
        facts |= {"num_heads": call["query"][1], "head_dim": call["query"][-1], "v_head_dim": call["value"][-1]}
        facts["softmax_scale"] = scale(call)
        if call["softcap"]:
            facts["logits_soft_cap"] = call["softcap"]
    elif heads := attribute(module, "num_heads", "num_attention_heads", "num_attn_heads", "n_heads", "n_head"):
        facts |= {"num_heads": heads, "head_dim": update["key"][-1], "v_head_dim": update["value"][-1]}
        if module in softmaxes:
            facts["softmax_scale"] = softmaxes[module]
    if is_latent:
        facts |= {"kv_lora_rank": rank, "qk_rope_head_dim": update["value"][-1]}
    else:
        facts["num_kv_heads"] = (update or call)["key"][1]
    facts |= window(update, call, facts.get("layer_type"))
    if not update:
        facts["cache_owner"] = call["cached_by"]
    return facts


def window(update, call, layer_type):
    """The sliding window or the chunk of a layer; nothing where the attention and the cache disagree about it."""
    module = (update or call)["module"]
    cache_layers = getattr(update["cache"], "layers", []) if update else []
    cached = cache_layers[update["layer"]] if update and update["layer"] < len(cache_layers) else None
    held = getattr(cached, "sliding_window", None)
    if getattr(module, "attention_type", None) == "local":
        # GPT Neo masks for itself and keeps the whole cache.
        return {"sliding_window": module.config.window_size}
    if layer_type == "chunked_attention":
        return {"sliding_window": None, "chunk": held}
    given = call["sliding_window"] if call else None
    if given is None and held is not None and layer_type is None:
        # The attention is not told of the window; its mask may have it all the same.
        source = Path(inspect.getfile(type(module))).read_text()
        return {"sliding_window": held} if "create_causal_mask if" in source else {}
    return {"sliding_window": given if layer_type is None or not update else held}


def layers(config, recorder):
    """The facts of all layers, those that are the same together."""
    by_module = {}
    for call in recorder.calls:
        by_module.setdefault(call["module"], call)
    found, seen = [], set()
    for update in recorder.updates:
        if not is_cross(update) and update["layer"] not in seen:
            seen.add(update["layer"])
            found.append(layer_of(update, by_module.get(update["module"]), config, recorder.softmaxes))
    cached_modules = {update["module"] for update in recorder.updates}
    for module, call in by_module.items():
        is_reader = module not in cached_modules and call["cached_by"] is not None
        if is_reader and getattr(module, "layer_idx", None) not in seen:
            seen.add(module.layer_idx)
            found.append(layer_of(None, call, config, {}))
    return sorted(found, key=lambda layer: layer["layer"])


def static_layers(config, model):
    """The facts that the modules of attention hold, where the model does not run."""
    text = config.get_text_config(decoder=True)
    types = getattr(text, "layer_types", None)
    found = {}
    for module in model.modules():
        layer, size = attribute(module, "layer_idx"), attribute(module, "head_dim")
        parts = [getattr(module, name, None) for name in ("q_proj", "k_proj", "v_proj")]
        is_here = getattr(module, "config", None) is text and layer is not None and layer not in found
        if not is_here or size is None or not all(hasattr(part, "out_features") for part in parts):
            continue
        heads, kv_heads, _ = (part.out_features // size for part in parts)
        facts = {"layer": layer, "attention": "mha", "num_heads": heads, "num_kv_heads": kv_heads}
        facts |= {"head_dim": size, "v_head_dim": size}
        if isinstance(scaling := getattr(module, "scaling", None), float):
            facts["softmax_scale"] = scaling
        if types:
            facts["layer_type"] = types[layer]
        found[layer] = facts
    return [found[layer] for layer in sorted(found)]


def grouped(found):
    """Layers that are the same as one entry."""
    groups = {}
    for layer in found:
        rest = {key: value for key, value in layer.items() if key != "layer"}
        groups.setdefault(json.dumps(rest, sort_keys=True), []).append(layer["layer"])
    return [{"layer": numbers} | json.loads(rest) for rest, numbers in groups.items()]


def layer_count(config, found):
    """How many layers the text decoder has."""
    if config.is_encoder_decoder and isinstance(n := getattr(config, "decoder_layers", None), int):
        return n
    text = config.get_text_config(decoder=True)
    names = ("num_decoder_layers", "num_hidden_layers")
    return next((n for n in (getattr(text, name, None) for name in names) if isinstance(n, int)), len(found))


def is_without_attention(config, model):
    """Whether the text decoder has no layers with attention, so that it needs no cache of keys and values."""
    types = getattr(config.get_text_config(decoder=True), "layer_types", None)
    if types and set(types) <= {"linear_attention", "conv", "moe", "mlp"}:
        return True
    return not any(ATTENTION.search(type(module).__name__) for module in model.modules())


def case_of(cls, config, architectures, known):
    """What one config gives: `layers`, or the reason why there are none."""
    reasons = []
    for architecture in architectures:
        try:
            used, model, key = build(cls, config, architecture)
        except Exception as error:
            reasons.append(f"{type(error).__name__}: {error}".split("\n")[0][:200])
            continue
        if key not in known:
            recorder, reason = record(used, model)
            found = layers(used, recorder)
            total = layer_count(used, found)
            if reason and len(found) < total:
                static = static_layers(used, model)
                found, reason = (static, None) if len(static) >= total else (found, reason)
            if not found:
                reason = None if is_without_attention(used, model) else reason or "no cache was written"
            if reason and len(found) < total:
                known[key] = reason
            else:
                known[key] = {"layers": grouped(found)}
                if total >= len(found):
                    known[key]["layers_without_cache"] = total - len(found)
        if isinstance(known[key], dict):
            return known[key]
        reasons.append(known[key])
    return {"reason_absent": reasons[0]}


def cases(model_type, cls, models):
    """The cases of a model type."""
    known, architectures = {}, models[model_type]
    try:
        architectures = architectures + models.get(text_class(cls).model_type, [])
        configs_of = list(variants(model_type, cls, architectures[0]))
    except Exception as error:
        head = {"model_type": model_type, "architectures": architectures[:1]}
        yield {"model_type": model_type, "variant": "minimal", "config": head, "reason_absent": repr(error)[:200]}
        return
    for variant, configs in configs_of:
        for config in configs:
            case = {"config": config} | case_of(cls, config, architectures, known)
            if "layers" in case:
                break
        yield {"model_type": model_type, "variant": variant} | case
    if "layers" in case and (config := listed(cls, config)):
        head = {"model_type": model_type, "variant": "listed", "config": config}
        yield head | case_of(cls, config, architectures, known)


def main():
    classes, models = configuration_classes(), model_classes()
    lines = {}
    if (chosen := sys.argv[1:]) and OUT.exists():
        kept = (json.loads(line) for line in OUT.read_text().splitlines())
        lines = {(line["model_type"], line["variant"]): line for line in kept if line["model_type"] not in chosen}
    for model_type in chosen or sorted(models):
        for case in cases(model_type, classes[model_type], models):
            lines[model_type, case["variant"]] = case
            print(model_type, case["variant"], case.get("reason_absent", "is there"), flush=True)
    OUT.parent.mkdir(exist_ok=True)
    text = (json.dumps(lines[key], sort_keys=True, separators=(",", ":")) + "\n" for key in sorted(lines))
    OUT.write_text("".join(text))


if __name__ == "__main__":
    main()
