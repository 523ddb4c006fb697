//! The engine, recipes and kernels that one call on a device works with.

use super::engine::Engine;
use super::kernels::Kernels;
use super::recipes::Recipes;
use crate::Generation;

/// A device while one call has it to itself.
pub(super) struct Session<'a> {
    pub(super) generation: Generation,
    pub(super) engine: &'a mut Engine,
    pub(super) recipes: &'a Recipes,
    pub(super) kernels: &'a Kernels,
}
