//! The scales over the layers: a panel for each of k, v, q and prob, on one logarithmic axis.

use gaudi_kv::HeadScales;
use gaudi_kv::scales::{CacheDtype, Inspection, LayerReport, LayerScale, Origin};
use maud::{Markup, html};

use super::axes::{LayerAxis, LogAxis, grid, layer_labels, px};
use super::legend::{Letter, legend, letter_of};
use super::marks::{Shape, line, range as range_mark, shape};
use super::page::scrolling;
use crate::cli::display::{layer_kind, origin, printable, range, scales, significant};

const LEFT: f64 = 62.0;
const RIGHT: f64 = 16.0;
const PANEL_HEIGHT: f64 = 165.0;
/// Above a panel, for its name; below it, for the letters of origins; below the last, for layer numbers.
const NAME_HEIGHT: f64 = 26.0;
const LETTERS_HEIGHT: f64 = 18.0;
const LABELS_HEIGHT: f64 = 40.0;
/// The plot is as wide as its layers need, within these.
const LEAST_WIDTH: f64 = 360.0;
const MOST_WIDTH: f64 = 960.0;
const LAYER_WIDTH: f64 = 15.0;

/// A scale in a panel of its own.
struct Series<'a> {
    name: &'static str,
    layers: Vec<(&'a LayerReport, Option<&'a LayerScale>)>,
}

/// The two values of a scale that are drawn.
const KINDS: [&str; 2] = ["checkpoint", "dequant"];

fn value<'a>(scale: &'a LayerScale, kind: &str) -> Option<&'a HeadScales> {
    if kind == "dequant" { scale.dequant() } else { scale.checkpoint.as_ref() }
}

/// The figure, or a sentence where there is nothing to draw.
pub(super) fn figure(inspection: &Inspection) -> Markup {
    let all: Vec<Series<'_>> =
        ["k", "v", "q", "prob"].into_iter().map(|name| series(inspection, name)).collect();
    let (drawn, others): (Vec<&Series<'_>>, Vec<&Series<'_>>) =
        all.iter().partition(|series| series.is_drawn());
    let values = drawn.iter().flat_map(|series| series.ranges()).flat_map(|(least, most)| [least, most]);
    let (Some(axis), Some(first), Some(last)) =
        (LogAxis::covering(values, PANEL_HEIGHT), inspection.layers.first(), inspection.layers.last())
    else {
        return nothing_to_draw(inspection);
    };
    let layers = (last.layer - first.layer + 1) as f64;
    let width = (LEFT + layers * LAYER_WIDTH + RIGHT).clamp(LEAST_WIDTH, MOST_WIDTH);
    let across = LayerAxis::new(first.layer, last.layer, width - LEFT - RIGHT);
    let panel_height = NAME_HEIGHT + PANEL_HEIGHT + LETTERS_HEIGHT;
    let height = drawn.len() as f64 * panel_height + LABELS_HEIGHT;
    let letters: Vec<&Letter> = drawn.iter().flat_map(|series| series.letters()).collect();
    let names: Vec<&str> = drawn.iter().map(|series| series.name).collect();
    let plot = html! {
        svg role="img" aria-labelledby="plot-title plot-desc" width=(px(width)) height=(px(height))
            viewBox={ "0 0 " (px(width)) " " (px(height)) } {
            title id="plot-title" { "KV scales over the layers" }
            desc id="plot-desc" { (description(&names, &drawn, inspection)) }
            @for (number, series) in drawn.iter().enumerate() {
                g class={ "panel " (series.name) }
                    transform={ "translate(" (px(LEFT)) " " (px(number as f64 * panel_height + NAME_HEIGHT)) ")" } {
                    text class="panel-name" x="0" y="-8" { (panel_name(series.name, inspection)) }
                    (grid(&axis, &across))
                    (panel(series, &axis, &across))
                }
            }
            g transform={ "translate(" (px(LEFT)) " " (px(drawn.len() as f64 * panel_height)) ")" } {
                (layer_labels(&across, 0.0))
            }
        }
    };
    html! {
        figure {
            (legend(&letters, drawn.iter().any(|series| series.has_per_head())))
            (scrolling("Plot of the scales", &plot))
            figcaption {
                "Logarithmic, the same axis in every panel. Point at a mark for its numbers."
                @for series in others {
                    @if let Some(why) = series.why_not_drawn() { " " strong { (series.name) } ": " (why) "." }
                }
            }
        }
    }
}

