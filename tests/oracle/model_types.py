#!/usr/bin/env python3
"""What a model's config.json leaves out: the defaults of every configuration class of transformers.

    python3 tests/oracle/model_types.py            write src/checkpoint/model_types.jsonl anew
    python3 tests/oracle/model_types.py --check    exit 1 if that is not what would be written

Needs transformers as tests/oracle/requirements.txt has it (`just oracle`); torch is not needed. One JSON object a line,
sorted by `model_type`, after a first line {"transformers": its version}. Keys of the others:

- `model_type`, `class`: the class that reads a config of this model type.
- `aliases`: other names under which the class takes a key: {the name that others use: its own name}.
- `defaults`: values of the keys that a config leaves out, as the class declares them, before it derives one from
  another. Those are included which it keeps in no field, only as the default of a look-up for an older key (Gemma 3's
  `sliding_window_pattern`), and those which it fills in for null, where the value is always the same.
- `text`: of a composite, `key` of the part with the text decoder and `model_type` of that part's class where the part
  is absent or names none. `fixed`: the class stays, whatever `model_type` the part names. `flat`: without the part, its
  keys are read from the composite. `defaults`: what the part differs by from its class where it is absent. Of several
  levels, one is in each line.
- `layer_types`: the list by layer that the class derives where a config has none, by the number of layers. `cycle` is
  repeated, from the first layer on, or, with `from_end`, backwards from the last one. `first` goes before it, being
  {"n": layers, "type": their type}, or else `prefix`, a list. `last` is the type of the last layer, instead of the
  cycle's. `needs` is the type that the last layer takes where no layer would have it. `list` is a list that does not
  depend on the number of layers. Where one of the class's own keys moves the pattern, this is it at its default.
- `mtp_layer_types`: the same of the layers of multi-token prediction.
- `by_layer_type`: what differs from `defaults` on the layers of a type, where a config has no `per_layer_config`; a
  list repeats itself over the layers of that type.
- `yarn_softmax`: whether the class's attention multiplies the softmax scale by the square of
  `0.1 * mscale_all_dim * ln(factor) + 1`, where `rope_parameters` has `mscale_all_dim`.
- `softmax_scale`: where it is not one over the square root of the size of a query head, and no key gives it (a default
  of `query_pre_attn_scalar` to the power of -0.5, or `attention_multiplier`): `factor` times that size to the power of
  `head_dim_power`. It is read from tests/data/model-types/layers.jsonl, where tests/oracle/derived_layers.py wrote what
  models use.

Every list is found by making the class with many numbers of layers; one that no such form gives fails the run.

A class is left out if nothing of it can be a text decoder: it declares no vocabulary and no `num_key_value_heads`, nor
does a part of it, and no mapping of transformers from model types to language models names it. What is left out are
vision towers, detectors, codecs and the like.
"""

import ast
import contextlib
import dataclasses
import functools
import importlib
import inspect
import json
import os
import re
import sys
import textwrap
from pathlib import Path

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "critical")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

ROOT = Path(__file__).resolve().parent.parent.parent
TABLE = ROOT / "src/checkpoint/model_types.jsonl"
MEASURED = ROOT / "tests/data/model-types/layers.jsonl"

