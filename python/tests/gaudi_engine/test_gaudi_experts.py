"""Expert selection that gives two values or three."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from served import engine, plugin, torch
from standin.loading import module

import gaudi_kv

WEIGHTS, IDS = torch.tensor([[0.75, 0.25]]), torch.tensor([[3, 1]], dtype=torch.int32)
X = torch.ones(1, 4, dtype=torch.bfloat16)


def selection(count: int, third: Any = None) -> Any:
    return lambda *args, **kwargs: (WEIGHTS, IDS, third)[:count]


def layer_with(select: Any) -> Any:
    """A layer whose selection is its own, its router's or vLLM's, and whose experts give back what they are given."""
    return SimpleNamespace(
        select_experts=select,
        router=SimpleNamespace(select_experts=select),
        upstream_selection=select,
        moe_op=lambda x, ids, weights: (ids, weights),
    )


def methods() -> list[Any]:
    return [
        module("vllm_gaudi.ops.hpu_fp8").HPUFp8MoEMethod(None, None),
        module("vllm_gaudi.ops.hpu_compressed_tensors").HPUCompressedTensorsW8A8Fp8MoEMethod(),
    ]


def by_layer(self: Any, layer: Any, x: Any, router_logits: Any) -> Any:
    weights, ids, _ = layer.select_experts(hidden_states=x, router_logits=router_logits)
    return layer.moe_op(x, ids.to(torch.int64), weights.to(x.dtype))


def by_router(self: Any, layer: Any, x: Any, router_logits: Any) -> Any:
    weights, ids = layer.router.select_experts(hidden_states=x, router_logits=router_logits)
    return layer.moe_op(x, ids.to(torch.int64), weights.to(x.dtype))


# The oldest and the newest release with each way, and what the real ones do.
OLDER = {"0.13.0": by_layer, "0.13.0.post1": by_layer, "0.14.1": by_router, "0.21.0": by_router}


@contextmanager
def older_engine(version: str, **options: Any) -> Iterator[Any]:
    """The stand-ins, with the method of an older release for compressed-tensors; it is what is given."""
    with engine("gaudi2", with_plugin=False, version=version, **options):
        method: Any = module("vllm_gaudi.ops.hpu_compressed_tensors").HPUCompressedTensorsW8A8Fp8MoEMethod
        method.apply_monolithic = OLDER[version]
        plugin()()
        yield method()


def run(method: Any, layer: Any) -> Any:
    method.process_weights_after_loading(layer)
    assert layer.is_processed
    # Once more, as when weights are loaded again.
    method.process_weights_after_loading(layer)
    return method.apply_monolithic(layer, X, X)


@pytest.mark.parametrize("given", [2, 3])
def test_methods_take_two_values_or_three(given: int) -> None:
    with engine("gaudi2"):
        for method in methods():
            ids, weights = run(method, layer_with(selection(given)))
            assert ids.tolist() == IDS.tolist() and weights.tolist() == WEIGHTS.tolist()


@pytest.mark.parametrize("given", [2, 3])
@pytest.mark.parametrize("version", OLDER)
def test_methods_of_older_releases_do_too(given: int, version: str) -> None:
    with older_engine(version) as method:
        ids, weights = run(method, layer_with(selection(given)))
        assert ids.tolist() == IDS.tolist() and weights.tolist() == WEIGHTS.tolist()


def test_a_selection_that_the_method_does_not_use_is_left_alone() -> None:
    select = selection(3)

    def replaced(method: Any) -> set[str]:
        layer = layer_with(select)
        run(method, layer)
        owners = {"layer": layer, "router": layer.router}
        return {name for name, owner in owners.items() if owner.select_experts is not select}

    with engine("gaudi2"):
        assert [replaced(method) for method in methods()] == [set(), set()]
    with older_engine("0.21.0") as method:
        assert replaced(method) == {"router"}
    with older_engine("0.13.0") as method:
        assert replaced(method) == {"layer"}


def test_the_wrong_line_of_the_table_would_show() -> None:
    """What a release takes is looked up and not tried, so a release in another's place fails."""
    with older_engine("0.21.0") as method:
        method.__class__.apply_monolithic = by_layer
        with pytest.raises(ValueError, match="too many values to unpack|not enough values to unpack"):
            run(method, layer_with(selection(2)))


def test_without_the_plugin_three_are_too_many() -> None:
    with engine("gaudi2", with_plugin=False):
        for method in methods():
            assert run(method, layer_with(selection(2)))
            with pytest.raises(ValueError, match="too many values to unpack"):
                run(method, layer_with(selection(3)))


def test_a_result_that_would_be_left_out_is_refused() -> None:
    with engine("gaudi2"):
        for method in methods():
            with pytest.raises(gaudi_kv.GaudiKvError, match="would leave out their result"):
                run(method, layer_with(selection(3, third=X)))


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("0.27.0", None),
        ("0.27.0rc0", None),
        ("0.27.0rc1.dev51+g091bbadda", None),
        ("0.26.0", None),
        ("0.29.1", "vllm-gaudi 0.29.1 is not known; it is taken to be as 0.27.0"),
        ("1.0", "vllm-gaudi 1.0 is not known; it is taken to be as 0.27.0"),
        ("0.1.dev1+g091bbadda", "vllm-gaudi 0.1.dev1+g091bbadda is not known; it is taken to be as 0.27.0"),
        (None, "vllm-gaudi's version is not known; it is taken to be as 0.27.0"),
    ],
)
def test_a_newer_release_counts_as_the_newest_and_that_is_said(
    version: str | None, said: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    if version is None and importlib.util.find_spec("vllm_gaudi") is not None:
        pytest.skip("needs a machine without vllm-gaudi")
    with caplog.at_level(logging.WARNING), engine("gaudi2", version=version):
        assert [record.getMessage() for record in caplog.records] == ([said] if said else [])
        for method in methods():
            assert run(method, layer_with(selection(3)))


def test_a_release_that_is_too_old_is_refused() -> None:
    with engine("gaudi2", with_plugin=False, version="0.11.2"):
        with pytest.raises(gaudi_kv.GaudiKvError, match=r"vllm-gaudi 0\.11\.2 is older than 0\.13\.0"):
            plugin()()
    with engine("gaudi2", version="0.11.2", GAUDI_KV_PATCHES_OFF="all"):
        pass
