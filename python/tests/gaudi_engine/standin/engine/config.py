"""Configurations, with the attributes that are read."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch


@dataclass
class ModelConfig:
    model: str
    revision: str | None = None
    dtype: torch.dtype = torch.bfloat16
    hf_config: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.hf_config = json.loads((Path(self.model) / "config.json").read_text())


@dataclass
class LoadConfig:
    download_dir: str | None = None


@dataclass
class CacheConfig:
    cache_dtype: str = "auto"
    kv_cache_dtype_skip_layers: list[str] = field(default_factory=list)


@dataclass
class VllmConfig:
    model_config: ModelConfig
    cache_config: CacheConfig
    load_config: LoadConfig = field(default_factory=LoadConfig)
    # Of the target also while a draft is made.
    quant_config: Any = None


_current: list[VllmConfig] = []


@contextmanager
def set_current_vllm_config(vllm_config: VllmConfig) -> Iterator[None]:
    _current.append(vllm_config)
    try:
        yield
    finally:
        _current.pop()


def get_current_vllm_config() -> VllmConfig:
    return _current[-1]
