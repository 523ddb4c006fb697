//! The scalar reference: the rules in plain integers, meant to be read. Every kernel is tested against it.
//!
//! A dot product runs over the common dimension in order, in groups; the last group is padded with +0. One float32
//! accumulator C starts at +0 and takes one group per step. Operands are widened to float32 bit patterns first.
//! Significands are 24-bit integers with the implicit one, exponents are float32's biased ones, so a product has a
//! significand of 48 bits with 46 of them fractional, and the exponent `ex + ey - 127`.

use super::rules::Rules;

const NAN: u32 = 0x7FFF_FFFF;
const INFINITY: u32 = 0x7F80_0000;
const SIGN: u32 = 0x8000_0000;
/// The biased float32 exponent of 2^-14, the least exponent of a float16: Gaudi2 passes FP8 operands through it.
pub(super) const HALF_MIN_EXPONENT: i32 = 113;
/// The exponent of a product that is zero: below any other.
const ZERO_EXPONENT: i32 = -127;

impl Rules {
    /// The accumulator after one group: float32 bit patterns in and out.
    pub(super) fn step(self, a: &[u32], b: &[u32], c: u32) -> u32 {
        match self {
            Self::Gaudi3 => gaudi3_step(a, b, c),
            Self::Gaudi2Fp8 => gaudi2_step::<4, true>(a, b, c),
            Self::Gaudi2Bf16 => gaudi2_step::<26, false>(a, b, c),
        }
    }

    /// A whole dot product from C = +0.
    pub(super) fn dot(self, a: &[u32], b: &[u32]) -> u32 {
        let mut c = 0;
        for (a, b) in a.chunks(self.group()).zip(b.chunks(self.group())) {
            // Padding with zeros adds terms of the least exponent and no sign: the same as leaving them out, except
            // for the sign of a zero that Gaudi2 makes of negative zeros alone.
            let (mut x, mut y) = ([0; 16], [0; 16]);
            x[..a.len()].copy_from_slice(a);
            y[..b.len()].copy_from_slice(b);
            c = self.step(&x[..self.group()], &y[..self.group()], c);
        }
        c
    }
}

const fn is_nan(u: u32) -> bool {
    u & !SIGN > INFINITY
}

const fn is_inf(u: u32) -> bool {
    u & !SIGN == INFINITY
}

const fn is_zero(u: u32) -> bool {
    u & !SIGN == 0
}

const fn exponent(u: u32) -> i32 {
    (u >> 23 & 0xFF) as i32
}

const fn mantissa(u: u32) -> u64 {
    (u & 0x7F_FFFF) as u64
}

/// A product, sorted by what it does to the sum.
enum Product {
    Nan,
    Infinity { negative: bool },
    Finite { exponent: i32, significand: u64, negative: bool },
}

/// Multiplies; `split` gives exponent and significand of a nonzero finite operand.
fn product(x: u32, y: u32, split: impl Fn(u32) -> (i32, u64)) -> Product {
    let negative = (x ^ y) & SIGN != 0;
    if is_nan(x) || is_nan(y) || (is_inf(x) && is_zero(y)) || (is_inf(y) && is_zero(x)) {
        Product::Nan
    } else if is_inf(x) || is_inf(y) {
        Product::Infinity { negative }
    } else if is_zero(x) || is_zero(y) {
        Product::Finite { exponent: ZERO_EXPONENT, significand: 0, negative }
    } else {
        let ((ex, sx), (ey, sy)) = (split(x), split(y));
        Product::Finite { exponent: ex + ey - 127, significand: sx * sy, negative }
    }
}

/// One step of Gaudi3. Denormals are kept. Every term, C included, is truncated to 24 fractional bits below the
/// largest exponent, the sum is truncated to float32, and -0 becomes +0.
fn gaudi3_step(a: &[u32], b: &[u32], c: u32) -> u32 {
    const ONE: u32 = 0x3F80_0000;
    let split = |u: u32| {
        let implicit = if exponent(u) == 0 { 0 } else { 1 << 23 };
        (exponent(u).max(1), mantissa(u) | implicit)
    };
    let (mut nan, mut plus, mut minus) = (false, false, false);
    let mut terms = [(ZERO_EXPONENT, 0, false); 9];
    let operands = a.iter().copied().zip(b.iter().copied()).chain([(c, ONE)]);
    for (term, (x, y)) in terms.iter_mut().zip(operands) {
        match product(x, y, split) {
            Product::Nan => nan = true,
            Product::Infinity { negative: false } => plus = true,
            Product::Infinity { negative: true } => minus = true,
            Product::Finite { exponent, significand, negative } => *term = (exponent, significand, negative),
        }
    }
    if nan || (plus && minus) {
        return NAN;
    }
    if plus || minus {
        return if minus { SIGN | INFINITY } else { INFINITY };
    }
    let top = terms.iter().map(|(exponent, ..)| *exponent).fold(-5, i32::max);
    let total: i64 = terms
        .iter()
        .map(|&(exponent, significand, negative)| {
            // Magnitude first, then the sign: truncation toward zero.
            let kept = ((significand >> 22) >> (top - exponent).min(26)) as i64;
            if negative { -kept } else { kept }
        })
        .sum();
    if total == 0 {
        return 0;
    }
    let sign = if total < 0 { SIGN } else { 0 };
    let magnitude = total.unsigned_abs();
    // Bit i of the magnitude weighs 2^(top - 127 - 24 + i).
    let lead = magnitude.ilog2() as i32;
    let exp = top + 1 + lead - 25;
    let man = if lead >= 23 { magnitude >> (lead - 23) } else { magnitude << (23 - lead) };
    if exp > 254 {
        return sign | INFINITY;
    }
    if exp < 1 {
        // A denormal result: shifted right, truncated.
        let man = (man >> (1 - exp).min(63)) as u32 & 0x7F_FFFF;
        return if man == 0 { 0 } else { sign | man };
    }
    sign | (exp as u32) << 23 | (man as u32 & 0x7F_FFFF)
}

