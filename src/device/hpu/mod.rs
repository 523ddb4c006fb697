//! Caches and attention on a Gaudi, through SynapseAI.
//!
//! [`Hpu`] runs caches and attention as compiled graphs on a device. What each computes is what
//! [`emulated`](super::emulated) defines in its exact mode, step by step; `docs/on-device.md` lists the graphs, the shapes
//! that they are compiled for, and how data is known to have arrived. Nothing here falls back to the CPU.

mod attention;
mod buckets;
mod device;
mod device_types;
mod engine;
mod error;
mod graph;
mod held;
mod kernels;
mod options;
mod plane;
mod planes;
mod probe;
mod project;
mod recipes;
mod reports;
mod session;
mod synapse;

pub use device::Hpu;
pub use error::{CallFailure, HpuError};
pub use kernels::KernelChoice;
pub use options::{HpuOptions, MODULE_ENV};
pub use plane::HpuPlane;
pub use probe::ProbeAnswer;
pub use recipes::{RECIPE_CACHE_ENV, RecipeFolder, RecipeStatistics};
pub use reports::{LibraryReport, ModuleReport, reported_generation, reported_modules};