fn series<'a>(inspection: &'a Inspection, name: &'static str) -> Series<'a> {
    let named =
        |layer| scales(layer).into_iter().find(|(other, _)| *other == name).and_then(|(_, scale)| scale);
    Series { name, layers: inspection.layers.iter().map(|layer| (layer, named(layer))).collect() }
}

impl Series<'_> {
    /// `prob` is 1.0 by nature; it is worth a panel only where a checkpoint says otherwise.
    fn is_drawn(&self) -> bool {
        let is_default = |scale: &LayerScale| scale.origin == Origin::Defaulted;
        let is_plain_prob = self.name == "prob" && self.layers.iter().all(|(_, s)| s.is_none_or(is_default));
        !is_plain_prob && self.ranges().next().is_some()
    }

    fn ranges(&self) -> impl Iterator<Item = (f32, f32)> {
        let both = |scale| KINDS.into_iter().filter_map(move |kind| range(value(scale, kind)?));
        self.layers.iter().filter_map(|(_, scale)| *scale).flat_map(both)
    }

    fn letters(&self) -> impl Iterator<Item = &'static Letter> {
        self.layers.iter().filter_map(|(layer, scale)| letter_of(self.name, layer, *scale))
    }

    fn why_not_drawn(&self) -> Option<&'static str> {
        match self.layers.iter().find_map(|(_, scale)| *scale)?.origin {
            Origin::Dynamic => Some("dynamic in every layer, from each token as it comes"),
            _ => None,
        }
    }

    fn has_per_head(&self) -> bool {
        self.layers.iter().any(|(_, s)| s.and_then(|s| s.dequant()).is_some_and(HeadScales::is_per_head))
    }
}

fn nothing_to_draw(inspection: &Inspection) -> Markup {
    let why = if inspection.kv_cache_dtype == CacheDtype::Bf16 {
        "The cache is bf16, so no layer applies a scale: there is nothing to plot."
    } else {
        "No layer has a scale that could be plotted."
    };
    html! { p class="empty" { (why) } }
}

fn panel_name(name: &str, inspection: &Inspection) -> &'static str {
    match name {
        "k" if inspection.model.attention == "mla" => "k: the latent of keys and values",
        "k" => "k: keys",
        "v" => "v: values",
        "q" => "q: queries of the decode",
        _ => "prob: softmax probabilities",
    }
}

/// The figure in words, for those who do not see it.
fn description(names: &[&str], drawn: &[&Series<'_>], inspection: &Inspection) -> String {
    let spans: Vec<String> = drawn
        .iter()
        .filter_map(|series| {
            let (least, most) = series.ranges().reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))?;
            Some(format!("{} from {} to {}", series.name, significant(least, 3), significant(most, 3)))
        })
        .collect();
    format!(
        "Checkpoint scales and effective dequantization factors of {} over {} layers, {}. The table below has all numbers.",
        names.join(", "),
        inspection.layers.len(),
        spans.join("; ")
    )
}

fn shape_of(name: &str) -> Shape {
    match name {
        "k" => Shape::Circle,
        "v" => Shape::Square,
        "q" => Shape::Diamond,
        _ => Shape::Triangle,
    }
}

