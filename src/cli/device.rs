//! The device that a command is for, and the one that it runs on.

use gaudi_kv::Generation;
use gaudi_kv::device::DeviceChoice;

use super::outcome::CommandError;

/// A device that was chosen, by the user or by what the machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) device: DeviceChoice,
    pub(super) generation: Generation,
}

impl Chosen {
    /// The choice of the user, else this machine's Gaudi, else an emulated Gaudi2. What nobody chose is said.
    pub(super) fn new(
        wanted: Option<DeviceChoice>,
        installed: Option<Generation>,
        is_quiet: bool,
    ) -> Result<Self, CommandError> {
        let chosen = match (wanted, installed) {
            (Some(device), _) => Self { device, generation: device.generation()? },
            (None, Some(generation)) => Self { device: DeviceChoice::Hpu(None), generation },
            (None, None) => {
                let generation = Generation::Gaudi2;
                Self { device: DeviceChoice::Emulated(generation), generation }
            }
        };
        if wanted.is_none() && !is_quiet {
            let generation = chosen.generation;
            match chosen.device {
                DeviceChoice::Hpu(_) => eprintln!("device: {generation}, found in this machine"),
                DeviceChoice::Emulated(_) => {
                    eprintln!(
                        "device: {generation}, emulated (no Gaudi in this machine; choose with --device)"
                    );
                }
            }
        }
        Ok(chosen)
    }
}