# Keys that can matter to attention and to caches.
WANTED = re.compile(
    "|".join([
        # Sizes of the model and of its heads.
        r"hidden_size|hidden_dim|d_model|n_embd|embed_dim|embedding_size|emb_dim|dim|depth|attention_hidden_size",
        r"(\w+_)?head_(dim|size)|d_head|d_kv|dim_head|kv_channels|(q|kv|o)_lora_rank",
        # Numbers of heads.
        r"n_heads?|kv_n_heads|n_head_kv|(\w+_)?num_(\w+_)?heads(_\w+)?|(\w+_)?(attention|attn|cross|kv|n)_heads",
        r"multi_query\w*|num_(attention|query|key_value)_groups|new_decoder_architecture",
        r"attention_k_eq_v|self_attn|attn_config",
        # Numbers of layers, also of those that run again and again.
        r"n_layers?|layers|(num_)?(\w+coder_)?(num_)?(hidden_)?layers|num_(\w+coder|global|cross_attention)_layers",
        r"n_(in|out)put_layers|n_recurrent_l\w+|num_loops|loop_\w+|[HL]_cycles|num_layers_per_stack|num_mem_blocks",
        r"num_hidden_groups|num_(mtp|nextn_predict)_layers|num_kv_shared_layers|kv_source_layers\w*",
        r"recurrent_kv_cache_mode",
        # Kinds of layers.
        r"layer_types?|layers_block_type|block_(types?|configs)|att(entio)?n_types?|attn_layers|attn_layer_\w+",
        r"full_attention_interval|num_(first|last)_full_attention_layers|full_attn_idxs|\w+_attn_every_\w+",
        r"\w*hybrid\w*",
        r"layer_group_size|(mtp_)?local_layer_ids|no_rope_layers?(_interval)?|linear_attention",
        r"mtp_layer_types|mtp_layers_block_type",
        # Windows and chunks.
        r"(\w+_)?sliding_windows?(_size|_pattern)?|use_sliding_window|max_window_layers|window_size",
        r"attention_(window(_size)?|chunk_size)|local_attention(_window_len)?|(\w+_)?attn_chunk_length",
        r"compress_r\w+|index_(topk|block_size)",
        # Halves, towers and cross attention.
        r"is_(encoder_)?decoder|add_cross_attention|cross_attention_(layers|frequency)",
        r"cross_layer_interval|cross_attn_\w+",
        # The softmax.
        r"query_pre_attn_scalar|attention_multiplier|key_multiplier|attn_scale|softmax_scale|scaling",
        r"scale_attn_\w+|alibi|attn_logit_softcapping|attention_logit_cap|logits_soft_cap|softcap",
        r"attention_(value_scale|in_multiplier)",
    ])
)
UNWANTED = re.compile("linear_.*_.*|mamba_.*|perceiver_.*|resampler_.*|loop_gate_rank")

# A class's configuration is made with each of these numbers of layers.
LAYERS = [*range(1, 18), 24, 31, 43, 61, 64, 97]

# Lists by layer that a class may derive.
LISTS = ("layer_types", "layers_block_type", "mtp_layer_types", "mtp_layers_block_type")

# Keys that count layers; the first one that a class has is the number of its layers.
COUNTS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers", "num_decoder_layers")


def configuration_classes():
    """All configuration classes, by model type; imports every module that defines one."""
    import transformers
    from transformers import PreTrainedConfig
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    models = Path(transformers.__file__).parent / "models"
    for path in sorted(models.glob("*/configuration_*.py")):
        importlib.import_module(f"transformers.models.{path.parent.name}.{path.stem}")

    def below(cls):
        for sub in cls.__subclasses__():
            yield sub
            yield from below(sub)

    found = {}
    named = set(CONFIG_MAPPING_NAMES.values())
    for cls in sorted(set(below(PreTrainedConfig)), key=lambda cls: (cls.__name__ not in named, cls.__name__)):
        if cls.__module__.startswith("transformers.models.") and cls.__dict__.get("model_type"):
            found.setdefault(cls.model_type, cls)
    by_name = {cls.__name__: cls for cls in found.values()}
    for model_type, name in CONFIG_MAPPING_NAMES.items():
        found.setdefault(model_type, by_name[name])
    return found


def language_models():
    """The model types that a mapping of transformers gives a language model for."""
    from transformers.models.auto import modeling_auto as auto

    names = (
        "CAUSAL_LM",
        "SEQ_TO_SEQ_CAUSAL_LM",
        "IMAGE_TEXT_TO_TEXT",
        "MULTIMODAL_LM",
        "SPEECH_SEQ_2_SEQ",
        "TEXT_TO_WAVEFORM",
    )
    return {key for name in names for key in getattr(auto, f"MODEL_FOR_{name}_MAPPING_NAMES", {})}


