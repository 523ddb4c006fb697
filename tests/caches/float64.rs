//! Attention in float64, and how far the roundings of a path may lead away from it.
//!
//! The bound, for one output element `o = sum(w * v)` with weights `w = p / S`, `p = exp(s - max)`, `S` the sum of `p`,
//! the sink's included, `W = sum(w * |v|)` and `V = sum(|v|)` over the keys that are seen:
//!
//! - A score is the product, rounded to bfloat16 (relative 2^-8), of an accumulation of K products (each step of every
//!   engine and mode loses less than `K * 2^-22` of the sum of the magnitudes), then a few float32 operations. Let `D`
//!   be the largest error of a score. As the maximum cancels, each weight is off by a factor of at most `exp(2 D)`.
//! - A probability is rounded to FP8: relative 2^-4, or, where it is denormal, absolute `2^-10 / quant`. To bfloat16:
//!   relative 2^-8. The sum is of probabilities that are not rounded.
//! - The second product over N keys, and the float32 sum, lose `N * 2^-21` of `W`; its result and the quotient are
//!   rounded to bfloat16, 2^-8 each.
//!
//! So `|error| <= E W + (1 + E) ((r + N 2^-21) W + a V / S) + 2.1 * 2^-8 * (the magnitude reached)`, `E = exp(2 D) - 1`.

use crate::model::{Head, Modifiers};

/// A result, and the most by which a path may differ from it.
#[derive(Debug, Clone)]
pub struct Reference {
    pub out: Vec<f64>,
    pub bound: Vec<f64>,
}

/// Scores, weights and output of one query.
#[derive(Debug, Clone)]
pub struct Attended {
    pub out: Vec<f64>,
    /// Scores of each key, before the softmax; `None` where it is not seen.
    pub scores: Vec<Option<f64>>,
    pub weights: Vec<f64>,
    /// `S`.
    pub sum: f64,
}

/// A score after soft cap and ALiBi.
pub fn modified(product: f64, modifiers: &Modifiers, query: usize, key: usize) -> f64 {
    let mut score = product * f64::from(modifiers.softmax_scale);
    if let Some(cap) = modifiers.soft_cap.map(f64::from) {
        score = cap * (score / cap).tanh();
    }
    score + modifiers.slope.map_or(0.0, f64::from) * (key as f64 - query as f64)
}

/// Attention of one query at `position`.
pub fn attend(
    query: &[f64],
    keys: &[Vec<f64>],
    values: &[Vec<f64>],
    modifiers: &Modifiers,
    position: usize,
) -> Attended {
    let scores: Vec<Option<f64>> = (0..keys.len())
        .map(|key| {
            let product = query.iter().zip(&keys[key]).map(|(q, k)| q * k).sum();
            modifiers.sees(position, key).then(|| modified(product, modifiers, position, key))
        })
        .collect();
    let sink = modifiers.sink.map(f64::from);
    let largest = scores.iter().flatten().copied().chain(sink).fold(f64::NEG_INFINITY, f64::max);
    let exponentials: Vec<f64> =
        scores.iter().map(|score| score.map_or(0.0, |score| (score - largest).exp())).collect();
    let sum = exponentials.iter().sum::<f64>() + sink.map_or(0.0, |sink| (sink - largest).exp());
    let weights: Vec<f64> = exponentials.iter().map(|p| p / sum).collect();
    let mut out = vec![0.0; values[0].len()];
    for (weight, value) in weights.iter().zip(values) {
        out.iter_mut().zip(value).for_each(|(out, v)| *out += weight * v);
    }
    Attended { out, scores, weights, sum }
}

/// Half a unit of bfloat16 in the last place, relative.
pub const BF16: f64 = 1.0 / 256.0;

impl Head {
    /// The result with exactly these operands, and how far the arithmetic behind them may lead.
    pub fn reference(&self) -> Reference {
        let scaled = |row: Vec<f64>, by: f32| row.iter().map(|x| x * f64::from(by)).collect::<Vec<_>>();
        let query = scaled(self.query.to_f64(self.generation), self.query_dequant);
        let keys: Vec<_> =
            self.keys.iter().map(|row| scaled(row.to_f64(self.generation), self.key_dequant)).collect();
        let values: Vec<_> =
            self.values.iter().map(|row| scaled(row.to_f64(self.generation), self.value_dequant)).collect();
        let attended = attend(&query, &keys, &values, &self.modifiers, self.position);
        let modifiers = &self.modifiers;
        let score_error = (0..keys.len())
            .filter(|key| modifiers.sees(self.position, *key))
            .map(|key| {
                let products = query.iter().zip(&keys[key]).map(|(q, k)| q * k);
                let (sum, magnitude) =
                    products.fold((0.0, 0.0), |(sum, magnitude), x| (sum + x, magnitude + x.abs()));
                let accumulated = query.len() as f64 * 2f64.powi(-22) * magnitude;
                let product = sum.abs() * BF16 + accumulated * (1.0 + BF16);
                let alibi = modifiers.slope.map_or(0.0, |slope| f64::from(slope).abs())
                    * (self.position - key) as f64;
                let float32 = sum.abs() * f64::from(modifiers.softmax_scale)
                    + alibi
                    + modifiers.soft_cap.map_or(0.0, f64::from);
                product * f64::from(modifiers.softmax_scale) + float32 * 2f64.powi(-21)
            })
            .fold(0.0, f64::max);
        let (relative, absolute) = match self.prob {
            Some((quant, _)) => (2f64.powi(-4), 2f64.powi(-10) / f64::from(quant)),
            None => (BF16, 0.0),
        };
        let count = keys.len() as f64;
        let e = (2.0 * score_error).exp_m1();
        let bound = (0..values[0].len())
            .map(|d| {
                let weighted: f64 = attended.weights.iter().zip(&values).map(|(w, v)| w * v[d].abs()).sum();
                let seen = values.iter().enumerate().filter(|(key, _)| modifiers.sees(self.position, *key));
                let magnitude: f64 = seen.map(|(_, v)| v[d].abs()).sum();
                let rounded = (1.0 + e)
                    * ((relative + (count + 2.0) * 2f64.powi(-21)) * weighted
                        + absolute * magnitude / attended.sum);
                let so_far = e * weighted + rounded;
                so_far + 2.1 * BF16 * (attended.out[d].abs() + so_far) + f64::MIN_POSITIVE
            })
            .collect();
        Reference { out: attended.out, bound }
    }
}

impl Reference {
    /// Fails where an output leaves the bound.
    pub fn check(&self, out: &[f32], what: &str) {
        assert_eq!(out.len(), self.out.len(), "{what}");
        for (index, ((out, expected), bound)) in out.iter().zip(&self.out).zip(&self.bound).enumerate() {
            let error = (f64::from(*out) - expected).abs();
            assert!(error <= *bound, "{what}: element {index} is {out}, expected {expected} within {bound}");
        }
    }

    /// The results one after the other.
    pub fn concat(parts: Vec<Self>) -> Self {
        let (out, bound) =
            parts.into_iter().map(|part| (part.out, part.bound)).unzip::<_, _, Vec<_>, Vec<_>>();
        Self { out: out.concat(), bound: bound.concat() }
    }
}

/// `|a - b| / |b|`, over all elements.
pub fn relative_l2(a: &[f32], b: &[f64]) -> f64 {
    let square = |x: f64| x * x;
    let error: f64 = a.iter().zip(b).map(|(a, b)| square(f64::from(*a) - b)).sum();
    (error / b.iter().map(|b| square(*b)).sum::<f64>()).sqrt()
}
