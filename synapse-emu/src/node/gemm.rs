//! Matrix products.

use std::mem::offset_of;

use gaudi_numerics::Generation;
use gaudi_numerics::fp8::{Encoder, Rounding, bf16_from_f32_slice};
use gaudi_numerics::mme::{Matrix, MatrixMut, Product, Right};
use habana_sys::synGEMMParams;

use super::convert::floats;
use super::engine::{OperandData, multiply};
use super::machine::Machine;
use super::operands::{KERNEL_RANK, input, optional_input, output, require, require_dtype};
use super::operation::{Checked, Input, Limits, Operation, Refusal, Running};
use super::params::Params;
use super::shape::{Walk, broadcast_sizes};
use super::spec::{DataType, Spec};

/// Which inputs a product has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `gemm` and `batch_gemm`: A, B and a bias. The output's type is free.
    Plain,
    /// `fp8_gemm_<dtype>`: A, B, a scale of each, bias, an addend, and the output's inverse scale, which FP8 outputs
    /// alone may have.
    Scaled(DataType),
}

/// A product of matrices, and of each pair of a batch: sizes of 1 are repeated.
///
/// The result is `(acc * scale_a) * scale_b`, then plus bias, plus addend, times the output's inverse scale, each step
/// in float32, and rounded once to the output's type. An FP8 output saturates where the compiler turns clipping on:
/// e4m3 operands in an inference graph, on Gaudi3 also a quantized one. Products of float32 are fused multiplications
/// in the order of the common dimension.
pub(super) struct MatrixProduct {
    form: Form,
}

/// The inputs beside A and B.
struct Places {
    scales: Option<[usize; 2]>,
    bias: usize,
    addend: Option<usize>,
    inverse_scale: Option<usize>,
}

/// A product's sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shape {
    m: usize,
    n: usize,
    k: usize,
    transpose_a: bool,
    transpose_b: bool,
    /// The dimensions beyond the matrices.
    batch: Vec<usize>,
}

impl Shape {
    fn new(a: &Spec, b: &Spec, params: &[u8]) -> Result<Self, Refusal> {
        let params = Params::new(params, &[0, size_of::<synGEMMParams>()])?;
        let transpose_a = params.bool(offset_of!(synGEMMParams, transpose_a));
        let transpose_b = params.bool(offset_of!(synGEMMParams, transpose_b));
        let rows_and_columns = |spec: &Spec, transpose: bool| {
            let (columns, rows) = (spec.sizes[0], spec.sizes.get(1).copied().unwrap_or(1));
            if transpose { (columns, rows) } else { (rows, columns) }
        };
        let ((m, k), (k_of_b, n)) = (rows_and_columns(a, transpose_a), rows_and_columns(b, transpose_b));
        require(k == k_of_b, || format!("A has a common dimension of {k}, B of {k_of_b}"))?;
        let batch = broadcast_sizes(batch(a), batch(b))
            .ok_or_else(|| Refusal::rejected(format!("batches of {:?} and {:?}", a.sizes, b.sizes)))?;
        Ok(Self { m, n, k, transpose_a, transpose_b, batch })
    }

    /// The output's sizes.
    fn out_sizes(&self, rank: usize) -> Vec<usize> {
        let mut sizes = [&[self.n, self.m][..], &self.batch].concat();
        // Two vectors make one number in one dimension.
        while sizes.len() > rank && sizes.last() == Some(&1) {
            sizes.pop();
        }
        sizes
    }

    /// The numbers of the matrices of A and B that each product of the batch takes.
    fn pairs(&self, a: &Spec, b: &Spec) -> Result<Vec<[usize; 2]>, String> {
        let walk = Walk::broadcast(&self.batch, [batch(a), batch(b)]).ok_or("the batches do not fit")?;
        let mut pairs = Vec::new();
        walk.for_each(|run| {
            pairs.extend((0..run.len).map(|i| [0, 1].map(|side| run.first[side] + i * run.step[side])));
        });
        Ok(pairs)
    }
}

fn batch(spec: &Spec) -> &[usize] {
    spec.sizes.get(2..).unwrap_or(&[])
}

/// Whether the compiler makes the matrix engine saturate FP8 results.
fn clips(machine: &Machine, a: DataType) -> bool {
    let is_asked = match machine.generation {
        Generation::Gaudi2 => machine.is_inference,
        Generation::Gaudi3 => machine.is_inference && machine.is_quantized,
    };
    is_asked && a == DataType::Fp8_143
}

/// Whether the matrix engine multiplies operands of these types.
pub(super) fn check_operands(machine: &Machine, a: &Spec, b: &Spec) -> Result<(), Refusal> {
    let may_differ = machine.generation == Generation::Gaudi3 && a.dtype.is_fp8() && b.dtype.is_fp8();
    require(a.dtype == b.dtype || may_differ, || format!("{:?} times {:?}", a.dtype, b.dtype))?;
    for spec in [a, b] {
        match spec.dtype {
            DataType::F32 | DataType::Bf16 => {}
            _ => {
                let format = spec.format(machine)?;
                let is_read = format.is_operand_of(machine.generation);
                require(is_read, || format!("{:?} operands of bias {}", spec.dtype, format.bias))?;
            }
        }
    }
    Ok(())
}

