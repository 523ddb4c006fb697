//! What the library says on stderr.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

use habana_sys::synStatus;

static ENABLED: AtomicBool = AtomicBool::new(false);

pub(crate) fn enable(enabled: bool) {
    ENABLED.store(enabled, Ordering::Relaxed);
}

/// Says what cannot be said by a status alone, whatever the settings.
pub(crate) fn always(message: &dyn Display) {
    eprintln!("synapse-emu: {message}");
}

/// `status`, after its reason was logged where logs are on.
pub(crate) fn refusal(status: synStatus, reason: impl Display) -> synStatus {
    if ENABLED.load(Ordering::Relaxed) {
        eprintln!("synapse-emu: status {}: {reason}", status.0);
    }
    status
}
