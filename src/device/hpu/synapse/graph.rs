//! A graph that is being built.

#![allow(unsafe_code, reason = "calls into a C library")]

use std::ffi::CStr;
use std::rc::Rc;
use std::sync::Arc;

use habana_sys::{synDeviceType, synGraphAttribute, synGraphHandle};

use super::api::Api;
use super::recipe::Recipe;
use crate::device::hpu::error::CallFailure;

/// A graph for one type of device.
#[derive(Debug)]
pub(crate) struct Graph {
    api: Arc<Api>,
    handle: synGraphHandle,
}

impl Graph {
    /// An empty graph, which the compiler is told is for inference, or not.
    pub(crate) fn create(
        api: &Arc<Api>,
        device_type: synDeviceType,
        is_for_inference: bool,
    ) -> Result<Rc<Self>, CallFailure> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: `handle` is valid for a write.
        let status = unsafe { (api.functions().synGraphCreate)(&raw mut handle, device_type) };
        api.check("synGraphCreate", status, || format!("device type {}", device_type.0))?;
        let graph = Self { api: Arc::clone(api), handle };
        if is_for_inference {
            let (attribute, value) = (synGraphAttribute::GRAPH_ATTRIBUTE_INFERENCE, 1);
            // SAFETY: one attribute and one value are read, both of which live here.
            let status = unsafe {
                (api.functions().synGraphSetAttribute)(handle, &raw const attribute, &raw const value, 1)
            };
            api.check("synGraphSetAttribute", status, || "inference".to_owned())?;
        }
        Ok(Rc::new(graph))
    }

    pub(super) fn api(&self) -> &Arc<Api> {
        &self.api
    }

    pub(super) fn handle(&self) -> synGraphHandle {
        self.handle
    }

    /// Compiles the graph as it stands to a recipe.
    pub(crate) fn compile(&self, name: &CStr) -> Result<Recipe, CallFailure> {
        let mut recipe = std::ptr::null_mut();
        // SAFETY: `recipe` is valid for a write, the graph exists, the name lives until the call returns, and there is no
        // build log.
        let status = unsafe {
            (self.api.functions().synGraphCompile)(
                &raw mut recipe,
                self.handle,
                name.as_ptr(),
                std::ptr::null(),
            )
        };
        let shown = name.to_string_lossy();
        self.api.check("synGraphCompile", status, || format!("recipe {shown}"))?;
        Ok(Recipe::new(&self.api, recipe, &shown))
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: the graph was created by this value; its sections and tensors, which keep it alive, are gone.
        let status = unsafe { (self.api.functions().synGraphDestroy)(self.handle) };
        self.api.note(self.api.check("synGraphDestroy", status, String::new));
    }
}
