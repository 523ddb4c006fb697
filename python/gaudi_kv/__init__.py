"""FP8 KV caches with the arithmetic of Intel Gaudi.

Functions take NumPy arrays and CPU torch tensors where they are, and let go of the interpreter's lock while they work;
an array must not be changed by other threads meanwhile. Arrays are contiguous, but for torch tensors of queries, keys
and values of MHA: rows of those may lie apart, and are copied then. NumPy has no bfloat16: where it is needed, the bits
as `uint16` or an `ml_dtypes` array are taken. Everything that goes wrong is a `GaudiKvError`.

The package needs neither torch nor NumPy to be imported.
"""

from gaudi_kv._attention import AttentionOptions, MhaAttention, MlaAttention
from gaudi_kv._blocks import BlockImage, PlaneImage
from gaudi_kv._caches import MhaCache, MlaCache
from gaudi_kv._codecs import RerangeCounts, dequant_fp8, quant_fp8, rerange, round_bf16
from gaudi_kv._convert import Conversion, convert
from gaudi_kv._errors import (
    DeviceError,
    DtypeError,
    GaudiKvError,
    ModelError,
    OptionError,
    ScaleError,
    ShapeError,
)
from gaudi_kv._inspect import Inspection, check, inspect
from gaudi_kv._native import Batch, Device, __version__, installed_generation
from gaudi_kv._scales import LayerScales, Scale

__all__ = [
    "AttentionOptions",
    "Batch",
    "BlockImage",
    "Conversion",
    "Device",
    "DeviceError",
    "DtypeError",
    "GaudiKvError",
    "Inspection",
    "LayerScales",
    "MhaAttention",
    "MhaCache",
    "MlaAttention",
    "MlaCache",
    "ModelError",
    "OptionError",
    "PlaneImage",
    "RerangeCounts",
    "Scale",
    "ScaleError",
    "ShapeError",
    "__version__",
    "check",
    "convert",
    "dequant_fp8",
    "inspect",
    "installed_generation",
    "quant_fp8",
    "rerange",
    "round_bf16",
]