def plain(value):
    """A value as JSON has it, or None if it has no such form."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return None


def is_wanted(key):
    """Whether a key can matter to attention or to caches."""
    return bool(WANTED.fullmatch(key)) and not UNWANTED.fullmatch(key)


def field_defaults(cls):
    """The defaults that a class's fields declare, those for null left out."""
    found = {}
    for field in dataclasses.fields(cls):
        default = field.default
        if default is dataclasses.MISSING and field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        if is_wanted(field.name) and (value := plain(default)) is not None:
            found[field.name] = value
    if found.get("is_encoder_decoder") is False:
        del found["is_encoder_decoder"]
    return found


def looked_up_defaults(cls):
    """The defaults of keys that are no fields: `kwargs.pop(key, default)` and its like in the class's methods."""
    found = {}
    fields = {field.name for field in dataclasses.fields(cls)}
    for base in reversed(cls.__mro__):
        if not base.__module__.startswith("transformers.models."):
            continue
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(base)))):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name("kwargs"), attr="get" | "pop"),
                    args=[ast.Constant(str(key)), default],
                ) | ast.Call(func=ast.Name("getattr"), args=[ast.Name("self"), ast.Constant(str(key)), default]):
                    if is_wanted(key) and key not in fields:
                        with contextlib.suppress(ValueError):
                            if (value := ast.literal_eval(default)) is not None:
                                found[key] = value
    return {key: value for key, value in found.items() if matters(cls, key, value)}


def matters(cls, key, value):
    """Whether anything else is different when a key has another value than its default; some code never runs."""
    changed = not value if isinstance(value, bool) else value + 1

    def rest(made):
        return made and {name: item for name, item in made.to_dict().items() if name.lstrip("_") != key}

    return rest(make(cls, **{key: value})) != rest(make(cls, **{key: changed}))


@functools.cache
def make(cls, **keys):
    """An instance, or None if the class refuses those keys."""
    try:
        made = cls(**keys)
    except Exception:  # Each class checks in its own way.
        return None
    made.allow_global_per_layer_attribute_access = True
    return made


def filled_in_defaults(cls, declared):
    """The values that a class writes in place of null, whatever the other keys say."""
    base = make(cls)
    nulls = [field.name for field in dataclasses.fields(cls) if is_wanted(field.name) and field.default is None]
    found = {key: plain(getattr(base, key, None)) for key in nulls if key not in LISTS}
    found = {key: value for key, value in found.items() if value is not None and not isinstance(value, dict)}
    for key, value in declared.items():
        if isinstance(value, bool) or not isinstance(value, int) or not found:
            continue
        for changed in (value * 2, value * 4, 2 * value + 2):
            if (other := make(cls, **{key: changed})) is not None:
                found = {key: value for key, value in found.items() if plain(getattr(other, key, None)) == value}
    return found


def nested_defaults(cls):
    """The defaults of parts that are no models, such as MPT's `attn_config`."""
    part = cls.sub_configs.get("attn_config")
    return {"attn_config": field_defaults(part)} if part else {}


def scaled_by_yarn(cls):
    """Whether the modeling file of a class's model scales the softmax by yarn's `mscale_all_dim`."""
    path = Path(inspect.getfile(cls))
    modeling = path.with_name(path.name.replace("configuration_", "modeling_"))
    is_candidate = is_text(cls) and hasattr(cls, "rope_parameters") and modeling.exists()
    return is_candidate and "scaling * mscale * mscale" in modeling.read_text()


def is_text(cls):
    """Whether a class's own keys describe a model with a vocabulary."""
    return any(field.name == "vocab_size" for field in dataclasses.fields(cls)) or "vocab_size" in cls.attribute_map


def forms(longest):
    """The forms that might give lists by layer, of which the longest is known; simple ones first."""
    same = next((i for i, item in enumerate(longest) if item != longest[0]), len(longest))
    for period in range(1, 17):
        yield {"cycle": longest[:period]}
    for period in range(1, 17):
        for needed in sorted(set(longest)):
            yield {"cycle": longest[:period], "needs": needed}
        yield {"cycle": longest[::-1][:period], "from_end": True}
        yield {"cycle": longest[:period], "last": longest[-1]}
        for n in range(1, same + 1):
            first = {"n": n, "type": longest[0]}
            yield {"cycle": longest[n : n + period], "first": first}
            yield {"cycle": longest[n : n + period], "first": first, "last": longest[-1]}
        for n in range(1, 17):
            yield {"cycle": longest[n : n + period], "prefix": longest[:n]}


