"""The exceptions of the package. The native module raises them by their names."""

__all__ = [
    "DeviceError",
    "DtypeError",
    "GaudiKvError",
    "ModelError",
    "OptionError",
    "ScaleError",
    "ShapeError",
]


class GaudiKvError(Exception):
    """Everything that the package raises of its own."""


class ModelError(GaudiKvError):
    """A model folder, or a file of activations, cannot be read or written or is not what it should be."""


class OptionError(GaudiKvError, ValueError):
    """An option is not known, or does not take this value; a destination is refused."""


class DtypeError(GaudiKvError, TypeError):
    """An operand is no array, is not in CPU memory, is read-only, or has elements of another type."""


class ShapeError(GaudiKvError, ValueError):
    """An operand has another shape, is not contiguous where it must be, or overlaps another; a slot, block or batch
    does not fit.
    """


class ScaleError(GaudiKvError, ValueError):
    """A scale is missing, is not finite and positive, has another number of heads, or is not a block's."""


class DeviceError(GaudiKvError, RuntimeError):
    """The device cannot do it: a cache or a block of another generation, no memory, no threads."""
