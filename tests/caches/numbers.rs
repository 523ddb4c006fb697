//! Numbers by their definitions, and random ones. Nothing here calls a conversion of the library.

use std::cmp::Ordering;

use gaudi_kv::Generation;
use half::bf16;

/// The value of an e4m3 code of bias 7 on a generation.
pub fn e4m3_value(generation: Generation, code: u8) -> f64 {
    let sign = if code & 0x80 == 0 { 1.0 } else { -1.0 };
    let (exponent, mantissa) = (i32::from(code >> 3 & 15), f64::from(code & 7));
    match (generation, exponent, code & 7) {
        (Generation::Gaudi2, 15, 0) => sign * f64::INFINITY,
        (Generation::Gaudi2, 15, _) | (Generation::Gaudi3, 15, 7) => f64::NAN,
        (_, 0, _) => sign * mantissa * 2f64.powi(-9),
        _ => sign * (8.0 + mantissa) * 2f64.powi(exponent - 10),
    }
}

/// The code nearest to a value, the even one of two, the largest finite one for anything beyond it.
pub fn e4m3_code(generation: Generation, value: f32) -> u8 {
    if value.is_nan() {
        return 0x7F;
    }
    let largest = match generation {
        Generation::Gaudi2 => 0x77,
        Generation::Gaudi3 => 0x7E,
    };
    let magnitude = f64::from(value).abs().min(e4m3_value(generation, largest));
    // The codes are in the order of their values.
    let (mut above, mut below) = (largest, 0);
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if e4m3_value(generation, middle) < magnitude { below = middle } else { above = middle }
    }
    let distance = |code: u8| (e4m3_value(generation, code) - magnitude).abs();
    let takes_lower = match distance(above - 1).total_cmp(&distance(above)) {
        Ordering::Equal => above & 1 == 1,
        nearer => nearer == Ordering::Less,
    };
    let sign = if value.is_sign_negative() { 0x80 } else { 0 };
    sign | (above - u8::from(takes_lower))
}

/// `fp8(bf16(x * bf16(q)))`.
pub fn quantized(generation: Generation, value: bf16, quant: f32) -> u8 {
    let product = value.to_f32() * bf16::from_f32(quant).to_f32();
    e4m3_code(generation, bf16::from_f32(product).to_f32())
}

/// `bf16(value(code) * bf16(d))`.
pub fn dequantized(generation: Generation, code: u8, dequant: f32) -> bf16 {
    bf16::from_f32(e4m3_value(generation, code) as f32 * bf16::from_f32(dequant).to_f32())
}

/// Random numbers (SplitMix64).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From `low` to `high`, both possible.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + (self.word() % (high - low + 1) as u64) as usize
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.between(0, from.len() - 1)]
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.word() % 100 < percent
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 * 2f64.powi(-53)
    }

    /// Normally distributed.
    pub fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.unit(), self.unit());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    pub fn f32s(&mut self, len: usize, size: f64) -> Vec<f32> {
        (0..len).map(|_| (self.normal() * size) as f32).collect()
    }

    pub fn bf16s(&mut self, len: usize, size: f64) -> Vec<bf16> {
        self.f32s(len, size).iter().map(|x| bf16::from_f32(*x)).collect()
    }

    /// `0..len` in random order.
    pub fn permutation(&mut self, len: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..len).collect();
        for last in (1..len).rev() {
            order.swap(last, self.between(0, last));
        }
        order
    }
}

/// The bits of float32 numbers.
pub fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn codes_by_hand() {
    use Generation::{Gaudi2, Gaudi3};
    for (generation, value, code) in [
        (Gaudi2, 1.0, 0x38),
        (Gaudi2, 240.0, 0x77),
        (Gaudi2, 1e9, 0x77),
        (Gaudi3, 448.0, 0x7E),
        (Gaudi3, -1e9, 0xFE),
        (Gaudi3, 17.24, 0x59),
        (Gaudi2, 0.000_976_562_5, 0),
        (Gaudi2, 0.001, 1),
        (Gaudi3, 1.0625, 0x38),
        (Gaudi3, 1.1875, 0x3A),
    ] {
        assert_eq!(e4m3_code(generation, value), code, "{value}");
    }
    assert_eq!(e4m3_value(Gaudi3, 0x59), 18.0);
    assert!(e4m3_value(Gaudi2, 0x78).is_infinite() && e4m3_value(Gaudi2, 0x79).is_nan());
}
