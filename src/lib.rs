//! FP8 KV caches for Intel Gaudi: the scales of a checkpoint, what they become on a device, and the device's
//! arithmetic on the CPU.

pub mod checkpoint;
pub mod device;
pub mod fp8;
mod generation;
pub mod mme;
pub mod scales;

pub use generation::Generation;
