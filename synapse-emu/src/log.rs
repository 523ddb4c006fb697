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

/// Says what happened, where logs are on.
pub(crate) fn event(message: &dyn Display) {
    if ENABLED.load(Ordering::Relaxed) {
        always(message);
    }
}

/// `status`, after its reason was logged where logs are on.
pub(crate) fn refusal(status: synStatus, reason: impl Display) -> synStatus {
    event(&format_args!("status {}: {reason}", status.0));
    status
}
