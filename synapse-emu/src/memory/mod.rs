//! Memory of cards, and of the host as cards reach it.

mod buffer;
pub(crate) mod device;
pub(crate) mod host;
pub(crate) mod region;
