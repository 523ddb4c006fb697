//! Scaled dot-product attention: the computation.

use gaudi_numerics::fp8::{Encoder, Format, Quantizer, Rounding, bf16_from_f32};
use gaudi_numerics::mme::{Elements, Matrix, MatrixMut, MmeError, Product, Right};
use half::bf16;
use rayon::prelude::*;

use super::batch;
use crate::node::convert::floats;
use crate::node::engine::{OperandData, multiply};
use crate::node::machine::Machine;
use crate::node::operands::{optional_output, output};
use crate::node::operation::{Input, Output};
use crate::node::real::Real;
use crate::node::shape::dense_strides;
use crate::node::spec::{DataType, Spec};

/// Query rows that are computed together: bounds the memory of their scores.
const TILE_ROWS: usize = 64;

/// Attention of all matrices of a batch.
pub(super) struct Attend<'a> {
    pub(super) machine: &'a Machine,
    pub(super) q: &'a Input<'a>,
    pub(super) k: &'a Input<'a>,
    pub(super) v: &'a Input<'a>,
    /// Added to the scores.
    pub(super) mask: Option<&'a Input<'a>>,
    pub(super) softmax_scale: f32,
    pub(super) is_causal: bool,
    /// The `dequant` of Q, K and V.
    pub(super) dequant: [f32; 3],
    /// `quant` and `dequant` of the probabilities; `None` where they are bfloat16.
    pub(super) prob: Option<(f32, f32)>,
    /// The `quant` of an FP8 output.
    pub(super) out_quant: Option<f32>,
}

/// The results of one matrix.
#[derive(Default)]
struct Rows {
    out: Vec<bf16>,
    max: Vec<f32>,
    inverse_sum: Vec<f32>,
}

/// A mask in float32, and the elements from one index of each dimension of the scores to the next.
struct Mask {
    values: Vec<f32>,
    strides: Vec<usize>,
}

impl Mask {
    fn new(mask: &Input<'_>, rank: usize) -> Result<Self, String> {
        let mut strides = dense_strides(&mask.spec.sizes);
        for (stride, size) in strides.iter_mut().zip(&mask.spec.sizes) {
            if *size == 1 {
                *stride = 0;
            }
        }
        strides.resize(rank, 0);
        Ok(Self { values: floats(mask)?, strides })
    }
}

