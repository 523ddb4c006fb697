//! Causal attention in float64, from the same bfloat16 activations that the device gets.

use half::bf16;
use rayon::prelude::*;

use super::scoring::Scoring;
use crate::activations::{Activations, LayerShape};

/// Attention of all tokens to themselves and those before them: `[tokens, heads * v_head_dim]`. Every sum is made in
/// one order, whatever the number of threads.
pub(super) fn attend(
    shape: &LayerShape,
    activations: &Activations,
    kv_b_proj: &[bf16],
    scoring: &Scoring,
) -> Vec<f64> {
    let heads = match shape {
        LayerShape::Mha { .. } => mha_heads(shape, activations),
        LayerShape::Mla { .. } => mla_heads(shape, activations, kv_b_proj),
    };
    let tokens = activations.tokens();
    let v_dim = heads.first().map_or(0, |head| head.v_dim);
    let mut out = vec![0.0; tokens * heads.len() * v_dim];
    let of_token = |(token, out): (usize, &mut [f64])| {
        for (number, (head, out)) in heads.iter().zip(out.chunks_exact_mut(v_dim)).enumerate() {
            head.attend(token, number, scoring, out);
        }
    };
    out.par_chunks_mut((heads.len() * v_dim).max(1)).enumerate().for_each(of_token);
    out
}

/// The heads of MHA and GQA; none of activations of another kind of layer, which are never made.
fn mha_heads(shape: &LayerShape, activations: &Activations) -> Vec<Head> {
    let (LayerShape::Mha { heads, kv_heads, head_dim, v_head_dim }, Activations::Mha { tokens, q, k, v }) =
        (shape, activations)
    else {
        return Vec::new();
    };
    let (heads, kv_heads) = (heads.local.len(), kv_heads.local.len());
    let group = (heads / kv_heads).max(1);
    let head = |number: usize| Head {
        q: rows(q, *tokens, heads, *head_dim, number),
        k: rows(k, *tokens, kv_heads, *head_dim, number / group),
        v: rows(v, *tokens, kv_heads, *v_head_dim, number / group),
        dim: *head_dim,
        v_dim: *v_head_dim,
    };
    (0..heads).into_par_iter().map(head).collect()
}

/// The heads of MLA, keys and values expanded from the latent; none of activations of another kind of layer.
fn mla_heads(shape: &LayerShape, activations: &Activations, kv_b_proj: &[bf16]) -> Vec<Head> {
    let (
        LayerShape::Mla { heads, kv_lora_rank, nope_dim, rope_dim, v_head_dim },
        Activations::Mla { tokens, q_nope, q_pe, kv_c, k_pe },
    ) = (shape, activations)
    else {
        return Vec::new();
    };
    let heads = heads.local.len();
    let latents = rows(kv_c, *tokens, 1, *kv_lora_rank, 0);
    let rope = rows(k_pe, *tokens, 1, *rope_dim, 0);
    let weights = rows(kv_b_proj, heads * (nope_dim + v_head_dim), 1, *kv_lora_rank, 0);
    let expand = |weight: &[f64], dim: usize| -> Vec<f64> {
        let weight = || weight.chunks_exact(*kv_lora_rank).take(dim);
        latents.chunks_exact(*kv_lora_rank).flat_map(|x| weight().map(move |w| dot(x, w))).collect()
    };
    let head = |number: usize| {
        let own = &weights[number * (nope_dim + v_head_dim) * kv_lora_rank..];
        let (key_rows, value_rows) = own.split_at(nope_dim * kv_lora_rank);
        Head {
            q: beside(
                &rows(q_nope, *tokens, heads, *nope_dim, number),
                *nope_dim,
                &rows(q_pe, *tokens, heads, *rope_dim, number),
                *rope_dim,
            ),
            k: beside(&expand(key_rows, *nope_dim), *nope_dim, &rope, *rope_dim),
            v: expand(value_rows, *v_head_dim),
            dim: nope_dim + rope_dim,
            v_dim: *v_head_dim,
        }
    };
    (0..heads).into_par_iter().map(head).collect()
}

/// One query head with the keys and values that it sees.
struct Head {
    q: Vec<f64>,
    k: Vec<f64>,
    v: Vec<f64>,
    dim: usize,
    v_dim: usize,
}

impl Head {
    fn attend(&self, token: usize, number: usize, scoring: &Scoring, out: &mut [f64]) {
        let options = &scoring.options;
        let first = options.sliding_window.map_or(0, |window| (token + 1).saturating_sub(window));
        let query = &self.q[token * self.dim..][..self.dim];
        let keys = self.k[first * self.dim..(token + 1) * self.dim].chunks_exact(self.dim);
        let mut scores: Vec<f64> = keys.map(|key| dot(query, key) * scoring.softmax_scale).collect();
        if let Some(cap) = options.logits_soft_cap.map(f64::from) {
            scores.iter_mut().for_each(|score| *score = cap * libm::tanh(*score / cap));
        }
        let sink = options.sinks.as_ref().and_then(|sinks| sinks.get(number)).map(|sink| f64::from(*sink));
        let max = scores.iter().copied().fold(sink.unwrap_or(f64::NEG_INFINITY), f64::max);
        let mut sum = sink.map_or(0.0, |sink| libm::exp(sink - max));
        let values = self.v[first * self.v_dim..].chunks_exact(self.v_dim);
        for (score, value) in scores.iter().zip(values) {
            let weight = libm::exp(score - max);
            sum += weight;
            out.iter_mut().zip(value).for_each(|(out, value)| *out += weight * value);
        }
        out.iter_mut().for_each(|out| *out /= sum);
    }
}

