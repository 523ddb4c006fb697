//! Rows of a block, accumulated as the device does: the rules of the scalar reference in float arithmetic, over the columns of a panel at once.
//!
//! The product of two FP8 or bfloat16 numbers is exact in float32, and so is its multiple by a power of two. Shifting
//! a significand right, dropping the bits and applying the sign is then a multiplication and a conversion toward zero.
//! Only the power of two differs from column to column: it comes from the largest exponent of the group, which is a
//! sum and a maximum of bytes. What this cannot do (Inf, NaN, results near the end of the float32 range) is found by
//! its exponents and done again by the scalar reference, for the lane alone.

use super::chunk::Chunk;
use super::decode::LEAST_TOP;
use super::exact_gaudi2::{gaudi2_bf16, gaudi2_fp8};
use super::exact_gaudi3::gaudi3;
use super::ops::ProductOps;
use super::packed_a::RowA;
use super::rules::Rules;

/// The largest biased exponent of an accumulator that the kernels go on with; beyond it they might overflow.
const MOST_C: u32 = 200;
/// Adds the products of `R` rows and one chunk of the common dimension to `c`, and marks the lanes that must stay scalar.
#[inline(always)]
pub(super) fn exact_rows<S: ProductOps, const R: usize>(
    simd: S,
    rules: Rules,
    checked: bool,
    chunk: &Chunk,
    a: [RowA<'_>; R],
    c: &mut [f32],
    scalar_lanes: &mut [u64],
) {
    let width = 4 * S::LANES;
    let mut sums = [[simd.splat(0.0); 4]; R];
    for r in 0..R {
        for j in 0..4 {
            sums[r][j] = simd.load(&c[r * width + j * S::LANES..]);
        }
    }
    let found = match (rules, checked) {
        (Rules::Gaudi3, false) => gaudi3::<S, R, false>(simd, chunk, &a, &mut sums),
        (Rules::Gaudi3, true) => gaudi3::<S, R, true>(simd, chunk, &a, &mut sums),
        (Rules::Gaudi2Fp8, _) => gaudi2_fp8(simd, chunk, &a, &mut sums),
        (Rules::Gaudi2Bf16, _) => gaudi2_bf16(simd, chunk, &a, &mut sums),
    };
    for r in 0..R {
        let c = &mut c[r * width..(r + 1) * width];
        let all = if a[r].special { u64::MAX } else { 0 };
        let again = (found[r] | scalar_lanes[r] | chunk.special | all) & chunk.used;
        if again == 0 {
            for j in 0..4 {
                simd.store(sums[r][j], &mut c[j * S::LANES..]);
            }
        } else {
            let mut kept = [0.0; 64];
            kept[..width].copy_from_slice(c);
            for j in 0..4 {
                simd.store(sums[r][j], &mut c[j * S::LANES..]);
            }
            scalar_lanes[r] = scalar(rules, chunk, &a[r], again, &kept, c);
        }
    }
}

/// Does the lanes of `again` over from the accumulators they had, and returns those that must stay scalar.
#[cold]
fn scalar(rules: Rules, chunk: &Chunk, a: &RowA<'_>, again: u64, kept: &[f32], c: &mut [f32]) -> u64 {
    let group = rules.group();
    let mut stay = 0;
    for n in (0..chunk.width).filter(|n| again >> n & 1 != 0) {
        let mut sum = kept[n].to_bits();
        for k in (0..chunk.depth).step_by(group) {
            let (mut x, mut y) = ([0; 16], [0; 16]);
            for i in 0..group {
                x[i] = a.values[k + i].to_bits();
                y[i] = chunk.values[(k + i) * chunk.width + n].to_bits();
            }
            sum = rules.step(&x[..group], &y[..group], sum);
        }
        let exponent = sum >> 23 & 0xFF;
        let too_small = rules == Rules::Gaudi2Bf16 && sum != 0 && exponent < LEAST_TOP as u32;
        stay |= u64::from(exponent > MOST_C || too_small) << n;
        c[n] = f32::from_bits(sum);
    }
    stay
}
