//! Scores to probabilities, one row at a time, in float32.

use super::super::fast::exponentials;
use crate::device::Modifiers;

/// Turns a row of products into unnormalized probabilities, `exp(score - max)`, and returns their float32 sum, added in
/// order. What a query does not see is zero.
///
/// The exponential is a portable implementation, so that results do not depend on the system's mathematics library.
/// The vendor specifies none.
pub(super) fn softmax(modifiers: &Modifiers<'_>, head: usize, position: usize, row: &mut [f32]) -> f32 {
    let first =
        modifiers.sliding_window.map_or(0, |window| (position + 1).saturating_sub(window)).min(row.len());
    let end = (position + 1).min(row.len());
    row[..first].fill(0.0);
    row[end..].fill(0.0);
    let sink = modifiers.sinks.map(|sinks| sinks[head]);
    let visible = &mut row[first..end];
    for (offset, score) in visible.iter_mut().enumerate() {
        *score *= modifiers.softmax_scale;
        if let Some(cap) = modifiers.logits_soft_cap {
            *score = cap * libm::tanhf(*score / cap);
        }
        if let Some(slopes) = modifiers.alibi_slopes {
            // Keys stand at or before the query.
            *score -= slopes[head] * (position - first - offset) as f32;
        }
    }
    let max = visible.iter().copied().fold(sink.unwrap_or(f32::NEG_INFINITY), f32::max);
    let mut sum = sink.map_or(0.0, |sink| libm::expf(sink - max));
    visible.iter_mut().for_each(|score| *score -= max);
    exponentials(visible);
    visible.iter().for_each(|p| sum += p);
    sum
}
