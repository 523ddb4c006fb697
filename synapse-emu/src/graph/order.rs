//! The order of a graph's nodes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use habana_sys::synStatus;

use super::builder::Graph;
use super::node::Node;
use crate::log;
use crate::outcome::Outcome;

/// Which nodes come before which.
pub(super) struct Order {
    /// All nodes, each after those that it needs; in order of creation where that leaves a choice.
    pub(super) nodes: Vec<usize>,
    /// By node: a bit for each node that must come before it.
    before: Vec<Vec<u64>>,
}

impl Order {
    /// `synFail` where nodes wait for each other in a circle.
    pub(super) fn new(graph: &Graph) -> Outcome<Self> {
        let needs = needs(graph);
        let mut followers = vec![Vec::new(); needs.len()];
        let mut missing: Vec<_> = needs.iter().map(Vec::len).collect();
        for (node, needed) in needs.iter().enumerate() {
            needed.iter().for_each(|&earlier| followers[earlier].push(node));
        }
        let ready = |(node, &missing): (usize, &usize)| (missing == 0).then_some(Reverse(node));
        let mut ready: BinaryHeap<_> = missing.iter().enumerate().filter_map(ready).collect();
        let mut nodes = Vec::with_capacity(needs.len());
        let mut before = vec![vec![0; needs.len().div_ceil(64)]; needs.len()];
        while let Some(Reverse(node)) = ready.pop() {
            nodes.push(node);
            for &follower in &followers[node] {
                let mut known = before[node].clone();
                known[node / 64] |= 1 << (node % 64);
                before[follower].iter_mut().zip(known).for_each(|(bits, new)| *bits |= new);
                missing[follower] -= 1;
                if missing[follower] == 0 {
                    ready.push(Reverse(follower));
                }
            }
        }
        if nodes.len() < needs.len() {
            return Err(log::refusal(synStatus::synFail, "nodes wait for each other in a circle"));
        }
        Ok(Self { nodes, before })
    }

    /// Whether two nodes are one, or one of them must come before the other.
    pub(super) fn is_ordered(&self, a: usize, b: usize) -> bool {
        let is_before = |a: usize, b: usize| self.before[b][a / 64] >> (a % 64) & 1 == 1;
        a == b || is_before(a, b) || is_before(b, a)
    }
}

/// By node: the nodes that it needs, each once.
fn needs(graph: &Graph) -> Vec<Vec<usize>> {
    let mut producers = HashMap::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        producers.extend(node.outputs.iter().flatten().map(|&tensor| (tensor, index)));
    }
    let needs = |node: &Node| {
        let of_data = node.inputs.iter().flatten().filter_map(|tensor| producers.get(tensor).copied());
        let mut needed: Vec<_> = of_data.chain(node.after.iter().copied()).collect();
        needed.sort_unstable();
        needed.dedup();
        needed
    };
    graph.nodes.iter().map(needs).collect()
}
