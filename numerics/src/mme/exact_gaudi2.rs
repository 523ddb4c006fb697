//! Gaudi2's sums of a chunk.

use std::hint::black_box;

use super::chunk::Chunk;
use super::decode::{EXTRA, LEAST_TOP};
use super::groups::{EXPONENT, add_products, exps_of, inverse, scale, small_groups, tops, values_of};
use super::ops::ProductOps;
use super::packed_a::RowA;

/// An accumulator of at least this biased exponent does not notice a group below [`LEAST_TOP`].
const UNMOVED_C: i32 = 60;
/// The least exponent that a product of two nonzero float16 numbers can have: 2^-14 twice.
const LEAST_HALF_TOP: i32 = 99;
/// Adds a chunk of FP8 products to the sums of `R` rows. Nothing has to be done again: the sums are multiples of the smallest product, a normal number.
#[inline(always)]
pub(super) fn gaudi2_fp8<S: ProductOps, const R: usize>(
    simd: S,
    chunk: &Chunk,
    a: &[RowA<'_>; R],
    c: &mut [[S::F; 4]; R],
) -> [u64; R] {
    const GROUP: usize = 16;
    let (width, group) = (4 * S::LANES, black_box(GROUP));
    let groups = chunk.values.chunks_exact(GROUP * width).zip(chunk.exps.chunks_exact(GROUP * width));
    for (g, (values, exps)) in groups.take(chunk.depth.div_ceil(GROUP)).enumerate() {
        let of_group = g * GROUP..(g + 1) * GROUP;
        let tops = tops(simd, exps, exps_of(a, of_group.clone()), LEAST_HALF_TOP);
        let mut scales = [[simd.splat(0.0); 4]; R];
        let mut sums = [[simd.splat_int(0); 4]; R];
        for r in 0..R {
            for (j, scales) in scales[r].iter_mut().enumerate() {
                *scales = scale(simd, simd.exponent_field(tops[r], j));
            }
        }
        add_products(simd, group, values, values_of(a, of_group), &scales, &mut sums);
        for r in 0..R {
            for j in 0..4 {
                let scaled = simd.widen(simd.mul(c[r][j], scales[r][j]));
                let sum = simd.add_narrow(scaled, simd.widen_int(sums[r][j]));
                c[r][j] = simd.mul(sum, inverse(simd, scales[r][j]));
            }
        }
    }
    [0; R]
}

/// Adds a chunk of bfloat16 products to the sums of `R` rows. The terms have up to 48 bits and are added as doubles. Returns the lanes to do again.
#[inline(always)]
pub(super) fn gaudi2_bf16<S: ProductOps, const R: usize>(
    simd: S,
    chunk: &Chunk,
    a: &[RowA<'_>; R],
    c: &mut [[S::F; 4]; R],
) -> [u64; R] {
    const GROUP: usize = 8;
    let (width, group) = (4 * S::LANES, black_box(GROUP));
    let mut again = [0; R];
    let groups = chunk.values.chunks_exact(GROUP * width).zip(chunk.exps.chunks_exact(GROUP * width));
    for (g, (values, exps)) in groups.take(chunk.depth.div_ceil(GROUP)).enumerate() {
        let of_group = g * GROUP..(g + 1) * GROUP;
        let a_exps = exps_of(a, of_group.clone());
        let tops = tops(simd, exps, a_exps, LEAST_TOP - 1);
        for r in 0..R {
            again[r] |= small_groups(simd, chunk, exps, a_exps[r], tops[r], &c[r], UNMOVED_C);
        }
        for j in 0..4 {
            let mut scales = [simd.splat(0.0); R];
            let mut wide_scales = [[simd.splat_double(0.0); 2]; R];
            let mut sums = [[simd.splat_double(0.0); 2]; R];
            for r in 0..R {
                scales[r] = scale(simd, simd.exponent_field(tops[r], j));
                wide_scales[r] = simd.widen(scales[r]);
            }
            for (k, values) in values[..group * width].chunks_exact(width).enumerate() {
                let b = simd.widen(simd.load(&values[j * S::LANES..]));
                for r in 0..R {
                    let a = simd.splat_double(a[r].wide[g * GROUP + k]);
                    for h in 0..2 {
                        let term = simd.mul_double(simd.mul_double(b[h], a), wide_scales[r][h]);
                        sums[r][h] = simd.add_double(sums[r][h], simd.truncate_double(term));
                    }
                }
            }
            for r in 0..R {
                let unit = simd.widen(inverse(simd, scales[r]));
                let extra = simd.splat_double(1.0 / EXTRA);
                for h in 0..2 {
                    sums[r][h] = simd.mul_double(simd.mul_double(sums[r][h], extra), unit[h]);
                }
                c[r][j] = simd.add_narrow(simd.widen(c[r][j]), sums[r]);
                let bits = simd.bits(c[r][j]);
                let exponent = simd.and(bits, simd.splat_int(EXPONENT));
                let small = simd.less(exponent, simd.splat_int(LEAST_TOP << 23));
                let small = small & !simd.equal(bits, simd.splat_int(0));
                again[r] |= small << (S::LANES * j);
            }
        }
    }
    again
}