/// One step of Gaudi2. Float32 denormals flush to a signed zero on the way in and out. Products keep `20 + KEEP`
/// fractional bits below the largest of them and are summed exactly; C is added once, rounded to nearest even.
/// With `HALF`, operands below 2^-14 are denormal, as in float16.
fn gaudi2_step<const KEEP: i32, const HALF: bool>(a: &[u32], b: &[u32], c: u32) -> u32 {
    let flush = |u: u32| if exponent(u) == 0 { u & SIGN } else { u };
    let split = |u: u32| {
        let (exponent, significand) = (exponent(u), mantissa(u) | 1 << 23);
        if HALF && exponent < HALF_MIN_EXPONENT {
            (HALF_MIN_EXPONENT, significand >> (HALF_MIN_EXPONENT - exponent).min(63))
        } else {
            (exponent, significand)
        }
    };
    let c = flush(c);
    let (c_negative, c_zero) = (c & SIGN != 0, is_zero(c));
    let (mut nan, mut plus, mut minus, mut all_negative) = (is_nan(c), false, false, true);
    let mut terms = [(ZERO_EXPONENT, 0, false); 16];
    for (term, (x, y)) in terms.iter_mut().zip(a.iter().zip(b)) {
        let (x, y) = (flush(*x), flush(*y));
        all_negative &= (x ^ y) & SIGN != 0;
        match product(x, y, split) {
            Product::Nan => nan = true,
            Product::Infinity { negative: false } => plus = true,
            Product::Infinity { negative: true } => minus = true,
            Product::Finite { exponent, significand, negative } => *term = (exponent, significand, negative),
        }
    }
    if is_inf(c) {
        plus |= !c_negative;
        minus |= c_negative;
    }
    if nan || (plus && minus) {
        return NAN;
    }
    if plus || minus {
        return if minus { SIGN | INFINITY } else { INFINITY };
    }
    let top = terms.iter().map(|(exponent, ..)| *exponent).fold(ZERO_EXPONENT, i32::max);
    let total: i64 = terms
        .iter()
        .map(|&(exponent, significand, negative)| {
            let kept = ((significand >> (26 - KEEP)) >> (top - exponent).min(KEEP + 22)) as i64;
            if negative { -kept } else { kept }
        })
        .sum();
    if total == 0 && c_zero {
        return if all_negative && c_negative { SIGN } else { 0 };
    }
    add_rounded::<KEEP>(total, top, c)
}

/// `total`, whose last bit weighs `2^(top - 127 - 20 - KEEP)`, plus C, rounded to nearest even. Not both are zero.
fn add_rounded<const KEEP: i32>(total: i64, top: i32, c: u32) -> u32 {
    let (c_negative, c_zero) = (c & SIGN != 0, is_zero(c));
    // Both addends on one scale: bit 47 of a word with exponent E has the weight 2^(E + 1 - 127).
    let (mut sum, mut sum_exp) = (total << (28 - KEEP), top - 2);
    if total != 0 && (-(1 << 35)..1 << 35).contains(&sum) {
        (sum, sum_exp) = (sum << 24, sum_exp - 24);
    }
    let c_word = ((((mantissa(c) | 1 << 23) << 23) >> (26 - KEEP)) << (33 - KEEP)) as i64;
    let (c_word, c_exp) = (if c_negative { -c_word } else { c_word }, exponent(c) - 7);
    let (result, result_exp, sticky) = if c_zero {
        (sum, sum_exp, false)
    } else if total == 0 {
        (c_word, c_exp, false)
    } else {
        let exp = sum_exp.max(c_exp);
        let (sum_shift, c_shift) = ((exp - sum_exp).min(62), (exp - c_exp).min(62));
        let (s, t) = (sum >> sum_shift, c_word >> c_shift);
        (s + t, exp, s << sum_shift != sum || t << c_shift != c_word)
    };
    if result == 0 {
        return if total < 0 && c_negative { SIGN } else { 0 };
    }
    let negative = result < 0;
    let sign = if negative { SIGN } else { 0 };
    let magnitude = (result << 1 | i64::from(sticky)).unsigned_abs() >> 1;
    if magnitude == 0 {
        return sign;
    }
    let mut lead = magnitude.ilog2();
    let mut exp = result_exp + 1 + lead as i32 - 47;
    if exp == 0 {
        // One position early: a value just below the smallest normal number may round up to it.
        lead += 1;
    }
    let guard = lead >= 24 && magnitude >> (lead - 24) & 1 != 0;
    let rest = lead >= 25 && (magnitude & ((1 << (lead - 24)) - 1) != 0 || sticky);
    let mut man = if lead >= 23 { magnitude >> (lead - 23) } else { magnitude << (23 - lead) };
    if guard && (rest || man & 1 != 0) {
        man += 1;
    }
    if (exp > 0 && man >> 24 & 1 != 0) || (exp == 0 && man >> 23 & 1 != 0) {
        exp += 1;
    }
    if exp > 254 {
        return sign | INFINITY;
    }
    if exp < 1 {
        return if negative || (total < 0 && c_zero) { SIGN } else { 0 };
    }
    sign | (exp as u32) << 23 | (man as u32 & 0x7F_FFFF)
}
