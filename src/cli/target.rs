//! The generations by their names on the command line.

use clap::ValueEnum;
use gaudi_kv::Generation;

/// A device that something is made for.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Target {
    Gaudi2,
    Gaudi3,
}

impl From<Target> for Generation {
    fn from(target: Target) -> Self {
        match target {
            Target::Gaudi2 => Self::Gaudi2,
            Target::Gaudi3 => Self::Gaudi3,
        }
    }
}
