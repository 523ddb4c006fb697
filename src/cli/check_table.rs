//! A check as text for people.

use comfy_table::{CellAlignment, Table};
use gaudi_kv::check::{ActivationSource, Check, Concern, LayerCheck, Variant, Verdict};
use gaudi_kv::scales::{CacheDtype, Inspection};

use super::display::printable;
use super::{style, table};

/// What the model is, the verdict, the errors of every layer, and what is worth saying.
pub(super) fn render(inspection: &Inspection, check: &Check) -> String {
    let mut parts = vec![table::head(inspection).trim_end().to_owned() + "\n" + &run_line(check)];
    if !check.layers.is_empty() {
        parts.push(error_table(check));
        parts.push(
            "Relative error (L2) of each layer's attention against float64, in percent. prefill: all tokens at once.\n\
             decode: every token through the cache, with the scales as inspected, with 1.0, and with the adjustment left\n\
             out or applied twice. clipped, to zero: elements of the cache that saturate, or are stored as zero."
                .to_owned(),
        );
    }
    parts.extend(table::findings(inspection));
    for warning in check.warnings.iter().filter(|warning| !check.verdict.starts_with(warning.as_str())) {
        parts.push(labelled("warning", style::WARNING, warning));
    }
    for note in &check.notes {
        parts.push(labelled("note", style::NOTE, note));
    }
    let colour = match check.kind {
        Verdict::Fine => style::HEADING,
        Verdict::Concern(Concern::NotFinite) => style::ERROR,
        Verdict::Concern(_) | Verdict::NotChecked => style::WARNING,
        Verdict::NotFp8 => style::NOTE,
    };
    parts.push(labelled("verdict", colour, &check.verdict));
    parts.join("\n\n") + "\n"
}

fn labelled(label: &str, colour: anstyle::Style, text: &str) -> String {
    format!("{}{label}{} {}", colour.render(), colour.render_reset(), printable(text))
}

fn run_line(check: &Check) -> String {
    let tokens = check.layers.iter().map(|layer| layer.tokens).max().unwrap_or(0);
    let source = match check.activations {
        ActivationSource::File => "from the file given",
        ActivationSource::Synthetic => "synthetic",
    };
    format!("activations    {source}, {tokens} tokens; {}", check.backend)
}

fn error_table(check: &Check) -> String {
    let mut table = Table::new();
    let mut header = vec!["layer".to_owned(), "cache".to_owned(), "prefill".to_owned()];
    header.extend(
        ["decode", "scale 1.0", "not adjusted", "adjusted twice", "clipped", "to zero"].map(Into::into),
    );
    table.set_header(header);
    for layer in &check.layers {
        table.add_row(row(layer));
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table::rows(table)
}

fn row(layer: &LayerCheck) -> Vec<String> {
    let dtype = match layer.kv_cache_dtype {
        CacheDtype::Fp8 => "fp8",
        CacheDtype::Bf16 => "bf16",
    };
    let mut row = vec![layer.layer.to_string(), dtype.to_owned(), percent(layer.prefill.scales.rel_l2_error)];
    row.extend(Variant::ALL.map(|variant| percent(layer.decode.get(variant).rel_l2_error)));
    let share = |count: u64| percent(count as f64 / layer.cache.elements.max(1) as f64);
    row.extend([share(layer.cache.saturated), share(layer.cache.flushed_to_zero)]);
    row
}

/// Three decimals, as many as set variants apart.
fn percent(share: f64) -> String {
    if share.is_nan() { "-".to_owned() } else { format!("{:.3}", share * 100.0) }
}