impl MatrixProduct {
    pub(super) const fn plain() -> Self {
        Self { form: Form::Plain }
    }

    pub(super) fn scaled(result: DataType) -> Option<Self> {
        let exists = matches!(result, DataType::F32 | DataType::Bf16) || result.is_fp8();
        exists.then_some(Self { form: Form::Scaled(result) })
    }

    const fn places(&self) -> Places {
        match self.form {
            Form::Plain => Places { scales: None, bias: 2, addend: None, inverse_scale: None },
            Form::Scaled(_) => {
                Places { scales: Some([2, 3]), bias: 4, addend: Some(5), inverse_scale: Some(6) }
            }
        }
    }
}

/// Checks a scale: one number, or one for each row or column.
fn check_scale(scale: Option<&Spec>, len: usize) -> Result<(), Refusal> {
    let Some(scale) = scale else { return Ok(()) };
    require(matches!(scale.dtype, DataType::F32 | DataType::Bf16), || {
        format!("a scale of {:?}", scale.dtype)
    })?;
    let count = scale.count();
    require(count == 1 || (count == len && scale.sizes.contains(&len)), || {
        format!("scales {:?} for {len} rows or columns", scale.sizes)
    })
}

impl Operation for MatrixProduct {
    fn limits(&self) -> Limits {
        Limits { inputs: if self.form == Form::Plain { 3 } else { 7 }, outputs: 1, rank: KERNEL_RANK }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        let (a, b, out) = (node.input(0)?, node.input(1)?, node.output(0)?);
        check_operands(node.machine, a, b)?;
        match (self.form, out.dtype) {
            (Form::Scaled(result), dtype) => {
                require(a.dtype.is_fp8(), || format!("operands of {:?} are not FP8", a.dtype))?;
                require(result == dtype, || format!("{dtype:?} is not {result:?}"))?;
            }
            (Form::Plain, DataType::F32 | DataType::Bf16) => {}
            (Form::Plain, _) => {
                out.format(node.machine)?;
            }
        }
        if out.dtype.is_fp8() {
            out.format(node.machine)?;
        }
        let shape = Shape::new(a, b, node.params)?;
        let sizes = shape.out_sizes(out.sizes.len());
        require(out.sizes == sizes, || format!("{:?} for a product of {sizes:?}", out.sizes))?;
        let places = self.places();
        for (place, len) in places.scales.into_iter().flatten().zip([shape.m, shape.n]) {
            check_scale(node.optional_input(place), len)?;
        }
        for place in [Some(places.bias), places.addend].into_iter().flatten() {
            let Some(term) = node.optional_input(place) else { continue };
            require(matches!(term.dtype, DataType::F32 | DataType::Bf16), || {
                format!("{:?} is not added to a product", term.dtype)
            })?;
            require(Walk::broadcast(&out.sizes, [&term.sizes]).is_some(), || {
                format!("{:?} is not added to {:?}", term.sizes, out.sizes)
            })?;
        }
        let inverse = places.inverse_scale.and_then(|place| node.optional_input(place));
        if let Some(inverse) = inverse {
            require(out.dtype.is_fp8(), || format!("an output scale for {:?}", out.dtype))?;
            require_dtype(inverse, DataType::F32)?;
            check_scale(Some(inverse), 1)?;
        }
        Ok(())
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let (a, b, out) = (input(node.inputs, 0)?, input(node.inputs, 1)?, output(node.outputs, 0)?);
        let shape = Shape::new(a.spec, b.spec, node.params)?;
        if out.spec.dtype == DataType::F32 {
            let acc = out.elements::<f32>()?;
            accumulate(node.machine, &shape, a, b, acc)?;
            return self.finish(&shape, node.inputs, &out_sizes_of(&shape), acc);
        }
        let mut acc = vec![0.0; out.spec.count()];
        accumulate(node.machine, &shape, a, b, &mut acc)?;
        self.finish(&shape, node.inputs, &out_sizes_of(&shape), &mut acc)?;
        if out.spec.dtype == DataType::Bf16 {
            return bf16_from_f32_slice(&acc, out.elements()?).map_err(|error| error.to_string());
        }
        let encoder = Encoder {
            format: out.spec.format(node.machine)?,
            rounding: Rounding::NearestEven,
            clip: clips(node.machine, a.spec.dtype),
        };
        encoder.encode_f32(&acc, out.bytes()?).map_err(|error| error.to_string())
    }
}

/// All of the output's dimensions.
fn out_sizes_of(shape: &Shape) -> Vec<usize> {
    shape.out_sizes(usize::MAX)
}

