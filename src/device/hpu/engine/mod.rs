//! Running: recipes are launched, and bytes are moved between the host and a device.

mod buffers;
mod confirmed_stream;
mod launch;
mod operand;

pub(super) use confirmed_stream::SENTINELS;
pub(super) use launch::Engine;
pub(super) use operand::{NamedOperand, Operand, bf16_bytes, f32_bytes, index_bytes};
