//! The axes of plots over layers.

use maud::{Markup, html};

/// A tick: where, what it says, and whether it is a whole decade.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: Option<String>,
    pub(super) is_decade: bool,
}

/// A logarithmic axis from bottom to top.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogAxis {
    /// log10 of the ends.
    low: f64,
    high: f64,
    height: f64,
}

/// Mantissas that an axis may end at.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];
/// Room between the outermost value and the end of the axis, in decades.
const MARGIN: f64 = 0.04;

impl LogAxis {
    /// An axis that reaches from one of 1, 2, 5 times a power of ten below the least value to one above the largest.
    /// Values are positive; without any there is no axis.
    pub(super) fn covering(values: impl Iterator<Item = f32>, height: f64) -> Option<Self> {
        let logs = values.map(|value| f64::from(value).log10());
        let (least, most) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        (least <= most).then(|| Self {
            low: step_below(least - MARGIN),
            high: step_above(most + MARGIN),
            height,
        })
    }

    /// Distance from the top.
    pub(super) fn at(&self, value: f32) -> f64 {
        self.at_log(f64::from(value).log10())
    }

    fn at_log(&self, log: f64) -> f64 {
        self.height * (self.high - log) / (self.high - self.low)
    }

    /// Decades, and 2 and 5 between them where there is room. Labels keep their distance.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        /// Decades that fit with every step labelled, and with every step drawn.
        const ALL_LABELLED: f64 = 2.8;
        const ALL_DRAWN: f64 = 5.0;
        const MOST_LABELS: f64 = 8.0;
        let span = self.high - self.low;
        let every = (span / MOST_LABELS).ceil().max(1.0) as i32;
        let mut ticks = Vec::new();
        for exponent in self.low.floor() as i32..=self.high.ceil() as i32 {
            for step in STEPS {
                let log = f64::from(exponent) + step.log10();
                let is_decade = step == 1.0;
                let is_inside = (self.low - 1e-9..=self.high + 1e-9).contains(&log);
                if !is_inside || !(is_decade || span <= ALL_DRAWN) {
                    continue;
                }
                let is_labelled =
                    if is_decade { exponent.rem_euclid(every) == 0 } else { span <= ALL_LABELLED };
                let label = is_labelled.then(|| decimal(step as u8, exponent));
                ticks.push(Tick { at: self.at_log(log), label, is_decade });
            }
        }
        ticks
    }
}

fn step_below(log: f64) -> f64 {
    let floor = log.floor();
    STEPS.iter().map(|step| floor + step.log10()).filter(|step| *step <= log).fold(floor, f64::max)
}

fn step_above(log: f64) -> f64 {
    let floor = log.floor();
    STEPS.iter().map(|step| floor + step.log10()).filter(|step| *step >= log).fold(floor + 1.0, f64::min)
}

/// `0.002` near one, `2×10⁻⁷` far from it.
fn decimal(step: u8, exponent: i32) -> String {
    match exponent {
        -5..0 => format!("0.{}{step}", "0".repeat(exponent.unsigned_abs() as usize - 1)),
        0..5 => format!("{step}{}", "0".repeat(exponent.unsigned_abs() as usize)),
        _ => {
            const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
            let factor = if step == 1 { String::new() } else { format!("{step}×") };
            let sign = if exponent < 0 { "⁻" } else { "" };
            let digits = exponent.unsigned_abs().to_string();
            let raised: String = digits.bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect();
            format!("{factor}10{sign}{raised}")
        }
    }
}

/// An axis of layer numbers from left to right.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerAxis {
    first: usize,
    last: usize,
    width: f64,
}

impl LayerAxis {
    pub(super) fn new(first: usize, last: usize, width: f64) -> Self {
        Self { first, last: last.max(first), width }
    }

    /// The last layer.
    pub(super) fn last(&self) -> usize {
        self.last
    }

