//! Products in portable Rust, on arrays: the loops over eight lanes are what compilers turn into vector code.

use crate::mme::ops::ProductOps;
use crate::simd::Portable;

const LANES: usize = 8;

#[inline(always)]
fn map<T: Copy, U: Copy + Default, const N: usize>(a: [T; N], f: impl Fn(T) -> U) -> [U; N] {
    let mut out = [U::default(); N];
    for i in 0..N {
        out[i] = f(a[i]);
    }
    out
}

#[inline(always)]
fn zip<T: Copy, U: Copy + Default, const N: usize>(a: [T; N], b: [T; N], f: impl Fn(T, T) -> U) -> [U; N] {
    let mut out = [U::default(); N];
    for i in 0..N {
        out[i] = f(a[i], b[i]);
    }
    out
}

/// Bit `i` is whether `a[i]` and `b[i]` compare.
#[inline(always)]
fn mask<T: Copy, const N: usize>(a: [T; N], b: [T; N], f: impl Fn(T, T) -> bool) -> u64 {
    let mut out = 0;
    for i in 0..N {
        out |= u64::from(f(a[i], b[i])) << i;
    }
    out
}

/// The halves of eight lanes as doubles.
#[inline(always)]
fn halves<T: Copy + Into<f64>>(x: [T; LANES]) -> [[f64; LANES / 2]; 2] {
    let mut out = [[0.0; LANES / 2]; 2];
    for i in 0..LANES {
        out[i / 4][i % 4] = x[i].into();
    }
    out
}

/// `a + b` rounded to odd: cut to 53 bits, the last of which is set if anything was lost. Rounding that to the 24
/// bits of a float32 gives what rounding the exact sum gives.
#[inline(always)]
fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let b_part = sum - a;
    let lost = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    let away = u64::from(lost.to_bits() >> 63 == bits >> 63);
    let step = away.wrapping_mul(2).wrapping_sub(1);
    f64::from_bits(if lost != 0.0 && bits & 1 == 0 { bits.wrapping_add(step) } else { bits })
}

impl ProductOps for Portable {
    const LANES: usize = LANES;
    const ROWS: usize = 1;
    type F = [f32; LANES];
    type I = [i32; LANES];
    type B = [i8; 4 * LANES];
    type D = [f64; LANES / 2];

    #[inline(always)]
    fn splat_bytes(self, word: u32) -> Self::B {
        let bytes = word.to_le_bytes();
        let mut out = [0; 4 * LANES];
        for (i, byte) in out.iter_mut().enumerate() {
            *byte = bytes[i % 4] as i8;
        }
        out
    }

    #[inline(always)]
    fn load_bytes(self, from: &[u8]) -> Self::B {
        let mut out = [0; 4 * LANES];
        for (to, from) in out.iter_mut().zip(from) {
            *to = *from as i8;
        }
        out
    }

    #[inline(always)]
    fn add_saturating(self, a: Self::B, b: Self::B) -> Self::B {
        zip(a, b, i8::saturating_add)
    }

    #[inline(always)]
    fn max_bytes(self, a: Self::B, b: Self::B) -> Self::B {
        zip(a, b, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn less_bytes(self, a: Self::B, b: Self::B) -> u64 {
        let mut out = 0;
        for j in 0..4 {
            for i in 0..LANES {
                out |= u64::from(a[4 * i + j] < b[4 * i + j]) << (LANES * j + i);
            }
        }
        out
    }

    #[inline(always)]
    fn exponent_field(self, bytes: Self::B, j: usize) -> Self::I {
        let mut out = [0; LANES];
        for (i, field) in out.iter_mut().enumerate() {
            *field = (i32::from(bytes[4 * i + j]) + 128) << 23;
        }
        out
    }

    #[inline(always)]
    fn splat(self, x: f32) -> Self::F {
        [x; LANES]
    }

    #[inline(always)]
    fn load(self, from: &[f32]) -> Self::F {
        let mut out = [0.0; LANES];
        out.copy_from_slice(&from[..LANES]);
        out
    }

    #[inline(always)]
    fn store(self, x: Self::F, to: &mut [f32]) {
        to[..LANES].copy_from_slice(&x);
    }

    #[inline(always)]
    fn mul(self, a: Self::F, b: Self::F) -> Self::F {
        zip(a, b, |a, b| a * b)
    }

    #[inline(always)]
    fn mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        // Not fused: without an instruction for it that would be a function call.
        zip(zip(a, b, |a, b| a * b), c, |product, c| product + c)
    }

    #[inline(always)]
    fn truncate(self, x: Self::F) -> Self::I {
        map(x, |x| x as i32)
    }

    #[inline(always)]
    fn to_float_toward_zero(self, x: Self::I) -> Self::F {
        map(x, |x| {
            let nearest = x as f32;
            // Rounded up in magnitude: one step back. Both magnitudes are below 2^31 and convert exactly.
            let over = (nearest.abs() as u32) > x.unsigned_abs();
            f32::from_bits(nearest.to_bits() - u32::from(over))
        })
    }

    #[inline(always)]
    fn bits(self, x: Self::F) -> Self::I {
        map(x, |x| x.to_bits() as i32)
    }

    #[inline(always)]
    fn float(self, x: Self::I) -> Self::F {
        map(x, |x| f32::from_bits(x as u32))
    }

    #[inline(always)]
    fn splat_int(self, x: i32) -> Self::I {
        [x; LANES]
    }

    #[inline(always)]
    fn add(self, a: Self::I, b: Self::I) -> Self::I {
        zip(a, b, i32::wrapping_add)
    }

    #[inline(always)]
    fn sub(self, a: Self::I, b: Self::I) -> Self::I {
        zip(a, b, i32::wrapping_sub)
    }

    #[inline(always)]
    fn and(self, a: Self::I, b: Self::I) -> Self::I {
        zip(a, b, |a, b| a & b)
    }

    #[inline(always)]
    fn max(self, a: Self::I, b: Self::I) -> Self::I {
        zip(a, b, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn less(self, a: Self::I, b: Self::I) -> u64 {
        mask(a, b, |a, b| a < b)
    }

    #[inline(always)]
    fn equal(self, a: Self::I, b: Self::I) -> u64 {
        mask(a, b, |a, b| a == b)
    }

    #[inline(always)]
    fn splat_double(self, x: f64) -> Self::D {
        [x; LANES / 2]
    }

    #[inline(always)]
    fn widen(self, x: Self::F) -> [Self::D; 2] {
        halves(x)
    }

    #[inline(always)]
    fn widen_int(self, x: Self::I) -> [Self::D; 2] {
        halves(x)
    }

    #[inline(always)]
    fn mul_double(self, a: Self::D, b: Self::D) -> Self::D {
        zip(a, b, |a, b| a * b)
    }

    #[inline(always)]
    fn add_double(self, a: Self::D, b: Self::D) -> Self::D {
        zip(a, b, |a, b| a + b)
    }

    #[inline(always)]
    fn truncate_double(self, x: Self::D) -> Self::D {
        map(x, |x| {
            // Below 2^50 by construction, or in a lane whose result is not used.
            (x as i64) as f64
        })
    }

    #[inline(always)]
    fn add_narrow(self, a: [Self::D; 2], b: [Self::D; 2]) -> Self::F {
        let mut out = [0.0; LANES];
        for i in 0..LANES {
            out[i] = add_to_odd(a[i / 4][i % 4], b[i / 4][i % 4]) as f32;
        }
        out
    }
}
