use std::sync::Arc;

use habana_sys::{synGraphHandle, synSectionHandle, synStatus};

use super::{api, pointer};
use crate::graph::handles::SectionRef;
use crate::graph::section::Section;
use crate::lock::lock;
use crate::outcome::Outcome;
use crate::state::library::runtime;

/// Looks at a section, or changes it.
fn with<T>(handle: synSectionHandle, act: impl FnOnce(&mut Section) -> Outcome<T>) -> Outcome<T> {
    let section = runtime()?.sections.get(pointer::number(handle))?;
    let mut graph = lock(&section.graph);
    act(graph.sections.get_mut(section.index).ok_or(synStatus::synInvalidArgument)?)
}

api! {
    /// `sectionDescriptor` is not used. `synFail` without a graph.
    fn synSectionCreate(sectionHandle: *mut synSectionHandle, _sectionDescriptor: u64, graph: synGraphHandle) {
        let runtime = runtime()?;
        if sectionHandle.is_null() {
            return Err(synStatus::synInvalidArgument);
        }
        if graph.is_null() {
            return Err(synStatus::synFail);
        }
        let graph = runtime.graphs.get(pointer::number(graph))?;
        let mut locked = lock(&graph);
        let reference = SectionRef { graph: Arc::clone(&graph), index: locked.sections.len() };
        let handle = runtime.sections.insert(Arc::new(reference));
        locked.add_section(handle);
        pointer::write(sectionHandle, pointer::handle(handle))
    }

    /// The section itself stays with its graph.
    fn synSectionDestroy(sectionHandle: synSectionHandle) {
        runtime()?.sections.remove(pointer::number(sectionHandle)).map(drop)
    }

    /// `synFail` for a null handle.
    fn synSectionSetGroup(sectionHandle: synSectionHandle, sectionGroup: u64) {
        runtime()?;
        if sectionHandle.is_null() {
            return Err(synStatus::synFail);
        }
        with(sectionHandle, |section| section.set_group(sectionGroup))
    }

    /// `synFail` for a null handle.
    fn synSectionGetGroup(sectionHandle: synSectionHandle, sectionGroup: *mut u64) {
        runtime()?;
        if sectionHandle.is_null() {
            return Err(synStatus::synFail);
        }
        let group = with(sectionHandle, |section| Ok(section.group))?;
        pointer::write(sectionGroup, group)
    }

    fn synSectionSetPersistent(sectionHandle: synSectionHandle, sectionIsPersistent: bool) {
        with(sectionHandle, |section| section.set_persistent(sectionIsPersistent))
    }

    fn synSectionGetPersistent(sectionHandle: synSectionHandle, sectionIsPersistent: *mut bool) {
        let is_persistent = with(sectionHandle, |section| Ok(section.is_persistent))?;
        pointer::write(sectionIsPersistent, is_persistent)
    }

    fn synSectionSetConst(sectionHandle: synSectionHandle, sectionIsConst: bool) {
        with(sectionHandle, |section| section.set_const(sectionIsConst))
    }

    fn synSectionGetConst(sectionHandle: synSectionHandle, sectionIsConst: *mut bool) {
        let is_const = with(sectionHandle, |section| Ok(section.is_const))?;
        pointer::write(sectionIsConst, is_const)
    }

    fn synSectionSetRMW(sectionHandle: synSectionHandle, sectionIsRMW: bool) {
        with(sectionHandle, |section| section.set_rmw(sectionIsRMW))
    }

    fn synSectionGetRMW(sectionHandle: synSectionHandle, sectionIsRMW: *mut bool) {
        let is_rmw = with(sectionHandle, |section| Ok(section.is_rmw))?;
        pointer::write(sectionIsRMW, is_rmw)
    }
}
