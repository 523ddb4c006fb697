//! What lives from `synInitialize` to `synDestroy`.

pub(crate) mod library;
mod registry;
pub(crate) mod runtime;
