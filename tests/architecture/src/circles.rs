//! Circles in a graph: its strongly connected components of more than one node.

use std::collections::{BTreeMap, BTreeSet};

/// Nodes with the nodes that each leads to.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The circles of a graph, each with all nodes that lead to each other.
pub fn find(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reach: BTreeMap<_, _> = graph.keys().map(|node| (node, reachable(graph, node))).collect();
    let mut circles: Vec<BTreeSet<String>> = Vec::new();
    for node in graph.keys() {
        if reach[node].contains(node) && !circles.iter().any(|circle| circle.contains(node)) {
            let of = |other: &&String| reach.get(other).is_some_and(|back| back.contains(node));
            circles.push(reach[node].iter().filter(of).cloned().collect());
        }
    }
    circles
}

fn reachable(graph: &Graph, start: &String) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        for next in graph.get(node).into_iter().flatten() {
            if found.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    found
}

#[test]
fn a_circle_has_the_nodes_that_lead_to_each_other() {
    let graph: Graph = [("a", "b"), ("b", "cd"), ("c", "a"), ("d", "e"), ("e", "")]
        .into_iter()
        .map(|(node, next)| (node.to_string(), next.chars().map(String::from).collect()))
        .collect();
    let circle = ["a", "b", "c"].map(String::from).into_iter().collect();
    assert_eq!(find(&graph), vec![circle]);
}
