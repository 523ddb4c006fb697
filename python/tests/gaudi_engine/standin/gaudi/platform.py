"""The platform."""


class HpuPlatform:
    """A Gaudi."""

    device_name = "hpu"
