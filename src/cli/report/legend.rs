//! What the marks and the letters of the scale plot mean.

use gaudi_kv::checkpoint::Attention;
use gaudi_kv::scales::{CacheDtype, LayerReport, LayerScale, Origin};
use maud::{Markup, html};

use super::marks::{Shape, line, range, shape};

/// A letter below a layer whose scale is not simply loaded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Letter {
    pub(super) sign: &'static str,
    pub(super) class: &'static str,
    pub(super) words: &'static str,
}

const fn letter(sign: &'static str, class: &'static str, words: &'static str) -> Letter {
    Letter { sign, class, words }
}

const LETTERS: [Letter; 6] = [
    letter("1", "warn", "no scale, defaulted to 1.0"),
    letter("!", "error", "no usable scale, see the errors"),
    letter("c", "", "copied from the other of k and v (duplicated)"),
    letter("i", "", "inherited from the layer whose cache it reads"),
    letter("d", "", "dynamic, from each token as it comes"),
    letter("b", "", "the cache is bf16, without scales"),
];

/// The letter of a layer in the panel of one scale.
pub(super) fn letter_of(
    name: &str,
    layer: &LayerReport,
    scale: Option<&LayerScale>,
) -> Option<&'static Letter> {
    let is_one_latent = name == "v" && layer.attention == Attention::Mla;
    let sign = match (layer.kv_cache_dtype, scale.map(|scale| scale.origin)) {
        (CacheDtype::Bf16, _) => "b",
        (CacheDtype::Fp8, None) if is_one_latent => return None,
        (CacheDtype::Fp8, None) => "!",
        (CacheDtype::Fp8, Some(Origin::Loaded)) => return None,
        (CacheDtype::Fp8, Some(Origin::Defaulted)) => "1",
        (CacheDtype::Fp8, Some(Origin::Duplicated)) => "c",
        (CacheDtype::Fp8, Some(Origin::Inherited)) => "i",
        (CacheDtype::Fp8, Some(Origin::Dynamic)) => "d",
    };
    LETTERS.iter().find(|letter| letter.sign == sign)
}

/// What the marks mean; only those that occur.
///
/// `occurring` are the letters of the plot, `has_ranges` says whether some scale is per head.
pub(super) fn legend(occurring: &[&Letter], has_ranges: bool) -> Markup {
    let sample = |kind: &str, radius: f64, with_range: bool| {
        html! {
            svg class="sample" width="34" height="18" viewBox="0 0 34 18" aria-hidden="true" {
                g class="panel" {
                    (line(kind, &[Some((1.0, 9.0)), Some((33.0, 9.0))]))
                    g class=(kind) {
                        @if with_range { (range(17.0, 1.0, 17.0, 3.0)) }
                        (shape(Shape::Circle, 17.0, 9.0, radius))
                    }
                }
            }
        }
    };
    html! {
        ul class="legend" {
            li { (sample("checkpoint", 5.2, false)) "checkpoint: as stored (hollow, dashed)" }
            li { (sample("dequant", 4.0, false)) "dequant: as the device applies it (filled, solid)" }
            @if has_ranges {
                li { (sample("dequant", 3.0, true)) "bar: smallest to largest head; mark: median head" }
            }
            @for letter in LETTERS.iter().filter(|letter| occurring.contains(letter)) {
                li { span class={ "letter " (letter.class) } { (letter.sign) } (letter.words) }
            }
        }
    }
}
