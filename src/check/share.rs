//! Shares of the elements of a cache: which of them counts, and how it is written.

/// A part of a cache saturates where more than this share of its elements does.
pub(super) const SATURATED_SHARE: f64 = 0.001;
/// Two significant digits.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        x if x.is_nan() => "unknown".to_owned(),
        0.0 => "0%".to_owned(),
        x if x >= 10.0 => format!("{x:.0}%"),
        x if x >= 1.0 => format!("{x:.1}%"),
        x if x >= 0.01 => format!("{x:.2}%"),
        _ => "less than 0.01%".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_in_words() {
        for (share, words) in [
            (0.0, "0%"),
            (0.000_01, "less than 0.01%"),
            (0.001, "0.10%"),
            (0.0449, "4.5%"),
            (0.5, "50%"),
            (f64::NAN, "unknown"),
        ] {
            assert_eq!(percent(share), words);
        }
    }
}
