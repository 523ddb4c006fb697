//! Attention of one query token and one head by the rules, one number at a time.
//!
//! The products are the scalar reference of the matrix engine; everything around them is written out here. The
//! exponential and the hyperbolic tangent are the library's choice, which the vendor leaves open.

use std::rc::Rc;

use gaudi_kv::Generation;
use gaudi_kv::fp8::Format;
use gaudi_kv::mme::{Elements, Matrix, Right, reference};
use half::bf16;

use crate::numbers::{e4m3_code, e4m3_value, quantized};

/// An operand of a product.
#[derive(Debug, Clone, PartialEq)]
pub enum Row {
    Fp8(Vec<u8>),
    Bf16(Vec<bf16>),
}

impl Row {
    pub fn quantized(generation: Generation, values: &[bf16], quant: f32) -> Self {
        Self::Fp8(values.iter().map(|value| quantized(generation, *value, quant)).collect())
    }

    /// The first elements.
    pub fn prefix(&self, len: usize) -> Self {
        match self {
            Self::Fp8(codes) => Self::Fp8(codes[..len].to_vec()),
            Self::Bf16(values) => Self::Bf16(values[..len].to_vec()),
        }
    }

    pub fn to_f64(&self, generation: Generation) -> Vec<f64> {
        match self {
            Self::Fp8(codes) => codes.iter().map(|code| e4m3_value(generation, *code)).collect(),
            Self::Bf16(values) => values.iter().map(|value| value.to_f64()).collect(),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Fp8(codes) => codes.len(),
            Self::Bf16(values) => values.len(),
        }
    }
}

/// What is done to the scores of one head.
#[derive(Debug, Clone, Copy)]
pub struct Modifiers {
    pub softmax_scale: f32,
    pub soft_cap: Option<f32>,
    pub slope: Option<f32>,
    pub window: Option<usize>,
    pub sink: Option<f32>,
}

impl Modifiers {
    /// Whether a query sees a key.
    pub fn sees(&self, query: usize, key: usize) -> bool {
        key <= query && self.window.is_none_or(|window| query - key < window)
    }
}

/// One query token of one head, with all keys and values of its sequence, those behind it included.
#[derive(Debug, Clone)]
pub struct Head {
    pub generation: Generation,
    pub modifiers: Modifiers,
    pub position: usize,
    pub query: Row,
    pub query_dequant: f32,
    pub keys: Rc<Vec<Row>>,
    pub key_dequant: f32,
    pub values: Rc<Vec<Row>>,
    pub value_dequant: f32,
    /// `quant` and `dequant` of the probabilities; `None` for bfloat16 ones.
    pub prob: Option<(f32, f32)>,
}

/// A query by its scale, static or by its amax, and what its product is multiplied by.
pub fn quantized_query(generation: Generation, values: &[bf16], scale: Option<(f32, f32)>) -> (Row, f32) {
    let (quant, dequant) = scale.unwrap_or_else(|| {
        let amax = values.iter().map(|value| value.to_f32().abs()).fold(0.0, f32::max);
        let largest = if generation == Generation::Gaudi2 { 240.0 } else { 448.0 };
        let quant = if amax > 0.0 { largest / amax } else { 1.0 };
        (quant, 1.0 / quant)
    });
    (Row::quantized(generation, values, quant), dequant)
}

/// The accumulators of `[1, K]` times `[N, K]` transposed, or times `[K, N]`.
fn product(generation: Generation, left: &Row, right: &[Row], by_column: bool) -> Vec<f32> {
    let format = Format::kv_cache(generation);
    let cols = right[0].len();
    let codes: Vec<u8> = right
        .iter()
        .flat_map(|row| match row {
            Row::Fp8(codes) => codes.clone(),
            Row::Bf16(_) => Vec::new(),
        })
        .collect();
    let values: Vec<bf16> = right
        .iter()
        .flat_map(|row| match row {
            Row::Fp8(_) => Vec::new(),
            Row::Bf16(values) => values.clone(),
        })
        .collect();
    let (left, right_elements) = match left {
        Row::Fp8(left) => (Elements::Fp8(left, format), Elements::Fp8(&codes, format)),
        Row::Bf16(left) => (Elements::Bf16(left), Elements::Bf16(&values)),
    };
    let left = Matrix::new(left, 1, left.len()).unwrap();
    let right = [Matrix::new(right_elements, right.len(), cols).unwrap()];
    let right = if by_column { Right::KByN(&right) } else { Right::NByK(&right) };
    reference(generation, &left, &right).unwrap()
}

/// `bf16(row * weights^T)` on the matrix engine; `weights` is `[n, row.len()]`.
pub fn projected(generation: Generation, row: &[bf16], weights: &[bf16]) -> Vec<bf16> {
    let weights: Vec<Row> = weights.chunks_exact(row.len()).map(|row| Row::Bf16(row.to_vec())).collect();
    let accumulators = product(generation, &Row::Bf16(row.to_vec()), &weights, false);
    accumulators.iter().map(|acc| bf16::from_f32(*acc)).collect()
}

impl Head {
    /// The output, bfloat16 values.
    pub fn attend(&self) -> Vec<f32> {
        let accumulators = product(self.generation, &self.query, &self.keys, false);
        let modifiers = &self.modifiers;
        let scores: Vec<Option<f32>> = accumulators
            .iter()
            .enumerate()
            .map(|(key, acc)| {
                let product = bf16::from_f32((acc * self.query_dequant) * self.key_dequant);
                let mut score = product.to_f32() * modifiers.softmax_scale;
                if let Some(cap) = modifiers.soft_cap {
                    score = libm::tanhf(score / cap) * cap;
                }
                if let Some(slope) = modifiers.slope {
                    score += slope * (key as f32 - self.position as f32);
                }
                modifiers.sees(self.position, key).then_some(score)
            })
            .collect();
        let largest =
            scores.iter().flatten().copied().chain(modifiers.sink).fold(f32::NEG_INFINITY, f32::max);
        let mut sum = modifiers.sink.map_or(0.0, |sink| libm::expf(sink - largest));
        let mut probabilities = Vec::with_capacity(scores.len());
        for score in scores {
            let p = score.map_or(0.0, |score| libm::expf(score - largest));
            sum += p;
            probabilities.push(p);
        }
        let (probabilities, prob_dequant) = match self.prob {
            Some((quant, dequant)) => {
                let codes = probabilities.iter().map(|p| e4m3_code(self.generation, p * quant));
                (Row::Fp8(codes.collect()), dequant)
            }
            None => (Row::Bf16(probabilities.iter().map(|p| bf16::from_f32(*p)).collect()), 1.0),
        };
        product(self.generation, &probabilities, &self.values, true)
            .iter()
            .map(|acc| {
                let product = bf16::from_f32((acc * prob_dequant) * self.value_dequant).to_f32();
                bf16::from_f32(product / sum).to_f32()
            })
            .collect()
    }
}
