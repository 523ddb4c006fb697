//! Where caches live and attention runs.
//!
//! A [`Device`] owns the memory of cache planes and runs a few kernels over them. Policy (which scale, which product
//! is FP8, what a batch may look like) is decided above, in [`cache`](crate::cache) and
//! [`attention`](crate::attention); a device only computes, and says what it is.

mod amax;
mod any;
mod backend;
mod choice;
mod context;
mod detect;
pub mod emulated;
mod error;
#[cfg(feature = "hpu")]
pub mod hpu;
mod plane;
mod problem;
mod projection;
mod shape;
mod workspace;

pub use any::{AnyDevice, AnyPlane};
pub use backend::Backend;
pub use choice::{DeviceChoice, DeviceNameError};
pub use detect::{InstalledDevice, installed_devices, installed_generation};
pub use error::DeviceError;
pub use plane::{Plane, PlaneLayout, StorageDtype};
pub use problem::{
    AttentionProblem, Fp8Products, KeysAndValues, Modifiers, PlanePair, QueryScale, SequenceSpan, TensorPair,
};
pub use projection::ProjectKernel;
pub use shape::{MhaShape, MlaShape};
pub use workspace::AttentionWorkspace;

pub use crate::HeadScales;

use half::bf16;

use crate::Generation;

/// A place where caches live and attention runs.
pub trait Device: Send + Sync {
    /// The memory of one cache plane.
    type Plane: Plane;

    /// Which Gaudi's arithmetic it has.
    fn generation(&self) -> Generation;

    /// What computes.
    fn backend(&self) -> Backend;

    /// What it is, for people: `gaudi2, emulated on the CPU (exact)`.
    fn description(&self) -> String;

    /// Whether its kernels apply scales. One that does not cannot hold an FP8 cache.
    fn applies_scales(&self) -> bool;

    /// Zeroed memory for a plane.
    ///
    /// # Errors
    /// The memory cannot be had.
    fn allocate(&self, layout: &PlaneLayout) -> Result<Self::Plane, DeviceError>;

    /// Stores rows of `[heads, dim]` bfloat16 values at `slots`, which are checked: an FP8 plane multiplies by
    /// `quant`, rounds the product to bfloat16, then to FP8, saturating.
    ///
    /// # Errors
    /// The device failed.
    fn write(
        &self,
        plane: &mut Self::Plane,
        rows: &[bf16],
        slots: &[usize],
        quant: &HeadScales,
    ) -> Result<(), DeviceError>;

    /// Reads the rows at `slots`, which are checked, as bfloat16: an FP8 plane multiplies by `dequant` and rounds.
    ///
    /// # Errors
    /// The device failed.
    fn read(
        &self,
        plane: &Self::Plane,
        slots: &[usize],
        dequant: &HeadScales,
        rows: &mut [bf16],
    ) -> Result<(), DeviceError>;

    /// Copies whole blocks within a plane, pair by pair in order; the ids are checked.
    ///
    /// # Errors
    /// The device failed.
    fn copy_blocks(&self, plane: &mut Self::Plane, pairs: &[(usize, usize)]) -> Result<(), DeviceError>;

    /// The bytes of one block as they are stored.
    ///
    /// # Errors
    /// The device failed.
    fn export_block(&self, plane: &Self::Plane, block: usize) -> Result<Vec<u8>, DeviceError>;

    /// Overwrites one block with bytes of the right length.
    ///
    /// # Errors
    /// The device failed.
    fn import_block(&self, plane: &mut Self::Plane, block: usize, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Attention: the results of the problem's query tokens go to their rows of `out`, `[tokens, num_heads, v_head_dim]`.
    ///
    /// # Errors
    /// The device failed.
    fn attend(
        &self,
        problem: &AttentionProblem<'_, Self::Plane>,
        workspace: &mut AttentionWorkspace,
        out: &mut [f32],
    ) -> Result<(), DeviceError>;

    /// Bfloat16 matrix products on the matrix engine, one for each head, rounded to bfloat16.
    ///
    /// # Errors
    /// The device failed.
    fn project(&self, kernel: &ProjectKernel<'_>, out: &mut [bf16]) -> Result<(), DeviceError>;
}
