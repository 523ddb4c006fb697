//! The tables of a report: the scales of every layer, unused tensors, offending weights.

use gaudi_kv::HeadScales;
use gaudi_kv::scales::{Inspection, LayerReport, LayerScale, Origin, WeightScan};
use maud::{Markup, html};

use super::page::{folded, scrolling};
use crate::cli::display::{
    absent, counted, has_fp8_layer, heads_per_scale, layer_kind, origin, printable, range, scales,
    shown_scales, significant,
};

/// Every scale of every layer; a body for each layer.
pub(super) fn section(inspection: &Inspection) -> Markup {
    let names = shown_scales(inspection);
    let table = html! {
        table aria-labelledby="layers" {
            thead {
                tr {
                    th scope="col" { "Layer" }
                    th scope="col" { "Scale" }
                    th scope="col" class="number" { "Checkpoint" }
                    th scope="col" class="number" { "Quant" }
                    th scope="col" class="number" { "Dequant" }
                    th scope="col" { "Origin" }
                    th scope="col" { "Tensor" }
                }
            }
            @for layer in &inspection.layers { (body(layer, &names)) }
        }
    };
    html! {
        section {
            h2 id="layers" { "Scales of every layer" }
            @if has_fp8_layer(inspection) {
                p class="remark" {
                    "quant multiplies on the way into FP8, dequant on the way out; both are what the device applies."
                    @if let Some(heads) = heads_per_scale(inspection) {
                        " Per-head scales are shown as the least and the largest of " (heads) " KV heads."
                    }
                }
                (scrolling("Scales of every layer", &table))
            } @else {
                p class="empty" {
                    (counted(inspection.layers.len(), "layer")) " with a bf16 cache, which has no scales."
                }
            }
        }
    }
}

fn body(layer: &LayerReport, names: &[&str]) -> Markup {
    let shown: Vec<_> = scales(layer).into_iter().filter(|(name, _)| names.contains(name)).collect();
    html! {
        tbody {
            @for (row, (name, scale)) in shown.iter().enumerate() {
                tr {
                    @if row == 0 {
                        th scope="rowgroup" rowspan=(shown.len()) {
                            (layer.layer) " " span class="kind" { (layer_kind(layer)) }
                        }
                    }
                    th scope="row" { (name) }
                    (cells(*scale, layer))
                }
            }
        }
    }
}

fn cells(scale: Option<&LayerScale>, layer: &LayerReport) -> Markup {
    html! {
        @if let Some(scale) = scale {
            (number(scale.checkpoint.as_ref()))
            (number(scale.quant()))
            (number(scale.dequant()))
            td class=[(scale.origin == Origin::Defaulted).then_some("defaulted")] { (origin(scale.origin)) }
            td class="tensor" { @if let Some(tensor) = &scale.tensor { (printable(tensor)) } }
        } @else {
            td class="number" { "-" } td class="number" { "-" } td class="number" { "-" }
            td { (absent(layer)) }
            td {}
        }
    }
}

/// All digits of one number; the range of a per-head scale, shortened.
fn number(numbers: Option<&HeadScales>) -> Markup {
    const DIGITS: usize = 5;
    let text = match numbers {
        None => "-".to_owned(),
        Some(HeadScales::One(one)) => one.to_string(),
        Some(per_head) => match range(per_head) {
            Some((least, most)) if least != most => {
                format!("{} .. {}", significant(least, DIGITS), significant(most, DIGITS))
            }
            Some((least, _)) => significant(least, DIGITS),
            None => "0".to_owned(),
        },
    };
    html! { td class="number" { (text) } }
}

/// KV-scale tensors that no layer takes.
pub(super) fn unused(names: &[String]) -> Markup {
    let list = html! {
        ul class="messages" { @for name in names { li { code { (printable(name)) } } } }
    };
    html! {
        @if !names.is_empty() {
            section {
                h2 { "Unused KV-scale tensors" }
                p { "No layer takes " (if names.len() == 1 { "this tensor" } else { "these tensors" }) "; the warnings above say why." }
                (folded(names.len(), "name", &list))
            }
        }
    }
}

/// What the FP8 weights hold, where they were read.
pub(super) fn weights(scan: &WeightScan) -> Markup {
    let table = html! {
        table aria-label="Tensors with codes above 0x77 or NaN codes, most first" {
            thead {
                tr {
                    th scope="col" { "Tensor" }
                    th scope="col" { "File" }
                    th scope="col" class="number" { "Above 0x77" }
                    th scope="col" class="number" { "NaN" }
                }
            }
            tbody {
                @for tensor in &scan.offending {
                    tr {
                        th scope="row" class="tensor" { (printable(&tensor.tensor)) }
                        td class="tensor" { (printable(&tensor.file)) }
                        td class="number" { (tensor.codes_above_0x77) }
                        td class="number" { (tensor.nan_codes) }
                    }
                }
            }
        }
    };
    html! {
        section {
            h2 { "FP8 weights" }
            @if scan.tensors == 0 {
                p { "The folder holds no FP8 weights." }
            } @else {
                p {
                    (counted(scan.tensors, "FP8 tensor")) ", " (scan.bytes) " bytes read: "
                    strong { (scan.codes_above_0x77) } " codes above 0x77 (values beyond 240), "
                    strong { (scan.nan_codes) } " NaN codes."
                }
            }
            @if !scan.offending.is_empty() {
                (folded(scan.offending.len(), "tensor", &scrolling("Weights with such codes", &table)))
            }
        }
    }
}
