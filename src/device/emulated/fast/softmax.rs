//! Scores to probabilities, sixteen at a time. Everything but the order of the sum is that of the exact path.

use super::lanes::{Lanes, Line, cells};
use crate::device::Modifiers;

/// The type of probabilities in the second product.
#[derive(Debug, Clone, Copy)]
pub(super) enum ProbType {
    /// e4m3 after a multiplication; values beyond `max` become it.
    Fp8 { quant: f32, max: f32 },
    /// bfloat16.
    Bf16,
}

/// A row of scores.
pub(super) struct ScoreRow<'a> {
    /// Query head.
    pub(super) head: usize,
    /// The position of the query token.
    pub(super) position: usize,
    /// Keys that it sees.
    pub(super) visible: std::ops::Range<usize>,
    /// The key of the first cell, a multiple of 16.
    pub(super) base: usize,
    /// Scores, which become probabilities; whole tiles.
    pub(super) cells: &'a mut [u32],
}

/// Turns scores into unnormalized probabilities of the type of the second product and returns the float32 sum of what
/// they were before they were rounded to it. What the query does not see is zero. `scratch` takes a line for each
/// sixteen scores.
#[inline(always)]
pub(super) fn softmax<L: Lanes>(
    l: L,
    modifiers: &Modifiers<'_>,
    prob: ProbType,
    row: ScoreRow<'_>,
    scratch: &mut [Line],
) -> f32 {
    let ScoreRow { head, position, visible, base, cells: row } = row;
    let width = cells::<L>(16);
    let minus_infinity = l.splat(f32::NEG_INFINITY);
    let scale = l.splat(modifiers.softmax_scale);
    let slope = modifiers.alibi_slopes.map(|slopes| l.splat(slopes[head]));
    let sink = modifiers.sinks.map(|sinks| sinks[head]);
    let lanes_of = |number: usize| {
        let key = base + 16 * number;
        (visible.start.clamp(key, key + 16) - key, visible.end.clamp(key, key + 16) - key)
    };
    let mut max = minus_infinity;
    for (number, (row, scratch)) in row.chunks_exact(width).zip(scratch.iter_mut()).enumerate() {
        let (from, to) = lanes_of(number);
        if from >= to {
            continue;
        }
        let mut score = l.mul(l.load_cells(row), scale);
        if let Some(cap) = modifiers.logits_soft_cap {
            score = soft_cap(l, score, cap);
        }
        if let Some(slope) = slope {
            let key = base + 16 * number;
            let distance = l.sub(l.splat(position as f32 - key as f32), l.load(&COUNT));
            score = l.sub(score, l.mul(slope, distance));
        }
        if to - from < 16 {
            score = l.only(from, to, score, minus_infinity);
        }
        l.store(score, scratch);
        max = l.max(score, max);
    }
    let max = l.largest(max).max(sink.unwrap_or(f32::NEG_INFINITY));
    let (maxes, zero) = (l.splat(max), l.splat(0.0));
    let mut sum = zero;
    for (number, (row, scratch)) in row.chunks_exact_mut(width).zip(scratch.iter()).enumerate() {
        let (from, to) = lanes_of(number);
        if from >= to {
            l.store_cells(zero, row);
            continue;
        }
        let mut p = exp(l, l.sub(l.load(scratch), maxes));
        if to - from < 16 {
            p = l.only(from, to, p, zero);
        }
        sum = l.add(sum, p);
        let rounded = match prob {
            ProbType::Fp8 { quant, max } => round_e4m3(l, l.mul(p, l.splat(quant)), max),
            ProbType::Bf16 => l.round_bf16(p),
        };
        l.store_cells(rounded, row);
    }
    l.total(sum) + sink.map_or(0.0, |sink| libm::expf(sink - max))
}

/// 0 to 15.
const COUNT: Line = {
    let mut count = [0; 16];
    let mut i = 0;
    while i < 16 {
        count[i] = (i as f32).to_bits();
        i += 1;
    }
    Line(count)
};

#[inline(never)]
fn cap_line(line: &mut Line, cap: f32) {
    *line = Line(line.floats().map(|score| (cap * libm::tanhf(score / cap)).to_bits()));
}

#[inline(always)]
fn soft_cap<L: Lanes>(l: L, score: L::V, cap: f32) -> L::V {
    let mut line = Line::ZERO;
    l.store(score, &mut line);
    cap_line(&mut line, cap);
    l.load(&line)
}

/// `e^x` for `x` of at most 0, operation by operation what the exact path's `libm::expf` computes, so the same bits:
/// less than 1 ulp from the true value.
#[inline(always)]
pub(super) fn exp<L: Lanes>(l: L, x: L::V) -> L::V {
    const HALF_LN2: f32 = f32::from_bits(0x3EB1_7218);
    const THREE_HALVES_LN2: f32 = f32::from_bits(0x3F85_1592);
    // Results below this are zero. The operands' order lets NaN through.
    let x = l.max(l.splat(-104.0), x);
    let product = l.mul(l.splat(f32::from_bits(0x3FB8_AA3B)), x);
    let k = l.truncate(l.sub(product, l.splat(0.5)));
    let k = l.if_within(x, l.splat(THREE_HALVES_LN2), l.splat(-1.0), k);
    let k = l.if_within(x, l.splat(HALF_LN2), l.splat(0.0), k);
    let hi = l.sub(x, l.mul(k, l.splat(f32::from_bits(0x3F31_7200))));
    let lo = l.mul(k, l.splat(f32::from_bits(0x35BF_BE8E)));
    let r = l.sub(hi, lo);
    let rr = l.mul(r, r);
    let (p1, p2) = (l.splat(1.666_662_5e-1), l.splat(-2.766_733_3e-3));
    let c = l.sub(r, l.mul(rr, l.add(p1, l.mul(rr, p2))));
    let (one, two) = (l.splat(1.0), l.splat(2.0));
    let quotient = l.div(l.mul(r, c), l.sub(two, c));
    let y = l.add(one, l.add(l.sub(quotient, lo), hi));
    let y = l.if_within(x, l.splat(f32::from_bits(0x3900_0000)), l.add(one, x), y);
    l.times_power(y, k)
}

/// To the nearest e4m3 value with bias 7, ties to even, saturating: what `Encoder` makes of numbers of at least 0.
#[inline(always)]
pub(super) fn round_e4m3<L: Lanes>(l: L, x: L::V, max: f32) -> L::V {
    // The operands' order lets NaN through.
    let x = l.min(l.splat(max), x);
    let binade = l.and(x, l.splat_bits(0x7F80_0000));
    // Codes are 2^-3 of the binade apart, and 2^-9 below the least normal number, 2^-6. Adding a number whose last bit
    // is worth that much rounds to it.
    let binade = l.max(l.splat(f32::from_bits((127 - 6) << 23)), binade);
    let rounder = l.mul(binade, l.splat(1.5 * (1 << 20) as f32));
    l.sub(l.add(x, rounder), rounder)
}
