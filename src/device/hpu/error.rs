//! Why a Gaudi could not do its work.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use habana_sys::{LoadError, Origin, synStatus};

use crate::device::DeviceError;

/// A call into SynapseAI that did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{function}{} returned {status}{}", Prefixed(" (", arguments, ")"), Prefixed(": ", description, ""))]
pub struct CallFailure {
    /// The function.
    pub function: &'static str,
    /// What mattered of its arguments; may be empty.
    pub arguments: String,
    /// What it returned.
    pub status: synStatus,
    /// The library's words for that; may be empty.
    pub description: String,
}

/// Text with something around it, nothing where it is empty.
struct Prefixed<'a>(&'static str, &'a str, &'static str);

impl fmt::Display for Prefixed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(before, text, after) = self;
        if text.is_empty() { Ok(()) } else { write!(f, "{before}{text}{after}") }
    }
}

/// A failure of a Gaudi, or of the way to it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HpuError {
    /// There is no library to call.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A call did not succeed.
    #[error(transparent)]
    Call(#[from] CallFailure),
    /// The device or the pinned memory of the host is full.
    #[error("out of memory for {what} ({bytes} bytes): {failure}")]
    OutOfMemory {
        /// What was to be allocated.
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// The call.
        failure: CallFailure,
    },
    /// Objects could not be given back. Reported by the call after; it has done nothing.
    #[error("earlier: {}", list(failures))]
    NotReleased {
        /// The calls.
        failures: Vec<CallFailure>,
    },
    /// The library reports no Gaudi2 and no Gaudi3.
    #[error("{} reports no Gaudi2 and no Gaudi3", library.display())]
    NoDevice {
        /// The library.
        library: PathBuf,
    },
    /// The device is one whose arithmetic is not known here.
    #[error("the device is a {name} (type {device_type}); Gaudi2 and Gaudi3 are supported")]
    Unsupported {
        /// Its name.
        name: String,
        /// Its `synDeviceType`.
        device_type: u32,
    },
    /// A process holds one device, and this is another.
    #[error("this process holds {}; a process holds one device, so {asked} cannot be had", shown(*held))]
    OtherModule {
        /// The module that is held; `None` where it was not chosen.
        held: Option<u32>,
        /// The module asked for.
        asked: u32,
    },
    /// A process uses one library, and this is another.
    #[error("this process uses {}; {} cannot be loaded on top", held.display(), asked.display())]
    OtherLibrary {
        /// The library in use.
        held: PathBuf,
        /// The one asked for.
        asked: PathBuf,
    },
    /// An environment variable that cannot be understood.
    #[error("{variable} is {value:?}; the number of a module is needed")]
    Variable {
        /// The variable.
        variable: &'static str,
        /// What it holds.
        value: String,
    },
    /// Work that did not end.
    #[error("the device is not done with {what} after {waited:?}")]
    NotDone {
        /// The work.
        what: String,
        /// How long was waited.
        waited: Duration,
    },
    /// Work that was reported as done, but whose data did not arrive.
    #[error("the device reports {what} as done, but after {waited:?} its data has not arrived")]
    NotArrived {
        /// The work.
        what: String,
        /// How long was waited.
        waited: Duration,
    },
    /// A size that an index or a position of the device cannot hold.
    #[error("{what} is {value}; on the device it is at most {max}")]
    TooLarge {
        /// The size.
        what: &'static str,
        /// Its value.
        value: usize,
        /// The largest.
        max: usize,
    },
    /// A path that the library cannot be given.
    #[error("{} cannot be given to the library", path.display())]
    Path {
        /// The path.
        path: PathBuf,
    },
    /// A recipe that wants a tensor it was not given: a defect of this crate.
    #[error("recipe {recipe} was launched without its tensor {tensor}")]
    Operand {
        /// The recipe.
        recipe: String,
        /// The tensor.
        tensor: String,
    },
}

impl From<HpuError> for DeviceError {
    fn from(error: HpuError) -> Self {
        Self::Hardware(Box::new(error))
    }
}

impl HpuError {
    /// Whether no library was found and none had been named, so that there is nothing wrong with a choice.
    #[must_use]
    pub fn is_of_a_search(&self) -> bool {
        let Self::Load(error) = self else { return false };
        let last = error.attempts.last().map(|attempt| attempt.origin);
        !matches!(last, Some(Origin::Explicit | Origin::Variable))
    }

    /// The failure of an allocation, told apart by its status.
    pub(super) fn of_allocation(what: &'static str, bytes: usize, failure: CallFailure) -> Self {
        match failure.status {
            synStatus::synOutOfHostMemory
            | synStatus::synOutOfDeviceMemory
            | synStatus::synFailedToAllocateDeviceMemory
            | synStatus::synOutOfResources => Self::OutOfMemory { what, bytes, failure },
            _ => Self::Call(failure),
        }
    }
}

fn list(failures: &[CallFailure]) -> String {
    failures.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn shown(module: Option<u32>) -> String {
    module.map_or_else(|| "a device that it did not choose by module".to_owned(), |id| format!("module {id}"))
}
