//! The errors over the layers: a panel for the decode and one for the prefill, on one logarithmic axis.

use gaudi_kv::check::{Check, Distance, LayerCheck, Variant};
use maud::{Markup, html};

use super::axes::{LayerAxis, LogAxis, grid, layer_labels, px};
use super::check::{number, words};
use super::marks::{Shape, line, shape};
use super::page::scrolling;

const LEFT: f64 = 62.0;
const RIGHT: f64 = 16.0;
const PANEL_HEIGHT: f64 = 190.0;
const NAME_HEIGHT: f64 = 34.0;
const LABELS_HEIGHT: f64 = 40.0;
const LEAST_WIDTH: f64 = 420.0;
const MOST_WIDTH: f64 = 960.0;
const LAYER_WIDTH: f64 = 18.0;

/// What a panel shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Decode,
    Prefill,
}

impl Stage {
    const ALL: [Self; 2] = [Self::Decode, Self::Prefill];

    const fn words(self) -> &'static str {
        match self {
            Self::Decode => "decode: every token through the cache",
            Self::Prefill => "prefill: all tokens at once",
        }
    }

    fn errors(self, layer: &LayerCheck, variant: Variant) -> &Distance {
        match self {
            Self::Decode => layer.decode.get(variant),
            Self::Prefill => layer.prefill.get(variant),
        }
    }

    /// The relative error, where it can be drawn on a logarithmic axis.
    fn value(self, layer: &LayerCheck, variant: Variant) -> Option<f32> {
        let error = self.errors(layer, variant).rel_l2_error as f32;
        (error.is_finite() && error > 0.0).then_some(error)
    }
}

const fn shape_of(variant: Variant) -> Shape {
    match variant {
        Variant::Scales => Shape::Circle,
        Variant::ScaleOne => Shape::Square,
        Variant::AdjustmentMissing => Shape::Diamond,
        Variant::AdjustmentTwice => Shape::Triangle,
    }
}

/// The figure, or a sentence where there is nothing to draw.
pub(super) fn figure(check: &Check) -> Markup {
    let values = Stage::ALL.into_iter().flat_map(|stage| {
        let of_layer = move |layer| Variant::ALL.into_iter().filter_map(move |v| stage.value(layer, v));
        check.layers.iter().flat_map(of_layer)
    });
    let (Some(axis), Some(first), Some(last)) =
        (LogAxis::covering(values, PANEL_HEIGHT), check.layers.first(), check.layers.last())
    else {
        return html! { p class="empty" { "There is no error to plot." } };
    };
    let count = (last.layer - first.layer + 1) as f64;
    let width = (LEFT + count * LAYER_WIDTH + RIGHT).clamp(LEAST_WIDTH, MOST_WIDTH);
    let across = LayerAxis::new(first.layer, last.layer, width - LEFT - RIGHT);
    let panel_height = NAME_HEIGHT + PANEL_HEIGHT;
    let height = Stage::ALL.len() as f64 * panel_height + LABELS_HEIGHT;
    let plot = html! {
        svg role="img" aria-labelledby="errors-title errors-desc" width=(px(width)) height=(px(height))
            viewBox={ "0 0 " (px(width)) " " (px(height)) } {
            title id="errors-title" { "Relative error over the layers" }
            desc id="errors-desc" {
                "Relative error of attention against float64 over " (check.layers.len())
                " layers, for four ways to scale. The table below has all numbers."
            }
            @for (number, stage) in Stage::ALL.into_iter().enumerate() {
                g class="panel" transform={ "translate(" (px(LEFT)) " " (px(number as f64 * panel_height + NAME_HEIGHT)) ")" } {
                    text class="panel-name" x="0" y="-8" { (stage.words()) }
                    (grid(&axis, &across))
                    (panel(stage, check, &axis, &across))
                }
            }
            g transform={ "translate(" (px(LEFT)) " " (px(Stage::ALL.len() as f64 * panel_height)) ")" } {
                (layer_labels(&across, 0.0))
            }
        }
    };
    html! {
        figure {
            (legend())
            (scrolling("Plot of the errors", &plot))
            figcaption {
                "Logarithmic, the same axis in both panels. Point at a mark for its numbers. Marks that lie on each other are \
                 equal: scales change nothing in a prefill, and there is nothing to leave out or apply twice where scales \
                 are not adjusted."
            }
        }
    }
}

/// The scales as inspected are drawn last, on top.
fn panel(stage: Stage, check: &Check, axis: &LogAxis, across: &LayerAxis) -> Markup {
    let radius = (across.pitch() * 0.26).clamp(1.8, 4.5);
    let place = |layer: &LayerCheck, variant| {
        stage.value(layer, variant).map(|value| (across.at(layer.layer), axis.at(value)))
    };
    html! {
        @for variant in Variant::ALL.into_iter().rev() {
            g class={ "variant " (variant.name()) } {
                (line("dequant", &check.layers.iter().map(|layer| place(layer, variant)).collect::<Vec<_>>()))
                @for layer in &check.layers {
                    @if let Some((x, y)) = place(layer, variant) {
                        g class="point dequant" {
                            title { (tooltip(stage, layer, variant)) }
                            (shape(shape_of(variant), x, y, radius))
                        }
                    }
                }
            }
        }
    }
}

fn tooltip(stage: Stage, layer: &LayerCheck, variant: Variant) -> String {
    let errors = stage.errors(layer, variant);
    let name = if stage == Stage::Decode { "decode" } else { "prefill" };
    format!(
        "layer {}, {name}, {}: relative L2 error {}, largest error {}, cosine {:.6}",
        layer.layer,
        words(variant),
        number(errors.rel_l2_error),
        number(errors.max_abs_error),
        errors.cosine
    )
}

fn legend() -> Markup {
    html! {
        ul class="legend" {
            @for variant in Variant::ALL {
                li {
                    svg class="sample" width="34" height="18" viewBox="0 0 34 18" aria-hidden="true" {
                        g class={ "panel variant " (variant.name()) } {
                            (line("dequant", &[Some((1.0, 9.0)), Some((33.0, 9.0))]))
                            g class="dequant" { (shape(shape_of(variant), 17.0, 9.0, 4.2)) }
                        }
                    }
                    (match variant {
                        Variant::Scales => "the scales as inspected",
                        Variant::ScaleOne => "1.0 for every scale",
                        Variant::AdjustmentMissing => "adjustment left out",
                        Variant::AdjustmentTwice => "adjustment applied twice",
                    })
                }
            }
        }
    }
}
