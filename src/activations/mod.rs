//! Captured activations of a model's layers, and the shapes that they must have.
//!
//! [`check`](mod@crate::check) computes attention from them, [`calibrate`](mod@crate::calibrate) measures them.

mod error;
mod file;
mod layer;
mod operand;
mod shape;
mod tensor;

pub use error::ActivationError;
pub(crate) use file::{ActivationFile, layer_of};
pub(crate) use layer::{Activations, take_heads};
pub(crate) use operand::Operand;
pub(crate) use shape::{Heads, LayerShape};
pub(crate) use tensor::{check_finite, is_float, read_bf16, stream_bf16};
