"""Tensors of a folder, and the names of scales."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

TYPES = {
    "BF16": torch.bfloat16,
    "F16": torch.float16,
    "F32": torch.float32,
    "F8_E4M3": torch.float8_e4m3fn,
    "I8": torch.int8,
}


def safetensors_weights_iterator(folder: str) -> Iterator[tuple[str, torch.Tensor]]:
    for path in sorted(Path(folder).glob("*.safetensors")):
        raw = path.read_bytes()
        length = int.from_bytes(raw[:8], "little")
        header: dict[str, Any] = json.loads(raw[8 : 8 + length])
        header.pop("__metadata__", None)
        for name, entry in header.items():
            start, end = entry["data_offsets"]
            data = bytearray(raw[8 + length + start : 8 + length + end])
            yield name, torch.frombuffer(data, dtype=TYPES[entry["dtype"]]).reshape(entry["shape"])


def maybe_remap_kv_scale_name(name: str, params_dict: dict[str, Any]) -> str | None:
    raise AssertionError("vllm-gaudi replaces it")
