//! Graphs as data: tensors, and the nodes between them.
//!
//! A description says everything that a compiler is told, so its text is the key of the recipe that comes out. Shapes are
//! written with the outermost dimension first, as everywhere in this crate; [`TensorSpec::fcd_sizes`] is the one place where
//! they are turned into the library's order, the fastest-changing dimension first.

use std::fmt::Write;

use super::dtype::Dtype;
use super::node::NodeSpec;
use super::params::Params;
use super::tensor::{TensorId, TensorRole, TensorSpec};

/// A graph's description: what a recipe is compiled from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GraphSpec {
    /// The family of recipes that it belongs to.
    pub(crate) family: &'static str,
    /// Whether the compiler is told that it is for inference.
    pub(crate) is_for_inference: bool,
    pub(crate) tensors: Vec<TensorSpec>,
    pub(crate) nodes: Vec<NodeSpec>,
}

impl GraphSpec {
    pub(crate) const fn new(family: &'static str) -> Self {
        Self { family, is_for_inference: true, tensors: Vec::new(), nodes: Vec::new() }
    }

    fn tensor(&mut self, name: &str, dtype: Dtype, shape: &[usize], role: TensorRole) -> TensorId {
        let (name, shape) = (name.to_owned(), shape.to_vec());
        self.tensors.push(TensorSpec { name, dtype, shape, min_shape: None, role });
        TensorId(self.tensors.len() - 1)
    }

    /// Adds an operand by the name that a launch gives it.
    pub(crate) fn input(&mut self, name: &str, dtype: Dtype, shape: &[usize]) -> TensorId {
        self.tensor(name, dtype, shape, TensorRole::Input)
    }

    /// Adds an operand whose elements are part of the graph.
    pub(crate) fn constant(&mut self, name: &str, dtype: Dtype, shape: &[usize], bytes: Vec<u8>) -> TensorId {
        self.tensor(name, dtype, shape, TensorRole::Constant(bytes))
    }

    /// Lets launches have any shape from `min_shape` to the tensor's own.
    pub(crate) fn make_dynamic(&mut self, id: TensorId, min_shape: &[usize]) {
        self.tensors[id.0].min_shape = Some(min_shape.to_vec());
    }

    pub(crate) fn spec(&self, id: TensorId) -> &TensorSpec {
        &self.tensors[id.0]
    }

    fn add(&mut self, guid: String, inputs: &[TensorId], output: TensorId, params: Params) {
        self.nodes.push(NodeSpec { guid, inputs: inputs.to_vec(), output, params });
    }

    /// Adds a node whose result stays inside.
    pub(crate) fn node(
        &mut self,
        guid: &str,
        inputs: &[TensorId],
        params: Params,
        dtype: Dtype,
        shape: &[usize],
    ) -> TensorId {
        let name = format!("t{}", self.tensors.len());
        let output = self.tensor(&name, dtype, shape, TensorRole::Inner);
        self.add(guid.to_owned(), inputs, output, params);
        output
    }

    /// Adds an elementwise node of `<op>_fwd_<dtype>`, whose result has the shape of `inputs`, dimensions of 1 broadcast.
    pub(crate) fn elementwise(&mut self, op: &str, dtype: Dtype, inputs: &[TensorId]) -> TensorId {
        let rank = inputs.iter().map(|id| self.spec(*id).shape.len()).max().unwrap_or(0);
        let mut shape = vec![1; rank];
        for id in inputs {
            let operand = &self.spec(*id).shape;
            for (size, other) in shape.iter_mut().rev().zip(operand.iter().rev()) {
                *size = (*size).max(*other);
            }
        }
        self.node(&format!("{op}_fwd_{}", dtype.suffix()), inputs, Params::none(), dtype, &shape)
    }

    /// Converts elements to another type, rounding to nearest even.
    pub(crate) fn cast(&mut self, input: TensorId, to: Dtype) -> TensorId {
        let TensorSpec { dtype, shape, .. } = self.spec(input).clone();
        let guid = format!("cast_{}_to_{}", dtype.suffix(), to.suffix());
        self.node(&guid, &[input], Params::round_to_nearest(), to, &shape)
    }

    /// Gives elements another shape; a node is added only where it differs.
    pub(crate) fn reshape(&mut self, input: TensorId, shape: &[usize]) -> TensorId {
        let dtype = self.spec(input).dtype;
        if self.spec(input).shape == shape {
            return input;
        }
        self.node("reshape", &[input], Params::none(), dtype, shape)
    }

