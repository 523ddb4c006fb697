//! Recipes: compiling graphs, and keeping what was compiled in memory and in files.

mod compile;
mod compiled;
mod files;
mod folder;
mod registry;

pub(super) use compile::compile;
pub(super) use compiled::Compiled;
pub(super) use files::RecipeFiles;
pub use folder::{RECIPE_CACHE_ENV, RecipeFolder};
pub use registry::RecipeStatistics;
pub(super) use registry::Recipes;
