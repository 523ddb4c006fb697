//! Words and numbers that the table and the page share.

use std::fmt::Write;

use gaudi_kv::HeadScales;
use gaudi_kv::checkpoint::{Attention, Finding, FindingCode, list_layers};
use gaudi_kv::scales::{CacheDtype, Inspection, LayerReport, LayerScale, Origin};

/// A layer's scales by name, in the order in which they are shown.
pub(super) fn scales(layer: &LayerReport) -> [(&'static str, Option<&LayerScale>); 4] {
    [("k", layer.k.as_ref()), ("v", layer.v.as_ref()), ("q", layer.q.as_ref()), ("prob", layer.prob.as_ref())]
}

/// The names of the scales worth showing: `v` where a layer has one, `prob` where it is not just defaulted.
pub(super) fn shown_scales(inspection: &Inspection) -> Vec<&'static str> {
    let is_shown = |name: &str, scale: Option<&LayerScale>| match (name, scale) {
        ("prob", Some(scale)) => scale.origin != Origin::Defaulted,
        ("k" | "q", _) => true,
        (_, scale) => scale.is_some(),
    };
    ["k", "v", "q", "prob"]
        .into_iter()
        .filter(|name| {
            let named = |layer| scales(layer).into_iter().find(|(other, _)| other == name);
            inspection.layers.iter().filter_map(named).any(|(name, scale)| is_shown(name, scale))
        })
        .collect()
}

/// Whether any layer applies scales at all.
pub(super) fn has_fp8_layer(inspection: &Inspection) -> bool {
    inspection.layers.iter().any(|layer| layer.kv_cache_dtype == CacheDtype::Fp8)
}

/// The least and the largest of the usable values, those of a head that was never calibrated left out.
pub(super) fn range(numbers: &HeadScales) -> Option<(f32, f32)> {
    numbers.as_slice().iter().copied().filter(|x| *x > 0.0).fold(None, |range, x| match range {
        None => Some((x, x)),
        Some((least, most)) => Some((least.min(x), most.max(x))),
    })
}

/// The number of heads, where a scale of any layer is per head.
pub(super) fn heads_per_scale(inspection: &Inspection) -> Option<usize> {
    inspection.layers.iter().flat_map(scales).find_map(|(_, scale)| match scale?.dequant()? {
        HeadScales::PerHead(all) => Some(all.len()),
        HeadScales::One(_) => None,
    })
}

/// A number with so many significant digits, without zeros behind the last of them.
pub(super) fn significant(number: f32, digits: usize) -> String {
    let scientific = format!("{:.*e}", digits - 1, number);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-5..7).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        trim(&format!("{number:.decimals$}"))
    } else {
        format!("{}e{exponent}", trim(mantissa))
    }
}

