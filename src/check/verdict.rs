//! What the numbers come to. `docs/check.md` states the thresholds.

use super::concern::{Concern, Verdict};
use super::result::{LayerCheck, SkippedLayer};
use super::share::{SATURATED_SHARE, percent};
use super::uneven_latent::UnevenLatent;
use crate::checkpoint::list_layers;
use crate::scales::{CacheDtype, Inspection};

/// The scales hurt where the decode's error is so many times that of scale 1.0.
const HURT_RATIO: f64 = 1.25;
/// The decode is inaccurate beyond this relative error.
const INACCURATE: f64 = 0.15;

/// A verdict in words, with everything that led to it.
pub(super) struct Judged {
    pub(super) kind: Verdict,
    pub(super) words: String,
    pub(super) warnings: Vec<String>,
}

/// Judges the layers of a model.
pub(super) fn judge(layers: &[LayerCheck], skipped: &[SkippedLayer], inspection: &Inspection) -> Judged {
    let uneven = UnevenLatent::find(layers);
    let found = [
        not_finite(layers),
        uneven.as_ref().map(|uneven| (Concern::OnePartSaturates, uneven.words(inspection))),
        saturates(layers, uneven.as_ref(), inspection),
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
    uneven: Option<&UnevenLatent>,
    inspection: &Inspection,
) -> Option<(Concern, String)> {
    let is_said = |layer: &LayerCheck| uneven.is_some_and(|one| one.layers.contains(&layer.layer));
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
