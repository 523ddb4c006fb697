//! What a call comes to.

use habana_sys::synStatus;

/// The result of a call: a status other than success is its error.
pub(crate) type Outcome<T = ()> = Result<T, synStatus>;
