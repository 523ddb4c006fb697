//! What the numbers come to. `docs/check.md` states the thresholds.

use super::one_part::OnePart;
use super::{LayerCheck, SkippedLayer};
use crate::checkpoint::list_layers;
use crate::scales::{CacheDtype, Inspection};

/// A part of a cache saturates where more than this share of its elements does.
pub(super) const SATURATED_SHARE: f64 = 0.001;
/// The scales hurt where the decode's error is so many times that of scale 1.0.
const HURT_RATIO: f64 = 1.25;
/// The decode is inaccurate beyond this relative error.
const INACCURATE: f64 = 0.15;

/// How severe the verdict is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Nothing is wrong.
    Fine,
    /// The cache is not FP8, so no scale was put to the test.
    NotFp8,
    /// No layer could be run.
    NotChecked,
    /// Something is wrong.
    Concern(Concern),
}

/// What can be wrong, most severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Concern {
    /// An output is NaN or infinite.
    NotFinite,
    /// Elements of the cache saturate.
    Saturates,
    /// One part of a latent saturates and the other does not: the one scale was calibrated on the other part.
    OnePartSaturates,
    /// Scale 1.0 would be better.
    ScalesHurt,
    /// The decode's error is large.
    Inaccurate,
}

/// A verdict in words, with everything that led to it.
pub(super) struct Judged {
    pub(super) kind: Verdict,
    pub(super) words: String,
    pub(super) warnings: Vec<String>,
}

/// Judges the layers of a model.
pub(super) fn judge(layers: &[LayerCheck], skipped: &[SkippedLayer], inspection: &Inspection) -> Judged {
    let one_part = OnePart::find(layers);
    let found = [
        not_finite(layers),
        one_part.as_ref().map(|one_part| (Concern::OnePartSaturates, one_part.words(inspection))),
        saturates(layers, one_part.as_ref(), inspection),
        scales_hurt(layers),
        inaccurate(layers),
    ];
    let mut concerns: Vec<(Concern, String)> = found.into_iter().flatten().collect();
    concerns.sort_by_key(|(concern, _)| *concern);
    let unchecked = match skipped {
        [] => String::new(),
        [first, ..] => {
            let numbers: Vec<usize> = skipped.iter().map(|layer| layer.layer).collect();
            format!("; not checked: {} ({})", list_layers(&numbers), first.reason)
        }
    };
    let worst = layers.iter().max_by(|a, b| error(a).total_cmp(&error(b)));
    let (kind, words) = match (concerns.first(), worst) {
        (_, None) => {
            let reason =
                skipped.first().map_or("the model has no layer with a KV cache", |layer| &layer.reason);
            (Verdict::NotChecked, format!("nothing was checked: {reason}"))
        }
        (Some((concern, words)), _) => (Verdict::Concern(*concern), format!("{words}{unchecked}")),
        (None, Some(worst)) if layers.iter().all(|layer| layer.kv_cache_dtype == CacheDtype::Bf16) => {
            let words = format!(
                "bf16 cache: no scale is applied; the decode's error is at most {} (layer {}){unchecked}",
                percent(error(worst)),
                worst.layer
            );
            (Verdict::NotFp8, words)
        }
        (None, Some(worst)) => {
            let one = worst.decode.scale_one.rel_l2_error;
            let words = format!(
                "fine: the decode's error is at most {} (layer {}); with scale 1.0 it would be {}{unchecked}",
                percent(error(worst)),
                worst.layer,
                percent(one)
            );
            (Verdict::Fine, words)
        }
    };
    let mut warnings: Vec<String> = concerns.into_iter().map(|(_, words)| words).collect();
    warnings.extend(
        skipped.iter().map(|layer| format!("layer {} was not checked: {}", layer.layer, layer.reason)),
    );
    if !inspection.findings.errors.is_empty() {
        warnings.push("the model has errors; see the errors of the inspection".to_owned());
    }
    Judged { kind, words, warnings }
}

