//! Which instruction sets this machine has, and which one the process uses.

use std::sync::OnceLock;

use super::isa::{Isa, IsaError};
use super::level::Level;

impl Isa {
    /// The environment variable that overrides detection.
    pub const ENV: &str = "GAUDI_KV_ISA";

    /// Whether this machine can run it.
    #[must_use]
    pub fn is_available(self) -> bool {
        Level::new(self).is_some()
    }

    /// Everything this machine can run, best last.
    #[must_use]
    pub fn available() -> Vec<Self> {
        Self::ALL.into_iter().filter(|isa| isa.is_available()).collect()
    }

    /// The best that this machine can run.
    fn best() -> Self {
        Self::ALL.into_iter().rfind(|isa| isa.is_available()).unwrap_or(Self::Scalar)
    }

    /// What [`active`](Self::active) will use, or why the value of `GAUDI_KV_ISA` cannot be.
    ///
    /// # Errors
    /// The variable names no instruction set, or one that this machine lacks.
    pub fn from_env() -> Result<Self, IsaError> {
        match std::env::var(Self::ENV) {
            Ok(name) if !name.is_empty() => {
                let isa: Self = name.parse()?;
                if isa.is_available() {
                    Ok(isa)
                } else {
                    let have: Vec<_> = Self::available().iter().map(ToString::to_string).collect();
                    Err(IsaError::Unavailable(isa, have.join(", ")))
                }
            }
            _ => Ok(Self::best()),
        }
    }

    /// The instruction set that kernels run on in this process: `GAUDI_KV_ISA`, else the best available. Read once.
    /// A value that cannot be used is logged as an error and the best available is taken.
    #[must_use]
    pub fn active() -> Self {
        static ACTIVE: OnceLock<Isa> = OnceLock::new();
        *ACTIVE.get_or_init(|| {
            let isa = Self::from_env().unwrap_or_else(|error| {
                let best = Self::best();
                tracing::error!(%error, using = %best, "{} is ignored", Self::ENV);
                best
            });
            tracing::debug!(%isa, "instruction set of the vector kernels");
            isa
        })
    }
}
