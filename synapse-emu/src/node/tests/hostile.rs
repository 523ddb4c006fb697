//! Whatever a node is made of, it is refused, fails its launch, or gives a result.

use proptest::prelude::*;

use super::{Failure, GAUDI2, GAUDI3, Tensor, machine, node, words};
use crate::node::machine::Machine;
use crate::node::operation::Checked;
use crate::node::spec::DataType::{
    self, Bf16, F16, F32, Fp8_143, Fp8_152, I8, I16, I32, I64, U8, U16, U32, U64,
};

type Operand = (DataType, Vec<usize>);

/// A node that the compiler takes.
#[derive(Debug, Clone)]
struct Node {
    guid: &'static str,
    operands: [Vec<Option<Operand>>; 2],
    params: Vec<u8>,
}

fn takes(
    guid: &'static str,
    inputs: &[(DataType, &[usize])],
    outputs: &[(DataType, &[usize])],
    params: &[u8],
) -> Node {
    let owned = |operands: &[(DataType, &[usize])]| {
        operands.iter().map(|(dtype, sizes)| Some((*dtype, sizes.to_vec()))).collect()
    };
    Node { guid, operands: [owned(inputs), owned(outputs)], params: params.to_vec() }
}

/// At least one node of each family.
fn nodes() -> Vec<Node> {
    let mut nodes = kernels();
    nodes.extend(products());
    nodes
}

/// Nodes of the families that are no products.
fn kernels() -> Vec<Node> {
    let slice = words(&[0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 3, 2, 0, 0, 0, 2, 1, 0, 0, 0]);
    let x = (F32, &[3, 2][..]);
    vec![
        takes("memcpy", &[(I64, &[3, 2])], &[(I64, &[3, 2])], &[]),
        takes("reshape", &[(Bf16, &[3, 2])], &[(Bf16, &[2, 1, 3])], &[]),
        takes("flatten", &[(U8, &[3, 2, 2])], &[(U8, &[3, 4])], &words(&[0])),
        takes("expand_dims", &[x], &[(F32, &[3, 1, 2])], &words(&[1])),
        takes("squeeze", &[(F32, &[3, 1, 2])], &[x], &words(&[1])),
        takes("squeeze", &[(F32, &[1, 1])], &[(F32, &[1])], &[]),
        takes("reinterpret_cast", &[x], &[(I16, &[6, 2])], &[]),
        takes("transpose", &[x], &[(F32, &[2, 3])], &words(&[1, 0, 0, 0, 0, 2])),
        takes("broadcast", &[(F32, &[1, 2])], &[x], &[]),
        takes("slice", &[x], &[(F32, &[1, 2])], &slice),
        takes("slice_axis", &[x], &[(F32, &[2, 2])], &words(&[0, 1, 3])),
        takes("concat", &[x, (F32, &[3, 1])], &[(F32, &[3, 3])], &words(&[1])),
        takes("split", &[x], &[(F32, &[1, 2]), (F32, &[2, 2])], &words(&[0])),
        takes("memset", &[], &[x], &[]),
        takes("constant_bf16", &[], &[(Bf16, &[3])], &words(&[7])),
        takes("add_fwd_f32", &[x, (F32, &[1, 2])], &[x], &[]),
        takes("mult_fwd_i32", &[(I32, &[3]), (I32, &[1, 2])], &[(I32, &[3, 2])], &[]),
        takes("exp_fwd_bf16", &[(Bf16, &[3])], &[(Bf16, &[3])], &[]),
        takes("less_fwd_f32", &[x, x], &[(I8, &[3, 2])], &[]),
        takes("where_fwd_f32", &[(I8, &[1, 2]), x, (F32, &[3])], &[x], &[]),
        takes("reduce_sum_fwd_f32", &[x], &[(F32, &[3, 1])], &words(&[1])),
        takes("reduce_max_multi_dim_fwd_f32", &[x], &[(F32, &[3])], &words(&[2, 0])),
        takes("softmax_fwd_f32", &[x], &[x], &words(&[1, 0, 0, 0, 0, 0])),
        takes("rms_norm_fwd_f32", &[x, (F32, &[3])], &[x, (F32, &[1, 2])], &words(&[1, 0, 1, 1, 1, 0])),
        takes("gather_fwd_f32", &[x, (I32, &[4])], &[(F32, &[3, 4])], &words(&[1])),
        takes("index_copy_fwd_f32", &[x, (I32, &[1]), (F32, &[3, 1])], &[x], &words(&[0])),
        takes("scatter_nd_update_fwd_f32", &[x, (I32, &[1, 2]), x], &[x], &words(&[0])),
        takes("scatter_nd_onnx_fwd_i8", &[(I8, &[3, 2]), (I32, &[2, 4]), (I8, &[4])], &[(I8, &[3, 2])], &[]),
        takes("convert_to_fp8_bf16", &[(Bf16, &[3, 2]), x], &[(Fp8_143, &[3, 2]), (F32, &[1])], &[]),
        takes("convert_from_fp8_f32", &[(Fp8_143, &[3, 2]), (Bf16, &[1, 2])], &[x], &[]),
        takes("cast_f32_to_bf16", &[x], &[(Bf16, &[3, 2])], &words(&[4])),
        takes("cast_bf16_to_hf8", &[(Bf16, &[3])], &[(Fp8_143, &[3])], &words(&[0, 0, 1])),
        takes("cast_f32_to_i8", &[x], &[(I8, &[3, 2])], &words(&[1])),
        takes("cast_i32_to_u16", &[(I32, &[3])], &[(U16, &[3])], &words(&[0, 0, 1])),
        takes("cast_f8_to_f32", &[(Fp8_152, &[3])], &[(F32, &[3])], &[]),
    ]
}

