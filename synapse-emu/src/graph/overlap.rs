//! Tensors that share memory.

use habana_sys::synStatus;

use super::builder::Graph;
use super::node::Node;
use super::order::Order;
use super::tensor::Tensor;
use crate::log;
use crate::outcome::Outcome;

/// Which nodes use a tensor.
struct Uses {
    reads: Vec<usize>,
    writes: Vec<usize>,
}

fn uses(graph: &Graph, tensor: usize) -> Uses {
    let using = |list: fn(&Node) -> &[Option<usize>]| {
        let has = |&(_, node): &(usize, &Node)| list(node).contains(&Some(tensor));
        graph.nodes.iter().enumerate().filter(has).map(|(index, _)| index).collect()
    };
    Uses { reads: using(|node| &node.inputs), writes: using(|node| &node.outputs) }
}

/// Tensors that share memory must be used in an order that the graph fixes, else `synFail`.
pub(super) fn check(graph: &Graph, order: &Order) -> Outcome {
    let mut placed: Vec<_> = graph
        .tensors
        .iter()
        .enumerate()
        .filter_map(|(index, tensor)| tensor.section.map(|(section, offset)| (section, offset, index)))
        .collect();
    placed.sort_unstable();
    for (position, &(section, offset, index)) in placed.iter().enumerate() {
        let tensor = &graph.tensors[index];
        let end = offset.checked_add(tensor.bytes()).ok_or_else(|| {
            log::refusal(synStatus::synFail, format_args!("`{}` is too large", tensor.name))
        })?;
        let overlapping =
            placed[position + 1..].iter().take_while(|&&(other, start, _)| other == section && start < end);
        for &(_, _, other) in overlapping {
            check_pair(graph, order, (index, tensor), (other, &graph.tensors[other]))?;
        }
    }
    Ok(())
}

fn check_pair(
    graph: &Graph,
    order: &Order,
    (a, tensor_a): (usize, &Tensor),
    (b, tensor_b): (usize, &Tensor),
) -> Outcome {
    let (a, b) = (uses(graph, a), uses(graph, b));
    let ordered = |from: &[usize], to: &[usize]| {
        from.iter().all(|&first| to.iter().all(|&second| order.is_ordered(first, second)))
    };
    if ordered(&a.writes, &b.writes) && ordered(&a.writes, &b.reads) && ordered(&a.reads, &b.writes) {
        return Ok(());
    }
    let reason = format_args!(
        "`{}` and `{}` overlap, and nothing orders the nodes that use them",
        tensor_a.name, tensor_b.name
    );
    Err(log::refusal(synStatus::synFail, reason))
}
