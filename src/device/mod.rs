//! Where caches run.

mod detect;

pub use detect::installed_generation;