/// Products and attention.
fn products() -> Vec<Node> {
    let sdpa = words(&[1f32.to_bits(), 1, 0, 0, 0, 1, 0, 0]);
    let x = (F32, &[3, 2][..]);
    vec![
        takes("gemm", &[x, x, (F32, &[2])], &[(F32, &[2, 2])], &[0, 1]),
        takes("batch_gemm", &[(Bf16, &[2, 3, 1, 2]), (Bf16, &[4, 3, 2])], &[(Bf16, &[4, 2, 2, 2])], &[1, 0]),
        takes(
            "fp8_gemm_hf8",
            &[
                (Fp8_143, &[3, 2]),
                (Fp8_143, &[3, 4]),
                (F32, &[2]),
                (F32, &[4]),
                (F32, &[4]),
                (F32, &[4, 2]),
                (F32, &[1]),
            ],
            &[(Fp8_143, &[4, 2])],
            &[0, 1],
        ),
        takes(
            "sdpa_fwd_bf16",
            &[(Bf16, &[2, 3, 4]), (Bf16, &[2, 5, 2]), (Bf16, &[3, 5, 1]), (F32, &[5, 3])],
            &[(Bf16, &[3, 3, 4]), (F32, &[1, 3, 4]), (Bf16, &[1, 3, 4])],
            &sdpa,
        ),
        takes(
            "sdpa_recomp_fwd_hf8",
            &[(Fp8_143, &[2, 3]), (Fp8_143, &[2, 5]), (Fp8_143, &[3, 5])],
            &[(Bf16, &[3, 3])],
            &sdpa,
        ),
    ]
}

/// What is done to a node.
#[derive(Debug, Clone)]
enum Change {
    Size { output: bool, operand: usize, dim: usize, size: usize },
    NewDim { output: bool, operand: usize, size: usize },
    NoDim { output: bool, operand: usize },
    Dtype { output: bool, operand: usize, dtype: DataType },
    Missing { output: bool, operand: usize },
    One { operand: Operand },
    Word { word: usize, value: u32 },
    Params { len: usize },
}

const DTYPES: [DataType; 13] = [F32, Bf16, I32, Fp8_143, I8, U8, I16, U16, U32, I64, U64, F16, Fp8_152];

fn changes() -> impl Strategy<Value = Change> {
    let operand = || (any::<bool>(), 0usize..4);
    let size = || prop_oneof![6 => 0usize..5, 1 => Just(1usize << 40), 1 => Just(usize::MAX)];
    let dtype = || proptest::sample::select(&DTYPES[..]);
    let value = prop_oneof![6 => 0u32..5, 1 => any::<u32>(), 1 => Just(u32::MAX)];
    prop_oneof![
        (operand(), 0usize..4, size()).prop_map(|((output, operand), dim, size)| Change::Size {
            output,
            operand,
            dim,
            size
        }),
        (operand(), size()).prop_map(|((output, operand), size)| Change::NewDim { output, operand, size }),
        operand().prop_map(|(output, operand)| Change::NoDim { output, operand }),
        (operand(), dtype()).prop_map(|((output, operand), dtype)| Change::Dtype { output, operand, dtype }),
        operand().prop_map(|(output, operand)| Change::Missing { output, operand }),
        (dtype(), proptest::collection::vec(0usize..4, 0..4)).prop_map(|operand| Change::One { operand }),
        (0usize..26, value).prop_map(|(word, value)| Change::Word { word, value }),
        (0usize..110).prop_map(|len| Change::Params { len }),
    ]
}

