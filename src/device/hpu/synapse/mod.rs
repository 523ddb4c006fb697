//! Safe wrappers of the SynapseAI C API.
//!
//! A value here owns one object of the library and keeps alive what that object needs. What cannot be given back is noted
//! in the [`Api`], and the next call of the device reports it. Nothing here decides anything.

mod api;
mod census;
mod device;
mod event;
mod graph;
mod host_memory;
mod memory;
mod node;
mod recipe;
mod section;
mod stream;
mod tensor;

pub(super) use api::Api;
pub(super) use census::Census;
pub(super) use device::AcquiredDevice;
pub(super) use event::Event;
pub(super) use graph::Graph;
pub(super) use host_memory::HostMemory;
pub(super) use memory::DeviceMemory;
pub(super) use node::create_node;
pub(super) use recipe::{LaunchTensor, Recipe};
pub(super) use section::Section;
pub(super) use stream::Stream;
pub(super) use tensor::Tensor;
