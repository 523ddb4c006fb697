//! Pieces of work that streams do.

use std::sync::Arc;
use std::time::Duration;

use habana_sys::synStatus;

use crate::fault::Lateness;
use crate::memory::host::HostRegion;
use crate::memory::region::{Locked, Region};
use crate::outcome::Outcome;
use crate::recipe::run::Launch;
use crate::recording::Recording;

/// What memory is filled with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pattern {
    D8(u8),
    D16(u16),
    D32(u32),
}

impl Pattern {
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Self::D8(_) => 1,
            Self::D16(_) => 2,
            Self::D32(_) => 4,
        }
    }

    fn fill(self, target: &mut [u8]) {
        match self {
            Self::D8(value) => target.fill(value),
            Self::D16(value) => repeat(target, &value.to_le_bytes()),
            Self::D32(value) => repeat(target, &value.to_le_bytes()),
        }
    }
}

fn repeat(target: &mut [u8], pattern: &[u8]) {
    for chunk in target.chunks_mut(pattern.len()) {
        chunk.copy_from_slice(&pattern[..chunk.len()]);
    }
}

/// What a stream does, one after the other. Everything it needs stays alive with it.
pub(crate) enum Work {
    Upload { source: HostRegion, target: Region },
    Download { source: Region, target: HostRegion },
    Move { source: Region, target: Region },
    Fill { target: Region, pattern: Pattern },
    Launch(Box<Launch>),
    Record(Arc<Recording>),
    Wait(Arc<Recording>),
}

impl Work {
    /// How much later than it is reported as done it happens.
    pub(super) fn lateness(&self, lateness: &Lateness) -> Duration {
        match self {
            Self::Launch(_) => lateness.launch,
            Self::Upload { .. } => lateness.upload,
            Self::Download { .. } | Self::Move { .. } | Self::Fill { .. } => lateness.other,
            Self::Record(_) | Self::Wait(_) => Duration::ZERO,
        }
    }

    /// How many bytes it copies or fills.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Upload { target, .. } | Self::Move { target, .. } | Self::Fill { target, .. } => {
                target.bytes() as u64
            }
            Self::Download { source, .. } => source.bytes() as u64,
            Self::Launch(_) | Self::Record(_) | Self::Wait(_) => 0,
        }
    }

    /// A word for the log.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Upload { .. } => "copy from the host",
            Self::Download { .. } => "copy to the host",
            Self::Move { .. } => "copy on the device",
            Self::Fill { .. } => "fill",
            Self::Launch(_) => "launch",
            Self::Record(_) => "event recorded",
            Self::Wait(_) => "event awaited",
        }
    }

    /// Does it at a virtual time. `error` is the stream's first error so far.
    pub(super) fn run(&self, now: u64, error: Option<synStatus>) -> Outcome {
        match self {
            Self::Upload { source, target } => write(target, |bytes| source.read(bytes)),
            Self::Download { source, target } => {
                let mut locked = Locked::new([source]);
                let (reads, _) = locked.views(&[source], &[]).ok_or(synStatus::synFail)?;
                reads.iter().for_each(|bytes| target.write(bytes));
                Ok(())
            }
            Self::Move { source, target } => copy(source, target),
            Self::Fill { target, pattern } => write(target, |bytes| pattern.fill(bytes)),
            Self::Launch(launch) => launch.run(now),
            Self::Record(recording) => {
                recording.pass(now, error);
                Ok(())
            }
            // Its turn comes once the recording is passed. What went wrong there is reported there.
            Self::Wait(_) => Ok(()),
        }
    }
}
fn write(target: &Region, fill: impl Fn(&mut [u8])) -> Outcome {
    let mut locked = Locked::new([target]);
    let (_, writes) = locked.views(&[], &[target]).ok_or(synStatus::synFail)?;
    writes.into_iter().for_each(fill);
    Ok(())
}

fn copy(source: &Region, target: &Region) -> Outcome {
    let mut locked = Locked::new([source, target]);
    if source.overlaps(target) {
        let (reads, _) = locked.views(&[source], &[]).ok_or(synStatus::synFail)?;
        let copied = reads.concat();
        let (_, writes) = locked.views(&[], &[target]).ok_or(synStatus::synFail)?;
        writes.into_iter().for_each(|bytes| bytes.copy_from_slice(&copied));
    } else {
        let (reads, writes) = locked.views(&[source], &[target]).ok_or(synStatus::synFail)?;
        writes.into_iter().zip(reads).for_each(|(to, from)| to.copy_from_slice(from));
    }
    Ok(())
}
