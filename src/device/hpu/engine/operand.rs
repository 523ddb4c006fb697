//! Operands of a launch, and numbers as the device takes them.

use half::bf16;

use crate::device::hpu::synapse::DeviceMemory;

/// An operand of a launch.
pub(crate) enum Operand<'a> {
    /// Bytes of the host.
    Bytes(Vec<u8>),
    /// Memory of the device.
    Memory(&'a DeviceMemory),
}

/// An operand with the name that its recipe gives it.
pub(crate) type NamedOperand<'a> = (&'static str, Operand<'a>);

/// Float32 numbers as the device takes them.
pub(crate) fn f32_bytes(values: impl IntoIterator<Item = f32>) -> Operand<'static> {
    Operand::Bytes(values.into_iter().flat_map(f32::to_le_bytes).collect())
}

/// Bfloat16 numbers as the device takes them.
pub(crate) fn bf16_bytes(values: impl IntoIterator<Item = bf16>) -> Operand<'static> {
    Operand::Bytes(values.into_iter().flat_map(bf16::to_le_bytes).collect())
}

/// Indices, whose range has been checked, as the 32-bit integers that the device takes.
pub(crate) fn index_bytes(values: impl IntoIterator<Item = usize>) -> Operand<'static> {
    Operand::Bytes(values.into_iter().flat_map(|value| (value as i32).to_le_bytes()).collect())
}
