//! Graphs as data: tensors, and the nodes between them.
//!
//! A description says everything that a compiler is told, so its text is the key of the recipe that comes out. Shapes are
//! written with the outermost dimension first, as everywhere in this crate; [`Spec::fcd_sizes`] is the one place where
//! they are turned into the library's order, the fastest-changing dimension first.

pub(super) mod attend;
pub(super) mod copy;
mod params;
pub(super) mod project;
pub(super) mod read;
pub(super) mod write;

use std::fmt::Write;

pub(super) use params::Params;

/// Element types that graphs here use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Dtype {
    I8,
    I32,
    Bf16,
    F32,
    /// e4m3 at exponent bias 7.
    Fp8,
}

impl Dtype {
    /// The size of an element.
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::Fp8 => 1,
            Self::Bf16 => 2,
            Self::I32 | Self::F32 => 4,
        }
    }

    /// As guids end.
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::I32 => "i32",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::Fp8 => "hf8",
        }
    }
}

/// Where a tensor's elements are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// In device memory that the launch names: an operand.
    Input,
    /// In device memory that the launch names: a result.
    Output,
    /// In the memory of an operand, which a node changes in place.
    InPlaceOf(Id),
    /// Wherever the compiler puts it.
    Inner,
    /// In the recipe: these bytes.
    Constant(Vec<u8>),
}

/// A tensor of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Id(usize);

/// A tensor's description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spec {
    pub(super) name: String,
    pub(super) dtype: Dtype,
    /// The outermost dimension first.
    pub(super) shape: Vec<usize>,
    /// The smallest shape, where launches may have different ones.
    pub(super) min_shape: Option<Vec<usize>>,
    pub(super) place: Place,
}

impl Spec {
    /// Sizes in the library's order, the fastest-changing dimension first.
    pub(super) fn fcd_sizes(&self) -> Vec<usize> {
        self.shape.iter().rev().copied().collect()
    }

    /// The smallest of those.
    pub(super) fn fcd_min_sizes(&self) -> Option<Vec<usize>> {
        self.min_shape.as_ref().map(|shape| shape.iter().rev().copied().collect())
    }

    pub(super) fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    pub(super) fn bytes(&self) -> usize {
        self.elements() * self.dtype.bytes()
    }
}

/// A node's description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) guid: String,
    pub(super) inputs: Vec<Id>,
    pub(super) output: Id,
    pub(super) params: Params,
}

impl Node {
    /// Whether the order of additions must not depend on how work is split.
    pub(super) fn is_product(&self) -> bool {
        matches!(self.guid.as_str(), "gemm" | "batch_gemm")
    }
}

/// A graph: what a recipe is compiled from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Graph {
    /// The family of recipes that it belongs to.
    pub(super) family: &'static str,
    /// Whether the compiler is told that it is for inference.
    pub(super) is_for_inference: bool,
    pub(super) tensors: Vec<Spec>,
    pub(super) nodes: Vec<Node>,
}

impl Graph {
    pub(super) const fn new(family: &'static str) -> Self {
        Self { family, is_for_inference: true, tensors: Vec::new(), nodes: Vec::new() }
    }

    fn tensor(&mut self, name: &str, dtype: Dtype, shape: &[usize], place: Place) -> Id {
        let (name, shape) = (name.to_owned(), shape.to_vec());
        self.tensors.push(Spec { name, dtype, shape, min_shape: None, place });
        Id(self.tensors.len() - 1)
    }

    /// An operand by the name that a launch gives it.
    pub(super) fn input(&mut self, name: &str, dtype: Dtype, shape: &[usize]) -> Id {
        self.tensor(name, dtype, shape, Place::Input)
    }

    /// An operand whose elements are part of the graph.
    pub(super) fn constant(&mut self, name: &str, dtype: Dtype, shape: &[usize], bytes: Vec<u8>) -> Id {
        self.tensor(name, dtype, shape, Place::Constant(bytes))
    }

    /// Lets launches have any shape from `min_shape` to the tensor's own.
    pub(super) fn make_dynamic(&mut self, id: Id, min_shape: &[usize]) {
        self.tensors[id.0].min_shape = Some(min_shape.to_vec());
    }

    pub(super) fn spec(&self, id: Id) -> &Spec {
        &self.tensors[id.0]
    }

    fn add(&mut self, guid: String, inputs: &[Id], output: Id, params: Params) {
        self.nodes.push(Node { guid, inputs: inputs.to_vec(), output, params });
    }

