//! The inspection as text for people.

use std::io::{self, IsTerminal};

use anstyle::Style;
use comfy_table::{
    Attribute, Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle, presets,
};
use gaudi_kv::HeadScales;
use gaudi_kv::checkpoint::Finding;
use gaudi_kv::scales::{Inspection, LayerReport, LayerScale};

use super::display::{
    absent, by_code, cache_dtype, cache_scheme, has_fp8_layer, heads_per_scale, layer_kind, layer_traits,
    layers_concerned, model_shape, origin, printable, range, scales, shown_scales, significant,
};
use super::style;

/// How many findings of one code are shown in full.
const SHOWN_PER_CODE: usize = 3;
/// Significant digits of a scale; of the ends of a range, which need twice the room. JSON has all of them.
const DIGITS: usize = 5;
const RANGE_DIGITS: usize = 4;
const NARROW_RANGE_DIGITS: usize = 3;
/// Lines around the header and below the last row.
const DRAWN: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// The whole text: what the model is, the decision, the scales of every layer, and everything worth saying.
pub(super) fn render(inspection: &Inspection) -> String {
    let mut parts = vec![head(inspection)];
    if has_fp8_layer(inspection) {
        parts.push(layer_table(inspection));
    }
    if let Some(weights) = &inspection.weights {
        parts.push(format!(
            "FP8 weights: {} tensors, {} bytes; {} codes above 0x77, {} NaN codes",
            weights.tensors, weights.bytes, weights.codes_above_0x77, weights.nan_codes
        ));
    }
    parts.extend(findings(inspection));
    parts.join("\n\n") + "\n"
}

/// Errors, warnings and notes, those of one code together.
pub(super) fn findings(inspection: &Inspection) -> Vec<String> {
    let findings = &inspection.findings;
    let lists = [
        ("error", style::ERROR, &findings.errors),
        ("warning", style::WARNING, &findings.warnings),
        ("note", style::NOTE, &findings.notes),
    ];
    let text = |(kind, colour, list): (&'static str, Style, &Vec<Finding>)| -> Vec<String> {
        by_code(list).into_iter().map(|(_, same)| finding(kind, colour, &same)).collect()
    };
    lists.into_iter().flat_map(text).collect()
}

/// Text in columns without lines: wrapped within its column on a terminal, left alone in a pipe.
fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(match io::stdout().is_terminal() {
        true => ContentArrangement::Dynamic,
        false => ContentArrangement::Disabled,
    });
    table
}

/// The lines of such a table, each behind an indent.
fn plain_text(table: &mut Table, indent: u16) -> String {
    if let Some(column) = table.column_mut(0) {
        column.set_padding((indent, 2));
    }
    table.trim_fmt()
}

/// What the model is, and the decision.
pub(super) fn head(inspection: &Inspection) -> String {
    let (model, quantization) = (&inspection.model, &inspection.quantization);
    let (bold, plain) = (style::HEADING.render(), style::HEADING.render_reset());
    let title = format!("{bold}{}{plain}  {}", printable(&model.architecture), printable(&model.path));
    let mut table = plain_table();
    table.add_row(["attention", &model_shape(inspection)]);
    let declared = match (&quantization.source, &quantization.method) {
        (Some(source), method) => {
            let method = method.as_deref().unwrap_or("no method");
            printable(&format!("{method}, {}; from {source}", cache_scheme(inspection)))
        }
        (None, _) => "none declared".to_owned(),
    };
    table.add_row(["quantization", &declared]);
    let dtype = cache_dtype(inspection.kv_cache_dtype);
    table.add_row(["device", &format!("{}, {dtype} KV cache", inspection.device)]);
    if let Some(rank) = inspection.tensor_parallel {
        table.add_row(["rank", &format!("{} of {}", rank.rank, rank.size)]);
    }
    let adjustment = &inspection.scale_adjustment;
    let decision = if !has_fp8_layer(inspection) {
        format!("nothing to apply it to: the cache is {dtype}, without scales")
    } else if adjustment.enabled {
        format!("on, {} -> {}: {}", adjustment.fp8_max_quant, adjustment.fp8_max_deploy, adjustment.reason)
    } else {
        format!("off: {}", adjustment.reason)
    };
    table.add_row([Cell::new("adjustment"), Cell::new(decision).add_attribute(Attribute::Bold)]);
    if let Some(heads) = heads_per_scale(inspection) {
        table.add_row(["heads", &format!("least..largest scale of {heads} KV heads")]);
    }
    title + "\n" + &plain_text(&mut table, 0)
}

/// The scales of all layers. A pipe gets a row for each layer in aligned columns. So does a terminal, drawn, where it
/// is wide enough; a narrower one gets a row for each scale.
fn layer_table(inspection: &Inspection) -> String {
    let names = shown_scales(inspection);
    let mut wide = row_per_layer(inspection, &names);
    if !io::stdout().is_terminal() {
        wide.load_style(presets::NOTHING);
        return plain_text(&mut wide, 0);
    }
    draw(&mut wide);
    let needed = wide.lines().next().map_or(0, |line| line.chars().count());
    match wide.width() {
        Some(width) if needed > usize::from(width) => {
            let mut narrow = row_per_scale(inspection, &names);
            draw(&mut narrow);
            narrow.set_content_arrangement(ContentArrangement::Dynamic);
            narrow.to_string()
        }
        _ => wide.to_string(),
    }
}

