//! The two multipliers of a scale: into FP8 and out of it.

use crate::HeadScales;

/// The two float32 multipliers that a scale is applied with, for all heads or for each; `ScaleFactors<f32>` has those of
/// one head.
///
/// ```
/// use gaudi_numerics::{HeadScales, ScaleFactors};
///
/// let per_head = ScaleFactors {
///     quant: HeadScales::PerHead(vec![4.0, 8.0]),
///     dequant: HeadScales::PerHead(vec![0.25, 0.125]),
/// };
/// assert_eq!(per_head.of(1), ScaleFactors { quant: 8.0, dequant: 0.125 });
/// assert_eq!(per_head.of(1), ScaleFactors::from_quant(8.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaleFactors<S = HeadScales> {
    /// Multiplies values on the way into FP8.
    pub quant: S,
    /// Multiplies codes, or the products of codes, on the way out.
    pub dequant: S,
}

impl ScaleFactors<f32> {
    /// A multiplier into FP8, and its reciprocal, rounded to float32, out of it.
    #[must_use]
    pub const fn from_quant(quant: f32) -> Self {
        Self { quant, dequant: 1.0 / quant }
    }
}

impl ScaleFactors {
    /// Factors of 1.0 both ways: those of a tensor that is not FP8, or that has no scale.
    pub const ONE: Self = Self::new(1.0, 1.0);

    /// One multiplier each way, for all heads.
    #[must_use]
    pub const fn new(quant: f32, dequant: f32) -> Self {
        Self { quant: HeadScales::One(quant), dequant: HeadScales::One(dequant) }
    }

    /// The factors of each number of a scale, for all heads or for each as the scale has it. `factors` gets a number and
    /// its head, which is 0 where one number serves all.
    ///
    /// # Errors
    /// The first one that `factors` returns.
    pub fn try_from_scale<E>(
        scale: &HeadScales,
        mut factors: impl FnMut(usize, f32) -> Result<ScaleFactors<f32>, E>,
    ) -> Result<Self, E> {
        match scale {
            HeadScales::One(scale) => factors(0, *scale).map(|one| Self::new(one.quant, one.dequant)),
            HeadScales::PerHead(scales) => {
                let pairs = scales.iter().enumerate().map(|(head, scale)| factors(head, *scale));
                let (quant, dequant) = pairs
                    .map(|pair| pair.map(|ScaleFactors { quant, dequant }| (quant, dequant)))
                    .collect::<Result<(Vec<f32>, Vec<f32>), E>>()?;
                Ok(Self { quant: HeadScales::PerHead(quant), dequant: HeadScales::PerHead(dequant) })
            }
        }
    }

    /// The factors of one head; NaN where the head has none.
    #[must_use]
    pub fn of(&self, head: usize) -> ScaleFactors<f32> {
        ScaleFactors { quant: self.quant.of(head), dequant: self.dequant.of(head) }
    }
}
