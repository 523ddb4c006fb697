//! What exact and float accumulation share: planes, quantization, and threads.

pub(super) mod element_slice;
mod memory;
pub(super) mod operands;
pub(super) mod plane;
pub(super) mod quantize;
pub(super) mod sequence_rows;
pub(super) mod threads;
