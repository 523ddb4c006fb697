//! Cache planes in the memory of a Gaudi.

use super::synapse::DeviceMemory;
use crate::device::{Plane, PlaneLayout};

/// A plane's elements, `[blocks, block_size_tokens, heads, dim]`, and one token of zeros behind them, which is
/// never written: what keys that are not there are gathered from.
#[derive(Debug)]
pub struct HpuPlane {
    pub(super) layout: PlaneLayout,
    pub(super) memory: DeviceMemory,
}

impl Plane for HpuPlane {
    fn layout(&self) -> &PlaneLayout {
        &self.layout
    }
}

/// The size of a plane on the device, its zeros included.
pub(super) const fn plane_bytes(layout: &PlaneLayout) -> usize {
    (layout.slots() + 1) * layout.row() * layout.dtype.bytes()
}
