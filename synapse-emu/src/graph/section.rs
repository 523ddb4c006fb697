//! Sections: parts of memory that tensors share.

use habana_sys::synStatus;

use crate::log;
use crate::outcome::Outcome;

/// The largest section group.
const MAX_GROUP: u64 = 255;

/// A part of memory that tensors share.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    pub(crate) handle: u64,
    pub(crate) is_persistent: bool,
    pub(crate) is_const: bool,
    pub(crate) is_rmw: bool,
    pub(crate) group: u64,
    /// Whether a tensor lies in it: then it does not change any more.
    pub(crate) is_used: bool,
}

impl Section {
    pub(super) fn new(handle: u64) -> Self {
        Self { handle, is_persistent: true, is_const: false, is_rmw: false, group: 0, is_used: false }
    }

    fn unused(&mut self) -> Outcome<&mut Self> {
        if self.is_used {
            return Err(log::refusal(
                synStatus::synFail,
                "a section does not change once a tensor lies in it",
            ));
        }
        Ok(self)
    }

    pub(crate) fn set_persistent(&mut self, is_persistent: bool) -> Outcome {
        let section = self.unused()?;
        if is_persistent && section.is_rmw {
            return Err(synStatus::synUnsupported);
        }
        section.is_persistent = is_persistent;
        Ok(())
    }

    pub(crate) fn set_const(&mut self, is_const: bool) -> Outcome {
        self.unused()?.is_const = is_const;
        Ok(())
    }

    pub(crate) fn set_rmw(&mut self, is_rmw: bool) -> Outcome {
        let section = self.unused()?;
        if is_rmw && section.is_persistent {
            return Err(synStatus::synUnsupported);
        }
        section.is_rmw = is_rmw;
        Ok(())
    }

    pub(crate) fn set_group(&mut self, group: u64) -> Outcome {
        let section = self.unused()?;
        if group > MAX_GROUP {
            return Err(synStatus::synUnsupported);
        }
        section.group = group;
        Ok(())
    }
}
