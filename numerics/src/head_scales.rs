//! One number of a scale for all heads, or one for each.

/// One number of a scale for all heads, or one for each head: a checkpoint's scale, or one of its [`ScaleFactors`].
///
/// [`ScaleFactors`]: crate::ScaleFactors
#[derive(Debug, Clone, PartialEq)]
pub enum HeadScales {
    /// One for all heads.
    One(f32),
    /// One for each head, in the order of the heads.
    PerHead(Vec<f32>),
}

impl HeadScales {
    /// The number of a head. One that is not listed is NaN, which no conversion takes: nothing stands in for it.
    #[must_use]
    pub fn of(&self, head: usize) -> f32 {
        match self {
            Self::One(scale) => *scale,
            Self::PerHead(scales) => scales.get(head).copied().unwrap_or(f32::NAN),
        }
    }

    /// All numbers as a slice: a single one, or as many as there are heads.
    #[must_use]
    pub const fn as_slice(&self) -> &[f32] {
        match self {
            Self::One(scale) => std::slice::from_ref(scale),
            Self::PerHead(scales) => scales.as_slice(),
        }
    }

    /// All numbers as a slice to change.
    pub const fn as_mut_slice(&mut self) -> &mut [f32] {
        match self {
            Self::One(scale) => std::slice::from_mut(scale),
            Self::PerHead(scales) => scales.as_mut_slice(),
        }
    }

    /// Whether each head has a number of its own.
    #[must_use]
    pub const fn is_per_head(&self) -> bool {
        matches!(self, Self::PerHead(_))
    }
}
