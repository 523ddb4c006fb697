#!/usr/bin/env python3
"""What `gaudi-kv inspect --json` ought to print for the models in tests/data, worked out without gaudi-kv.

    python3 tests/oracle/expected_inspect.py            write tests/expected/MODEL.DEVICE[.verify].json anew
    python3 tests/oracle/expected_inspect.py --check    exit 1 if a file there is not what would be written

Only the standard library is used. Safetensors files are read with `struct` and `json`; every float32 operation is a
float64 operation rounded once more to float32, which gives the same bits for products and quotients.

The rules are those of docs/inspect.md for these models, written anew and no copy of the program: a scale `s` becomes
`quant = deploy / (s * max)` and `dequant = 1 / quant`, where `deploy` is 240 on Gaudi2 and 448 on Gaudi3 and `max` is
448 if the checkpoint's range is larger than the device's, else `deploy`. An MLA layer uses k_scale only. A missing q is
dynamic, a missing prob 1.0. A model that declares no FP8 cache has no scales.

Texts for people (`reason`, `message`) are left out, and `path` is the model's folder name; the test does the same to
what the program prints before it compares.
"""

import json
import math
import re
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "data"
EXPECTED = ROOT / "expected"
FP8_MAX = {"gaudi2": 240, "gaudi3": 448}
FLAVORS = {"float8_e4m3fn": 448, "float8_e4m3fnuz": 240}
MODELS = [
    "autoround-gqa",
    "autoround-gqa-gaudi2",
    "autoround-mla",
    "autoround-mla-gaudi2",
    "autoround-mla-mislabelled",
    "llmc-gqa-head",
    "llmc-gqa-kv",
    "llmc-gqa-w8kv",
    "llmc-mla-kv",
    "modelopt-gqa",
    "tiny-gqa",
    "tiny-mla",
]
VERIFIED = "autoround-mla-mislabelled"
SCALE_NAME = re.compile(r"model\.layers\.(\d+)\.self_attn\.(?:([qkv])_proj\.)?([qkv])_scale")


def f32(x):
    """Rounds to float32."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def read_tensors(path):
    """Yields (name, dtype, shape, bytes) of a safetensors file."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    data = 8 + length
    for name, info in json.loads(content[8:data]).items():
        if name != "__metadata__":
            start, end = info["data_offsets"]
            yield name, info["dtype"], info["shape"], content[data + start : data + end]


def read_scale(dtype, shape, content):
    """The float32 numbers of a scale, and whether there is one for each head."""
    if dtype == "F32":
        numbers = [x for (x,) in struct.iter_unpack("<f", content)]
    elif dtype == "BF16":
        # The upper half of a float32.
        numbers = [struct.unpack("<f", b"\0\0" + content[i : i + 2])[0] for i in range(0, len(content), 2)]
    else:
        raise ValueError(f"no scale of these models is {dtype}")
    return numbers, any(size != 1 for size in shape)


def multipliers(s, deploy, largest):
    quant = f32(deploy / f32(s * largest))
    return quant, f32(1.0 / quant)


def loaded(tensor, deploy, largest):
    name, numbers, is_per_head = tensor
    pairs = [multipliers(s, deploy, largest) for s in numbers]
    shown = (lambda values: list(values)) if is_per_head else (lambda values: values[0])
    return {
        "checkpoint": shown(numbers),
        "quant": shown([quant for quant, _ in pairs]),
        "dequant": shown([dequant for _, dequant in pairs]),
        "origin": "loaded",
        "tensor": name,
    }


def without_tensor(origin, number):
    return {"checkpoint": number, "quant": number, "dequant": number, "origin": origin, "tensor": None}


def scan_weights(tensors, file):
    """Counts FP8 codes above 0x77, the largest that Gaudi2 reads as a number, and NaN codes."""
    scanned, offending = [], []
    for name, dtype, _, content in tensors:
        if dtype != "F8_E4M3":
            continue
        scanned.append(content)
        magnitudes = [code & 0x7F for code in content]
        above, nan = sum(m > 0x77 for m in magnitudes), sum(m == 0x7F for m in magnitudes)
        if above or nan:
            offending.append({"tensor": name, "file": file, "codes_above_0x77": above, "nan_codes": nan})
    offending.sort(key=lambda t: (-t["codes_above_0x77"], t["tensor"]))
    return {
        "tensors": len(scanned),
        "bytes": sum(map(len, scanned)),
        "codes_above_0x77": sum(t["codes_above_0x77"] for t in offending),
        "nan_codes": sum(t["nan_codes"] for t in offending),
        "offending": offending,
    }


