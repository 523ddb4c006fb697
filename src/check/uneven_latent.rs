//! A scale of a latent that was calibrated on one of its parts.

use super::result::LayerCheck;
use super::share::{SATURATED_SHARE, percent};
use super::stored_cache::StoredPart;
use crate::checkpoint::{FindingCode, list_layers};
use crate::scales::Inspection;

/// Layers where one part of the latent saturates and the other does not.
pub(super) struct UnevenLatent {
    pub(super) layers: Vec<usize>,
    /// The layer with the largest share, and the parts there.
    worst: usize,
    saturated: &'static str,
    share: f64,
    other: &'static str,
    other_share: f64,
}

impl UnevenLatent {
    /// Finds the layers: a scale that was calibrated on one part of a latent clips the other part.
    pub(super) fn find(layers: &[LayerCheck]) -> Option<Self> {
        let mut found: Option<Self> = None;
        let mut numbers = Vec::new();
        for layer in layers {
            let (Some(latent), Some(rope)) = (part(layer, "kv_c"), part(layer, "k_pe")) else { continue };
            for (this, other) in [(rope, latent), (latent, rope)] {
                let (share, other_share) = (this.saturated_share(), other.saturated_share());
                if share <= SATURATED_SHARE || other_share > SATURATED_SHARE {
                    continue;
                }
                numbers.push(layer.layer);
                if found.as_ref().is_none_or(|worst| share > worst.share) {
                    let (saturated, other) = (this.name, other.name);
                    found = Some(Self {
                        layers: Vec::new(),
                        worst: layer.layer,
                        saturated,
                        share,
                        other,
                        other_share,
                    });
                }
            }
        }
        found.map(|found| Self { layers: numbers, ..found })
    }

    /// What is wrong, and what to do.
    pub(super) fn words(&self, inspection: &Inspection) -> String {
        let has_v_scale = inspection.findings.notes.iter().any(|n| n.code == FindingCode::MlaVScaleIgnored);
        let advice = if has_v_scale {
            "calibrate it on both, or see whether --mla-scale max-kv covers both"
        } else {
            "calibrate it on both"
        };
        format!(
            "the {} saturates: {} of its elements and {} of the {} (layer {}; so in {}): the one scale of the \
             latent fits the {} alone; {advice}",
            long_name(self.saturated),
            percent(self.share),
            percent(self.other_share),
            long_name(self.other),
            self.worst,
            list_layers(&self.layers),
            long_name(self.other)
        )
    }
}

fn long_name(part: &str) -> &'static str {
    match part {
        "k_pe" => "rope part (k_pe)",
        _ => "latent part (kv_c)",
    }
}

fn part<'a>(layer: &'a LayerCheck, name: &str) -> Option<&'a StoredPart> {
    layer.cache.parts.iter().find(|part| part.name == name)
}