    /// The room of one layer.
    pub(super) fn pitch(&self) -> f64 {
        self.width / (self.last - self.first + 1) as f64
    }

    /// Distance from the left to the middle of a layer.
    pub(super) fn at(&self, layer: usize) -> f64 {
        self.pitch() * (layer as f64 - self.first as f64 + 0.5)
    }

    /// Round layer numbers, as close as labels allow.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        const LABEL_WIDTH: f64 = 26.0;
        let every = [1, 2, 5, 10, 20, 50, 100, 200, 500]
            .into_iter()
            .find(|every| *every as f64 * self.pitch() >= LABEL_WIDTH)
            .unwrap_or(1000);
        (self.first..=self.last)
            .filter(|layer| layer % every == 0)
            .map(|layer| Tick { at: self.at(layer), label: Some(layer.to_string()), is_decade: true })
            .collect()
    }
}

/// A panel's grid, with the labels of the vertical axis to its left.
pub(super) fn grid(axis: &LogAxis, layers: &LayerAxis) -> Markup {
    let (width, height) = (px(layers.width), px(axis.height));
    html! {
        g class="grid" aria-hidden="true" {
            @for tick in axis.ticks() {
                line class=[tick.is_decade.then_some("decade")] x1="0" x2=(width) y1=(px(tick.at)) y2=(px(tick.at)) {}
                @if let Some(label) = tick.label {
                    text class="y" x="-8" y=(px(tick.at)) { (label) }
                }
            }
            @for tick in layers.ticks() {
                line class="layer" x1=(px(tick.at)) x2=(px(tick.at)) y1="0" y2=(height) {}
            }
            rect class="frame" width=(width) height=(height) {}
        }
    }
}

/// The labels of the horizontal axis, below `top`.
pub(super) fn layer_labels(layers: &LayerAxis, top: f64) -> Markup {
    html! {
        g class="grid" aria-hidden="true" {
            @for tick in layers.ticks() {
                @if let Some(label) = tick.label {
                    text class="x" x=(px(tick.at)) y=(px(top + 14.0)) { (label) }
                }
            }
            text class="x name" x=(px(layers.width / 2.0)) y=(px(top + 32.0)) { "layer" }
        }
    }
}

/// A coordinate, to a tenth of a pixel.
pub(super) fn px(x: f64) -> String {
    format!("{x:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(least: f32, most: f32) -> Vec<String> {
        let axis = LogAxis::covering([least, most].into_iter(), 100.0).unwrap();
        axis.ticks().into_iter().filter_map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_and_cover_the_values() {
        assert_eq!(labels(0.0023, 0.018), ["0.002", "0.005", "0.01", "0.02"]);
        assert_eq!(labels(0.5, 0.5), ["0.2", "0.5", "1"]);
        assert_eq!(labels(0.003, 1.0), ["0.01", "0.1", "1"]);
        assert_eq!(labels(3e-8, 2e-7), ["2×10⁻⁸", "5×10⁻⁸", "10⁻⁷", "2×10⁻⁷", "5×10⁻⁷"]);
        assert!(labels(1e-38, 1e38).len() <= 9);
        assert!(LogAxis::covering(std::iter::empty(), 100.0).is_none());
    }

    #[test]
    fn values_lie_inside_and_large_is_up() {
        let axis = LogAxis::covering([0.0023, 0.018].into_iter(), 100.0).unwrap();
        assert!(0.0 < axis.at(0.018) && axis.at(0.018) < axis.at(0.0023) && axis.at(0.0023) < 100.0);
    }

    #[test]
    fn layer_labels_do_not_touch() {
        for layers in [1, 3, 61, 126, 2000] {
            let ticks = LayerAxis::new(0, layers - 1, 900.0).ticks();
            assert!(ticks.windows(2).all(|pair| pair[1].at - pair[0].at >= 26.0), "{layers}");
            assert!(!ticks.is_empty());
        }
    }
}