def expand(form, layers):
    """The list of that many layers."""
    cycle = form["cycle"]
    if form.get("from_end"):
        return [cycle[i % len(cycle)] for i in range(layers)][::-1]
    first = [form["first"]["type"]] * form["first"]["n"] if "first" in form else form.get("prefix", [])
    types = (first + cycle * layers)[:layers]
    if form.get("needs", types[0]) not in types:
        types[-1] = form["needs"]
    return types[:-1] + [form.get("last", types[-1])]


def fit(lists):
    """The form that gives all lists, each as long as its key, or None."""
    longest = lists[max(lists)]
    return next((f for f in forms(longest) if all(expand(f, n) == types for n, types in lists.items())), None)


def derived_list(cls, key):
    """The form of a list by layer that a class derives, None where it has none."""
    base = make(cls)
    if not (types := plain(getattr(base, key, None))):
        return None
    count = next((count for count in COUNTS if hasattr(base, count)), None)
    lists = {}
    for layers in LAYERS:
        made = make(cls, **{count: layers}) if count else None
        if made is not None and getattr(made, count) == layers:
            lists[layers] = list(getattr(made, key))
    if len({tuple(types) for types in lists.values()}) <= 1:
        return {"list": types}
    if any(len(types) != layers for layers, types in lists.items()) or (form := fit(lists)) is None:
        sys.exit(f"{cls.__name__}.{key} follows no known form: {list(lists.values())[-1]}")
    return form


def derived_lists(cls):
    """The forms of the lists by layer that a class derives, the model's and those of multi-token prediction."""
    found = {key: derived_list(cls, key) for key in ("layer_types", "mtp_layer_types")}
    found["layer_types"] = found["layer_types"] or derived_list(cls, "layers_block_type")
    found["mtp_layer_types"] = found["mtp_layer_types"] or derived_list(cls, "mtp_layers_block_type")
    return found


def defaults_by_type(cls):
    """What a class sets differently on the layers of a type."""
    base = make(cls)
    if not getattr(base, "is_heterogeneous", False):
        return None
    overrides = {int(layer): values for layer, values in base.to_dict()["per_layer_config"].items()}
    by_type = {}
    for layer, layer_type in enumerate(base.layer_types):
        by_type.setdefault(layer_type, []).append(overrides.get(layer, {}))
    found = {}
    for layer_type, items in by_type.items():
        cycle = next(items[:n] for n in range(1, 99) if all(it == items[i % n] for i, it in enumerate(items)))
        cycle = [{key: value for key, value in item.items() if is_wanted(key)} for item in cycle]
        found[layer_type] = cycle[0] if len(cycle) == 1 else cycle
    return {layer_type: items for layer_type, items in found.items() if items}


def text_key(cls):
    """The key of the part of a composite that has the text decoder, None if the class itself describes it."""
    base = make(cls)
    parts = cls.sub_configs_defaults
    if base is None:
        return next((key for key in ("text_config", "decoder") if key in parts), None)
    text = base.get_text_config(decoder=True)

    def holds(config):
        inner = [getattr(config, key, None) for key in config.sub_configs]
        return config is text or any(holds(part) for part in inner if part is not None)

    found = [key for key in parts if getattr(base, key, None) is not None and holds(getattr(base, key))]
    return found[0] if found and text is not base else None


def text_part(cls):
    """Which part of a composite has the text decoder, and how it is read."""
    from transformers import PreTrainedConfig

    if (key := text_key(cls)) is None:
        return None
    spec = cls.sub_configs_defaults[key]
    part = {"key": key, "model_type": spec.model_type}
    if issubclass(spec.config_class, PreTrainedConfig):
        part["fixed"] = True
    if defaults := {key: value for key, value in spec.init_kwargs.items() if is_wanted(key)}:
        part["defaults"] = defaults
    inner = getattr(make(cls), key, None)
    count = next((count for count in COUNTS if hasattr(inner, count)), None)
    if count and getattr(getattr(make(cls, **{count: 3}), key, None), count, None) == 3 != getattr(inner, count):
        part["flat"] = True
    return part


