//! FP8 by its definition: tables of exact float64 values and a search for the nearest. Shares nothing with the library
//! but the types that name a format.
#![allow(dead_code, reason = "each test file uses what it needs")]

use gaudi_numerics::fp8::{Encoder, Format, InfNan, Layout, Rounding};
use half::bf16;

/// The value of a magnitude code if every code were finite.
pub fn ladder(layout: Layout, bias: u8, code: u32) -> f64 {
    let man_bits = if layout == Layout::E4M3 { 3 } else { 2 };
    let (exp, man) = ((code >> man_bits) as i32, f64::from(code % (1 << man_bits)));
    let unit = 2f64.powi(-man_bits);
    if exp == 0 {
        man * unit * 2f64.powi(1 - i32::from(bias))
    } else {
        (1.0 + man * unit) * 2f64.powi(exp - i32::from(bias))
    }
}

/// Largest finite code, Inf code if any, first NaN code if any.
fn special(format: Format) -> (u32, Option<u32>, Option<u32>) {
    match (format.layout, format.inf_nan) {
        (Layout::E4M3, InfNan::Full) => (119, Some(120), Some(121)),
        (Layout::E5M2, InfNan::Full) => (123, Some(124), Some(125)),
        (_, InfNan::None) => (127, None, None),
        (_, InfNan::Minimal) => (126, None, Some(127)),
    }
}

pub fn decode(format: Format, code: u8) -> f64 {
    let (_, inf, nan) = special(format);
    let magnitude = u32::from(code % 128);
    let sign = if code >= 128 { -1.0 } else { 1.0 };
    if nan.is_some_and(|nan| magnitude >= nan) {
        f64::NAN
    } else if Some(magnitude) == inf {
        sign * f64::INFINITY
    } else {
        sign * ladder(format.layout, format.bias, magnitude)
    }
}

/// What overflow and NaN become.
pub struct Ends {
    pub max: u8,
    pub overflow: u8,
    pub inf: u8,
    pub nan: [u8; 2],
}

pub fn ends(encoder: Encoder) -> Ends {
    let (max, inf, nan) = special(encoder.format);
    let unclipped = inf.or(nan).unwrap_or(max) as u8;
    let max = max as u8;
    let clips = encoder.clip || encoder.rounding == Rounding::TowardZero;
    Ends {
        max,
        overflow: if clips { max } else { unclipped },
        inf: if encoder.clip { max } else { unclipped },
        nan: if encoder.format.inf_nan == InfNan::Minimal { [0x7F, 0xFF] } else { [0x7F, 0x7F] },
    }
}

pub fn encode(encoder: Encoder, x: f32) -> u8 {
    let ends = ends(encoder);
    let sign = u8::from(x.is_sign_negative()) << 7;
    if x.is_nan() {
        return ends.nan[usize::from(x.is_sign_negative())];
    }
    if x.is_infinite() {
        return sign | ends.inf;
    }
    let m = f64::from(x.abs());
    let value = |code: u32| ladder(encoder.format.layout, encoder.format.bias, code);
    // The largest code not above m, up to one rung beyond the finite ones.
    let top = u32::from(ends.max) + 1;
    let (mut low, mut high) = (0, top);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if value(middle) <= m { low = middle } else { high = middle - 1 }
    }
    let up = match encoder.rounding {
        Rounding::TowardZero => false,
        Rounding::NearestEven => {
            let (below, above) = (m - value(low), value(low + 1) - m);
            below > above || (below == above && low % 2 == 1)
        }
    };
    let code = low + u32::from(up);
    sign | if code >= top { ends.overflow } else { code as u8 }
}

/// bfloat16 by float64: the nearest multiple of the last place, ties to even.
pub fn round_bf16(x: f32) -> bf16 {
    if x.is_nan() {
        return bf16::from_bits(0x7FFF);
    }
    if x == 0.0 || x.is_infinite() {
        return bf16::from_bits((x.to_bits() >> 16) as u16);
    }
    let m = f64::from(x);
    let exponent = (m.abs().log2().floor() as i32).clamp(-126, 127);
    let place = 2f64.powi(exponent - 7);
    let rounded = (m / place).round_ties_even() * place;
    let bits = (rounded as f32).to_bits();
    assert_eq!(bits & 0xFFFF, 0);
    bf16::from_bits((bits >> 16) as u16)
}

pub const MODES: [InfNan; 3] = [InfNan::Full, InfNan::None, InfNan::Minimal];
pub const LAYOUTS: [Layout; 2] = [Layout::E4M3, Layout::E5M2];

/// Every format of a device and more: both layouts, all modes, biases 0 to 63.
pub fn formats() -> impl Iterator<Item = Format> {
    LAYOUTS.into_iter().flat_map(|layout| {
        MODES.into_iter().flat_map(move |inf_nan| (0..64).map(move |bias| Format { layout, bias, inf_nan }))
    })
}

/// The four encoders of a format.
pub fn encoders(format: Format) -> impl Iterator<Item = Encoder> {
    [Rounding::NearestEven, Rounding::TowardZero]
        .into_iter()
        .flat_map(move |rounding| [true, false].map(|clip| Encoder { format, rounding, clip }))
}