/// The rows of one head of `[rows, heads, dim]`, in float64.
fn rows(values: &[bf16], rows: usize, heads: usize, dim: usize, head: usize) -> Vec<f64> {
    (0..rows).flat_map(|row| &values[(row * heads + head) * dim..][..dim]).map(|x| x.to_f64()).collect()
}

/// Rows of two matrices side by side.
fn beside(a: &[f64], a_dim: usize, b: &[f64], b_dim: usize) -> Vec<f64> {
    if b_dim == 0 {
        return a.to_vec();
    }
    a.chunks_exact(a_dim).zip(b.chunks_exact(b_dim)).flat_map(|(a, b)| a.iter().chain(b)).copied().collect()
}

/// A product sum in eight lanes, whose order is fixed.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut lanes = [0.0; LANES];
    let (a_lanes, a_rest) = a.as_chunks::<LANES>();
    let (b_lanes, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_lanes.iter().zip(b_lanes) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activations::Heads;
    use crate::attention::AttentionOptions;

    fn values(of: &[f32]) -> Vec<bf16> {
        of.iter().map(|x| bf16::from_f32(*x)).collect()
    }

    fn attend_one_head(options: AttentionOptions) -> Vec<f64> {
        let heads = Heads { all: 1, local: 0..1 };
        let shape = LayerShape::Mha { heads: heads.clone(), kv_heads: heads, head_dim: 1, v_head_dim: 1 };
        let activations = Activations::Mha {
            tokens: 3,
            q: values(&[1.0, 1.0, 2.0]),
            k: values(&[0.0, 1.0, -1.0]),
            v: values(&[1.0, 2.0, 4.0]),
        };
        let scoring = Scoring { softmax_scale: f64::from(options.softmax_scale), options };
        attend(&shape, &activations, &[], &scoring)
    }

    #[test]
    fn one_head_by_hand() {
        let e = std::f64::consts::E;
        let close = |found: Vec<f64>, expected: [f64; 3]| {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {expected:?}");
        };
        let plain = AttentionOptions::new(1.0);
        let third = (1.0 + 2.0 * e * e + 4.0 / (e * e)) / (1.0 + e * e + 1.0 / (e * e));
        close(attend_one_head(plain.clone()), [1.0, (1.0 + 2.0 * e) / (1.0 + e), third]);
        let window = AttentionOptions { sliding_window: Some(1), ..plain.clone() };
        close(attend_one_head(window), [1.0, 2.0, 4.0]);
        let sinks = AttentionOptions { sinks: Some(vec![0.0]), sliding_window: Some(1), ..plain.clone() };
        close(attend_one_head(sinks), [0.5, 2.0 * e / (1.0 + e), 4.0 / (1.0 + e * e)]);
        let cap = AttentionOptions { logits_soft_cap: Some(0.5), ..plain };
        let capped = (0.5 * 2.0f64.tanh()).exp();
        assert!((attend_one_head(cap)[1] - (1.0 + 2.0 * capped) / (1.0 + capped)).abs() < 1e-12);
    }

    /// The captured activations with the float64 results that another implementation made from them.
    #[test]
    fn equals_the_captured_float64_results() {
        use crate::activations::ActivationFile;
        use crate::check::weights::{AttentionWeights, Weight};
        use crate::checkpoint::{ModelFolder, TensorParallel};
        use crate::scales::{Options, inspect};

        let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
        for model in ["tiny-gqa", "tiny-mla"] {
            let folder = ModelFolder::open(&data.join(model)).unwrap();
            let path = data.join(format!("activations-{model}.safetensors"));
            let file = ActivationFile::open(&path).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
            let weights = AttentionWeights::find(&folder, false).unwrap();
            let config = folder.attention_config().unwrap();
            let inspection = inspect(&folder, &Options::new(crate::Generation::Gaudi2), &|_| ()).unwrap();
            for layer in inspection.layers.iter().map(|layer| layer.layer) {
                let cached = folder.layers().get(layer).unwrap();
                let shape = LayerShape::read(&folder, cached, TensorParallel::default()).unwrap();
                let Weight::Found(kv_b_proj) = weights.kv_b_proj(layer, &shape).unwrap() else { panic!() };
                let scoring = Scoring::new(&config, cached, cached.softmax_scale.unwrap(), None);
                let activations = file.read(layer, layer, &shape).unwrap();
                let found = attend(&shape, &activations, &kv_b_proj, &scoring);
                let expected = tensors.tensor(&format!("layers.{layer}.attn_out")).unwrap();
                let expected = expected.data().as_chunks::<4>().0;
                assert_eq!(found.len(), expected.len());
                for (found, expected) in found.iter().zip(expected) {
                    let expected = f32::from_le_bytes(*expected);
                    let step = f64::from(expected.abs() * f32::EPSILON);
                    assert!((found - f64::from(expected)).abs() <= 0.5 * step + 1e-12, "{found} {expected}");
                }
            }
        }
    }
}
