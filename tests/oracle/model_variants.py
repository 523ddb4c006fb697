"""Configurations to ask a library about: a model type's own defaults, and others than those."""

import copy

from model_types import COUNTS, is_wanted, plain, text_key

# Values of the variant `small`, by the name of the key or of that which it is an alias of, and its number of layers.
SMALL = {
    "num_attention_heads": 12,
    "num_key_value_heads": 4,
    "head_dim": 40,
    "hidden_size": 288,
    "sliding_window": 96,
    "use_sliding_window": True,
    "max_window_layers": 3,
    "global_head_dim": 80,
    "num_global_key_value_heads": 2,
    "swa_num_attention_heads": 6,
    "swa_num_key_value_heads": 3,
    "swa_head_dim": 24,
    "qk_nope_head_dim": 24,
    "qk_rope_head_dim": 16,
    "v_head_dim": 20,
    "kv_lora_rank": 48,
    "q_lora_rank": 56,
    "query_pre_attn_scalar": 50,
    "attention_multiplier": 0.3,
    "num_kv_shared_layers": 6,
    "attention_chunk_size": 64,
    "decoder_attention_heads": 12,
    "encoder_attention_heads": 6,
    "decoder_layers": 5,
    "encoder_layers": 2,
    "num_decoder_layers": 5,
    "d_kv": 40,
    "is_decoder": True,
    "attn_layer_indices": [1, 5, 9],
    "attn_layer_period": 4,
    "attn_layer_offset": 2,
    "cross_attention_layers": [2, 7],
}
LAYERS = 13

# What some classes need besides, to be made at all: keys without a default. They do not concern attention.
NEEDED = {
    "n_routed_experts": 8,
    "num_experts": 8,
    "top_k_experts": 2,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "moe_intermediate_size": 64,
    "indexer_budget": 64,
    "indexer_compress_ratio": 4,
    "indexer_head_dim": 64,
    "indexer_n_heads": 2,
    "indexer_kv_heads": 1,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
}

# The same of single model types, or what their classes insist on.
NEEDED_BY = {
    "diffusion_gemma_text": {"num_experts": 8, "top_k_experts": 2, "moe_intermediate_size": 64},
    "fun_asr_nano": {"adaptor_config": {"hidden_size": 288}},
    "glm5_next_text": {"num_key_value_heads": 12, "qk_rope_head_dim": 0},
    "granite4_vision": {"deepstack_layer_map": {}},
    "hy_v4_vl_text": {"qk_rope_head_dim": 64},
    "moonshine_streaming": {"num_key_value_heads": 4},
    "dbrx": {"attn_config": {"kv_n_heads": 4, "rope_theta": 10000.0, "clip_qkv": 8}},
    "gpt_neo": {"attention_types": [[["global", "local", "local"], 4], [["global"], 1]]},
    "zamba2": {"layers_block_type": (["linear_attention"] * 3 + ["hybrid"]) * 3 + ["linear_attention"]},
    "deepseek_ocr2_text": {"mlp_layer_types": ["dense"] * LAYERS},
    "lfm2_moe": {"layer_types": ["conv", "conv", "full_attention"] * 4 + ["conv"]},
    "cohere_compass_text": {
        "layer_types": (["sliding_attention"] * 3 + ["full_attention"]) * 3 + ["sliding_attention"],
        "rope_parameters": {
            "full_attention": {"rope_type": "default", "rope_theta": 10000.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
        },
    },
}


def filtered(values, cls):
    """The keys of a config that concern attention, those of the text decoder's part with them."""
    kept = {key: plain(value) for key, value in values.items() if is_wanted(key)}
    for key in ("model_type", "per_layer_config"):
        if values.get(key):
            kept[key] = plain(values[key])
    rope = values.get("rope_parameters")
    if isinstance(rope, dict) and "mscale_all_dim" in rope:
        kept["rope_parameters"] = plain(rope)
    key = text_key(cls)
    if key and isinstance(values.get(key), dict):
        kept[key] = filtered(values[key], type(getattr(cls(), key)))
    return kept


def small(cls):
    """Other counts and sizes for a class, as many as it takes."""
    names = {field for field in cls.__dataclass_fields__}
    own = {cls.attribute_map.get(key, key): value for key, value in SMALL.items()}
    keys = {key: value for key, value in own.items() if key in names}
    if cls.is_encoder_decoder:
        keys.pop("is_decoder", None)
    count = next((key for key in (cls.attribute_map.get(count, count) for count in COUNTS) if key in names), None)
    if count and count not in keys:
        keys[count] = LAYERS
    optional = ["head_dim", "d_kv", "num_kv_shared_layers", "hidden_size", "num_key_value_heads", "num_attention_heads"]
    for last in range(len(optional) + 1):
        dropped = {cls.attribute_map.get(key, key) for key in optional[:last]}
        yield {key: value for key, value in keys.items() if key not in dropped} | NEEDED_BY.get(cls.model_type, {})
    fields = cls.__dataclass_fields__
    needed = {key: value for key, value in NEEDED.items() if key in fields and fields[key].default is None}
    if needed:
        yield keys | needed | NEEDED_BY.get(cls.model_type, {})


def nested(cls, keys):
    """Keys of a text decoder as they stand in a config of a class, its model type with them."""
    key = text_key(cls)
    if key is None:
        return {"model_type": cls.model_type} | keys
    needed = NEEDED_BY.get(cls.model_type, {})
    return {"model_type": cls.model_type, key: nested(type(getattr(cls(), key)), keys)} | needed


def text_class(cls):
    """The class of a composite's text decoder."""
    key = text_key(cls)
    return cls if key is None else text_class(type(getattr(cls(), key)))


def shortened(cls):
    """An instance at its defaults, but with few layers where it can be."""
    text = text_class(cls)
    for count in (text.attribute_map.get(count, count) for count in COUNTS):
        if count in text.__dataclass_fields__:
            keys = {count: LAYERS}
            if getattr(text, "num_kv_shared_layers", 0):
                keys["num_kv_shared_layers"] = SMALL["num_kv_shared_layers"]
            try:
                return cls(**nested(cls, keys))
            except Exception:
                break
    return cls()


def other_types(types, text):
    """Other layer types than those that a class derives: backwards, or where all are the same, some of another kind."""
    if len(set(types)) > 1:
        return types[::-1]
    if types[0] == "linear_attention":
        other = "full_attention"
    elif types[0] == "full_attention" and "sliding_window" in text.__dataclass_fields__:
        other = "sliding_attention"
    else:
        return types
    return [other if layer % 3 == 1 else kind for layer, kind in enumerate(types)]


def variants(model_type, cls, architecture):
    """The configs of a model type, by variant; of `small`, several to try in turn."""
    head = {"model_type": model_type, "architectures": [architecture]}
    yield "minimal", [head]
    short = shortened(cls)
    yield "full", [filtered(short.to_dict(), cls) | head]
    yield "diff", [filtered(short.to_diff_dict(), cls) | head]
    yield "small", [nested(cls, keys) | head for keys in small(text_class(cls))]


def listed(cls, config):
    """A config with other layer types than the class derives, None where its layers have no types."""
    text = text_class(cls)
    own = text.attribute_map.get("layer_types", "layer_types")
    made = cls(**copy.deepcopy(config)).get_text_config(decoder=True)
    types = getattr(made, "layer_types", None)
    if not types or own not in text.__dataclass_fields__:
        return None
    config = inner = copy.deepcopy(config)
    while (key := text_key(cls)) is not None:
        cls, inner = type(getattr(cls(), key)), inner[key]
    inner[own] = other_types(list(types), text)
    return config