    /// Takes the bits of elements for those of another type of that size.
    pub(crate) fn reinterpret(&mut self, input: TensorId, to: Dtype) -> TensorId {
        let TensorSpec { dtype, shape, .. } = self.spec(input).clone();
        if dtype == to {
            return input;
        }
        self.node("reinterpret_cast", &[input], Params::none(), to, &shape)
    }

    /// Gathers rows `[indices, row]` of `data [rows, row]`.
    pub(crate) fn gather_rows(&mut self, data: TensorId, indices: TensorId) -> TensorId {
        let (dtype, row) = (self.spec(data).dtype, self.spec(data).shape[1]);
        let count = self.spec(indices).elements();
        let guid = format!("gather_fwd_{}", dtype.suffix());
        // The outer of two dimensions is the library's axis 1.
        self.node(&guid, &[data, indices], Params::gather(1), dtype, &[count, row])
    }

    /// Puts `source [indices, row]` at rows of `data [rows, row]`, in its memory.
    pub(crate) fn index_copy_in_place(
        &mut self,
        name: &str,
        data: TensorId,
        indices: TensorId,
        source: TensorId,
    ) {
        let guid = format!("index_copy_fwd_{}", self.spec(data).dtype.suffix());
        // This axis counts from the outermost dimension.
        self.node_in_place(&guid, name, &[data, indices, source], Params::index_copy(0));
    }

    /// Adds a node that changes its first operand in the operand's memory.
    pub(crate) fn node_in_place(&mut self, guid: &str, name: &str, inputs: &[TensorId], params: Params) {
        let TensorSpec { dtype, shape, .. } = self.spec(inputs[0]).clone();
        let output = self.tensor(name, dtype, &shape, TensorRole::InPlaceOf(inputs[0]));
        self.add(guid.to_owned(), inputs, output, params);
    }

    /// Makes the result of the last node a result of the graph.
    pub(crate) fn output(&mut self, id: TensorId, name: &str) {
        let spec = &mut self.tensors[id.0];
        spec.role = TensorRole::Output;
        name.clone_into(&mut spec.name);
    }

    /// The whole graph as text, one line for each tensor or node: equal texts are equal graphs.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{} inference {}\n", self.family, self.is_for_inference);
        for TensorSpec { name, dtype, shape, min_shape, role } in &self.tensors {
            let _ = writeln!(text, "{name} {} {shape:?} {min_shape:?} {role:?}", dtype.suffix());
        }
        for NodeSpec { guid, inputs, output, params } in &self.nodes {
            let inputs: Vec<usize> = inputs.iter().map(|id| id.0).collect();
            let _ = writeln!(text, "{guid} {inputs:?} {} {:?}", output.0, params.bytes());
        }
        text
    }

    /// The tensors that a launch names.
    pub(crate) fn launched(&self) -> impl Iterator<Item = &TensorSpec> {
        self.tensors.iter().filter(|spec| !matches!(spec.role, TensorRole::Inner | TensorRole::Constant(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(family: &'static str, rows: usize) -> GraphSpec {
        let mut graph = GraphSpec::new(family);
        let a = graph.input("a", Dtype::F32, &[rows, 1, 4]);
        let b = graph.input("b", Dtype::F32, &[3, 1]);
        let c = graph.elementwise("add", Dtype::F32, &[a, b]);
        graph.output(c, "c");
        graph
    }

    #[test]
    fn sizes_of_one_broadcast_and_the_fastest_dimension_is_named_first() {
        let graph = sum("sum", 2);
        let out = &graph.tensors[2];
        assert_eq!((out.shape.as_slice(), out.fcd_sizes()), (&[2, 3, 4][..], vec![4, 3, 2]));
        assert_eq!(graph.nodes[0].guid, "add_fwd_f32");
    }

    #[test]
    fn a_text_tells_graphs_apart() {
        assert_eq!(sum("sum", 2).text(), sum("sum", 2).text());
        assert_ne!(sum("sum", 2).text(), sum("sum", 3).text());
        assert_ne!(sum("sum", 2).text(), sum("other", 2).text());
        let mut training = sum("sum", 2);
        training.is_for_inference = false;
        assert_ne!(sum("sum", 2).text(), training.text());
        let constant = |bytes: [u8; 4]| {
            let mut graph = GraphSpec::new("constant");
            graph.constant("c", Dtype::F32, &[1], bytes.to_vec());
            graph
        };
        assert_ne!(constant([0; 4]).text(), constant([1; 4]).text());
        assert_eq!(constant([0; 4]).launched().count(), 0, "a launch does not name it");
    }
}
