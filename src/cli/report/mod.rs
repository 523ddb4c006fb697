//! The HTML reports: single files that need nothing else.

mod axes;
mod findings;
mod inspect;
mod layers;
mod legend;
mod marks;
mod page;
mod run;
mod scale_plot;

pub(super) use inspect::render;
pub(super) use run::Run;
