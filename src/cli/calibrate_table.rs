//! A calibration as text for people.

use std::path::Path;

use comfy_table::{CellAlignment, Table};
use gaudi_kv::calibrate::{Calibration, Choice, LayerCalibration, Loss, Method, ScaleCalibration};
use gaudi_kv::checkpoint::Strategy;

use super::display::{printable, significant};
use super::{style, table};

/// Significant digits of a scale.
const DIGITS: usize = 5;

/// What was decided, what each choice does to each tensor, and what is worth knowing.
pub(super) fn render(calibration: &Calibration, out: &Path) -> String {
    let mut parts = vec![head(calibration, out), choices_table(calibration)];
    parts.push(
        "A row for each choice; * is the one that is written. saturated, to zero: values that are clipped, or stored\n\
         as zero, in percent. error: relative error (L2) of what is read back from the cache, in percent."
            .to_owned(),
    );
    for note in &calibration.notes {
        let (start, end) = (style::NOTE.render(), style::NOTE.render_reset());
        parts.push(format!("{start}note{end} {}", printable(note)));
    }
    parts.join("\n\n") + "\n"
}

fn head(calibration: &Calibration, out: &Path) -> String {
    let (settings, range) = (&calibration.settings, &calibration.range);
    let method = match settings.method {
        Method::Percentile => format!("percentile {}", settings.percentile),
        method => method.name().to_owned(),
    };
    let strategy = match calibration.strategy {
        Strategy::Tensor => "one scale for all heads of a layer",
        Strategy::AttnHead => "one scale for each head",
    };
    let flavor = range.fp8_dtype_flavor.map_or("no flavor", |flavor| flavor.name());
    let (bold, plain) = (style::HEADING.render(), style::HEADING.render_reset());
    format!(
        "{bold}{}{plain}\n\
         device    {}\n\
         range     {} ({flavor}): {}\n\
         method    {method}, margin {}, {strategy}",
        printable(&out.display().to_string()),
        calibration.device,
        range.fp8_max_quant,
        range.reason,
        settings.margin,
    )
}

fn choices_table(calibration: &Calibration) -> String {
    let mut table = Table::new();
    table.set_header(["layer", "tensor", "amax", "", "choice", "scale", "saturated", "to zero", "error"]);
    for layer in &calibration.layers {
        for scale in &layer.scales {
            let mut labels = [layer.layer.to_string(), tensor(layer, scale), significant(scale.amax, DIGITS)];
            for method in Method::ALL {
                let Some(choice) = scale.choices.of(method) else { continue };
                let mark = if method == calibration.settings.method { "*" } else { "" };
                let mut row: Vec<String> = labels.iter_mut().map(std::mem::take).collect();
                row.extend([mark.to_owned(), method.name().to_owned(), significant(choice.scale, DIGITS)]);
                row.extend(cells(choice, scale));
                table.add_row(row);
            }
        }
    }
    for column in [0, 2, 5, 6, 7, 8] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table::rows(table)
}

/// What a scale is for: `k`, `v 3`, or both parts of a latent.
fn tensor(layer: &LayerCalibration, scale: &ScaleCalibration) -> String {
    match (layer.attention, scale.head) {
        (gaudi_kv::checkpoint::Attention::Mla, _) => "latent".to_owned(),
        (_, Some(head)) => format!("{} {head}", scale.role),
        (_, None) => scale.role.to_owned(),
    }
}

/// Saturated, to zero and error; unknown where only the amax is.
fn cells(choice: &Choice, scale: &ScaleCalibration) -> [String; 3] {
    match (&choice.loss, scale.elements) {
        (Some(Loss { saturated, flushed_to_zero, rel_l2_error }), Some(elements)) => {
            let share = |count: u64| percent(count as f64 / elements.max(1) as f64);
            [share(*saturated), share(*flushed_to_zero), percent(*rel_l2_error)]
        }
        _ => ["-", "-", "-"].map(str::to_owned),
    }
}

fn percent(share: f64) -> String {
    format!("{:.3}", share * 100.0)
}
