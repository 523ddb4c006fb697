//! The device that a command is for, and the one that it runs on.

use std::str::FromStr;

use gaudi_kv::Generation;
#[cfg(feature = "hpu")]
use gaudi_kv::device::hpu::{HpuOptions, reported_generation};

use super::CommandError;

/// What `--device` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Device {
    /// The arithmetic of a generation, on the CPU.
    Emulated(Generation),
    /// A Gaudi of this machine: of this module, or any.
    Hpu(Option<u32>),
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(generation) = Generation::ALL.into_iter().find(|generation| generation.name() == text) {
            return Ok(Self::Emulated(generation));
        }
        match text.split_once(':') {
            None if text == "hpu" => Ok(Self::Hpu(None)),
            Some(("hpu", module)) => module
                .parse()
                .map(|module| Self::Hpu(Some(module)))
                .map_err(|_| format!("{module:?} is no number of a module")),
            _ => Err("it is none of gaudi2, gaudi3, hpu and hpu:MODULE".to_owned()),
        }
    }
}

/// A device that was chosen, by the user or by what the machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) device: Device,
    pub(super) generation: Generation,
}

impl Chosen {
    /// The choice of the user, else this machine's Gaudi, else an emulated Gaudi2. What nobody chose is said.
    pub(super) fn new(
        wanted: Option<Device>,
        installed: Option<Generation>,
        is_quiet: bool,
    ) -> Result<Self, CommandError> {
        let chosen = match (wanted, installed) {
            (Some(Device::Emulated(generation)), _) => {
                Self { device: Device::Emulated(generation), generation }
            }
            (Some(device @ Device::Hpu(module)), _) => Self { device, generation: reported(module)? },
            (None, Some(generation)) => Self { device: Device::Hpu(None), generation },
            (None, None) => {
                let generation = Generation::Gaudi2;
                Self { device: Device::Emulated(generation), generation }
            }
        };
        if wanted.is_none() && !is_quiet {
            let generation = chosen.generation;
            match chosen.device {
                Device::Hpu(_) => eprintln!("device: {generation}, found in this machine"),
                Device::Emulated(_) => {
                    eprintln!(
                        "device: {generation}, emulated (no Gaudi in this machine; choose with --device)"
                    );
                }
            }
        }
        Ok(chosen)
    }

    /// The key in JSON.
    pub(super) const fn backend(&self) -> &'static str {
        match self.device {
            Device::Emulated(_) => "emulated",
            Device::Hpu(_) => "hpu",
        }
    }
}

#[cfg(feature = "hpu")]
fn reported(module_id: Option<u32>) -> Result<Generation, CommandError> {
    Ok(reported_generation(&HpuOptions { module_id, ..HpuOptions::default() })?)
}

#[cfg(not(feature = "hpu"))]
fn reported(_: Option<u32>) -> Result<Generation, CommandError> {
    Err(CommandError::NoHpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_by_name() {
        for (text, device) in [
            ("gaudi2", Device::Emulated(Generation::Gaudi2)),
            ("gaudi3", Device::Emulated(Generation::Gaudi3)),
            ("hpu", Device::Hpu(None)),
            ("hpu:7", Device::Hpu(Some(7))),
        ] {
            assert_eq!(text.parse(), Ok(device));
        }
        for text in ["", "gaudi", "Gaudi2", "gaudi2:0", "hpu:", "hpu:-1", "hpu:x", "cpu"] {
            assert!(text.parse::<Device>().is_err(), "{text}");
        }
    }
}