impl Attend<'_> {
    pub(super) fn run(&self, outputs: &mut [Option<Output<'_>>]) -> Result<(), String> {
        let spec = self.q.spec;
        let mask = self.mask.map(|mask| Mask::new(mask, spec.sizes.len())).transpose()?;
        let matrices: usize = batch(spec).iter().product();
        let results = (0..matrices)
            .into_par_iter()
            .map(|number| self.matrix(&indices(number, batch(spec)), mask.as_ref()))
            .collect::<Result<Vec<Rows>, String>>()?;
        let out: Vec<bf16> = results.iter().flat_map(|rows| &rows.out).copied().collect();
        self.write(output(outputs, 0)?, &out)?;
        if let Some(max) = optional_output(outputs, 1) {
            write_statistic(max, results.iter().flat_map(|rows| &rows.max))?;
        }
        if let Some(inverse_sum) = optional_output(outputs, 2) {
            write_statistic(inverse_sum, results.iter().flat_map(|rows| &rows.inverse_sum))?;
        }
        Ok(())
    }

    fn write(&self, out: &mut Output<'_>, values: &[bf16]) -> Result<(), String> {
        let Some(quant) = self.out_quant else {
            let out = out.elements::<bf16>()?;
            out.iter_mut().zip(values).for_each(|(out, value)| *out = *value);
            return Ok(());
        };
        let format = out.spec.format(self.machine)?;
        let encoder = Encoder { format, rounding: Rounding::NearestEven, clip: true };
        let codes = out.bytes()?;
        Quantizer::new(encoder, quant)
            .and_then(|quantizer| quantizer.quant_bf16(values, codes))
            .map_err(|error| error.to_string())
    }

    /// One matrix of queries.
    fn matrix(&self, index: &[usize], mask: Option<&Mask>) -> Result<Rows, String> {
        let (q, k, v) = (self.q.spec, self.k.spec, self.v.spec);
        let (dim, queries, keys, value_dim) = (q.sizes[0], q.sizes[1], k.sizes[1], v.sizes[0]);
        let number = |spec: &Spec| number_of(index, batch(q), batch(spec));
        let of_q = OperandData::new(self.machine, self.q)?;
        let of_k = OperandData::new(self.machine, self.k)?.from(number(k) * dim * keys);
        let of_v = OperandData::new(self.machine, self.v)?.from(number(v) * value_dim * keys);
        let error = |error: MmeError| error.to_string();
        let key = [Matrix::new(of_k, keys, dim).map_err(error)?];
        let value = [Matrix::new(of_v, keys, value_dim).map_err(error)?];
        let mut results = Rows::default();
        for first in (0..queries).step_by(TILE_ROWS) {
            let rows = TILE_ROWS.min(queries - first);
            let query = of_q.from((number(q) * queries + first) * dim);
            let query = Matrix::new(query, rows, dim).map_err(error)?;
            let mut scores = vec![0.0; rows * keys];
            self.multiply(query, Right::NByK(&key), &mut scores, keys).map_err(error)?;
            let mut sums = Vec::with_capacity(rows);
            for (row, scores) in scores.chunks_exact_mut(keys).enumerate() {
                let [max, sum] = self.softmax(first + row, index, mask, scores);
                results.max.push(max);
                results.inverse_sum.push(1.0 / sum);
                sums.push(sum);
            }
            let mut accumulators = vec![0.0; rows * value_dim];
            let dequant = self.second(&scores, [rows, keys], Right::KByN(&value), &mut accumulators)?;
            for (row, sum) in accumulators.chunks_exact(value_dim).zip(sums) {
                results.out.extend(row.iter().map(|acc| {
                    let product = bf16_from_f32(*acc * dequant * self.dequant[2]).to_f32();
                    bf16_from_f32(product / sum)
                }));
            }
        }
        Ok(results)
    }

    fn multiply(&self, a: Matrix<'_>, b: Right<'_>, out: &mut [f32], columns: usize) -> Result<(), MmeError> {
        let out = MatrixMut::new(out, a.rows(), columns)?;
        multiply(self.machine, &mut [Product { a, b, out }])
    }

    /// Products to unnormalized probabilities. Returns the largest score and the sum.
    fn softmax(&self, query: usize, index: &[usize], mask: Option<&Mask>, scores: &mut [f32]) -> [f32; 2] {
        let [q, k, _] = self.dequant;
        let end = if self.is_causal { (query + 1).min(scores.len()) } else { scores.len() };
        scores[end..].fill(0.0);
        let visible = &mut scores[..end];
        for score in &mut *visible {
            *score = bf16_from_f32(*score * q * k).to_f32() * self.softmax_scale;
        }
        if let Some(mask) = mask {
            let along = index.iter().zip(&mask.strides[2..]).map(|(index, stride)| index * stride);
            let first = query * mask.strides[1] + along.sum::<usize>();
            for (key, score) in visible.iter_mut().enumerate() {
                *score += mask.values[first + key * mask.strides[0]];
            }
        }
        let max = visible.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut sum = 0.0;
        for score in visible {
            *score = libm::expf(*score - max);
            sum += *score;
        }
        [max, sum]
    }

    /// The product with V. Returns what multiplies the probabilities back.
    fn second(
        &self,
        probabilities: &[f32],
        [rows, keys]: [usize; 2],
        value: Right<'_>,
        out: &mut [f32],
    ) -> Result<f32, String> {
        let error = |error: MmeError| error.to_string();
        let columns = value.shape().map_err(error)?.1;
        let Some((quant, dequant)) = self.prob else {
            let rounded: Vec<bf16> = probabilities.iter().map(|p| bf16_from_f32(*p)).collect();
            let prob = Matrix::new(Elements::Bf16(&rounded), rows, keys).map_err(error)?;
            self.multiply(prob, value, out, columns).map_err(error)?;
            return Ok(1.0);
        };
        let generation = self.machine.generation;
        let mut codes = vec![0; probabilities.len()];
        Quantizer::new(Encoder::kv_cache(generation), quant)
            .and_then(|quantizer| quantizer.quant_f32(probabilities, &mut codes))
            .map_err(|error| error.to_string())?;
        let prob = Elements::Fp8(&codes, Format::kv_cache(generation));
        self.multiply(Matrix::new(prob, rows, keys).map_err(error)?, value, out, columns).map_err(error)?;
        Ok(dequant)
    }
}

/// The index in each dimension of a batch.
fn indices(mut number: usize, sizes: &[usize]) -> Vec<usize> {
    sizes
        .iter()
        .map(|size| {
            let index = number % size;
            number /= size;
            index
        })
        .collect()
}

/// The number of the matrix that goes with an index of the queries' batch: where there are fewer, each serves several.
fn number_of(index: &[usize], of_q: &[usize], sizes: &[usize]) -> usize {
    let places = index.iter().zip(of_q).zip(sizes).zip(dense_strides(sizes));
    places.map(|(((index, of_q), size), stride)| index / (of_q / size) * stride).sum()
}

fn write_statistic<'v>(out: &mut Output<'_>, values: impl Iterator<Item = &'v f32>) -> Result<(), String> {
    match out.spec.dtype {
        DataType::F32 => out.elements::<f32>()?.iter_mut().zip(values).for_each(|(out, value)| *out = *value),
        _ => {
            let out = out.elements::<bf16>()?.iter_mut();
            out.zip(values).for_each(|(out, value)| *out = bf16::narrow(*value));
        }
    }
    Ok(())
}
