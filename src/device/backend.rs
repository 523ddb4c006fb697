//! The kinds of devices that results come from, and their arithmetic.

use std::fmt;

use super::emulated::Mode;

/// What a device's results come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Backend {
    /// The CPU, by the arithmetic of a Gaudi.
    Emulated(Mode),
    /// A Gaudi.
    Hpu,
}

impl Backend {
    /// `emulated` or `hpu`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Emulated(_) => "emulated",
            Self::Hpu => "hpu",
        }
    }

    /// How products are accumulated: `exact`, `fast`, or `hpu` for as the device does.
    #[must_use]
    pub const fn arithmetic(self) -> &'static str {
        match self {
            Self::Emulated(Mode::Exact) => "exact",
            Self::Emulated(Mode::Fast) => "fast",
            Self::Hpu => "hpu",
        }
    }
}

impl fmt::Display for Backend {
    /// `exact arithmetic, emulated`, or `through SynapseAI`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Emulated(mode) => write!(f, "{mode} arithmetic, emulated"),
            Self::Hpu => f.write_str("through SynapseAI"),
        }
    }
}
