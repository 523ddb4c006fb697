//! Rows of a block, accumulated in float32.

use super::chunk::Chunk;
use super::ops::ProductOps;
use super::packed_a::PackedA;

/// `R` rows over one chunk of the common dimension, in float.
#[inline(always)]
pub(super) fn float_rows<S: ProductOps, const R: usize>(
    simd: S,
    a: &PackedA,
    first: usize,
    index: usize,
    chunk: &Chunk,
    c: &mut [f32],
) {
    let width = 4 * S::LANES;
    let mut rows: [&[f32]; R] = [&[]; R];
    let mut sums = [[simd.splat(0.0); 4]; R];
    for r in 0..R {
        rows[r] = &a.row(first + r, index).values[..chunk.depth];
        for j in 0..4 {
            sums[r][j] = simd.load(&c[r * width + j * S::LANES..]);
        }
    }
    for (k, values) in chunk.values[..chunk.depth * width].chunks_exact(width).enumerate() {
        let mut b = [simd.splat(0.0); 4];
        for j in 0..4 {
            b[j] = simd.load(&values[j * S::LANES..]);
        }
        for r in 0..R {
            let a = simd.splat(rows[r][k]);
            for j in 0..4 {
                sums[r][j] = simd.mul_add(a, b[j], sums[r][j]);
            }
        }
    }
    for r in 0..R {
        for j in 0..4 {
            simd.store(sums[r][j], &mut c[r * width + j * S::LANES..]);
        }
    }
}
