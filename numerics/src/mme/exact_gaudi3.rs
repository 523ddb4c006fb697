//! Gaudi3's sums of a chunk.

use std::hint::black_box;

use super::chunk::Chunk;
use super::decode::LEAST_TOP;
use super::groups::{EXPONENT, add_products, exps_of, inverse, scale, small_groups, tops, values_of};
use super::ops::ProductOps;
use super::packed_a::RowA;

/// Adds a chunk to the sums of `R` rows and returns the lanes to do again.
#[inline(always)]
pub(super) fn gaudi3<S: ProductOps, const R: usize, const CHECKED: bool>(
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
        if CHECKED {
            for r in 0..R {
                again[r] |= small_groups(simd, chunk, exps, a_exps[r], tops[r], &c[r], LEAST_TOP);
            }
        }
        let mut scales = [[simd.splat(0.0); 4]; R];
        let mut sums = [[simd.splat_int(0); 4]; R];
        for r in 0..R {
            for j in 0..4 {
                let of_c = simd.and(simd.bits(c[r][j]), simd.splat_int(EXPONENT));
                scales[r][j] = scale(simd, simd.max(of_c, simd.exponent_field(tops[r], j)));
                sums[r][j] = simd.truncate(simd.mul(c[r][j], scales[r][j]));
            }
        }
        add_products(simd, group, values, values_of(a, of_group), &scales, &mut sums);
        for r in 0..R {
            for j in 0..4 {
                c[r][j] = simd.mul(simd.to_float_toward_zero(sums[r][j]), inverse(simd, scales[r][j]));
            }
        }
    }
    again
}