/// The relative error of the decode with the scales as inspected.
fn error(layer: &LayerCheck) -> f64 {
    layer.decode.scales.rel_l2_error
}

fn not_finite(layers: &[LayerCheck]) -> Option<(Concern, String)> {
    let bad = |layer: &&LayerCheck| {
        layer.decode.scales.max_abs_error.is_nan() || layer.prefill.scales.max_abs_error.is_nan()
    };
    let numbers: Vec<usize> = layers.iter().filter(bad).map(|layer| layer.layer).collect();
    let words = || format!("not finite: outputs of {} are NaN or infinite", list_layers(&numbers));
    (!numbers.is_empty()).then(|| (Concern::NotFinite, words()))
}

/// Layers where a whole operand saturates: keys, values, or both parts of the latent.
fn saturates(
    layers: &[LayerCheck],
    one_part: Option<&OnePart>,
    inspection: &Inspection,
) -> Option<(Concern, String)> {
    let is_said = |layer: &LayerCheck| one_part.is_some_and(|one| one.layers.contains(&layer.layer));
    let parts = || {
        let layers = layers.iter().filter(|layer| !is_said(layer));
        layers.flat_map(|layer| layer.cache.parts.iter().map(move |part| (layer.layer, part)))
    };
    let bad = || parts().filter(|(_, part)| part.saturated_share() > SATURATED_SHARE);
    let (layer, worst) = bad().max_by(|a, b| a.1.saturated_share().total_cmp(&b.1.saturated_share()))?;
    let mut numbers: Vec<usize> = bad().map(|(layer, _)| layer).collect();
    numbers.dedup();
    let adjustment = &inspection.scale_adjustment;
    let hint = if adjustment.enabled || adjustment.fp8_max_deploy >= 448 {
        String::new()
    } else {
        format!("; scales are not adjusted: {}", adjustment.reason)
    };
    let words = format!(
        "saturates: {} of {} lies beyond the range of its scale (layer {layer}; more than {} in {}){hint}",
        percent(worst.saturated_share()),
        worst.name,
        percent(SATURATED_SHARE),
        list_layers(&numbers)
    );
    Some((Concern::Saturates, words))
}

fn scales_hurt(layers: &[LayerCheck]) -> Option<(Concern, String)> {
    let ratio = |layer: &LayerCheck| error(layer) / layer.decode.scale_one.rel_l2_error;
    let bad: Vec<&LayerCheck> = layers.iter().filter(|layer| ratio(layer) > HURT_RATIO).collect();
    let worst = bad.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
    let numbers: Vec<usize> = bad.iter().map(|layer| layer.layer).collect();
    let words = format!(
        "scales hurt: the decode's error is {} with the scales and {} with scale 1.0 (layer {}; so in {})",
        percent(error(worst)),
        percent(worst.decode.scale_one.rel_l2_error),
        worst.layer,
        list_layers(&numbers)
    );
    Some((Concern::ScalesHurt, words))
}

fn inaccurate(layers: &[LayerCheck]) -> Option<(Concern, String)> {
    let bad: Vec<&LayerCheck> = layers.iter().filter(|layer| error(layer) > INACCURATE).collect();
    let worst = bad.iter().max_by(|a, b| error(a).total_cmp(&error(b)))?;
    let numbers: Vec<usize> = bad.iter().map(|layer| layer.layer).collect();
    let words = format!(
        "inaccurate: the decode's error is {} (layer {}; more than {} in {})",
        percent(error(worst)),
        worst.layer,
        percent(INACCURATE),
        list_layers(&numbers)
    );
    Some((Concern::Inaccurate, words))
}

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
    fn shares_and_layers_in_words() {
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
        assert_eq!(list_layers(&[3]), "layer 3");
        assert_eq!(list_layers(&[0, 1, 2, 5]), "layers 0-2, 5");
    }
}
