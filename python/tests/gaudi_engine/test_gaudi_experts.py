"""Expert selection that gives two values or three."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from served import engine, torch
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


def older_method(count: int) -> Any:
    """As releases have it that select by the layer, and take so many values."""
    method: Any = module("vllm_gaudi.ops.hpu_compressed_tensors").HPUCompressedTensorsW8A8Fp8MoEMethod
    del method.apply_monolithic

    def apply_two(self: Any, layer: Any, x: Any, router_logits: Any) -> Any:
        weights, ids = layer.select_experts(hidden_states=x, router_logits=router_logits)
        return layer.moe_op(x, ids.to(torch.int64), weights.to(x.dtype))

    def apply_three(self: Any, layer: Any, x: Any, router_logits: Any) -> Any:
        weights, ids, _ = layer.select_experts(hidden_states=x, router_logits=router_logits)
        return layer.moe_op(x, ids.to(torch.int64), weights.to(x.dtype))

    method.apply = {2: apply_two, 3: apply_three}[count]
    return method()


def run(method: Any, layer: Any) -> Any:
    method.process_weights_after_loading(layer)
    assert layer.is_processed
    # Once more, as when weights are loaded again.
    method.process_weights_after_loading(layer)
    return getattr(method, "apply_monolithic" if hasattr(method, "apply_monolithic") else "apply")(layer, X, X)


@pytest.mark.parametrize("given", [2, 3])
def test_methods_take_two_values_or_three(given: int) -> None:
    with engine("gaudi2"):
        for method in methods():
            ids, weights = run(method, layer_with(selection(given)))
            assert ids.tolist() == IDS.tolist() and weights.tolist() == WEIGHTS.tolist()


@pytest.mark.parametrize("given", [2, 3])
@pytest.mark.parametrize("taken", [2, 3])
def test_methods_of_older_releases_do_too(given: int, taken: int) -> None:
    with engine("gaudi2"):
        ids, weights = run(older_method(taken), layer_with(selection(given)))
        assert ids.tolist() == IDS.tolist() and weights.tolist() == WEIGHTS.tolist()


def test_a_selection_that_the_method_does_not_use_is_left_alone() -> None:
    with engine("gaudi2"):
        select = selection(3)

        def replaced(method: Any) -> set[str]:
            layer = layer_with(select)
            run(method, layer)
            owners = {"layer": layer, "router": layer.router}
            return {name for name, owner in owners.items() if owner.select_experts is not select}

        # By a function of a module, by the layer's router, by the layer.
        assert [replaced(method) for method in methods()] == [set(), {"router"}]
        assert replaced(older_method(2)) == {"layer"}


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


def test_a_method_of_another_shape_is_refused() -> None:
    with engine("gaudi2"):
        base = module("vllm_gaudi.ops.hpu_compressed_tensors").HPUCompressedTensorsW8A8Fp8MoEMethod
        other = type("Other", (base,), {"apply_monolithic": lambda self, layer, x, router_logits: x})
        with pytest.raises(gaudi_kv.GaudiKvError, match="Other does not unpack what expert selection gives"):
            run(other(), layer_with(selection(2)))
