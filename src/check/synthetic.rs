//! Activations drawn to the range that a layer's scales were calibrated for.
//!
//! Everything follows from the shapes, the layer's number and the checkpoint's scales; a device changes nothing. Values
//! come from a counter-based generator (SplitMix64), so that an element depends on its place alone. As in real
//! activations, a few channels reach the end of the range and the others stay far below it: channel amplitudes are
//! `2^-u` with `u` from 0 to 6, and within a channel values are the mean of two uniform ones.

use half::bf16;

use crate::HeadScales;
use crate::activations::{Activations, LayerShape};
use crate::scales::{LayerReport, LayerScale, Origin};

/// Tokens of a synthetic sequence: a block of 128 and a part of the next.
pub(super) const SYNTHETIC_TOKENS: usize = 160;
const SEED: u64 = 0x6761_7564_692d_6b76;
/// Amplitudes fall over so many octaves.
const OCTAVES: f32 = 6.0;
/// The largest magnitude where a scale is not known, so that nothing is calibrated.
const UNSCALED_AMAX: f32 = 4.0;

/// Draws the activations of a layer. Keys and values are those of the layer `owner`, whose cache it reads.
pub(super) fn draw(layer: &LayerReport, shape: &LayerShape, fp8_max_quant: u32) -> Activations {
    let tokens = SYNTHETIC_TOKENS;
    let range = fp8_max_quant as f32;
    let owner = layer.cache_owner.unwrap_or(layer.layer);
    let k = Amax::of(layer.k.as_ref(), range);
    let q = Amax::of(layer.q.as_ref(), range);
    let own = |operand, heads, dim, amax: &Amax| matrix(layer.layer, operand, (tokens, heads, dim), amax);
    let owned = |operand, heads, dim, amax: &Amax| matrix(owner, operand, (tokens, heads, dim), amax);
    match shape {
        LayerShape::Mha { heads, kv_heads, head_dim, v_head_dim } => {
            let (heads, kv_heads) = (heads.local.len(), kv_heads.local.len());
            let v = Amax::of(layer.v.as_ref(), range);
            Activations::Mha {
                tokens,
                q: own(0, heads, *head_dim, &q.for_query_heads(heads, kv_heads)),
                k: owned(1, kv_heads, *head_dim, &k),
                v: owned(2, kv_heads, *v_head_dim, &v),
            }
        }
        LayerShape::Mla { heads, kv_lora_rank, nope_dim, rope_dim, .. } => {
            let heads = heads.local.len();
            Activations::Mla {
                tokens,
                q_nope: own(3, heads, *nope_dim, &q),
                q_pe: own(4, heads, *rope_dim, &q),
                kv_c: owned(5, 1, *kv_lora_rank, &k),
                k_pe: owned(6, 1, *rope_dim, &k),
            }
        }
    }
}

/// The end of the calibrated range, for all heads or for each.
#[derive(Debug, Clone)]
struct Amax(Vec<f32>);

impl Amax {
    /// A scale times the largest value of the checkpoint's FP8. A scale that was defaulted or is dynamic says nothing.
    fn of(scale: Option<&LayerScale>, range: f32) -> Self {
        let calibrated = scale.filter(|scale| !matches!(scale.origin, Origin::Defaulted | Origin::Dynamic));
        let numbers = calibrated.and_then(|scale| scale.checkpoint.as_ref()).map(HeadScales::as_slice);
        let amax = |s: &f32| {
            let amax = s * range;
            if *s > 0.0 && amax.is_finite() && bf16::from_f32(amax).is_finite() {
                amax
            } else {
                UNSCALED_AMAX
            }
        };
        Self(numbers.map_or_else(|| vec![UNSCALED_AMAX], |numbers| numbers.iter().map(amax).collect()))
    }

    /// Scales of a query are by KV head.
    fn for_query_heads(&self, heads: usize, kv_heads: usize) -> Self {
        let group = (heads / kv_heads.max(1)).max(1);
        Self((0..heads).map(|head| self.of_head(head / group)).collect())
    }

    fn of_head(&self, head: usize) -> f32 {
        self.0.get(head).or(self.0.first()).copied().unwrap_or(UNSCALED_AMAX)
    }
}

/// `[tokens, heads, dim]`. The largest magnitude of each head is exactly its amax, as far as bfloat16 goes.
fn matrix(layer: usize, operand: u64, (tokens, heads, dim): (usize, usize, usize), amax: &Amax) -> Vec<bf16> {
    if dim == 0 {
        return Vec::new();
    }
    let stream = splitmix(SEED ^ splitmix((layer as u64) << 8 | operand));
    let channels: Vec<f32> =
        (0..heads * dim).map(|at| libm::exp2f(-OCTAVES * uniform(stream, at as u64))).collect();
    let values = splitmix(stream);
    let mut out = Vec::with_capacity(tokens * heads * dim);
    for token in 0..tokens {
        for (at, channel) in channels.iter().enumerate() {
            let place = ((token * heads * dim + at) as u64) * 2;
            let value = uniform(values, place) + uniform(values, place + 1) - 1.0;
            out.push(value * channel);
        }
    }
    let mut most = vec![0.0f32; heads];
    for (number, head) in out.chunks_exact(dim).enumerate() {
        let most = &mut most[number % heads];
        *most = head.iter().fold(*most, |most, x| most.max(x.abs()));
    }
    for (number, values) in out.chunks_exact_mut(dim).enumerate() {
        let factor = amax.of_head(number % heads) / most[number % heads];
        values.iter_mut().for_each(|x| *x *= factor);
    }
    out.into_iter().map(bf16::from_f32).collect()
}

/// From 0 up to 1, in steps of 2^-24.
fn uniform(stream: u64, place: u64) -> f32 {
    (splitmix(stream.wrapping_add(place)) >> 40) as f32 / (1 << 24) as f32
}

/// SplitMix64 (Steele, Lea and Flood): the value of a counter.
fn splitmix(counter: u64) -> u64 {
    let mut z = counter.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_is_the_published_one() {
        // The first outputs of the generator seeded with 1234567.
        let golden = 0x9E37_79B9_7F4A_7C15u64;
        let outputs: Vec<u64> =
            (0..3).map(|i| splitmix(1_234_567u64.wrapping_add(golden.wrapping_mul(i)))).collect();
        assert_eq!(
            outputs,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn each_head_reaches_its_own_amax() {
        let amax = Amax(vec![3.5, 0.25]);
        let values = matrix(7, 1, (50, 2, 16), &amax);
        for (head, expected) in [3.5, 0.25].into_iter().enumerate() {
            let of_head = values.chunks_exact(16).skip(head).step_by(2).flatten();
            assert_eq!(of_head.fold(0.0f32, |most, x| most.max(x.to_f32().abs())), expected);
        }
        assert_eq!(values, matrix(7, 1, (50, 2, 16), &amax));
        assert_ne!(values, matrix(8, 1, (50, 2, 16), &amax));
        // A longer draw begins with the shorter one's pattern: an element depends on its place alone.
        let bits = |layer| uniform(splitmix(SEED ^ splitmix(layer)), 0).to_bits();
        assert_ne!(bits(0), bits(1));
    }
}
