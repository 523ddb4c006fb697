//! How severe a verdict is, and what can be wrong.

/// How severe the verdict is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Nothing is wrong.
    Fine,
    /// The cache is not FP8, so no scale was put to the test.
    NotFp8,
    /// No layer could be run.
    NotChecked,
    /// Something is wrong.
    Concern(Concern),
}

/// What can be wrong, most severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Concern {
    /// An output is NaN or infinite.
    NotFinite,
    /// Elements of the cache saturate.
    Saturates,
    /// One part of a latent saturates and the other does not: the one scale was calibrated on the other part.
    OnePartSaturates,
    /// Scale 1.0 would be better.
    ScalesHurt,
    /// The decode's error is large.
    Inaccurate,
}