/// Text from a checkpoint with nothing in it that a terminal or a browser would act on.
pub(super) fn printable(text: &str) -> String {
    let is_direction =
        |c| matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}');
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_direction(c) {
            let _ = write!(out, "{}", c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// "1 layer", "2 layers".
pub(super) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Findings by code, in the order of the codes.
pub(super) fn by_code(list: &[Finding]) -> Vec<(FindingCode, Vec<&Finding>)> {
    let mut codes: Vec<_> = list.iter().map(|finding| finding.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
        .into_iter()
        .map(|code| (code, list.iter().filter(|finding| finding.code == code).collect()))
        .collect()
}

/// The layers that findings concern, runs of numbers drawn together: "layers 0-2, 5".
pub(super) fn layers_concerned(findings: &[&Finding]) -> Option<String> {
    let mut numbers: Vec<usize> = findings.iter().filter_map(|finding| finding.layer).collect();
    numbers.sort_unstable();
    numbers.dedup();
    (!numbers.is_empty()).then(|| list_layers(&numbers))
}

/// What a layer is: its kind of attention, then what sets it apart.
pub(super) fn layer_traits(layer: &LayerReport) -> Vec<String> {
    let mut traits = vec![attention(layer.attention).to_owned()];
    if layer.draft {
        traits.push("draft".to_owned());
    }
    if let Some(owner) = layer.cache_owner {
        traits.push(format!("cache of {owner}"));
    }
    if layer.kv_cache_dtype == CacheDtype::Bf16 {
        traits.push("bf16".to_owned());
    }
    traits
}

/// All of it in a phrase.
pub(super) fn layer_kind(layer: &LayerReport) -> String {
    layer_traits(layer).join(", ")
}

const fn attention(attention: Attention) -> &'static str {
    match attention {
        Attention::Mha => "mha",
        Attention::Mla => "mla",
    }
}

pub(super) const fn cache_dtype(dtype: CacheDtype) -> &'static str {
    match dtype {
        CacheDtype::Fp8 => "fp8",
        CacheDtype::Bf16 => "bf16",
    }
}

/// The KV cache that the quantization config declares.
pub(super) fn cache_scheme(inspection: &Inspection) -> String {
    let quantization = &inspection.quantization;
    match (&quantization.kv_cache_scheme, &quantization.strategy) {
        (Some(scheme), Some(strategy)) => format!("KV cache {scheme} ({strategy})"),
        (Some(scheme), None) => format!("KV cache {scheme}"),
        (None, _) => "no KV-cache scheme".to_owned(),
    }
}

/// Layers and heads of the model.
pub(super) fn model_shape(inspection: &Inspection) -> String {
    let model = &inspection.model;
    let drafts =
        if model.draft_layers > 0 { format!(" + {} draft", model.draft_layers) } else { String::new() };
    format!(
        "{}, {}{drafts}, {} with a KV cache, {} query and {} KV heads",
        model.attention,
        counted(model.layers, "layer"),
        inspection.layers.len(),
        model.num_heads,
        model.num_kv_heads
    )
}

pub(super) const fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Loaded => "loaded",
        Origin::Duplicated => "duplicated",
        Origin::Inherited => "inherited",
        Origin::Defaulted => "defaulted",
        Origin::Dynamic => "dynamic",
    }
}

/// Why a scale is not there: the cache has none, or an error says it.
pub(super) const fn absent(layer: &LayerReport) -> &'static str {
    match layer.kv_cache_dtype {
        CacheDtype::Bf16 => "not used",
        CacheDtype::Fp8 => "-",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits() {
        for (number, text) in [
            (1.0, "1"),
            (0.017_708_333, "0.01771"),
            (234.503_81, "234.5"),
            (102.4, "102.4"),
            (9_999_999.0, "1e7"),
            (0.000_099_996, "0.0001"),
            (1.5e-9, "1.5e-9"),
            (400.0, "400"),
            (123_456.0, "123456"),
            (0.0, "0"),
        ] {
            assert_eq!(significant(number, 4), text, "{number}");
        }
    }

    #[test]
    fn runs_of_layers() {
        let finding = |layer| Finding { code: FindingCode::ScaleMissing, layer, message: String::new() };
        let listed = |layers: &[Option<usize>]| {
            let findings: Vec<Finding> = layers.iter().copied().map(finding).collect();
            layers_concerned(&findings.iter().collect::<Vec<_>>())
        };
        assert_eq!(listed(&[Some(2), Some(0), Some(1), Some(1), Some(5)]).as_deref(), Some("layers 0-2, 5"));
        assert_eq!(listed(&[Some(7), None]).as_deref(), Some("layer 7"));
        assert_eq!(listed(&[None]), None);
    }

    #[test]
    fn nothing_that_a_terminal_acts_on() {
        assert_eq!(printable("a\u{1b}[2Jb\nc\u{202E}"), "a\\u{1b}[2Jb\\nc\\u{202e}");
        assert_eq!(printable("modèle <b>"), "modèle <b>");
    }
}
