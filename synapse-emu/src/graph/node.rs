//! Nodes of a graph.

use std::sync::Arc;

use crate::node::operation::Operation;

/// A node of a graph. Its id is its index in the graph plus one.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) guid: String,
    pub(crate) name: String,
    pub(crate) operation: Arc<dyn Operation>,
    pub(crate) params: Vec<u8>,
    /// Indices of tensors; `None` where the node leaves one out.
    pub(crate) inputs: Vec<Option<usize>>,
    pub(crate) outputs: Vec<Option<usize>>,
    /// Indices of nodes that come first by the user's word.
    pub(crate) after: Vec<usize>,
    pub(crate) is_deterministic: bool,
}

/// What is asked for when a node is created.
pub(crate) struct NodeRequest<'a> {
    pub(crate) guid: &'a str,
    pub(crate) name: &'a str,
    pub(crate) params: &'a [u8],
    pub(crate) inputs: Vec<Option<usize>>,
    pub(crate) outputs: Vec<Option<usize>>,
}