impl MatrixProduct {
    /// What is done to the accumulators before they are rounded.
    fn finish(
        &self,
        shape: &Shape,
        inputs: &[Option<Input<'_>>],
        sizes: &[usize],
        acc: &mut [f32],
    ) -> Result<(), String> {
        let places = self.places();
        if let Some([a, b]) = places.scales {
            if let Some(scale) = optional_input(inputs, a) {
                multiply_rows(acc, shape.n, &floats(scale)?);
            }
            if let Some(scale) = optional_input(inputs, b) {
                multiply_columns(acc, shape.n, &floats(scale)?);
            }
        }
        for place in [Some(places.bias), places.addend].into_iter().flatten() {
            let Some(term) = optional_input(inputs, place) else { continue };
            let walk = Walk::broadcast(sizes, [&term.spec.sizes]).ok_or("a term does not fit")?;
            let term = floats(term)?;
            walk.for_each(|run| {
                for (i, acc) in acc[run.at..run.at + run.len].iter_mut().enumerate() {
                    *acc += term[run.first[0] + i * run.step[0]];
                }
            });
        }
        if let Some(inverse) = places.inverse_scale.and_then(|place| optional_input(inputs, place)) {
            multiply_columns(acc, shape.n, &floats(inverse)?);
        }
        Ok(())
    }
}

/// Multiplies each row by its scale, or all by the only one.
fn multiply_rows(acc: &mut [f32], columns: usize, scales: &[f32]) {
    for (row, scale) in acc.chunks_exact_mut(columns).zip(scales.iter().cycle()) {
        row.iter_mut().for_each(|acc| *acc *= scale);
    }
}

/// Multiplies each column by its scale, or all by the only one.
fn multiply_columns(acc: &mut [f32], columns: usize, scales: &[f32]) {
    if let [scale] = scales {
        acc.iter_mut().for_each(|acc| *acc *= scale);
        return;
    }
    for row in acc.chunks_exact_mut(columns) {
        row.iter_mut().zip(scales).for_each(|(acc, scale)| *acc *= scale);
    }
}

/// The float32 accumulators of all products.
fn accumulate(
    machine: &Machine,
    shape: &Shape,
    a: &Input<'_>,
    b: &Input<'_>,
    acc: &mut [f32],
) -> Result<(), String> {
    let (m, n, k) = (shape.m, shape.n, shape.k);
    let mut pairs = shape.pairs(a.spec, b.spec)?;
    // Products with the same B are one product of all rows.
    let is_one_b = pairs.iter().enumerate().all(|(number, pair)| *pair == [number, 0]);
    let rows = if is_one_b && !shape.transpose_a {
        pairs.truncate(1);
        acc.len() / n
    } else {
        m
    };
    if a.spec.dtype == DataType::F32 {
        let (a, b) = (a.elements::<f32>()?, b.elements::<f32>()?);
        for (out, [of_a, of_b]) in acc.chunks_exact_mut(rows * n).zip(pairs) {
            float_product(&a[of_a * m * k..], &b[of_b * n * k..], (rows, shape), out);
        }
        return Ok(());
    }
    let turned;
    let a = if shape.transpose_a {
        turned = OperandData::new(machine, a)?.transposed(k, m);
        turned.view()
    } else {
        OperandData::new(machine, a)?
    };
    let b = OperandData::new(machine, b)?;
    let (b_rows, b_columns) = if shape.transpose_b { (n, k) } else { (k, n) };
    let right = pairs
        .iter()
        .map(|[_, of_b]| Matrix::new(b.from(of_b * n * k), b_rows, b_columns))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| error.to_string())?;
    let mut products = Vec::with_capacity(pairs.len());
    for ((out, [of_a, _]), right) in acc.chunks_exact_mut(rows * n).zip(&pairs).zip(&right) {
        let right = std::slice::from_ref(right);
        products.push(Product {
            a: Matrix::new(a.from(of_a * m * k), rows, k).map_err(|error| error.to_string())?,
            b: if shape.transpose_b { Right::NByK(right) } else { Right::KByN(right) },
            out: MatrixMut::new(out, rows, n).map_err(|error| error.to_string())?,
        });
    }
    multiply(machine, &mut products).map_err(|error| error.to_string())
}

/// One product of float32 matrices: fused multiplications in the order of the common dimension.
fn float_product(a: &[f32], b: &[f32], (rows, shape): (usize, &Shape), out: &mut [f32]) {
    let (m, n, k) = (shape.m, shape.n, shape.k);
    for (row, out) in out.chunks_exact_mut(n).enumerate().take(rows) {
        for (column, out) in out.iter_mut().enumerate() {
            *out = (0..k).fold(0.0, |acc, i| {
                let a = if shape.transpose_a { a[i * m + row] } else { a[row * k + i] };
                let b = if shape.transpose_b { b[column * k + i] } else { b[i * n + column] };
                f32::mul_add(a, b, acc)
            });
        }
    }
}