impl Node {
    fn operand(&mut self, output: bool, number: usize) -> Option<&mut Option<Operand>> {
        let list = &mut self.operands[usize::from(output)];
        let len = list.len().max(1);
        list.get_mut(number % len)
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Size { output, operand: number, dim, size } => {
                if let Some(Some((_, sizes))) = self.operand(output, number)
                    && let Some(place) = sizes.get_mut(dim)
                {
                    *place = size;
                }
            }
            Change::NewDim { output, operand: number, size } => {
                if let Some(Some((_, sizes))) = self.operand(output, number) {
                    sizes.push(size);
                }
            }
            Change::NoDim { output, operand: number } => {
                if let Some(Some((_, sizes))) = self.operand(output, number) {
                    sizes.pop();
                }
            }
            Change::Dtype { output, operand: number, dtype } => {
                if let Some(Some((old, _))) = self.operand(output, number) {
                    *old = dtype;
                }
            }
            Change::Missing { output, operand: number } => {
                if let Some(place) = self.operand(output, number) {
                    *place = None;
                }
            }
            Change::One { operand } => self.operands[0].push(Some(operand)),
            Change::Word { word, value } => {
                if let Some(place) = self.params.chunks_mut(4).nth(word) {
                    let len = place.len();
                    place.copy_from_slice(&value.to_le_bytes()[..len]);
                }
            }
            Change::Params { len } => self.params.resize(len, 0),
        }
    }

    /// Tensors of random bytes. Most elements are 0 or 1 in their bits, so that indices are often right. `None` where no memory
    /// holds one.
    fn tensors(&self, list: usize, mut state: u64, exp_bias: Option<u32>) -> Option<Vec<Option<Tensor>>> {
        let operands = self.operands[list].iter();
        operands
            .map(|operand| {
                let Some((dtype, sizes)) = operand else { return Some(None) };
                let count = sizes.iter().try_fold(1usize, |count, size| count.checked_mul(*size));
                count.filter(|count| *count < 10_000)?;
                let mut tensor = Tensor::zeros(*dtype, sizes);
                if let Some(exp_bias) = exp_bias {
                    tensor.spec.exp_bias = exp_bias;
                }
                for element in tensor.bytes_mut().chunks_exact_mut(dtype.bytes()) {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let is_small = state >> 61 != 0;
                    let bytes = if is_small { state >> 40 & 1 } else { state.swap_bytes() }.to_le_bytes();
                    element.copy_from_slice(&bytes[..element.len()]);
                }
                Some(Some(tensor))
            })
            .collect()
    }
}

#[test]
fn the_nodes_are_taken() {
    for template in nodes() {
        let inputs = template.tensors(0, 0, None).unwrap();
        let inputs: Vec<Option<Tensor>> = inputs
            .into_iter()
            .map(|tensor| tensor.map(|tensor| Tensor::zeros(tensor.spec.dtype, &tensor.spec.sizes)))
            .collect();
        let operands: Vec<Option<&Tensor>> = inputs.iter().map(Option::as_ref).collect();
        let outputs = template.tensors(1, 0, None).unwrap();
        let result = node(&machine(GAUDI2), template.guid, &operands, outputs, &template.params);
        assert!(result.is_ok(), "{}: {result:?}", template.guid);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_node_panics(
        mut changed in proptest::sample::select(nodes()),
        changes in proptest::collection::vec(changes(), 0..4),
        state: u64,
        exp_bias in proptest::option::weighted(0.1, 0u32..300),
        gaudi3: bool,
        has_hf8_kernels: bool,
    ) {
        let machine = Machine { has_hf8_kernels, ..machine(if gaudi3 { GAUDI3 } else { GAUDI2 }) };
        changes.into_iter().for_each(|change| changed.change(change));
        let (inputs, outputs) = (changed.tensors(0, state, exp_bias), changed.tensors(1, state, exp_bias));
        if let (Some(inputs), Some(outputs)) = (inputs, outputs) {
            let operands: Vec<Option<&Tensor>> = inputs.iter().map(Option::as_ref).collect();
            let result = node(&machine, changed.guid, &operands, outputs, &changed.params);
            if let Err(Failure::Refused(status, _)) = result {
                prop_assert!(matches!(status, 25 | 26), "{}", status);
            }
        } else {
            // Sizes that are too large for memory are looked at by the check alone.
            let specs = changed.operands.clone().map(|list| {
                let spec = |(dtype, sizes)| crate::node::spec::Spec { dtype, sizes, exp_bias: 7 };
                list.into_iter().map(|operand| operand.map(spec)).collect::<Vec<_>>()
            });
            let [inputs, outputs] = specs.each_ref().map(|list| list.iter().map(Option::as_ref).collect::<Vec<_>>());
            if let Some(operation) = crate::node::registry::find(changed.guid, &machine) {
                let node = Checked { machine: &machine, inputs: &inputs, outputs: &outputs, params: &changed.params };
                let _ = node.check_by(&*operation);
            }
        }
    }
}
