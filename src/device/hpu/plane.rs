//! The memory of a plane on a Gaudi.

use super::synapse::DeviceMemory;
use crate::device::PlaneLayout;

/// A plane's elements, `[blocks, block_size_tokens, heads, dim]`, and one token of zeros behind them, which is
/// never written: what keys that are not there are gathered from.
#[derive(Debug)]
pub struct HpuPlane {
    pub(super) memory: DeviceMemory,
}

/// The bytes of a plane on the device.
pub(super) const fn plane_bytes(layout: &PlaneLayout) -> usize {
    (layout.slots() + 1) * layout.row() * layout.dtype.bytes()
}
