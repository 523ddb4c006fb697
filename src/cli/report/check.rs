//! The page of `gaudi-kv check`.

use std::path::Path;

use gaudi_kv::check::{ActivationSource, Check, Concern, LayerCheck, Variant, Verdict};
use gaudi_kv::scales::Inspection;
use maud::{Markup, html};

use super::page::{Tone, facts, page, scrolling, verdict};
use super::run::Run;
use super::{check_codes, check_errors, findings, inspect};
use crate::cli::display::{cache_dtype, counted, model_shape, printable, significant};

/// One self-contained page: the verdict, the errors drawn and listed, the codes, the decision and the findings.
pub(in crate::cli) fn render(inspection: &Inspection, check: &Check, run: &Run) -> String {
    let path = &inspection.model.path;
    let name =
        Path::new(path).file_name().map_or_else(|| path.clone(), |name| name.to_string_lossy().into_owned());
    let title = format!("Check of the KV caches of {name} on {}", inspection.device);
    let body = html! {
        header {
            p class="kicker" { "Attention through the KV caches on " (inspection.device) }
            h1 { (printable(&name)) }
            (headline(check))
            (facts(&run_facts(inspection, check)))
        }
        (remarks(check))
        section {
            h2 { "Error over the layers" }
            (check_errors::figure(check))
        }
        section {
            h2 { "Codes in the caches" }
            (check_codes::figure(inspection, check))
        }
        (layers(check))
        (inspect::decision(inspection))
        (findings::section(&inspection.findings))
    };
    page(&title, &body, run)
}

fn headline(check: &Check) -> Markup {
    let (tone, details) = match check.kind {
        Verdict::Fine => (Tone::Good, "Every layer is within the thresholds of the check."),
        Verdict::NotFp8 => (Tone::Neutral, "No cache is FP8, so there was no scale to check."),
        Verdict::NotChecked => (Tone::Bad, "No layer could be run."),
        Verdict::Concern(Concern::NotFinite) => (Tone::Bad, "The model cannot be served like this."),
        Verdict::Concern(_) => (Tone::Caution, "The model runs, and loses more than it needs to."),
    };
    verdict(tone, &printable(&check.verdict), details)
}

fn run_facts(inspection: &Inspection, check: &Check) -> Vec<(&'static str, String)> {
    let tokens = check.layers.iter().map(|layer| layer.tokens).max().unwrap_or(0);
    let source = match check.activations {
        ActivationSource::File => "from the file given",
        ActivationSource::Synthetic => "synthetic",
    };
    vec![
        ("Model", inspection.model.path.clone()),
        ("Attention", model_shape(inspection)),
        ("Device", format!("{}, {}", inspection.device, check.backend)),
        ("KV cache", cache_dtype(inspection.kv_cache_dtype).to_owned()),
        ("Activations", format!("{source}, {}", counted(tokens, "token"))),
        ("Layers run", format!("{} of {}", check.layers.len(), inspection.layers.len())),
    ]
}

fn remarks(check: &Check) -> Markup {
    let others = || check.warnings.iter().filter(|warning| !check.verdict.starts_with(warning.as_str()));
    html! {
        @if others().next().is_some() || !check.notes.is_empty() {
            section {
                h2 { "Remarks" }
                ul class="messages" {
                    @for warning in others() { li { strong { "Warning: " } (printable(warning)) } }
                    @for note in &check.notes { li { (printable(note)) } }
                }
            }
        }
    }
}

/// Every number of every layer.
fn layers(check: &Check) -> Markup {
    html! {
        section {
            h2 id="checked" { "Every layer" }
            @if check.layers.is_empty() {
                p class="empty" { "No layer was run." }
            } @else {
                p class="remark" {
                    "L2 is the norm of the difference from float64 over the norm of the float64 result, max the largest \
                     difference of an element. The prefill uses keys and values as they were computed."
                }
                (scrolling("Errors of every layer", &error_table(check)))
                p class="remark" { "What the caches hold, with the scales as inspected:" }
                (scrolling("What each layer's cache holds", &cache_table(check)))
            }
            @if !check.skipped.is_empty() {
                h3 { "Not run" }
                ul class="messages" {
                    @for layer in &check.skipped { li { "layer " (layer.layer) ": " (printable(&layer.reason)) } }
                }
            }
        }
    }
}

/// Errors of every layer with each choice of scales.
fn error_table(check: &Check) -> Markup {
    html! {
        table aria-labelledby="checked" {
            thead {
                tr {
                    th scope="col" { "Layer" }
                    th scope="col" { "Scales" }
                    @for stage in ["Prefill", "Decode"] {
                        th scope="col" class="number" { (stage) " L2" }
                        th scope="col" class="number" { (stage) " max" }
                        th scope="col" class="number" { (stage) " cosine" }
                    }
                    th scope="col" { "Decode digest" }
                }
            }
            @for layer in &check.layers { (errors(layer)) }
        }
    }
}

/// Saturated and lost elements of every layer's cache.
fn cache_table(check: &Check) -> Markup {
    html! {
        table aria-label="What each layer's cache holds" {
            thead {
                tr {
                    th scope="col" { "Layer" }
                    th scope="col" { "Part" }
                    th scope="col" class="number" { "Elements" }
                    th scope="col" class="number" { "Saturated" }
                    th scope="col" class="number" { "To zero" }
                }
            }
            @for layer in &check.layers {
                tbody {
                    @for (row, part) in layer.cache.parts.iter().enumerate() {
                        tr {
                            @if row == 0 {
                                th scope="rowgroup" rowspan=(layer.cache.parts.len()) { (layer.layer) }
                            }
                            th scope="row" { (part.name) }
                            td class="number" { (part.elements) }
                            td class="number" { (part.saturated) }
                            td class="number" { (part.flushed_to_zero) }
                        }
                    }
                }
            }
        }
    }
}

fn errors(layer: &LayerCheck) -> Markup {
    html! {
        tbody {
            @for (row, variant) in Variant::ALL.into_iter().enumerate() {
                @let (prefill, decode) = (layer.prefill.get(variant), layer.decode.get(variant));
                tr {
                    @if row == 0 {
                        th scope="rowgroup" rowspan=(Variant::ALL.len()) {
                            (layer.layer) " " span class="kind" { (cache_dtype(layer.kv_cache_dtype)) }
                        }
                    }
                    th scope="row" { (words(variant)) }
                    @for errors in [prefill, decode] {
                        td class="number" { (number(errors.rel_l2_error)) }
                        td class="number" { (number(errors.max_abs_error)) }
                        td class="number" { (cosine(errors.cosine)) }
                    }
                    td { code { (decode.digest) } }
                }
            }
        }
    }
}

/// A variant in words.
pub(super) const fn words(variant: Variant) -> &'static str {
    match variant {
        Variant::Scales => "as inspected",
        Variant::ScaleOne => "1.0",
        Variant::AdjustmentMissing => "not adjusted",
        Variant::AdjustmentTwice => "adjusted twice",
    }
}

pub(super) fn number(number: f64) -> String {
    if number.is_nan() { "not finite".to_owned() } else { significant(number as f32, 3) }
}

/// Enough digits to tell a cosine from one.
fn cosine(number: f64) -> String {
    if number.is_nan() { "not finite".to_owned() } else { format!("{number:.6}") }
}
