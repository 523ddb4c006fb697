//! Columns of a panel on an instruction set.

use super::ops::ProductOps;
use crate::simd::Work;

/// Asks for the columns of a panel.
pub(super) struct PanelWidth;

impl<S: ProductOps> Work<S, usize> for PanelWidth {
    #[inline(always)]
    fn run(self, _: S) -> usize {
        4 * S::LANES
    }
}
