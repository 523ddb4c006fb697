//! The marks of plots: shapes that stay apart without colour, lines, ranges.

use maud::{Markup, html};

use super::axes::px;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Diamond,
    Triangle,
}

/// A shape around a point. Whether it is filled is the style's business.
pub(super) fn shape(shape: Shape, x: f64, y: f64, radius: f64) -> Markup {
    let r = radius;
    let corners: Vec<(f64, f64)> = match shape {
        Shape::Circle => return html! { circle cx=(px(x)) cy=(px(y)) r=(px(r)) {} },
        Shape::Square => {
            let r = r * 0.88;
            vec![(-r, -r), (r, -r), (r, r), (-r, r)]
        }
        Shape::Diamond => {
            let r = r * 1.25;
            vec![(0.0, -r), (r, 0.0), (0.0, r), (-r, 0.0)]
        }
        Shape::Triangle => {
            let r = r * 1.2;
            vec![(0.0, -r), (r, r * 0.8), (-r, r * 0.8)]
        }
    };
    let points: Vec<String> =
        corners.iter().map(|(dx, dy)| format!("{},{}", px(x + dx), px(y + dy))).collect();
    html! { polygon points=(points.join(" ")) {} }
}

/// A range with short caps.
pub(super) fn range(x: f64, top: f64, bottom: f64, cap: f64) -> Markup {
    let (left, right) = (px(x - cap), px(x + cap));
    let (x, top, bottom) = (px(x), px(top), px(bottom));
    html! { path class="range" d={ "M" (left) " " (top) "H" (right) "M" (x) " " (top) "V" (bottom) "M" (left) " " (bottom) "H" (right) } {} }
}

/// A line through points, broken where one is missing.
pub(super) fn line(class: &str, points: &[Option<(f64, f64)>]) -> Markup {
    let mut path = String::new();
    let mut is_down = false;
    for point in points {
        if let Some((x, y)) = point {
            path.push_str(&format!("{}{} {}", if is_down { "L" } else { "M" }, px(*x), px(*y)));
        }
        is_down = point.is_some();
    }
    html! { path class={ "line " (class) } d=(path) {} }
}
