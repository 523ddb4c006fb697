//! Compiled graphs: what they hold, how they are kept in files, and how they run.

pub(crate) mod bind;
pub(crate) mod executable;
mod file;
pub(crate) mod plan;
pub(crate) mod run;