def entry(model_type, cls):
    """The table's line for a model type."""
    declared = field_defaults(cls)
    defaults = {**looked_up_defaults(cls), **filled_in_defaults(cls, declared), **declared, **nested_defaults(cls)}
    aliases = {key: own for key, own in cls.attribute_map.items() if is_wanted(key) and key != own}
    line = {"model_type": model_type, "class": cls.__name__, "defaults": defaults, "aliases": aliases}
    line |= derived_lists(cls)
    line["by_layer_type"] = defaults_by_type(cls)
    line["text"] = text_part(cls)
    line["yarn_softmax"] = scaled_by_yarn(cls)
    if line["yarn_softmax"] and "mscale_all_dim" in (rope := getattr(make(cls), "rope_parameters", None) or {}):
        defaults["rope_parameters"] = {key: rope[key] for key in ("factor", "mscale_all_dim", "rope_type")}
    return {key: value for key, value in line.items() if value}


def kept(classes):
    """The model types whose classes can have a text decoder, or be one's part."""
    kept = {key for key in language_models() if key in classes}
    for model_type, cls in classes.items():
        if is_text(cls) or any(field.name == "num_key_value_heads" for field in dataclasses.fields(cls)):
            kept.add(model_type)

    def has_kept_part(cls):
        return any(spec.model_type in kept for spec in cls.sub_configs_defaults.values())

    while more := {key for key, cls in classes.items() if key not in kept and has_kept_part(cls)}:
        kept |= more
    return kept


def measured_scales(entries):
    """Pairs of the softmax scale and the size of a query head that models were seen with, by text model type."""

    def text_type(model_type):
        part = entries.get(model_type, {}).get("text")
        return text_type(part["model_type"]) if part else model_type

    found = {}
    for case in map(json.loads, MEASURED.read_text().splitlines()):
        scaled = [layer for layer in case.get("layers", ()) if "softmax_scale" in layer]
        pairs = {(layer["softmax_scale"], layer["head_dim"]) for layer in scaled}
        found.setdefault(text_type(case["model_type"]), set()).update(pairs)
    return found


def add_softmax_scales(entries, classes):
    """Adds `softmax_scale` to the entries that need one."""
    for model_type, pairs in measured_scales(entries).items():
        by_key = {"query_pre_attn_scalar", "attention_multiplier"} & classes[model_type].__dataclass_fields__.keys()
        if by_key or entries[model_type].get("yarn_softmax"):
            continue
        rules = ((1.0, -0.5), (1.0, 0.0), (1.0, -1.0), (2**0.5, -0.5))
        fits = [(f, p) for f, p in rules if all(abs(f * size**p / scale - 1) < 1e-6 for scale, size in pairs)]
        if not fits:
            sys.exit(f"the softmax scale of {model_type} follows no known rule: {pairs}")
        if fits[0] != rules[0]:
            entries[model_type]["softmax_scale"] = {"factor": fits[0][0], "head_dim_power": fits[0][1]}


def table():
    """The text of the table."""
    import transformers

    classes = configuration_classes()
    entries = {model_type: entry(model_type, classes[model_type]) for model_type in sorted(kept(classes))}
    add_softmax_scales(entries, classes)
    lines = [{"transformers": transformers.__version__}, *entries.values()]
    return "".join(json.dumps(line, sort_keys=True, separators=(",", ":")) + "\n" for line in lines)


def main():
    text = table()
    if "--check" not in sys.argv:
        TABLE.write_text(text)
    elif not TABLE.exists() or TABLE.read_text() != text:
        sys.exit(f"{TABLE.name} is not what this transformers says: run tests/oracle/model_types.py")


if __name__ == "__main__":
    main()