fn panel(series: &Series<'_>, axis: &LogAxis, across: &LayerAxis) -> Markup {
    let radius = (across.pitch() * 0.26).clamp(1.8, 4.5);
    // Ranges of the two kinds stand beside each other, single values on each other: hollow around filled.
    let shift = if series.has_per_head() { across.pitch().min(40.0) * 0.18 } else { 0.0 };
    let place = |layer: &LayerReport, kind: &str| {
        across.at(layer.layer) + if kind == "dequant" { shift } else { -shift }
    };
    let track = |kind: &str| -> Vec<Option<(f64, f64)>> {
        // A default says nothing about its neighbours, so no line leads to it.
        let point = |(layer, scale): &(&LayerReport, Option<&LayerScale>)| {
            let scale = scale.filter(|scale| scale.origin != Origin::Defaulted)?;
            Some((place(layer, kind), axis.at(middle(value(scale, kind)?)?)))
        };
        series.layers.iter().map(point).collect()
    };
    html! {
        @for (layer, scale) in &series.layers {
            @if scale.is_some_and(|scale| scale.origin == Origin::Defaulted) {
                rect class="defaulted" x=(px(across.at(layer.layer) - across.pitch() / 2.0))
                    width=(px(across.pitch())) height=(px(PANEL_HEIGHT)) {}
            }
        }
        @if let Some((layer, _)) = series.layers.iter().find(|(layer, _)| layer.draft) {
            @let left = px(across.at(layer.layer) - across.pitch() / 2.0);
            line class="draft" x1=(left) x2=(left) y1="-4" y2=(px(PANEL_HEIGHT)) {}
            text class="draft" x=(px(across.at(across.last()) + across.pitch() / 2.0)) y="-8" { "draft" }
        }
        @for kind in KINDS { (line(kind, &track(kind))) }
        @for kind in KINDS {
            @for (layer, scale) in &series.layers {
                @if let Some(scale) = scale {
                    (mark(series.name, layer, scale, kind, place(layer, kind), axis, radius))
                }
            }
        }
        @for (layer, scale) in &series.layers {
            @if let Some(letter) = letter_of(series.name, layer, *scale) {
                text class={ "letter " (letter.class) } x=(px(across.at(layer.layer))) y=(px(PANEL_HEIGHT + 13.0)) {
                    title { "layer " (layer.layer) ": " (letter.words) }
                    (letter.sign)
                }
            }
        }
    }
}

/// One value, or the range of a per-head scale with its median head marked.
fn mark(
    name: &str,
    layer: &LayerReport,
    scale: &LayerScale,
    kind: &str,
    x: f64,
    axis: &LogAxis,
    radius: f64,
) -> Markup {
    let Some(numbers) = value(scale, kind) else { return html! {} };
    let (Some((least, most)), Some(median)) = (range(numbers), middle(numbers)) else { return html! {} };
    let radius = if kind == "checkpoint" { radius + 1.2 } else { radius };
    html! {
        g class={ "point " (kind) } {
            title { (tooltip(name, layer, scale, kind, numbers)) }
            @if numbers.is_per_head() {
                (range_mark(x, axis.at(most), axis.at(least), radius * 0.8))
            }
            (shape(shape_of(name), x, axis.at(median), radius))
        }
    }
}

fn tooltip(name: &str, layer: &LayerReport, scale: &LayerScale, kind: &str, numbers: &HeadScales) -> String {
    let numbers: Vec<String> = numbers.as_slice().iter().map(ToString::to_string).collect();
    let heads = if numbers.len() > 1 { format!(" ({} heads)", numbers.len()) } else { String::new() };
    let tensor = scale.tensor.as_ref().map_or_else(String::new, |tensor| format!(", {}", printable(tensor)));
    format!(
        "layer {} ({}): {name} {kind} {}{heads}, {}{tensor}",
        layer.layer,
        layer_kind(layer),
        numbers.join(", "),
        origin(scale.origin)
    )
}

/// The median head: a value that some head has.
fn middle(numbers: &HeadScales) -> Option<f32> {
    let mut usable: Vec<f32> = numbers.as_slice().iter().copied().filter(|x| *x > 0.0).collect();
    usable.sort_by(f32::total_cmp);
    usable.get(usable.len() / 2).copied()
}
