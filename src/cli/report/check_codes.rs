//! How often each FP8 code is stored: a panel for each part of the caches, all layers together.

use gaudi_kv::check::{Check, CodeCounts};
use gaudi_kv::fp8::Format;
use gaudi_kv::scales::Inspection;
use maud::{Markup, html};

use super::axes::px;
use super::page::scrolling;
use crate::cli::display::significant;

const LEFT: f64 = 62.0;
const RIGHT: f64 = 16.0;
const BAR: f64 = 6.0;
const PANEL_HEIGHT: f64 = 120.0;
const NAME_HEIGHT: f64 = 34.0;
const LABELS_HEIGHT: f64 = 40.0;
/// Codes that share an exponent.
const OCTAVE: usize = 8;

/// One part, summed over the layers.
struct Part {
    name: &'static str,
    counts: CodeCounts,
    elements: u64,
    saturated: u64,
    flushed_to_zero: u64,
}

/// The figure, or a sentence where no cache is FP8.
pub(super) fn figure(inspection: &Inspection, check: &Check) -> Markup {
    let parts = sums(check);
    if parts.is_empty() {
        return html! { p class="empty" { "No cache that was run is FP8, so there are no codes." } };
    }
    let format = Format::kv_cache(inspection.device);
    let bars = usize::from(format.max_code()) + 1;
    let width = LEFT + bars as f64 * BAR + RIGHT;
    let panel_height = NAME_HEIGHT + PANEL_HEIGHT;
    let height = parts.len() as f64 * panel_height + LABELS_HEIGHT;
    let plot = html! {
        svg role="img" aria-labelledby="codes-title codes-desc" width=(px(width)) height=(px(height))
            viewBox={ "0 0 " (px(width)) " " (px(height)) } {
            title id="codes-title" { "Stored codes" }
            desc id="codes-desc" {
                "Share of the elements by the magnitude of their FP8 code."
                @for part in &parts {
                    " " (part.name) ": " (part.elements) " elements, " (part.saturated) " saturated, "
                    (part.flushed_to_zero) " stored as zero that are not zero."
                }
            }
            @for (number, part) in parts.iter().enumerate() {
                g class="panel codes" transform={ "translate(" (px(LEFT)) " " (px(number as f64 * panel_height + NAME_HEIGHT)) ")" } {
                    text class="panel-name" x="0" y="-8" { (panel_name(part.name)) }
                    (panel(part, format, bars))
                }
            }
            g class="grid" aria-hidden="true" transform={ "translate(" (px(LEFT)) " " (px(parts.len() as f64 * panel_height)) ")" } {
                @for code in (0..bars).step_by(OCTAVE) {
                    text class="x" x=(px((code as f64 + 0.5) * BAR)) y="14" { (significant(value(format, code), 2)) }
                }
                text class="x name" x=(px(bars as f64 * BAR / 2.0)) y="32" { "magnitude of the code, before dequantization" }
            }
        }
    };
    html! {
        figure {
            (scrolling("Histogram of the codes", &plot))
            figcaption {
                "All layers together, with the scales as inspected; a bar for each code. Codes lie eight to an octave. The last \
                 one, marked, takes what saturates; the first is zero. Point at a bar for its numbers."
            }
        }
    }
}

/// The parts of FP8 caches, summed over the layers.
fn sums(check: &Check) -> Vec<Part> {
    let mut sums: Vec<Part> = Vec::new();
    for part in check.layers.iter().flat_map(|layer| &layer.cache.parts) {
        let Some(codes) = &part.codes else { continue };
        let at = sums.iter().position(|sum| sum.name == part.name).unwrap_or_else(|| {
            let (elements, saturated, flushed_to_zero) = (0, 0, 0);
            sums.push(Part { name: part.name, counts: [0; 128], elements, saturated, flushed_to_zero });
            sums.len() - 1
        });
        let sum = &mut sums[at];
        sum.counts.iter_mut().zip(codes.iter()).for_each(|(sum, count)| *sum += count);
        sum.elements += part.elements;
        sum.saturated += part.saturated;
        sum.flushed_to_zero += part.flushed_to_zero;
    }
    sums
}

fn panel_name(name: &str) -> &'static str {
    match name {
        "k" => "k: keys",
        "v" => "v: values",
        "kv_c" => "kv_c: latents without their rope part",
        _ => "k_pe: the rope part of the latents",
    }
}

fn value(format: Format, code: usize) -> f32 {
    f32::from_bits(format.decode_bits(code as u8))
}

fn panel(part: &Part, format: Format, bars: usize) -> Markup {
    let most = part.counts.iter().copied().max().unwrap_or(0).max(1);
    let share = |count: u64| 100.0 * count as f64 / part.elements.max(1) as f64;
    let width = px(bars as f64 * BAR);
    html! {
        g class="grid" aria-hidden="true" {
            text class="y" x="-8" y="0" { (significant(share(most) as f32, 2)) "%" }
            text class="y" x="-8" y=(px(PANEL_HEIGHT)) { "0" }
            @for code in (0..bars).step_by(OCTAVE) {
                @let x = px(code as f64 * BAR);
                line x1=(x) x2=(x) y1="0" y2=(px(PANEL_HEIGHT)) {}
            }
            rect class="frame" width=(width) height=(px(PANEL_HEIGHT)) {}
        }
        @for (code, count) in part.counts.iter().enumerate().take(bars).filter(|(_, count)| **count > 0) {
            @let height = (PANEL_HEIGHT * *count as f64 / most as f64).max(1.0);
            g class="bar" {
                title { (tooltip(part, format, code, *count)) }
                rect class=[(code + 1 == bars).then_some("largest")] x=(px(code as f64 * BAR + 0.5))
                    y=(px(PANEL_HEIGHT - height)) width=(px(BAR - 1.0)) height=(px(height)) {}
            }
        }
    }
}

fn tooltip(part: &Part, format: Format, code: usize, count: u64) -> String {
    let share = significant((100.0 * count as f64 / part.elements.max(1) as f64) as f32, 3);
    let own = format!("code 0x{code:02X} ({}): {count} elements, {share}%", value(format, code));
    if code == 0 {
        format!("{own}; {} of them are not zero", part.flushed_to_zero)
    } else if code == usize::from(format.max_code()) {
        format!("{own}; {} of them saturated", part.saturated)
    } else {
        own
    }
}
