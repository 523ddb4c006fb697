//! Building: graphs as data, and the graphs of each family of recipes.

pub(super) mod attention;
pub(super) mod copy;
mod dtype;
mod node;
mod params;
pub(super) mod project;
pub(super) mod read;
mod scale_shape;
mod spec;
mod tensor;
pub(super) mod write;

pub(super) use dtype::{Dtype, Fp8View};
pub(super) use node::NodeSpec;
pub(super) use params::Params;
pub(super) use scale_shape::ScaleShape;
pub(super) use spec::GraphSpec;
pub(super) use tensor::{TensorId, TensorRole, TensorSpec};
