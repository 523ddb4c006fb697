//! Graphs as they are built, and how they become recipes.

mod add_node;
pub(crate) mod builder;
mod compile;
pub(crate) mod handles;
pub(crate) mod node;
mod order;
mod overlap;
pub(crate) mod section;
pub(crate) mod tensor;
mod workspace;
