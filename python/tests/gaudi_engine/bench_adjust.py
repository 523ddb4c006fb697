"""Adjusting FP8 weights while they are loaded: this package's loader beside what it replaces, on one core.

    python tests/gaudi_engine/bench_adjust.py

Both loaders copy into parameters that are there already, as a model's are. The replaced one goes through float32.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from served import DATA, engine, torch
from standin.loading import module

import gaudi_kv

ROUNDS = 5
GIB = 1 << 30
# Weights of a dense 70B model, and of experts; the last one is cut so that together they are 1 GiB.
SHAPES = [(8192, 8192)] * 4 + [(28672, 8192)] * 2 + [(2048, 7168)] * 23


def tensors() -> Iterator[Any]:
    """Normal weights that fill the range."""
    left = GIB
    for number, (rows, columns) in enumerate(SHAPES):
        rows = min(rows, left // columns)
        left -= rows * columns
        weight = torch.randn(rows, columns, generator=torch.Generator().manual_seed(number)) * 100
        yield weight.clamp(-448, 448).to(torch.float8_e4m3fn)


class Layer(torch.nn.Module):  # type: ignore[misc]
    """A layer with one weight."""

    def __init__(self, weight: Any) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros_like(weight), requires_grad=False)

    def weight_loader(self, param: Any, loaded_weight: Any) -> None:
        param.data.copy_(loaded_weight)


def seconds(loads: list[Callable[[], Any]]) -> float:
    start = time.perf_counter()
    for load in loads:
        load()
    return time.perf_counter() - start


def bound(load: Any, *arguments: Any) -> Callable[[], Any]:
    return lambda: load(*arguments)


def main() -> None:
    torch.set_num_threads(1)
    weights = list(tensors())
    layers = [Layer(weight) for weight in weights]
    ops = "vllm_gaudi.extension.ops"
    with engine("gaudi2", with_plugin=False):
        replaced = [module(ops).gaudi_weight_wrapper(layer.weight_loader) for layer in layers]
    with engine("gaudi2"):
        config, plans = module("vllm.config"), module("gaudi_kv.vllm_gaudi.plan")
        model_config = config.ModelConfig(str(DATA / "llmc-gqa-w8kv"))
        vllm_config = config.VllmConfig(model_config, config.CacheConfig("auto"))
        with plans.making(plans.ModelPlan(vllm_config, model_config, lambda plan: plan.model_config.model)):
            ours = [module(ops).gaudi_weight_wrapper(layer.weight_loader) for layer in layers]

    pairs = list(zip(layers, weights, strict=True))
    kinds = {
        "replaced": [bound(load, layer.weight, w) for load, (layer, w) in zip(replaced, pairs, strict=True)],
        "ours": [bound(load, layer.weight, w) for load, (layer, w) in zip(ours, pairs, strict=True)],
        "copying": [bound(layer.weight_loader, layer.weight, w) for layer, w in pairs],
        "in place": [bound(gaudi_kv.rerange, layer.weight.data, "gaudi2") for layer in layers],
    }
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(ROUNDS):
        for kind, loads in kinds.items():
            times[kind].append(seconds(loads))
            if kind == "replaced":
                expected = [layer.weight.detach().view(torch.uint8).clone() for layer in layers]
            if kind == "ours":
                found = [layer.weight.detach().view(torch.uint8) for layer in layers]
                assert all(map(torch.equal, found, expected))

    size = sum(weight.numel() for weight in weights) / GIB
    print(f"torch {torch.__version__}, one thread, {size:.3f} GiB in {len(weights)} tensors, {ROUNDS} rounds")
    for kind, values in times.items():
        print(f"{kind:9} {statistics.median(values):7.3f} s, fastest {min(values):7.3f} s")
    for title, choose in (("medians", statistics.median), ("fastest", min)):
        old, new, copy, place = (choose(times[kind]) for kind in ("replaced", "ours", "copying", "in place"))
        print(
            f"{title}: loading {old / new:.1f} times as fast; adjusting without the copy into the parameter "
            f"{(old - copy) / (new - copy):.1f}; in place {(old - copy) / place:.1f}"
        )


if __name__ == "__main__":
    main()
