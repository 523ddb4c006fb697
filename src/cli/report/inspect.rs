//! The page of `gaudi-kv inspect`.

use std::path::Path;

use gaudi_kv::scales::{AdjustmentSource, CacheDtype, Inspection, SCALE_ADJUSTMENT_ENV};
use maud::{Markup, html};

use super::page::{Tone, facts, page, verdict};
use super::run::Run;
use super::{findings, layers, scale_plot};
use crate::cli::display::{
    cache_dtype, cache_scheme, counted, has_fp8_layer, model_shape, printable, significant,
};

/// One self-contained page: the verdict, the decision, what is wrong, the scales drawn and listed.
pub(in crate::cli) fn render(inspection: &Inspection, run: &Run) -> String {
    let path = &inspection.model.path;
    let name =
        Path::new(path).file_name().map_or_else(|| path.clone(), |name| name.to_string_lossy().into_owned());
    let title = format!("KV-cache scales of {name} on {}", inspection.device);
    let body = html! {
        header {
            p class="kicker" { "KV-cache scales on " (inspection.device) }
            h1 { (printable(&name)) }
            (headline(inspection, run))
            (facts(&model_facts(inspection)))
        }
        (decision(inspection))
        (findings::section(&inspection.findings))
        section {
            h2 { "Scales over the layers" }
            (scale_plot::figure(inspection))
        }
        (layers::section(inspection))
        (layers::unused(&inspection.unused))
        @if let Some(scan) = &inspection.weights { (layers::weights(scan)) }
        (quantization(inspection))
    };
    page(&title, &body, run)
}

fn headline(inspection: &Inspection, run: &Run) -> Markup {
    let findings = &inspection.findings;
    let (errors, warnings) = (findings.errors.len(), findings.warnings.len());
    let (tone, words) = if errors > 0 {
        (Tone::Bad, format!("{}: the model cannot be run as asked", counted(errors, "error")))
    } else if warnings > 0 && run.is_strict {
        (Tone::Bad, format!("{}, which count as errors under --strict", counted(warnings, "warning")))
    } else if warnings > 0 {
        let words =
            format!("{}: the model runs, and probably not as it should", counted(warnings, "warning"));
        (Tone::Caution, words)
    } else {
        (Tone::Good, "Fine: nothing to do".to_owned())
    };
    let details = format!(
        "{}. Exit code {}.",
        findings::counts(findings),
        i32::from(!inspection.is_fine(run.is_strict))
    );
    verdict(tone, &words, &details)
}

fn model_facts(inspection: &Inspection) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("Model", inspection.model.path.clone()),
        ("Architecture", inspection.model.architecture.clone()),
        ("Attention", model_shape(inspection)),
        ("Device", inspection.device.to_string()),
        ("KV cache", cache_dtype(inspection.kv_cache_dtype).to_owned()),
    ];
    if let Some(rank) = inspection.tensor_parallel {
        facts.push(("Tensor-parallel rank", format!("{} of {}", rank.rank, rank.size)));
    }
    facts
}

/// Whether scales are adjusted, and why.
pub(super) fn decision(inspection: &Inspection) -> Markup {
    let adjustment = &inspection.scale_adjustment;
    let (quant, deploy) = (adjustment.fp8_max_quant, adjustment.fp8_max_deploy);
    let source = match adjustment.source {
        AdjustmentSource::Flavor => "fp8_dtype_flavor of the checkpoint",
        AdjustmentSource::Environment => SCALE_ADJUSTMENT_ENV,
        AdjustmentSource::Default => "the default: neither flavor nor environment",
    };
    html! {
        section {
            h2 { "Scale adjustment" }
            @if has_fp8_layer(inspection) {
                div class="decision" {
                    p class="figure" {
                        strong { (if adjustment.enabled { "On" } else { "Off" }) }
                        span { (quant) " → " (deploy) }
                    }
                    p { (sentence(inspection)) }
                }
                (facts(&[
                    ("Quant max (checkpoint)", quant.to_string()),
                    ("Deploy max (device)", deploy.to_string()),
                    ("Decided by", source.to_owned()),
                ]))
                p class="reason" { strong { "Reason: " } (adjustment.reason) "." }
            } @else {
                p {
                    "Nothing to adjust: the cache is " (cache_dtype(CacheDtype::Bf16)) " and has no scales. "
                    "For an FP8 cache, adjustment would be " (if adjustment.enabled { "on" } else { "off" })
                    " (quant max " (quant) ", deploy max " (deploy) "): " (adjustment.reason) "."
                }
            }
        }
    }
}

/// The decision and what it does to a scale.
fn sentence(inspection: &Inspection) -> String {
    let adjustment = &inspection.scale_adjustment;
    let (quant, deploy) = (adjustment.fp8_max_quant, adjustment.fp8_max_deploy);
    let device = inspection.device;
    if adjustment.enabled {
        let factor = significant(quant as f32 / deploy as f32, 4);
        format!(
            "The checkpoint's scales are made for FP8 values up to {quant}, and {device} reaches {deploy}: every \
             scale of the checkpoint is multiplied by {quant}/{deploy} = {factor}, so that the checkpoint's range fits the device's."
        )
    } else if quant > deploy {
        format!(
            "The checkpoint's scales are made for FP8 values up to {quant}, and {device} reaches {deploy}: adjustment \
             is due and was turned off, so the scales are applied as stored and large values saturate."
        )
    } else {
        format!(
            "The checkpoint's scales are made for FP8 values up to {quant}, which {device} reaches ({deploy}): the \
             scales are applied as stored."
        )
    }
}

fn quantization(inspection: &Inspection) -> Markup {
    let quantization = &inspection.quantization;
    let or_none = |value: Option<&str>| value.unwrap_or("none").to_owned();
    html! {
        section {
            h2 { "Quantization config" }
            @if let Some(source) = &quantization.source {
                (facts(&[
                    ("Method", or_none(quantization.method.as_deref())),
                    ("Declares", cache_scheme(inspection)),
                    ("fp8_dtype_flavor", or_none(quantization.fp8_dtype_flavor.map(|flavor| flavor.name()))),
                    ("Read from", source.clone()),
                ]))
            } @else {
                p { "The folder declares no quantization." }
            }
        }
    }
}
