//! Tests of the nodes: tensors in memory, and nodes found by their guids.

mod arithmetic;
mod attention;
mod conversions;
mod hostile;
mod indexing;
mod layout;
mod products;
mod reductions;
mod refusals;
mod sdpa;

use bytemuck::Pod;
use gaudi_numerics::Generation;
use gaudi_numerics::Mode;
use half::bf16;

use super::machine::Machine;
use super::operation::{Checked, Input, Output, Running};
use super::registry::find;
use super::spec::{DataType, Spec};

/// A tensor whose elements lie at multiples of eight bytes.
#[derive(Debug, Clone)]
pub(super) struct Tensor {
    pub(super) spec: Spec,
    words: Vec<u64>,
}

impl Tensor {
    pub(super) fn zeros(dtype: DataType, sizes: &[usize]) -> Self {
        let exp_bias = if dtype == DataType::Fp8_143 { 7 } else { 15 };
        let spec = Spec { dtype, sizes: sizes.to_vec(), exp_bias };
        let words = vec![0; (spec.count() * dtype.bytes()).div_ceil(8)];
        Self { spec, words }
    }

    pub(super) fn new<T: Pod>(dtype: DataType, sizes: &[usize], elements: &[T]) -> Self {
        assert_eq!(dtype.bytes(), size_of::<T>());
        let mut tensor = Self::zeros(dtype, sizes);
        assert_eq!(tensor.spec.count(), elements.len(), "{sizes:?}");
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        tensor.bytes_mut().copy_from_slice(bytes);
        tensor
    }

    pub(super) fn f32(sizes: &[usize], values: &[f32]) -> Self {
        Self::new(DataType::F32, sizes, values)
    }

    pub(super) fn bf16(sizes: &[usize], values: &[f32]) -> Self {
        let values: Vec<bf16> = values.iter().map(|value| bf16::from_f32(*value)).collect();
        Self::new(DataType::Bf16, sizes, &values)
    }

    pub(super) fn i32(sizes: &[usize], values: &[i32]) -> Self {
        Self::new(DataType::I32, sizes, values)
    }

    pub(super) fn i8(sizes: &[usize], values: &[i8]) -> Self {
        Self::new(DataType::I8, sizes, values)
    }

    pub(super) fn hf8(sizes: &[usize], codes: &[u8]) -> Self {
        Self::new(DataType::Fp8_143, sizes, codes)
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let len = self.spec.count() * self.spec.dtype.bytes();
        &mut bytemuck::cast_slice_mut(&mut self.words)[..len]
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.spec.count() * self.spec.dtype.bytes()]
    }

    pub(super) fn elements<T: Pod>(&self) -> Vec<T> {
        bytemuck::cast_slice(self.bytes()).to_vec()
    }

    /// The elements of a bfloat16 or float32 tensor.
    pub(super) fn floats(&self) -> Vec<f32> {
        match self.spec.dtype {
            DataType::F32 => self.elements(),
            _ => self.elements::<bf16>().iter().map(|value| value.to_f32()).collect(),
        }
    }

    /// Gives its elements other sizes.
    pub(super) fn shaped(mut self, sizes: &[usize]) -> Self {
        assert_eq!(self.spec.count(), sizes.iter().product::<usize>());
        self.spec.sizes = sizes.to_vec();
        self
    }
}

pub(super) fn machine(generation: Generation) -> Machine {
    Machine {
        generation,
        mode: Mode::Exact,
        is_inference: true,
        is_quantized: false,
        has_hf8_kernels: false,
        are_hf8_kernels_lossy: false,
    }
}

pub(super) const GAUDI2: Generation = Generation::Gaudi2;
pub(super) const GAUDI3: Generation = Generation::Gaudi3;

/// Why a node did not give a result.
#[derive(Debug, PartialEq)]
pub(super) enum Failure {
    /// There is no such guid, or the check refuses the node: the status, and the reason.
    Refused(u32, String),
    /// The launch fails.
    Launch(String),
}

/// Checks and runs a node whose outputs start as `outputs`.
pub(super) fn node(
    machine: &Machine,
    guid: &str,
    inputs: &[Option<&Tensor>],
    mut outputs: Vec<Option<Tensor>>,
    params: &[u8],
) -> Result<Vec<Option<Tensor>>, Failure> {
    let operation = find(guid, machine).ok_or_else(|| Failure::Refused(26, "unknown".to_owned()))?;
    let input_specs: Vec<_> = inputs.iter().map(|tensor| tensor.map(|tensor| &tensor.spec)).collect();
    let output_specs: Vec<Spec> = outputs.iter().flatten().map(|tensor| tensor.spec.clone()).collect();
    let mut next = output_specs.iter();
    let output_specs: Vec<_> =
        outputs.iter().map(|tensor| tensor.as_ref().and_then(|_| next.next())).collect();
    Checked { machine, inputs: &input_specs, outputs: &output_specs, params }
        .check_by(&*operation)
        .map_err(|refusal| Failure::Refused(refusal.status.0, refusal.reason))?;
    let operands: Vec<Option<Input<'_>>> = inputs
        .iter()
        .map(|tensor| tensor.map(|tensor| Input { spec: &tensor.spec, data: tensor.bytes() }))
        .collect();
    let mut results: Vec<Option<Output<'_>>> = outputs
        .iter_mut()
        .zip(output_specs)
        .map(|(tensor, spec)| {
            let (tensor, spec) = (tensor.as_mut()?, spec?);
            Some(Output { spec, data: tensor.bytes_mut(), aliases: None })
        })
        .collect();
    operation
        .run(Running { machine, inputs: &operands, outputs: &mut results, params })
        .map_err(Failure::Launch)?;
    drop(results);
    Ok(outputs)
}

/// A node of one output, on a Gaudi2.
pub(super) fn try_one(
    guid: &str,
    inputs: &[&Tensor],
    (dtype, sizes): (DataType, &[usize]),
    params: &[u8],
) -> Result<Tensor, Failure> {
    let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
    let outputs = vec![Some(Tensor::zeros(dtype, sizes))];
    node(&machine(GAUDI2), guid, &inputs, outputs, params).map(|mut outputs| outputs.remove(0).unwrap())
}

/// [`try_one`] of a node that is right.
pub(super) fn one(guid: &str, inputs: &[&Tensor], out: (DataType, &[usize]), params: &[u8]) -> Tensor {
    try_one(guid, inputs, out, params).unwrap_or_else(|failure| panic!("{guid}: {failure:?}"))
}

/// The status with which a node is refused.
pub(super) fn status(
    guid: &str,
    inputs: &[&Tensor],
    out: (DataType, &[usize]),
    params: &[u8],
) -> Result<u32, Failure> {
    match try_one(guid, inputs, out, params) {
        Err(Failure::Refused(status, _)) => Ok(status),
        Err(other) => Err(other),
        Ok(_) => Err(Failure::Launch("it was taken".to_owned())),
    }
}

/// Parameters of 32-bit words.
pub(super) fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The numbers 0, 1, 2 and so on as elements of a type's size.
pub(super) fn counted(dtype: DataType, sizes: &[usize]) -> Tensor {
    let mut tensor = Tensor::zeros(dtype, sizes);
    for (i, element) in tensor.bytes_mut().chunks_exact_mut(dtype.bytes()).enumerate() {
        element.copy_from_slice(&(i as u64).to_le_bytes()[..dtype.bytes()]);
    }
    tensor
}
