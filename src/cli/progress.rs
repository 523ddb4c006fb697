//! The progress bar of long reads. It shows on a terminal only.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over bytes, hidden where stderr is no terminal or the user asked for quiet.
pub(super) fn byte_bar(what: &'static str, total_bytes: u64, is_quiet: bool) -> ProgressBar {
    bar(what, total_bytes, "{msg} {bar:40} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left", is_quiet)
}

/// A bar over layers.
pub(super) fn layer_bar(what: &'static str, layers: usize, is_quiet: bool) -> ProgressBar {
    bar(what, layers as u64, "{msg} {bar:40} {pos}/{len} layers, {eta} left", is_quiet)
}

fn bar(what: &'static str, total: u64, template: &str, is_quiet: bool) -> ProgressBar {
    let is_shown = io::stderr().is_terminal() && !is_quiet;
    let target = if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(total), target).with_message(what);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}
