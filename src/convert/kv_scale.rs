//! KV scales for another range.

use super::factor::Change;
use crate::Generation;

/// The device whose multiplier must come out of the scale before and after.
const DEPLOYED: Generation = Generation::Gaudi2;

/// A KV scale, or its reciprocal where the format stores that, for the new range.
///
/// It is the product with 448/240 (or 240/448) rounded to float32, or one of its two neighbours: of the three the first
/// from which a Gaudi2 computes the multiplier that comes nearest to the one that it computes from the old scale. That
/// is the same one, to the last bit, but for one scale in twenty (one in ten of those stored as reciprocals). Zero,
/// which means "never calibrated", stays zero, and what is not finite or negative is only multiplied.
pub(super) fn compensate(stored: f32, is_reciprocal: bool, change: Change) -> f32 {
    let factor = change.kv_scale();
    let product = if is_reciprocal { f64::from(stored) / factor } else { f64::from(stored) * factor } as f32;
    let is_usable = |x: f32| x.is_finite() && x > 0.0;
    if !is_usable(stored) || !is_usable(product) {
        return product;
    }
    let wanted = multiplier(stored, is_reciprocal, change.from());
    let off = |candidate: &f32| (multiplier(*candidate, is_reciprocal, change.to) - wanted).abs();
    [product, product.next_up(), product.next_down()]
        .into_iter()
        .min_by(|a, b| off(a).total_cmp(&off(b)))
        .unwrap_or(product)
}

/// What a Gaudi2 multiplies with for a scale that was made for a range, each step in float32, as
/// [`ScaleAdjustment::factors`](crate::scales::ScaleAdjustment::factors) has it.
fn multiplier(stored: f32, is_reciprocal: bool, range: Generation) -> f32 {
    let s = if is_reciprocal { 1.0 / stored } else { stored };
    DEPLOYED.fp8_max() / (s * range.fp8_max())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::Factor;

    const TO_GAUDI2: Change = Change { to: Generation::Gaudi2, factor: Factor::PowerOfTwo };
    const TO_GAUDI3: Change = Change { to: Generation::Gaudi3, factor: Factor::PowerOfTwo };

    /// Scales of 2^-12 to 2^2, evenly over the exponent.
    fn scales() -> impl Iterator<Item = f32> {
        (0..100_000u32).map(|i| ((f64::from(i) / 100_000.0 * 14.0) - 12.0).exp2() as f32)
    }

    /// How many of the scales get another multiplier, and by how many steps, as a search in NumPy found.
    #[test]
    fn the_multiplier_stays_to_the_bit_nearly_everywhere() {
        for (is_reciprocal, change, expected_off, steps) in [
            (false, TO_GAUDI2, 4114, 1),
            (false, TO_GAUDI3, 4314, 1),
            (true, TO_GAUDI2, 7384, 2),
            (true, TO_GAUDI3, 12_682, 2),
        ] {
            let mut off = 0i32;
            for s in scales() {
                let new = compensate(s, is_reciprocal, change);
                let before = multiplier(s, is_reciprocal, change.from());
                let after = multiplier(new, is_reciprocal, change.to);
                assert!(before.to_bits().abs_diff(after.to_bits()) <= steps, "{s}");
                off += i32::from(before != after);
            }
            // The scales come from exponentials of float64, which may differ between libraries.
            assert!((off - expected_off).abs() <= 10, "{off}, expected {expected_off}");
        }
    }

    #[test]
    fn the_product_is_off_by_one_step_at_most() {
        for s in scales() {
            let product = f64::from(s) * 448.0 / 240.0;
            let new = compensate(s, false, TO_GAUDI2);
            let step = f64::from(new.next_up()) - f64::from(new);
            assert!((f64::from(new) - product).abs() <= 1.5 * step, "{s}");
        }
    }

    #[test]
    fn what_is_no_scale_is_multiplied_and_nothing_else() {
        assert_eq!(compensate(0.0, false, TO_GAUDI2).to_bits(), 0);
        assert!(compensate(f32::NAN, false, TO_GAUDI2).is_nan());
        assert_eq!(compensate(-15.0, false, TO_GAUDI2), -28.0);
        assert_eq!(compensate(f32::INFINITY, true, TO_GAUDI2), f32::INFINITY);
        assert_eq!(compensate(28.0, true, TO_GAUDI2), 15.0);
        assert_eq!(compensate(1.5, false, TO_GAUDI2), 2.8);
    }
}
