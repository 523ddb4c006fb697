//! The inspection as text for people.

use std::fmt::Write;
use std::io::{self, IsTerminal};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use gaudi_kv::checkpoint::{Attention, Finding};
use gaudi_kv::scales::{CacheDtype, Inspection, LayerReport, LayerScale, Numbers, Origin};

use super::style;

/// How many findings of one code are shown in full.
const SHOWN_PER_CODE: usize = 3;

/// The whole text: what the model is, the decision, a row a layer, and everything worth saying.
pub(super) fn render(inspection: &Inspection) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_head(&mut text, inspection);
    if !inspection.layers.is_empty() {
        let _ = writeln!(text, "\n{}", layer_table(inspection));
    }
    if let Some(weights) = &inspection.weights {
        let _ = writeln!(
            text,
            "\nFP8 weights: {} tensors, {} bytes; {} codes above 0x77, {} NaN codes",
            weights.tensors, weights.bytes, weights.codes_above_0x77, weights.nan_codes
        );
    }
    let findings = &inspection.findings;
    for (kind, colour, list) in [
        ("error", style::ERROR, &findings.errors),
        ("warning", style::WARNING, &findings.warnings),
        ("note", style::NOTE, &findings.notes),
    ] {
        let _ = write_findings(&mut text, kind, colour, list);
    }
    text
}

fn write_head(text: &mut String, inspection: &Inspection) -> std::fmt::Result {
    let (model, quantization) = (&inspection.model, &inspection.quantization);
    let (bold, plain) = (style::HEADING.render(), style::HEADING.render_reset());
    writeln!(text, "{bold}{}{plain}  {}", model.architecture, model.path)?;
    let drafts =
        if model.draft_layers > 0 { format!(" + {} draft", model.draft_layers) } else { String::new() };
    writeln!(
        text,
        "attention      {}, {} layers{drafts}, {} with a KV cache, {} query and {} KV heads",
        model.attention,
        model.layers,
        inspection.layers.len(),
        model.num_heads,
        model.num_kv_heads
    )?;
    let scheme = match (&quantization.kv_cache_scheme, &quantization.strategy) {
        (Some(scheme), Some(strategy)) => format!("KV cache {scheme} ({strategy})"),
        (Some(scheme), None) => format!("KV cache {scheme}"),
        (None, _) => "no KV-cache scheme".to_owned(),
    };
    match (&quantization.source, &quantization.method) {
        (Some(source), method) => {
            writeln!(
                text,
                "quantization   {}, {scheme}; from {source}",
                method.as_deref().unwrap_or("no method")
            )?;
        }
        (None, _) => writeln!(text, "quantization   none declared")?,
    }
    let dtype = match inspection.kv_cache_dtype {
        CacheDtype::Fp8 => "fp8",
        CacheDtype::Bf16 => "bf16",
    };
    writeln!(text, "device         {}, {dtype} KV cache", inspection.device)?;
    if let Some(rank) = inspection.tensor_parallel {
        writeln!(text, "rank           {} of {}", rank.rank, rank.size)?;
    }
    let adjustment = &inspection.scale_adjustment;
    let decision = if adjustment.enabled {
        format!("on, {} -> {}", adjustment.fp8_max_quant, adjustment.fp8_max_deploy)
    } else {
        "off".to_owned()
    };
    writeln!(text, "adjustment     {bold}{decision}{plain}: {}", adjustment.reason)
}