    /// A node whose result stays inside.
    pub(super) fn node(
        &mut self,
        guid: &str,
        inputs: &[Id],
        params: Params,
        dtype: Dtype,
        shape: &[usize],
    ) -> Id {
        let name = format!("t{}", self.tensors.len());
        let output = self.tensor(&name, dtype, shape, Place::Inner);
        self.add(guid.to_owned(), inputs, output, params);
        output
    }

    /// An elementwise node of `<op>_fwd_<dtype>`, whose result has the shape of `inputs`, dimensions of 1 broadcast.
    pub(super) fn elementwise(&mut self, op: &str, dtype: Dtype, inputs: &[Id]) -> Id {
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

    /// The same elements as another type.
    pub(super) fn cast(&mut self, input: Id, to: Dtype) -> Id {
        let Spec { dtype, shape, .. } = self.spec(input).clone();
        let guid = format!("cast_{}_to_{}", dtype.suffix(), to.suffix());
        self.node(&guid, &[input], Params::round_to_nearest(), to, &shape)
    }

    /// The same elements in another shape.
    pub(super) fn reshape(&mut self, input: Id, shape: &[usize]) -> Id {
        let dtype = self.spec(input).dtype;
        if self.spec(input).shape == shape {
            return input;
        }
        self.node("reshape", &[input], Params::none(), dtype, shape)
    }

    /// The same bits as a type of the same size.
    pub(super) fn reinterpret(&mut self, input: Id, to: Dtype) -> Id {
        let Spec { dtype, shape, .. } = self.spec(input).clone();
        if dtype == to {
            return input;
        }
        self.node("reinterpret_cast", &[input], Params::none(), to, &shape)
    }

    /// Rows `[indices, row]` of `data [rows, row]`.
    pub(super) fn gather_rows(&mut self, data: Id, indices: Id) -> Id {
        let (dtype, row) = (self.spec(data).dtype, self.spec(data).shape[1]);
        let count = self.spec(indices).elements();
        let guid = format!("gather_fwd_{}", dtype.suffix());
        // The outer of two dimensions is the library's axis 1.
        self.node(&guid, &[data, indices], Params::gather(1), dtype, &[count, row])
    }

    /// Puts `source [indices, row]` at rows of `data [rows, row]`, in its memory.
    pub(super) fn index_copy_in_place(&mut self, name: &str, data: Id, indices: Id, source: Id) {
        let guid = format!("index_copy_fwd_{}", self.spec(data).dtype.suffix());
        // This axis counts from the outermost dimension.
        self.node_in_place(&guid, name, &[data, indices, source], Params::index_copy(0));
    }

    /// A node that changes its first operand in the operand's memory.
    pub(super) fn node_in_place(&mut self, guid: &str, name: &str, inputs: &[Id], params: Params) {
        let Spec { dtype, shape, .. } = self.spec(inputs[0]).clone();
        let output = self.tensor(name, dtype, &shape, Place::InPlaceOf(inputs[0]));
        self.add(guid.to_owned(), inputs, output, params);
    }

    /// Makes the result of the last node a result of the graph.
    pub(super) fn output(&mut self, id: Id, name: &str) {
        let spec = &mut self.tensors[id.0];
        spec.place = Place::Output;
        name.clone_into(&mut spec.name);
    }

    /// The whole graph as text, one line a tensor or node: equal texts are equal graphs.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{} inference {}\n", self.family, self.is_for_inference);
        for Spec { name, dtype, shape, min_shape, place } in &self.tensors {
            let _ = writeln!(text, "{name} {} {shape:?} {min_shape:?} {place:?}", dtype.suffix());
        }
        for Node { guid, inputs, output, params } in &self.nodes {
            let inputs: Vec<usize> = inputs.iter().map(|id| id.0).collect();
            let _ = writeln!(text, "{guid} {inputs:?} {} {:?}", output.0, params.bytes());
        }
        text
    }

    /// A tensor that a launch names.
    pub(super) fn launched(&self) -> impl Iterator<Item = &Spec> {
        self.tensors.iter().filter(|spec| !matches!(spec.place, Place::Inner | Place::Constant(_)))
    }
}

impl Id {
    /// Its place in [`Graph::tensors`].
    pub(super) const fn index(self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(family: &'static str, rows: usize) -> Graph {
        let mut graph = Graph::new(family);
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
            let mut graph = Graph::new("constant");
            graph.constant("c", Dtype::F32, &[1], bytes.to_vec());
            graph
        };
        assert_ne!(constant([0; 4]).text(), constant([1; 4]).text());
        assert_eq!(constant([0; 4]).launched().count(), 0, "a launch does not name it");
    }
}
