//! A Gaudi's arithmetic on the CPU.

mod common;
mod device;
mod exact;
mod fast;

pub use common::plane::EmulatedPlane;
pub use device::Emulated;
pub use gaudi_numerics::Mode;
