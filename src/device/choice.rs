//! Choosing a device by its name.

use std::fmt;
use std::str::FromStr;

use super::any::AnyDevice;
use super::emulated::{Emulated, Mode};
use super::error::DeviceError;
#[cfg(feature = "hpu")]
use super::hpu::{Hpu, HpuOptions, reported_generation};
use crate::Generation;

/// A device by its name: `gaudi2` and `gaudi3` are emulated on the CPU, `hpu` is any free Gaudi of this machine,
/// `hpu:3` the Gaudi of module 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeviceChoice {
    /// The arithmetic of a generation, on the CPU.
    Emulated(Generation),
    /// A Gaudi of this machine: the one of this module, or any free one.
    Hpu(Option<u32>),
}

/// A text that names no device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceNameError {
    /// The text is none of the names.
    #[error("it is none of gaudi2, gaudi3, hpu and hpu:MODULE")]
    Unknown,
    /// What follows `hpu:` is no number.
    #[error("{0:?} is no number of a module")]
    Module(String),
}

impl FromStr for DeviceChoice {
    type Err = DeviceNameError;

    fn from_str(text: &str) -> Result<Self, DeviceNameError> {
        if let Some(generation) = Generation::ALL.into_iter().find(|generation| generation.name() == text) {
            return Ok(Self::Emulated(generation));
        }
        match text.split_once(':') {
            None if text == "hpu" => Ok(Self::Hpu(None)),
            Some(("hpu", module)) => module
                .parse()
                .map(|module| Self::Hpu(Some(module)))
                .map_err(|_| DeviceNameError::Module(module.to_owned())),
            _ => Err(DeviceNameError::Unknown),
        }
    }
}

impl fmt::Display for DeviceChoice {
    /// Writes the name that [`FromStr`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Emulated(generation) => generation.fmt(f),
            Self::Hpu(None) => f.write_str("hpu"),
            Self::Hpu(Some(module)) => write!(f, "hpu:{module}"),
        }
    }
}

impl DeviceChoice {
    /// The kind of device as JSON names it: `emulated` or `hpu`.
    #[must_use]
    pub const fn backend_name(self) -> &'static str {
        match self {
            Self::Emulated(_) => "emulated",
            Self::Hpu(_) => "hpu",
        }
    }

    /// The generation of the device. A Gaudi is asked for it through SynapseAI and not taken.
    ///
    /// # Errors
    /// There is no such Gaudi, or it does not answer, or this library was built without the feature `hpu`.
    pub fn generation(self) -> Result<Generation, DeviceError> {
        match self {
            Self::Emulated(generation) => Ok(generation),
            #[cfg(feature = "hpu")]
            Self::Hpu(module_id) => {
                Ok(reported_generation(&HpuOptions { module_id, ..HpuOptions::default() })?)
            }
            #[cfg(not(feature = "hpu"))]
            Self::Hpu(_) => Err(DeviceError::NoHpu),
        }
    }

    /// The device, ready to hold caches. `mode` is how an emulated one accumulates products, exactly where it is `None`.
    ///
    /// # Errors
    /// A Gaudi was given a mode, or cannot be taken, or this library was built without the feature `hpu`.
    pub fn open(self, mode: Option<Mode>) -> Result<AnyDevice, DeviceError> {
        match (self, mode) {
            (Self::Emulated(generation), mode) => {
                Ok(Emulated::new(generation, mode.unwrap_or(Mode::Exact)).into())
            }
            (Self::Hpu(_), Some(_)) => Err(DeviceError::ModeOfHpu),
            #[cfg(feature = "hpu")]
            (Self::Hpu(module_id), None) => {
                Ok(Hpu::open(&HpuOptions { module_id, ..HpuOptions::default() })?.into())
            }
            #[cfg(not(feature = "hpu"))]
            (Self::Hpu(_), None) => Err(DeviceError::NoHpu),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_names() {
        for (text, device) in [
            ("gaudi2", DeviceChoice::Emulated(Generation::Gaudi2)),
            ("gaudi3", DeviceChoice::Emulated(Generation::Gaudi3)),
            ("hpu", DeviceChoice::Hpu(None)),
            ("hpu:7", DeviceChoice::Hpu(Some(7))),
        ] {
            assert_eq!(text.parse(), Ok(device));
            assert_eq!(device.to_string(), text);
        }
        for text in ["", "gaudi", "Gaudi2", "gaudi2:0", "hpu:", "hpu:-1", "hpu:x", "cpu"] {
            assert!(text.parse::<DeviceChoice>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_gaudi_has_no_mode_to_choose() {
        assert!(matches!(DeviceChoice::Hpu(None).open(Some(Mode::Fast)), Err(DeviceError::ModeOfHpu)));
    }
}