/// A row for each layer: drawn on a terminal, aligned columns elsewhere.
fn layer_table(inspection: &Inspection) -> String {
    let mut table = Table::new();
    if io::stdout().is_terminal() {
        table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    } else {
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    }
    let has_v = inspection.layers.iter().any(|layer| layer.v.is_some());
    let has_prob = inspection
        .layers
        .iter()
        .any(|layer| layer.prob.as_ref().is_some_and(|prob| prob.origin != Origin::Defaulted));
    let mut header = vec!["layer", "attention", "k checkpoint", "k quant", "k dequant", "k origin"];
    if has_v {
        header.extend(["v checkpoint", "v quant", "v dequant", "v origin"]);
    }
    header.extend(["q dequant", "q origin"]);
    if has_prob {
        header.extend(["prob dequant", "prob origin"]);
    }
    table.set_header(header);
    for layer in &inspection.layers {
        let mut row = vec![layer.layer.to_string(), describe(layer)];
        row.extend(full_cells(layer.k.as_ref(), layer));
        if has_v {
            row.extend(full_cells(layer.v.as_ref(), layer));
        }
        row.extend(short_cells(layer.q.as_ref(), layer));
        if has_prob {
            row.extend(short_cells(layer.prob.as_ref(), layer));
        }
        table.add_row(row);
    }
    if let Some(column) = table.column_mut(0) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}

fn describe(layer: &LayerReport) -> String {
    let kind = match layer.attention {
        Attention::Mha => "mha",
        Attention::Mla => "mla",
    };
    let mut text = kind.to_owned();
    if layer.draft {
        text.push_str(", draft");
    }
    if let Some(owner) = layer.cache_owner {
        let _ = write!(text, ", cache of {owner}");
    }
    if layer.kv_cache_dtype == CacheDtype::Bf16 {
        text.push_str(", bf16");
    }
    text
}

fn full_cells(scale: Option<&LayerScale>, layer: &LayerReport) -> [String; 4] {
    match scale {
        Some(scale) => [
            number(scale.checkpoint.as_ref()),
            number(scale.quant.as_ref()),
            number(scale.dequant.as_ref()),
            origin(scale.origin).to_owned(),
        ],
        None => ["-".to_owned(), "-".to_owned(), "-".to_owned(), absent(layer).to_owned()],
    }
}

fn short_cells(scale: Option<&LayerScale>, layer: &LayerReport) -> [String; 2] {
    match scale {
        Some(scale) => [number(scale.dequant.as_ref()), origin(scale.origin).to_owned()],
        None => ["-".to_owned(), absent(layer).to_owned()],
    }
}

/// Why a scale is not there: the cache has none, or an error below says it.
fn absent(layer: &LayerReport) -> &'static str {
    if layer.kv_cache_dtype == CacheDtype::Bf16 { "not used" } else { "-" }
}

/// One number, or the range of a per-head scale.
fn number(numbers: Option<&Numbers>) -> String {
    match numbers {
        None => "-".to_owned(),
        Some(Numbers::One(one)) => one.to_string(),
        Some(Numbers::PerHead(all)) => {
            let least = all.iter().copied().fold(f32::INFINITY, f32::min);
            let most = all.iter().copied().fold(0.0, f32::max);
            format!("{least} .. {most} ({} heads)", all.len())
        }
    }
}

const fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Loaded => "loaded",
        Origin::Duplicated => "duplicated",
        Origin::Inherited => "inherited",
        Origin::Defaulted => "defaulted",
        Origin::Dynamic => "dynamic",
    }
}

/// Findings of one code together, the first few in full, and what to do.
fn write_findings(
    text: &mut String,
    kind: &str,
    colour: anstyle::Style,
    list: &[Finding],
) -> std::fmt::Result {
    let mut codes: Vec<_> = list.iter().map(|finding| finding.code).collect();
    codes.sort_unstable();
    codes.dedup();
    for code in codes {
        let same: Vec<&Finding> = list.iter().filter(|finding| finding.code == code).collect();
        let count = if same.len() > 1 { format!(" ({} times)", same.len()) } else { String::new() };
        writeln!(text, "\n{}{kind}{} {code}{count}", colour.render(), colour.render_reset())?;
        for finding in same.iter().take(SHOWN_PER_CODE) {
            writeln!(text, "  {}", finding.message)?;
        }
        if same.len() > SHOWN_PER_CODE {
            writeln!(text, "  and {} more; --json lists all", same.len() - SHOWN_PER_CODE)?;
        }
        if kind != "note" {
            writeln!(text, "  what to do: {}", code.remedy())?;
        }
    }
    Ok(())
}
