//! Which machine is emulated.

use std::time::Duration;

use gaudi_numerics::{Generation, Mode};
use habana_sys::synDeviceType;

use crate::generation::device_type;
use crate::node::machine::Machine;
use crate::variable::{BadVariable, Variables, flag, time};

/// The machine that is emulated, and how.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) generation: Generation,
    pub(crate) mode: Mode,
    pub(crate) cards: usize,
    /// The device memory of each card.
    pub(crate) memory_bytes: u64,
    /// Whether the kernels exist that the documented lists do not have for e4m3.
    pub(crate) has_hf8_kernels: bool,
    /// Whether these convert codes on the way, and lose the last bit of the mantissa.
    pub(crate) are_hf8_kernels_lossy: bool,
    pub(crate) logs: bool,
    /// Fixes the times and the order in which work is done.
    pub(crate) seed: u64,
    /// How long the host makes no call before its work goes on without it.
    pub(crate) silence: Duration,
}

/// Cards of one box.
const MAX_CARDS: usize = 8;
const DEFAULT_MEMORY_BYTES: u64 = 4 << 30;
/// What a card really has at most, in whole gigabytes above it.
const MAX_MEMORY_BYTES: u64 = 128 << 30;
const DEFAULT_SILENCE: Duration = Duration::from_millis(100);

impl Config {
    pub(crate) fn read(variables: &Variables) -> Result<Self, BadVariable> {
        let (has_hf8_kernels, are_hf8_kernels_lossy) = variables.parsed(
            "SYNAPSE_EMU_HF8_KERNELS",
            (false, false),
            "0, 1, lossy",
            |value| match value {
                "lossy" => Some((true, true)),
                other => Some((flag(other)?, false)),
            },
        )?;
        let generation = variables.parsed(
            "SYNAPSE_EMU_DEVICE",
            Generation::Gaudi2,
            "gaudi2, gaudi3",
            |value| match value {
                "gaudi2" => Some(Generation::Gaudi2),
                "gaudi3" => Some(Generation::Gaudi3),
                _ => None,
            },
        )?;
        let mode = variables.parsed("SYNAPSE_EMU_MODE", Mode::Exact, "exact, fast", |value| match value {
            "exact" => Some(Mode::Exact),
            "fast" => Some(Mode::Fast),
            _ => None,
        })?;
        Ok(Self {
            generation,
            mode,
            cards: variables.parsed("SYNAPSE_EMU_CARDS", 1, "1 to 8", |value| {
                value.parse().ok().filter(|count| (1..=MAX_CARDS).contains(count))
            })?,
            memory_bytes: variables.parsed(
                "SYNAPSE_EMU_MEMORY_BYTES",
                DEFAULT_MEMORY_BYTES,
                "4096 to 137438953472 (128 GiB)",
                |value| value.parse().ok().filter(|bytes| (4096..=MAX_MEMORY_BYTES).contains(bytes)),
            )?,
            has_hf8_kernels,
            are_hf8_kernels_lossy,
            logs: variables.parsed("SYNAPSE_EMU_LOG", false, "0, 1", flag)?,
            seed: variables.parsed("SYNAPSE_EMU_SEED", 0, "0 to 2^64 - 1", |value| value.parse().ok())?,
            silence: variables.parsed(
                "SYNAPSE_EMU_SILENCE",
                DEFAULT_SILENCE,
                "a time like 100ms, or never",
                time,
            )?,
        })
    }

    pub(crate) fn device_type(&self) -> synDeviceType {
        device_type(self.generation)
    }

    /// What the nodes of a graph run on.
    pub(crate) fn machine(&self, generation: Generation, is_inference: bool, is_quantized: bool) -> Machine {
        Machine {
            generation,
            mode: self.mode,
            is_inference,
            is_quantized,
            has_hf8_kernels: self.has_hf8_kernels,
            are_hf8_kernels_lossy: self.are_hf8_kernels_lossy,
        }
    }
}
