//! Scales whose numbers are a producer's convention and no measurement.

use super::inspection::{CacheDtype, LayerReport, LayerScale, Origin};
use crate::checkpoint::{FindingCode, Findings, KvScheme, QuantConfig, list_layers};

/// Says where ModelOpt's scales are 1.0 because it did not calibrate, or because it raised smaller ones.
pub(super) fn note_modelopt(quant: &QuantConfig, layers: &[LayerReport], findings: &mut Findings) {
    let is_modelopt = quant.method.as_deref().is_some_and(|method| method.starts_with("modelopt"));
    let own = |layer: &&LayerReport| layer.kv_cache_dtype == CacheDtype::Fp8 && layer.cache_owner.is_none();
    let scales: Vec<(usize, &LayerScale)> = layers
        .iter()
        .filter(own)
        .flat_map(|layer| [&layer.k, &layer.v].into_iter().flatten().map(|scale| (layer.layer, scale)))
        .collect();
    if !is_modelopt || scales.is_empty() {
        return;
    }
    let numbers =
        |scale: &LayerScale| scale.checkpoint.as_ref().map_or(Vec::new(), |x| x.as_slice().to_vec());
    let loaded: Vec<(usize, Vec<f32>)> = scales
        .iter()
        .filter(|(_, scale)| scale.origin != Origin::Defaulted)
        .map(|(layer, scale)| (*layer, numbers(scale)))
        .collect();
    let all = |holds: &dyn Fn(f32) -> bool| loaded.iter().flat_map(|(_, numbers)| numbers).all(|x| holds(*x));
    if loaded.is_empty() && !matches!(quant.kv_scheme, KvScheme::Fp8(_)) {
        return;
    }
    if all(&|x| x == 1.0) {
        let count = loaded.len();
        let message = if count == 0 {
            "ModelOpt wrote no KV scale: it casts keys and values at a fixed range, whose scale is 1.0"
                .to_owned()
        } else {
            format!("all {count} KV scales are 1.0, which ModelOpt writes without having measured it")
        };
        findings.note(FindingCode::ScaleByConvention, None, message);
    } else if all(&|x| x >= 1.0) && !all(&|x| x > 1.0) {
        let clamped = loaded.iter().filter(|(_, numbers)| numbers.contains(&1.0));
        let mut at: Vec<usize> = clamped.map(|(layer, _)| *layer).collect();
        at.dedup();
        let message = format!(
            "{}: scales are 1.0, and no scale of the model is smaller: ModelOpt raised them, so what was measured is lost",
            list_layers(&at)
        );
        findings.warn(FindingCode::ScaleClamped, None, message);
    }
}
