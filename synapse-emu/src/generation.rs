//! What the API calls a generation, and what its memory asks of addresses.

use gaudi_numerics::Generation;
use habana_sys::synDeviceType;

pub(crate) const fn device_type(generation: Generation) -> synDeviceType {
    match generation {
        Generation::Gaudi2 => synDeviceType::synDeviceGaudi2,
        Generation::Gaudi3 => synDeviceType::synDeviceGaudi3,
    }
}

/// The generation that a device type names, of those that can be emulated.
pub(crate) const fn of_device_type(device_type: synDeviceType) -> Option<Generation> {
    match device_type {
        synDeviceType::synDeviceGaudi2 => Some(Generation::Gaudi2),
        synDeviceType::synDeviceGaudi3 => Some(Generation::Gaudi3),
        _ => None,
    }
}

/// The number of bytes that device addresses are multiples of.
pub(crate) const fn alignment_bytes(generation: Generation) -> u64 {
    match generation {
        Generation::Gaudi2 => 128,
        Generation::Gaudi3 => 256,
    }
}
