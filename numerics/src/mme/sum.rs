//! How products are summed.

use super::rules::Rules;

/// The way of summing products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sum {
    /// Sums as the device does. `checked` is whether groups of small products have to be looked for.
    Exact { rules: Rules, checked: bool },
    /// Sums in float32, one product after the other.
    Float,
}
