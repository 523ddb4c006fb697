//! The kernels: the rules of [`reference()`](super::reference()) in float arithmetic, over the columns of a panel at once.
//!
//! The product of two FP8 or bfloat16 numbers is exact in float32, and so is its multiple by a power of two. Shifting
//! a significand right, dropping the bits and applying the sign is then a multiplication and a conversion toward zero.
//! Only the power of two differs from column to column: it comes from the largest exponent of the group, which is a
//! sum and a maximum of bytes. What this cannot do (Inf, NaN, results near the end of the float32 range) is found by
//! its exponents and done again by the scalar reference, for the lane alone.

use std::hint::black_box;
use std::ops::Range;

use super::decode::{LEAST_TOP, ZERO};
use super::memory::TaskMemory;
use super::pack::{CHUNK, Chunk, PackedA, RowA, Source};
use super::reference::Rules;
use super::simd::Simd;

/// The exponent field of a float32.
const EXPONENT: i32 = 0x7F80_0000;
/// The largest biased exponent of an accumulator that the kernels go on with; beyond it they might overflow.
const MOST_C: u32 = 200;
/// An accumulator of at least this biased exponent does not notice a group below [`LEAST_TOP`].
const UNMOVED_C: i32 = 60;
/// The least exponent that a product of two nonzero float16 numbers can have: 2^-14 twice.
const LEAST_HALF_TOP: i32 = 99;
/// Gaudi2's bfloat16 sums keep 46 fractional bits, 22 more than the scale that is shared by all rules.
const EXTRA: f64 = (1u32 << 22) as f64;

/// How products are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sum {
    /// As the device does. `checked` is whether groups of small products have to be looked for.
    Exact { rules: Rules, checked: bool },
    /// In float32, one product after the other.
    Float,
}

/// A block of the product: some rows of A by some columns of B.
pub(super) struct Kernel<'k, 'o> {
    pub(super) sum: Sum,
    pub(super) a: &'k PackedA,
    pub(super) first_row: usize,
    pub(super) b: &'k Source<'k>,
    pub(super) first_column: usize,
    /// The block of the destination, row by row.
    pub(super) out: &'k mut [&'o mut [f32]],
}

/// Computes the block.
#[inline(always)]
pub(super) fn run<S: Simd>(simd: S, kernel: &mut Kernel<'_, '_>, memory: &mut TaskMemory) {
    let width = 4 * S::LANES;
    let rows = kernel.out.len();
    let columns = kernel.out.first().map_or(0, |row| row.len());
    let TaskMemory { chunk, tile, scalar_lanes } = memory;
    chunk.set_width(width);
    tile.resize(rows * width, 0.0);
    scalar_lanes.resize(rows, 0);
    for start in (0..columns).step_by(width) {
        let used = width.min(columns - start);
        tile.fill(0.0);
        scalar_lanes.fill(0);
        for (index, k) in (0..kernel.a.depth).step_by(CHUNK).enumerate() {
            chunk.pack(simd, kernel.b, k, kernel.first_column + start, used);
            let mut row = 0;
            while row < rows {
                let c = &mut tile[row * width..];
                let first = kernel.first_row + row;
                match kernel.sum {
                    Sum::Float if S::ROWS > 1 && row + 4 <= rows => {
                        float_rows::<S, 4>(simd, kernel.a, first, index, chunk, c);
                        row += 4;
                    }
                    Sum::Float if row + 2 <= rows => {
                        float_rows::<S, 2>(simd, kernel.a, first, index, chunk, c);
                        row += 2;
                    }
                    Sum::Float => {
                        float_rows::<S, 1>(simd, kernel.a, first, index, chunk, c);
                        row += 1;
                    }
                    Sum::Exact { rules, checked } if S::ROWS > 1 && row + 2 <= rows => {
                        let a = [kernel.a.row(first, index), kernel.a.row(first + 1, index)];
                        rows_of::<S, 2>(simd, rules, checked, chunk, a, c, &mut scalar_lanes[row..]);
                        row += 2;
                    }
                    Sum::Exact { rules, checked } => {
                        let a = [kernel.a.row(first, index)];
                        rows_of::<S, 1>(simd, rules, checked, chunk, a, c, &mut scalar_lanes[row..]);
                        row += 1;
                    }
                }
            }
        }
        for (out, c) in kernel.out.iter_mut().zip(tile.chunks_exact(width)) {
            out[start..start + used].copy_from_slice(&c[..used]);
        }
    }
}

/// `R` rows over one chunk of the common dimension, in float.
#[inline(always)]
fn float_rows<S: Simd, const R: usize>(
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

/// `R` rows over one chunk of the common dimension.
#[inline(always)]
fn rows_of<S: Simd, const R: usize>(
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

/// The exponents of the largest products of a group, as bytes, for each of `R` rows; at least `floor`.
#[inline(always)]
fn tops<S: Simd, const R: usize>(simd: S, exps: &[u8], a: [&[u32]; R], floor: i32) -> [S::B; R] {
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
fn values_of<'a, const R: usize>(a: &[RowA<'a>; R], group: Range<usize>) -> [&'a [f32]; R] {
    let mut values: [&[f32]; R] = [&[]; R];
    for r in 0..R {
        values[r] = &a[r].values[group.clone()];
    }
    values
}

/// The exponents of each row in a group.
#[inline(always)]
fn exps_of<'a, const R: usize>(a: &[RowA<'a>; R], group: Range<usize>) -> [&'a [u32]; R] {
    let mut exps: [&[u32]; R] = [&[]; R];
    for r in 0..R {
        exps[r] = &a[r].exps[group.clone()];
    }
    exps
}

/// A byte four times.
pub(super) const fn bytes(byte: i8) -> u32 {
    byte as u8 as u32 * 0x0101_0101
}

/// `2^(24 - (top - 127))`, which makes integers of products aligned against `top`, and its inverse.
#[inline(always)]
fn scale<S: Simd>(simd: S, top: S::I) -> S::F {
    simd.float(simd.sub(simd.splat_int((278u32 << 23) as i32), top))
}

#[inline(always)]
fn inverse<S: Simd>(simd: S, scale: S::F) -> S::F {
    simd.float(simd.sub(simd.splat_int(254 << 23), simd.bits(scale)))
}

/// Adds the products of the first `group` values, as integers, to `sums`. The loop must stay a loop: `group` comes out
/// of a `black_box`, for unrolled and reassociated sums need more registers than there are.
#[inline(always)]
fn add_products<S: Simd, const R: usize>(
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

/// Gaudi3. Returns the lanes to do again.
#[inline(always)]
fn gaudi3<S: Simd, const R: usize, const CHECKED: bool>(
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

/// Gaudi2, FP8. Nothing has to be done again: the sums are multiples of the smallest product, a normal number.
#[inline(always)]
fn gaudi2_fp8<S: Simd, const R: usize>(
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

/// Gaudi2, bfloat16: the terms have up to 48 bits and are added as doubles. Returns the lanes to do again.
#[inline(always)]
fn gaudi2_bf16<S: Simd, const R: usize>(
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

/// The factor that `RowA::wide` carries.
pub(super) const fn wide(value: f32) -> f64 {
    value as f64 * EXTRA
}

/// The lanes whose largest product is below [`LEAST_TOP`] without being nothing, or whose accumulator is below
/// `least_c` as well: the kernel cannot align those.
#[inline(always)]
fn small_groups<S: Simd>(
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
