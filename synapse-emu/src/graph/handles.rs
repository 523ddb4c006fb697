//! What handles of tensors and sections name: a place in a graph.

use std::sync::{Arc, Mutex};

use super::builder::Graph;

/// A tensor, as its handle names it.
pub(crate) struct TensorRef {
    pub(crate) graph: Arc<Mutex<Graph>>,
    pub(crate) index: usize,
}

/// A section, as its handle names it.
pub(crate) struct SectionRef {
    pub(crate) graph: Arc<Mutex<Graph>>,
    pub(crate) index: usize,
}