/// A table of rows: drawn and fitted to a terminal, in aligned columns for a pipe.
pub(super) fn rows(mut table: Table) -> String {
    if io::stdout().is_terminal() {
        draw(&mut table);
        table.set_content_arrangement(ContentArrangement::Dynamic);
        return table.to_string();
    }
    table.load_style(presets::NOTHING);
    plain_text(&mut table, 0)
}

/// Lines, and columns as close as they read well.
fn draw(table: &mut Table) {
    table.load_style(DRAWN);
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
}

fn row_per_layer(inspection: &Inspection, names: &[&str]) -> Table {
    let mut table = Table::new();
    let columns = |name: &&str| match *name {
        "k" | "v" => {
            ["checkpoint", "quant", "dequant", "origin"].map(|what| format!("{name} {what}")).to_vec()
        }
        _ => ["dequant", "origin"].map(|what| format!("{name} {what}")).to_vec(),
    };
    let mut header = vec!["layer".to_owned(), "attention".to_owned()];
    header.extend(names.iter().flat_map(columns));
    table.set_header(header);
    for layer in &inspection.layers {
        let mut row = vec![layer.layer.to_string(), layer_kind(layer)];
        for (name, scale) in scales(layer).into_iter().filter(|(name, _)| names.contains(name)) {
            let cells = cells(scale, layer, RANGE_DIGITS);
            row.extend(if matches!(name, "k" | "v") { cells.to_vec() } else { cells[2..].to_vec() });
        }
        table.add_row(row);
    }
    align_right(&mut table, 0);
    table
}

/// What sets a layer apart stands below its number.
fn row_per_scale(inspection: &Inspection, names: &[&str]) -> Table {
    let mut table = Table::new();
    table.set_header(["layer", "scale", "checkpoint", "quant", "dequant", "origin"]);
    let skipped = usize::from(inspection.model.attention != "mixed");
    for layer in &inspection.layers {
        let mut labels = vec![layer.layer.to_string()];
        labels.extend(layer_traits(layer).into_iter().skip(skipped));
        let shown: Vec<_> = scales(layer).into_iter().filter(|(name, _)| names.contains(name)).collect();
        for row in 0..labels.len().max(shown.len()) {
            let mut line = vec![labels.get(row).cloned().unwrap_or_default()];
            if let Some((name, scale)) = shown.get(row) {
                line.push((*name).to_owned());
                line.extend(cells(*scale, layer, NARROW_RANGE_DIGITS));
            }
            table.add_row(line);
        }
    }
    table
}

fn align_right(table: &mut Table, column: usize) {
    if let Some(column) = table.column_mut(column) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// Checkpoint, quant, dequant, origin.
fn cells(scale: Option<&LayerScale>, layer: &LayerReport, range_digits: usize) -> [String; 4] {
    match scale {
        Some(scale) => [
            number(scale.checkpoint.as_ref(), range_digits),
            number(scale.quant(), range_digits),
            number(scale.dequant(), range_digits),
            origin(scale.origin).to_owned(),
        ],
        None => ["-".to_owned(), "-".to_owned(), "-".to_owned(), absent(layer).to_owned()],
    }
}

/// One number, or the range of a per-head scale.
fn number(numbers: Option<&HeadScales>, range_digits: usize) -> String {
    match numbers {
        Some(HeadScales::One(one)) => significant(*one, DIGITS),
        Some(per_head) => match range(per_head) {
            Some((least, most)) if least == most => significant(least, range_digits),
            Some((least, most)) => {
                format!("{}..{}", significant(least, range_digits), significant(most, range_digits))
            }
            None => "0".to_owned(),
        },
        None => "-".to_owned(),
    }
}

/// Findings of one code together: where, the first few in full, and what to do.
fn finding(kind: &str, colour: Style, same: &[&Finding]) -> String {
    let Some(first) = same.first() else { return String::new() };
    let count = if same.len() > 1 { format!(", {} times", same.len()) } else { String::new() };
    let layers = layers_concerned(same).map_or_else(String::new, |layers| format!(", {layers}"));
    let mut table = plain_table();
    for finding in same.iter().take(SHOWN_PER_CODE) {
        table.add_row([printable(&finding.message)]);
    }
    if same.len() > SHOWN_PER_CODE {
        table.add_row([format!("and {} more; --json lists all", same.len() - SHOWN_PER_CODE)]);
    }
    if kind != "note" {
        table.add_row([format!("what to do: {}", first.code.remedy())]);
    }
    let (start, end) = (colour.render(), colour.render_reset());
    format!("{start}{kind}{end} {}{count}{layers}\n{}", first.code, plain_text(&mut table, 2))
}
