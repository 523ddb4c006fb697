//! How far an output is from the reference.

use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

/// The distance of an output from the float64 reference, over all tokens and heads of a layer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Distance {
    /// The largest difference of an element. Null where an output is not finite.
    pub max_abs_error: f64,
    /// The Euclidean norm of the difference over that of the reference. Null where the reference is zero or an output is
    /// not finite.
    pub rel_l2_error: f64,
    /// The cosine of the angle between output and reference. Null where one of them is zero or not finite.
    pub cosine: f64,
    /// XXH3-64 of the output's float32 bits, little endian, as 16 hexadecimal digits.
    pub digest: String,
}

impl Distance {
    /// Measures how far an output is from the reference. Every sum is made in the order of the elements.
    pub(super) fn of(output: &[f32], reference: &[f64]) -> Self {
        let (mut most, mut difference, mut norm, mut output_norm, mut product) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (found, expected) in output.iter().map(|x| f64::from(*x)).zip(reference) {
            let error = (found - expected).abs();
            // A comparison would pass over NaN.
            most = if error.is_nan() || error > most { error } else { most };
            difference += error * error;
            norm += expected * expected;
            output_norm += found * found;
            product += found * expected;
        }
        Self {
            max_abs_error: if difference.is_finite() { most } else { f64::NAN },
            rel_l2_error: ratio(difference.sqrt(), norm.sqrt()),
            // Rounding may take it beyond one.
            cosine: ratio(product, norm.sqrt() * output_norm.sqrt()).clamp(-1.0, 1.0),
            digest: digest(output.iter().map(|x| x.to_le_bytes())),
        }
    }
}

/// NaN, which JSON writes as null, where there is no ratio.
fn ratio(above: f64, below: f64) -> f64 {
    let ratio = above / below;
    if ratio.is_finite() { ratio } else { f64::NAN }
}

/// XXH3-64 of pieces of bytes, as 16 hexadecimal digits.
pub(super) fn digest(pieces: impl Iterator<Item = impl AsRef<[u8]>>) -> String {
    let mut hasher = Xxh3::new();
    pieces.for_each(|piece| hasher.update(piece.as_ref()));
    format!("{:016x}", hasher.digest())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_by_hand() {
        let distance = Distance::of(&[3.0, 4.5], &[3.0, 4.0]);
        assert_eq!((distance.max_abs_error, distance.rel_l2_error), (0.5, 0.1));
        assert!((distance.cosine - 27.0 / (5.0 * 29.25f64.sqrt())).abs() < 1e-15);
        let same = Distance::of(&[3.0, -4.0], &[3.0, -4.0]);
        assert_eq!((same.max_abs_error, same.rel_l2_error, same.cosine), (0.0, 0.0, 1.0));
        assert_ne!(same.digest, distance.digest);
        assert_ne!(Distance::of(&[0.0], &[0.0]).digest, Distance::of(&[-0.0], &[0.0]).digest);
    }

    #[test]
    fn what_is_no_number_is_null() {
        for distance in
            [Distance::of(&[f32::NAN, 1.0], &[1.0, 1.0]), Distance::of(&[1.0, f32::NAN], &[1.0, 1.0])]
        {
            assert!(
                distance.max_abs_error.is_nan() && distance.rel_l2_error.is_nan() && distance.cosine.is_nan()
            );
            assert!(serde_json::to_string(&distance).unwrap().starts_with(r#"{"max_abs_error":null,"#));
        }
        assert!(Distance::of(&[1.0], &[0.0]).rel_l2_error.is_nan());
    }
}
