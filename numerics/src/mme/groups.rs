//! Parts that the rules of both generations have: exponents, alignment and integer sums of a group.

use std::ops::Range;

use super::chunk::Chunk;
use super::decode::{LEAST_TOP, ZERO, bytes};
use super::ops::ProductOps;
use super::packed_a::RowA;

/// The exponent field of a float32.
pub(super) const EXPONENT: i32 = 0x7F80_0000;

/// The exponents of the largest products of a group, as bytes, for each of `R` rows; at least `floor`.
#[inline(always)]
pub(super) fn tops<S: ProductOps, const R: usize>(
    simd: S,
    exps: &[u8],
    a: [&[u32]; R],
    floor: i32,
) -> [S::B; R] {
    let mut tops = [simd.splat_bytes(bytes((floor - 128) as i8)); R];
    for (k, exps) in exps.chunks_exact(4 * S::LANES).enumerate() {
        let b = simd.load_bytes(exps);
        for r in 0..R {
            tops[r] = simd.max_bytes(tops[r], simd.add_saturating(simd.splat_bytes(a[r][k]), b));
        }
    }
    tops
}

/// The values of each row in a group. A loop, because array `map` is not always inlined into a kernel, and what is not
/// inlined lacks its instructions.
#[inline(always)]
pub(super) fn values_of<'a, const R: usize>(a: &[RowA<'a>; R], group: Range<usize>) -> [&'a [f32]; R] {
    let mut values: [&[f32]; R] = [&[]; R];
    for r in 0..R {
        values[r] = &a[r].values[group.clone()];
    }
    values
}

/// The exponents of each row in a group.
#[inline(always)]
pub(super) fn exps_of<'a, const R: usize>(a: &[RowA<'a>; R], group: Range<usize>) -> [&'a [u32]; R] {
    let mut exps: [&[u32]; R] = [&[]; R];
    for r in 0..R {
        exps[r] = &a[r].exps[group.clone()];
    }
    exps
}

/// `2^(24 - (top - 127))`, which makes integers of products aligned against `top`.
#[inline(always)]
pub(super) fn scale<S: ProductOps>(simd: S, top: S::I) -> S::F {
    simd.float(simd.sub(simd.splat_int((278u32 << 23) as i32), top))
}

/// The inverse of a power of two.
#[inline(always)]
pub(super) fn inverse<S: ProductOps>(simd: S, scale: S::F) -> S::F {
    simd.float(simd.sub(simd.splat_int(254 << 23), simd.bits(scale)))
}

/// Adds the products of the first `group` values, as integers, to `sums`. The loop must stay a loop: `group` comes out
/// of a `black_box`, for unrolled and reassociated sums need more registers than there are.
#[inline(always)]
pub(super) fn add_products<S: ProductOps, const R: usize>(
    simd: S,
    group: usize,
    values: &[f32],
    a: [&[f32]; R],
    scales: &[[S::F; 4]; R],
    sums: &mut [[S::I; 4]; R],
) {
    for (k, values) in values[..group * 4 * S::LANES].chunks_exact(4 * S::LANES).enumerate() {
        for j in 0..4 {
            let b = simd.load(&values[j * S::LANES..]);
            for r in 0..R {
                let product = simd.mul(b, simd.splat(a[r][k]));
                sums[r][j] = simd.add(sums[r][j], simd.truncate(simd.mul(product, scales[r][j])));
            }
        }
    }
}

/// The lanes whose largest product is below [`LEAST_TOP`] without being nothing, or whose accumulator is below
/// `least_c` as well: the kernel cannot align those.
#[inline(always)]
pub(super) fn small_groups<S: ProductOps>(
    simd: S,
    chunk: &Chunk,
    exps: &[u8],
    a_exps: &[u32],
    top: S::B,
    c: &[S::F; 4],
    least_c: i32,
) -> u64 {
    let small = simd.less_bytes(top, simd.splat_bytes(bytes((LEAST_TOP - 128) as i8))) & chunk.used;
    if small == 0 {
        return 0;
    }
    let zero = simd.splat_bytes(bytes(ZERO));
    let mut moves = 0;
    for (a, exps) in a_exps.iter().zip(exps.chunks_exact(4 * S::LANES)) {
        if *a != bytes(ZERO) {
            moves |= simd.less_bytes(zero, simd.load_bytes(exps));
        }
    }
    let mut small_c = 0;
    for (j, c) in c.iter().enumerate() {
        let bits = simd.bits(*c);
        let less = simd.less(simd.and(bits, simd.splat_int(EXPONENT)), simd.splat_int(least_c << 23));
        small_c |= less << (S::LANES * j);
        moves |= (!simd.equal(bits, simd.splat_int(0)) & ((1 << S::LANES) - 1)) << (S::LANES * j);
    }
    small & small_c & moves
}
