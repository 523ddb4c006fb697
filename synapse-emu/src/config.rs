//! Settings from the environment.

use gaudi_numerics::Generation;
use gaudi_numerics::Mode;
use habana_sys::synDeviceType;

/// Which machine is emulated.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) generation: Generation,
    pub(crate) mode: Mode,
    pub(crate) cards: usize,
    /// Device memory of each card.
    pub(crate) memory_bytes: u64,
    /// Whether the kernels exist that the documented lists do not have for e4m3.
    pub(crate) has_hf8_kernels: bool,
    /// Whether these convert codes on the way, and lose the last bit of the mantissa.
    pub(crate) are_hf8_kernels_lossy: bool,
    pub(crate) logs: bool,
}

/// A variable with a value that it cannot have.
#[derive(Debug, thiserror::Error)]
#[error("{variable} is `{value}`; allowed: {allowed}")]
pub(crate) struct BadVariable {
    pub(crate) variable: &'static str,
    pub(crate) value: String,
    pub(crate) allowed: String,
}

/// Cards of one box.
const MAX_CARDS: usize = 8;
const DEFAULT_MEMORY_BYTES: u64 = 4 << 30;
/// What a card really has at most, in whole gigabytes above it.
const MAX_MEMORY_BYTES: u64 = 128 << 30;

impl Config {
    pub(crate) fn from_environment() -> Result<Self, BadVariable> {
        let (has_hf8_kernels, are_hf8_kernels_lossy) =
            variable("SYNAPSE_EMU_HF8_KERNELS", (false, false), "0, 1, lossy", |value| match value {
                "lossy" => Some((true, true)),
                other => Some((flag(other)?, false)),
            })?;
        Ok(Self {
            generation: variable("SYNAPSE_EMU_DEVICE", Generation::Gaudi2, "gaudi2, gaudi3", |value| {
                match value {
                    "gaudi2" => Some(Generation::Gaudi2),
                    "gaudi3" => Some(Generation::Gaudi3),
                    _ => None,
                }
            })?,
            mode: variable("SYNAPSE_EMU_MODE", Mode::Exact, "exact, fast", |value| match value {
                "exact" => Some(Mode::Exact),
                "fast" => Some(Mode::Fast),
                _ => None,
            })?,
            cards: variable("SYNAPSE_EMU_CARDS", 1, "1 to 8", |value| {
                value.parse().ok().filter(|count| (1..=MAX_CARDS).contains(count))
            })?,
            memory_bytes: variable(
                "SYNAPSE_EMU_MEMORY_BYTES",
                DEFAULT_MEMORY_BYTES,
                "4096 to 137438953472 (128 GiB)",
                |value| value.parse().ok().filter(|bytes| (4096..=MAX_MEMORY_BYTES).contains(bytes)),
            )?,
            has_hf8_kernels,
            are_hf8_kernels_lossy,
            logs: variable("SYNAPSE_EMU_LOG", false, "0, 1", flag)?,
        })
    }

    pub(crate) fn device_type(&self) -> synDeviceType {
        device_type(self.generation)
    }
}

pub(crate) fn device_type(generation: Generation) -> synDeviceType {
    match generation {
        Generation::Gaudi2 => synDeviceType::synDeviceGaudi2,
        Generation::Gaudi3 => synDeviceType::synDeviceGaudi3,
    }
}

/// The generation that a device type names, of those that can be emulated.
pub(crate) fn generation(device_type: synDeviceType) -> Option<Generation> {
    match device_type {
        synDeviceType::synDeviceGaudi2 => Some(Generation::Gaudi2),
        synDeviceType::synDeviceGaudi3 => Some(Generation::Gaudi3),
        _ => None,
    }
}

/// What device addresses are multiples of.
pub(crate) fn alignment_bytes(generation: Generation) -> u64 {
    match generation {
        Generation::Gaudi2 => 128,
        Generation::Gaudi3 => 256,
    }
}

fn flag(value: &str) -> Option<bool> {
    match value {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

fn variable<T>(
    name: &'static str,
    default: T,
    allowed: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, BadVariable> {
    let Some(value) = std::env::var_os(name) else { return Ok(default) };
    value.to_str().and_then(parse).ok_or_else(|| BadVariable {
        variable: name,
        value: value.to_string_lossy().into_owned(),
        allowed: allowed.to_owned(),
    })
}
