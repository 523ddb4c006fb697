//! The device generation, as a value that every layer shares.

use std::fmt;

/// A Gaudi generation. Everything that differs between generations is a value read off this type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Generation {
    /// Gaudi2 (HL-225): FP8 e4m3 reaches 240.
    Gaudi2,
    /// Gaudi3 (HL-325): FP8 e4m3 reaches 448.
    Gaudi3,
}

impl Generation {
    /// Every generation, oldest first.
    pub const ALL: [Self; 2] = [Self::Gaudi2, Self::Gaudi3];

    /// The largest finite e4m3 value that the device's converters write at exponent bias 7.
    #[must_use]
    pub const fn fp8_max(self) -> f32 {
        match self {
            Self::Gaudi2 => 240.0,
            Self::Gaudi3 => 448.0,
        }
    }

    /// The name used on the command line and in JSON: `gaudi2` or `gaudi3`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gaudi2 => "gaudi2",
            Self::Gaudi3 => "gaudi3",
        }
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