def sizes(config):
    """The sizes of every layer; these models have no layer that differs, no window and no yarn."""
    assert not config.get("rope_scaling") and not config.get("sliding_window"), config
    heads = config["num_attention_heads"]
    found = {"layer_type": "full_attention", "num_heads": heads, "num_kv_heads": config["num_key_value_heads"]}
    if config.get("kv_lora_rank"):
        head_dim = config["qk_nope_head_dim"] + config["qk_rope_head_dim"]
        found |= {"kv_lora_rank": config["kv_lora_rank"], "qk_rope_head_dim": config["qk_rope_head_dim"]}
    else:
        head_dim = config["head_dim"]
    v_head_dim = config.get("v_head_dim", head_dim)
    found |= {"head_dim": head_dim, "v_head_dim": v_head_dim, "sliding_window": None}
    return found | {"softmax_scale": 1.0 / math.sqrt(head_dim)}


def expected(model, device, verify):
    config = json.loads((DATA / model / "config.json").read_text())
    quantization = config.get("quantization_config") or {}
    scheme = quantization.get("kv_cache_scheme")
    flavor = quantization.get("fp8_dtype_flavor")
    is_mla = config.get("kv_lora_rank") is not None
    attention = "mla" if is_mla else "mha"
    cache = "fp8" if scheme else "bf16"

    quant_max, deploy = FLAVORS.get(flavor, 448), FP8_MAX[device]
    is_adjusted = quant_max > deploy
    largest = 448 if is_adjusted else deploy

    tensors = list(read_tensors(DATA / model / "model.safetensors"))
    scales = {}
    for name, dtype, shape, content in tensors:
        match = SCALE_NAME.fullmatch(name)
        if match:
            layer, projection, role = match.groups()
            assert projection in (None, role), name
            scales[int(layer), role] = (name, *read_scale(dtype, shape, content))

    layers, notes, errors = [], [], []
    for layer in range(config["num_hidden_layers"]):
        entry = {"layer": layer, "attention": attention, "draft": False, "kv_cache_dtype": cache}
        entry |= {"k": None, "v": None, "q": None, "prob": None} | sizes(config)
        if cache == "fp8":
            entry["k"] = loaded(scales[layer, "k"], deploy, largest)
            if not is_mla:
                entry["v"] = loaded(scales[layer, "v"], deploy, largest)
            elif (layer, "v") in scales:
                notes.append({"code": "mla-v-scale-ignored", "layer": layer})
            q = scales.get((layer, "q"))
            entry["q"] = loaded(q, deploy, largest) if q else without_tensor("dynamic", None)
            entry["prob"] = without_tensor("defaulted", 1.0)
        layers.append(entry)

    report = {
        "model": {
            "path": model,
            "architecture": config["architectures"][0],
            "attention": attention,
            "layers": config["num_hidden_layers"],
            "draft_layers": 0,
            "num_heads": config["num_attention_heads"],
            "num_kv_heads": config["num_key_value_heads"],
        },
        "quantization": {
            "method": quantization.get("quant_method"),
            "kv_cache_scheme": "fp8" if scheme else None,
            "strategy": scheme.get("strategy", "tensor") if scheme else None,
            "fp8_dtype_flavor": flavor,
            "source": "config.json: quantization_config" if quantization else None,
        },
        "device": device,
        "kv_cache_dtype": cache,
        "scale_adjustment": {
            "enabled": is_adjusted,
            "fp8_max_quant": quant_max,
            "fp8_max_deploy": deploy,
            "source": "flavor" if flavor else "default",
        },
        "layers": layers,
        "unused": [],
        "notes": notes,
        "warnings": [],
        "errors": errors,
    }
    if verify:
        report["weights"] = scan_weights(tensors, "model.safetensors")
        assert report["weights"]["nan_codes"] == 0
        if quant_max == 240 and report["weights"]["codes_above_0x77"]:
            errors.append({"code": "flavor-contradicts-weights", "layer": None})
    return report


def main():
    is_check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not is_check:
        sys.exit(__doc__)
    runs = [(model, device, False) for model in MODELS for device in FP8_MAX]
    runs += [(VERIFIED, device, True) for device in FP8_MAX]
    stale = []
    for model, device, verify in runs:
        path = EXPECTED / f"{model}.{device}{'.verify' if verify else ''}.json"
        text = json.dumps(expected(model, device, verify), indent=1, sort_keys=True) + "\n"
        if not is_check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(path.name)
    if stale:
        sys.exit("not current: " + ", ".join(stale))


if __name__ == "__main__":
    main()
