#!/usr/bin/env python3
"""Calibrates the captured activations in tests/data by brute force, from the definitions in docs/calibrate.md.

Nothing but the standard library. FP8 is a sorted list of values and a search for the nearest one; every bfloat16
multiplier of seven octaves is tried for the least squared error. Writes tests/models/calibrate/expected.json. Takes minutes.

    python3 tests/oracle/calibrate_expected.py
"""

import bisect
import json
import math
import struct
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PERCENT = 99.99
# The largest value of each device's e4m3, whose exponent bias is 7.
RANGES = {"gaudi2": 240.0, "gaudi3": 448.0}
MODELS = {
    "tiny-gqa": {"layers": 3, "scales": {"k": ["k"], "v": ["v"]}},
    "tiny-mla": {"layers": 3, "scales": {"k": ["kv_c", "k_pe"]}},
}


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def bf16(x):
    """Nearest even."""
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16))[0]


def e4m3_values(largest):
    """Every finite value that is not negative, in the order of the codes."""
    values = [m * 2.0**-9 for m in range(8)]
    values += [(8 + m) * 2.0 ** (e - 10) for e in range(1, 16) for m in range(8)]
    return [x for x in values if x <= largest]


class Cache:
    """Writes and reads one magnitude, with a dequantization factor s that is not adjusted."""

    def __init__(self, largest, s):
        self.values = e4m3_values(largest)
        quant = f32(largest / f32(s * largest))
        self.quant = bf16(quant)
        self.dequant = bf16(f32(1.0 / quant))

    def write(self, x):
        """The code, and whether the value saturates: it is nearer to what would be the next value beyond the last."""
        product = bf16(f32(x * self.quant))
        last = len(self.values) - 1
        at = bisect.bisect_left(self.values, product)
        if at > last:
            beyond = self.values[last] + (self.values[last] - self.values[last - 1])
            half = (self.values[last] + beyond) / 2
            # A tie goes to the even code.
            return last, product > half or (product == half and last % 2 == 1)
        if at == 0 or self.values[at] == product:
            return at, False
        below, above = product - self.values[at - 1], self.values[at] - product
        if below == above:
            return at if at % 2 == 0 else at - 1, False
        return (at - 1 if below < above else at), False

    def loss(self, counts):
        saturated = flushed = 0
        error = norm = 0.0
        for x, n in counts:
            code, is_saturated = self.write(x)
            saturated += n * is_saturated
            flushed += n * (code == 0 and x != 0)
            error += n * (bf16(self.values[code] * self.dequant) - x) ** 2
            norm += n * x * x
        return {"saturated": saturated, "flushed_to_zero": flushed, "rel_l2_error": math.sqrt(error / norm)}, error


def least_squares(largest, counts):
    """Every bfloat16 multiplier of an octave below that of the amax and six above. The first of equal ones."""
    amax = counts[-1][0]
    start = bf16(largest / amax / 2)
    bits = struct.unpack("<I", struct.pack("<f", start))[0] >> 16
    best = None
    for at in range(bits, bits + 7 * 128):
        quant = struct.unpack("<f", struct.pack("<I", at << 16))[0]
        s = f32(largest / f32(quant * largest))
        cache = Cache(largest, s)
        assert cache.quant == quant
        # What saturates alone may be more than all of the best.
        top = cache.values[-1] * cache.dequant
        if best and sum(n * (x - top) ** 2 for x, n in counts if x > 1.1 * top) > best[0]:
            continue
        error = cache.loss(counts)[1]
        if best is None or error < best[0]:
            best = (error, s)
    return best[1]


def read(path):
    """The bfloat16 tensors of a file: name -> (shape, magnitudes)."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header, data = json.loads(data[8 : 8 + length]), data[8 + length :]
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "BF16":
            start, end = entry["data_offsets"]
            words = struct.unpack(f"<{(end - start) // 2}H", data[start:end])
            values = [struct.unpack("<f", struct.pack("<I", (w & 0x7FFF) << 16))[0] for w in words]
            tensors[name] = (entry["shape"], values)
    return tensors


def calibrate(largest, values):
    ordered = sorted(values)
    counts = sorted(Counter(values).items())
    kept = ordered[math.ceil(PERCENT / 100 * len(ordered)) - 1]
    scales = {
        "amax": f32(ordered[-1] / largest),
        "percentile": f32(kept / largest),
        "mse": least_squares(largest, counts),
    }
    choices = {name: {"scale": s, **Cache(largest, s).loss(counts)[0]} for name, s in scales.items()}
    return {"elements": len(ordered), "amax": ordered[-1], "choices": choices}


def main():
    expected = {}
    for model, description in MODELS.items():
        tensors = read(ROOT / "data" / f"activations-{model}.safetensors")
        for device, largest in RANGES.items():
            for layer in range(description["layers"]):
                for role, operands in description["scales"].items():
                    values = [x for operand in operands for x in tensors[f"layers.{layer}.{operand}"][1]]
                    expected[f"{model} {device} {layer} {role}"] = calibrate(largest, values)
                    print(model, device, layer, role, flush=True)
                    if device != "gaudi2" or model != "tiny-gqa":
                        continue
                    (_, heads, dim), values = tensors[f"layers.{layer}.{role}"]
                    for head in range(heads):
                        own = [x for i, x in enumerate(values) if i // dim % heads == head]
                        expected[f"{model} {device} {layer} {role} {head}"] = calibrate(largest, own)
    target = ROOT / "models" / "calibrate" / "expected.json"
    target.write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
