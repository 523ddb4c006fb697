//! FP8 KV caches for Intel Gaudi: the scales of a checkpoint, what they become on a device, and the device's
//! arithmetic on the CPU.

pub mod fp8;
mod generation;
pub mod mme;

pub use generation::Generation;
