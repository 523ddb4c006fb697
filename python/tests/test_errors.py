"""What is refused, and by which exception."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA

import gaudi_kv
from gaudi_kv import AttentionOptions, Batch, Device, MhaAttention, MhaCache, MlaCache, Scale

ONE = Scale(1.0, 1.0)


def planes(kind: Any, *shape: int) -> tuple[Any, Any]:
    return kind.codes(*shape), kind.codes(*shape)


def test_the_exceptions_are_a_small_tree() -> None:
    for name, builtin in {
        "ModelError": Exception,
        "OptionError": ValueError,
        "DtypeError": TypeError,
        "ShapeError": ValueError,
        "ScaleError": ValueError,
        "DeviceError": RuntimeError,
    }.items():
        exception = getattr(gaudi_kv, name)
        assert issubclass(exception, gaudi_kv.GaudiKvError) and issubclass(exception, builtin)


def test_models(tmp_path: Path) -> None:
    with pytest.raises(gaudi_kv.ModelError, match=re.escape(str(tmp_path))):
        gaudi_kv.inspect(tmp_path / "missing", device="gaudi2")
    found = gaudi_kv.inspect(DATA / "autoround-mla-mislabelled", device="gaudi2", verify_weights=True)
    assert not found.is_fine() and found.errors[0]["code"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "gaudi1"}, "gaudi1.*gaudi2, gaudi3, hpu and hpu:MODULE"),
        ({"kv_cache_dtype": "int8"}, "int8.*auto, bf16 and fp8"),
        ({"mla_scale": "v-only"}, "k-only and max-kv"),
        ({"q_missing": "zero"}, "dynamic and one"),
        ({"skip_layers": ["every"]}, "sliding_window"),
        ({"tensor_parallel": (2, 2)}, "rank 2 of 2"),
    ],
)
def test_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(gaudi_kv.OptionError, match=message):
        gaudi_kv.inspect(DATA / "llmc-gqa-kv", **{"device": "gaudi2", **options})


def test_devices() -> None:
    assert Device("gaudi3", mode="fast").fp8_max == 448.0
    assert Device("gaudi2").fp8_max == 240.0
    assert repr(Device("gaudi2")) == "Device('gaudi2', 'exact')"
    with pytest.raises(gaudi_kv.OptionError, match="exact and fast"):
        Device("gaudi2", "slow")


def test_arrays(kind: Any) -> None:
    out = kind.codes(2)
    with pytest.raises(gaudi_kv.DtypeError, match="x is a list"):
        gaudi_kv.quant_fp8([1.0, 2.0], 1.0, "gaudi2", out)
    with pytest.raises(gaudi_kv.DtypeError, match="neither a NumPy array nor a torch tensor"):
        gaudi_kv.quant_fp8(memoryview(b"12"), 1.0, "gaudi2")
    with pytest.raises(gaudi_kv.ShapeError, match=r"x has the shape \[2\], out \[3\]"):
        gaudi_kv.quant_fp8(kind.f32([1, 2]), 1.0, "gaudi2", kind.codes(3))
    with pytest.raises(gaudi_kv.DtypeError, match="out is float32"):
        gaudi_kv.quant_fp8(kind.f32([1, 2]), 1.0, "gaudi2", kind.f32([1, 2]))
    with pytest.raises(gaudi_kv.ShapeError, match="not contiguous"):
        gaudi_kv.quant_fp8(kind.f32([[1, 2], [3, 4]])[:, 0], 1.0, "gaudi2", out)
    with pytest.raises(gaudi_kv.ScaleError):
        gaudi_kv.quant_fp8(kind.f32([1, 2]), float("nan"), "gaudi2", out)
    with pytest.raises(gaudi_kv.ScaleError):
        gaudi_kv.dequant_fp8(out, 0.0, "gaudi2")


def test_numpy_arrays_that_lie_elsewhere() -> None:
    out = np.zeros(2, np.uint8)
    with pytest.raises(gaudi_kv.DtypeError, match=">f4"):
        gaudi_kv.quant_fp8(np.ones(2, ">f4"), 1.0, "gaudi2", out)
    with pytest.raises(gaudi_kv.DtypeError, match="float64"):
        gaudi_kv.quant_fp8(np.ones(2), 1.0, "gaudi2", out)
    with pytest.raises(gaudi_kv.ShapeError, match="aligned"):
        gaudi_kv.quant_fp8(np.zeros(9, np.uint8)[1:].view(np.float32), 1.0, "gaudi2", out)
    out.flags.writeable = False
    with pytest.raises(gaudi_kv.DtypeError, match="out is read-only"):
        gaudi_kv.quant_fp8(np.ones(2, np.float32), 1.0, "gaudi2", out)


def test_tensors_that_lie_elsewhere() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    with pytest.raises(gaudi_kv.DtypeError, match="device meta"):
        gaudi_kv.rerange(torch.zeros(2, dtype=torch.uint8, device="meta"), "gaudi2")
    with pytest.raises(gaudi_kv.DtypeError, match="float8_e4m3fnuz"):
        gaudi_kv.rerange(torch.zeros(2, dtype=torch.float8_e4m3fnuz), "gaudi2")


def test_arrays_that_overlap() -> None:
    memory = np.zeros(16, np.uint8)
    with pytest.raises(gaudi_kv.ShapeError, match="out and x overlap"):
        gaudi_kv.quant_fp8(memory.view(np.float32), 1.0, "gaudi2", memory[4:8])
    plane = np.zeros((2, 16, 1, 2), np.uint8)
    with pytest.raises(gaudi_kv.ShapeError, match="key and value overlap"):
        MhaCache.over(Device("gaudi2"), plane, plane, k_scale=ONE, v_scale=ONE)


def test_planes(kind: Any) -> None:
    device = Device("gaudi2")

    def over(key: Any, value: Any, **scales: Any) -> MhaCache:
        return MhaCache.over(device, key, value, **{"k_scale": ONE, "v_scale": ONE, **scales})

    with pytest.raises(gaudi_kv.ScaleError, match="needs v_scale"):
        over(*planes(kind, 2, 16, 1, 2), v_scale=None)
    with pytest.raises(gaudi_kv.ScaleError, match="2 heads, the cache has 1"):
        over(*planes(kind, 2, 16, 1, 2), k_scale=Scale((1.0, 1.0), (1.0, 1.0)))
    with pytest.raises(gaudi_kv.ScaleError, match="finite and positive"):
        over(*planes(kind, 2, 16, 1, 2), k_scale=Scale(-1.0, 1.0))
    with pytest.raises(gaudi_kv.ShapeError, match="block size 24"):
        over(*planes(kind, 2, 24, 1, 2))
    with pytest.raises(gaudi_kv.ShapeError, match="num_blocks is 0"):
        over(*planes(kind, 0, 16, 1, 2))
    with pytest.raises(gaudi_kv.ShapeError, match="key has 3 dimensions"):
        over(*planes(kind, 2, 16, 2))
    with pytest.raises(gaudi_kv.ShapeError, match="may differ in head_dim only"):
        over(kind.codes(2, 16, 1, 2), kind.codes(3, 16, 1, 2))
    with pytest.raises(gaudi_kv.DtypeError, match="key is int64"):
        over(kind.i64(np.zeros((2, 16, 1, 2), int).tolist()), kind.codes(2, 16, 1, 2))
    with pytest.raises(gaudi_kv.ShapeError, match="latents of 4 elements"):
        MlaCache.over(device, kind.codes(2, 16, 4), kv_lora_rank=5, k_scale=ONE)
    with pytest.raises(gaudi_kv.OptionError, match="fp8, bf16 and f32"):
        MlaCache(
            device,
            num_blocks=2,
            block_size=16,
            kv_lora_rank=4,
            qk_rope_head_dim=2,
            kv_cache_dtype="int4",  # type: ignore[arg-type]
        )


def test_operands(kind: Any) -> None:
    device = Device("gaudi2")
    cache = MhaCache.over(device, *planes(kind, 2, 16, 1, 2), k_scale=ONE, v_scale=ONE)
    row = kind.bf16(np.ones((1, 1, 2)))
    with pytest.raises(gaudi_kv.ShapeError, match=r"k has the shape \[1, 1, 2\]; \[2, 1, 2\] is needed"):
        cache.write(row, row, kind.i64([0, 1]))
    with pytest.raises(gaudi_kv.DtypeError, match="k is float32; bfloat16"):
        cache.write(kind.f32(np.ones((1, 1, 2))), row, kind.i64([0]))
    with pytest.raises(gaudi_kv.DtypeError, match="slot_mapping is float32"):
        cache.write(row, row, kind.f32([0]))
    with pytest.raises(gaudi_kv.ShapeError, match="slot -2 at index 0"):
        cache.write(row, row, kind.i64([-2]))
    with pytest.raises(gaudi_kv.ShapeError, match="slot -1"):
        cache.read(kind.i64([-1]))

    attention = MhaAttention(device, num_heads=1, num_kv_heads=1, head_dim=2, options=AttentionOptions(1.0))
    table = kind.i32([[0]])
    out = kind.empty((1, 1, 2), "float32")
    out[:] = 7.0
    with pytest.raises(gaudi_kv.ShapeError, match="q has the shape"):
        attention.decode(cache, row, Batch([0, 2], [2], table), out=kind.f32(np.zeros((2, 2))))
    with pytest.raises(gaudi_kv.ShapeError, match="block 2"):
        attention.decode(cache, row, Batch([0, 1], [1], kind.i32([[2]])), out=out)
    with pytest.raises(gaudi_kv.ShapeError, match="17 cached tokens need 2 blocks"):
        attention.decode(cache, row, Batch([0, 1], [17], table), out=out)
    with pytest.raises(gaudi_kv.ShapeError, match="no cache was given"):
        attention.prefill(row, row, row, Batch([0, 1], [2], table))
    assert kind.floats(out).ravel().tolist() == [7.0, 7.0], "nothing was written"
    with pytest.raises(gaudi_kv.ShapeError, match="cache's head_dim is 2"):
        other = MhaAttention(device, num_heads=1, num_kv_heads=1, head_dim=4, options=AttentionOptions(1.0))
        other.decode(cache, kind.bf16(np.ones((1, 1, 4))), Batch([0, 1], [1], table))
    with pytest.raises(gaudi_kv.DeviceError, match="gaudi2, this device is a gaudi3"):
        options = AttentionOptions(1.0)
        other = MhaAttention(Device("gaudi3"), num_heads=1, num_kv_heads=1, head_dim=2, options=options)
        other.decode(cache, row, Batch([0, 1], [1], table))


def test_batches(kind: Any) -> None:
    with pytest.raises(gaudi_kv.ShapeError, match="query_start_loc has 2 elements, 3 are needed"):
        Batch([0, 1], [1, 1])
    with pytest.raises(gaudi_kv.ShapeError, match=r"block_table has the shape \[1, 1\]; \[2, max_blocks\]"):
        Batch([0, 1, 2], [1, 1], kind.i32([[0]]))
    with pytest.raises(gaudi_kv.ShapeError, match=r"seq_lens\[1\] is -1"):
        Batch([0, 1, 2], kind.i64([1, -1]))
    with pytest.raises(gaudi_kv.DtypeError, match="seq_lens"):
        Batch([0, 1], [1.5])


def test_attentions() -> None:
    device = Device("gaudi2")

    def layer(heads: int = 2, options: AttentionOptions | None = None, **more: Any) -> MhaAttention:
        options = options or AttentionOptions(1.0)
        return MhaAttention(device, num_heads=heads, num_kv_heads=2, head_dim=2, options=options, **more)

    with pytest.raises(gaudi_kv.ShapeError, match="num_heads is 3"):
        layer(3)
    with pytest.raises(gaudi_kv.OptionError, match="softmax_scale is -1"):
        layer(options=AttentionOptions(-1.0))
    with pytest.raises(gaudi_kv.ShapeError, match="sinks has 1 elements"):
        layer(options=AttentionOptions(1.0, sinks=[0.5]))
    with pytest.raises(gaudi_kv.ScaleError, match="prob_scale is per head"):
        layer(prob_scale=Scale((1.0, 1.0), (1.0, 1.0)))
