//! The HTML reports: single files that need nothing else.

mod axes;
mod check;
mod check_codes;
mod check_errors;
mod findings;
mod inspect;
mod layers;
mod legend;
mod marks;
mod page;
mod run;
mod scale_plot;

pub(super) use check::render as render_check;
pub(super) use inspect::render;
pub(super) use run::Run;
