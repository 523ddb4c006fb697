//! The colours of the output; they are dropped where it does not go to a terminal.

use anstyle::{AnsiColor, Style};

pub(super) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const NOTE: Style = AnsiColor::Cyan.on_default();
pub(super) const HEADING: Style = Style::new().bold();
