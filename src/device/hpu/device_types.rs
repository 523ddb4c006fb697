//! The library's device types, as generations.

use std::sync::Arc;

use habana_sys::synDeviceType;

use super::error::HpuError;
use super::synapse::{Api, Census};
use crate::Generation;

/// The generation of a device type, `None` for one that is not supported.
pub(super) fn generation_of(device_type: synDeviceType) -> Option<Generation> {
    Generation::ALL.into_iter().find(|generation| type_of(*generation) == device_type)
}

/// The library's name for the devices of a generation.
pub(super) const fn type_of(generation: Generation) -> synDeviceType {
    match generation {
        Generation::Gaudi2 => synDeviceType::synDeviceGaudi2,
        Generation::Gaudi3 => synDeviceType::synDeviceGaudi3,
    }
}

/// The newest generation that the machine has devices of.
pub(super) fn newest_generation(api: &Arc<Api>) -> Result<Generation, HpuError> {
    let census = Census::of(api);
    for generation in Generation::ALL.into_iter().rev() {
        if census.count(type_of(generation))? > 0 {
            return Ok(generation);
        }
    }
    Err(HpuError::NoDevice { library: api.path().to_owned() })
}
