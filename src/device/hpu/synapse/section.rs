//! A section of a graph: memory that a launch names.

#![allow(unsafe_code, reason = "calls into a C library")]

use std::rc::Rc;

use habana_sys::synSectionHandle;

use super::graph::Graph;
use crate::device::hpu::error::CallFailure;

/// A persistent section of a graph.
#[derive(Debug)]
pub(crate) struct Section {
    graph: Rc<Graph>,
    handle: synSectionHandle,
}

impl Section {
    pub(crate) fn create(graph: &Rc<Graph>) -> Result<Rc<Self>, CallFailure> {
        let api = graph.api();
        let mut handle = std::ptr::null_mut();
        // SAFETY: `handle` is valid for a write, and the graph exists.
        let status = unsafe { (api.functions().synSectionCreate)(&raw mut handle, 0, graph.handle()) };
        api.check("synSectionCreate", status, String::new)?;
        let section = Self { graph: Rc::clone(graph), handle };
        // SAFETY: the section exists.
        let status = unsafe { (api.functions().synSectionSetPersistent)(handle, true) };
        api.check("synSectionSetPersistent", status, String::new)?;
        Ok(Rc::new(section))
    }

    pub(super) fn handle(&self) -> synSectionHandle {
        self.handle
    }
}

impl Drop for Section {
    fn drop(&mut self) {
        let api = self.graph.api();
        // SAFETY: the section was created by this value; its tensors, which keep it alive, are gone.
        let status = unsafe { (api.functions().synSectionDestroy)(self.handle) };
        api.note(api.check("synSectionDestroy", status, String::new));
    }
}
