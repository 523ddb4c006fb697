//! Errors of a Gaudi, and of the way to it.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use habana_sys::{LoadError, Origin, synStatus};

use crate::device::DeviceError;

/// A call into SynapseAI that did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{function}{} returned {status}{}", Prefixed(" (", arguments, ")"), Prefixed(": ", description, ""))]
pub struct CallFailure {
    /// The name of the function.
    pub function: &'static str,
    /// What mattered of the arguments; may be empty.
    pub arguments: String,
    /// The status that the function returned.
    pub status: synStatus,
    /// The library's words for the status; may be empty.
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
        /// The size asked for.
        bytes: usize,
        /// The call that failed.
        failure: CallFailure,
    },
    /// Objects could not be given back. Reported by the call after; it has done nothing.
    #[error("earlier: {}", list(failures))]
    NotReleased {
        /// The calls that failed.
        failures: Vec<CallFailure>,
    },
    /// The library reports no Gaudi2 and no Gaudi3.
    #[error("{} reports no Gaudi2 and no Gaudi3", library.display())]
    NoDevice {
        /// The file of the library.
        library: PathBuf,
    },
    /// The device is one whose arithmetic is not known here.
    #[error("the device is a {name} (type {device_type}); Gaudi2 and Gaudi3 are supported")]
    Unsupported {
        /// The name of the device.
        name: String,
        /// The `synDeviceType` of the device.
        device_type: u32,
    },
    /// Another device was asked for than the one that this process holds.
    #[error("this process holds {}; a process holds one device, so {asked} cannot be had", shown(*held))]
    OtherModule {
        /// The module that is held; `None` where it was not chosen.
        held: Option<u32>,
        /// The module asked for.
        asked: u32,
    },
    /// Another library was asked for than the one that this process uses.
    #[error("this process uses {}; {} cannot be loaded on top", held.display(), asked.display())]
    OtherLibrary {
        /// The library in use.
        held: PathBuf,
        /// The library asked for.
        asked: PathBuf,
    },
    /// An environment variable that cannot be understood.
    #[error("{variable} is {value:?}; the number of a module is needed")]
    Variable {
        /// The name of the variable.
        variable: &'static str,
        /// The value of the variable.
        value: String,
    },
    /// Work that did not end.
    #[error("the device is not done with {what} after {waited:?}")]
    NotDone {
        /// The work that is waited for.
        what: String,
        /// How long was waited.
        waited: Duration,
    },
    /// Work that was reported as done, but whose data did not arrive.
    #[error("the device reports {what} as done, but after {waited:?} its data has not arrived")]
    NotArrived {
        /// The work that is waited for.
        what: String,
        /// How long was waited.
        waited: Duration,
    },
    /// A size that an index or a position of the device cannot hold.
    #[error("{what} is {value}; on the device it is at most {max}")]
    TooLarge {
        /// What the size is of.
        what: &'static str,
        /// The value that is too large.
        value: usize,
        /// The largest value.
        max: usize,
    },
    /// A path that the library cannot be given.
    #[error("{} cannot be given to the library", path.display())]
    Path {
        /// The path that cannot be given.
        path: PathBuf,
    },
    /// A recipe that wants a tensor it was not given: a defect of this crate.
    #[error("recipe {recipe} was launched without its tensor {tensor}")]
    Operand {
        /// The name of the recipe.
        recipe: String,
        /// The name of the tensor.
        tensor: String,
    },
}

impl From<HpuError> for DeviceError {
    fn from(error: HpuError) -> Self {
        Self::Hardware(Box::new(error))
    }
}

impl HpuError {
    /// Whether no library was found and none had been named: nothing is wrong with a choice.
    #[must_use]
    pub fn is_of_a_search(&self) -> bool {
        let Self::Load(error) = self else { return false };
        let last = error.attempts.last().map(|attempt| attempt.origin);
        !matches!(last, Some(Origin::Explicit | Origin::Variable))
    }

    /// Makes an error of a failed allocation: out of memory where the status says so.
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
