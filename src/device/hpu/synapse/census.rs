//! The devices that a library reports, without acquiring one.

#![allow(unsafe_code, reason = "calls into a C library")]

use std::sync::Arc;

use habana_sys::{synDeviceAttribute, synDeviceType, synModuleId};

use super::api::Api;
use crate::device::hpu::error::CallFailure;

/// The devices that a library reports.
#[derive(Debug)]
pub(crate) struct Census {
    api: Arc<Api>,
}

impl Census {
    pub(crate) fn of(api: &Arc<Api>) -> Self {
        Self { api: Arc::clone(api) }
    }

    /// How many devices of a type there are.
    pub(crate) fn count(&self, device_type: synDeviceType) -> Result<u32, CallFailure> {
        let mut count = 0;
        // SAFETY: `count` is valid for a write.
        let status =
            unsafe { (self.api.functions().synDeviceGetCountByDeviceType)(&raw mut count, device_type) };
        self.api
            .check("synDeviceGetCountByDeviceType", status, || format!("device type {}", device_type.0))?;
        Ok(count)
    }

    /// The modules that there are, `None` where the library cannot say.
    pub(crate) fn modules(&self) -> Result<Option<Vec<synModuleId>>, CallFailure> {
        let Some(function) = self.api.functions().synDeviceGetModuleIDs else { return Ok(None) };
        // A machine has up to eight.
        let mut modules = vec![0; 64];
        let mut count = modules.len() as u32;
        // SAFETY: the list has room for as many as `count` says, which the call replaces by how many there are.
        let status = unsafe { function(modules.as_mut_ptr(), &raw mut count) };
        self.api.check("synDeviceGetModuleIDs", status, String::new)?;
        modules.truncate(count as usize);
        Ok(Some(modules))
    }

    /// An attribute of a module, `None` where the library cannot say.
    fn attribute(
        &self,
        module: synModuleId,
        attribute: synDeviceAttribute,
    ) -> Result<Option<u64>, CallFailure> {
        let Some(function) = self.api.functions().synDeviceGetAttributeByModuleId else { return Ok(None) };
        let mut value = 0;
        // SAFETY: one attribute is read and one value written, both of which live here.
        let status = unsafe { function(&raw mut value, &raw const attribute, 1, module) };
        let shown = || format!("module {module}, attribute {}", attribute.0);
        self.api.check("synDeviceGetAttributeByModuleId", status, shown)?;
        Ok(Some(value))
    }

    /// The type of a module's device, `None` where the library cannot say.
    pub(crate) fn device_type(&self, module: synModuleId) -> Result<Option<synDeviceType>, CallFailure> {
        let value = self.attribute(module, synDeviceAttribute::DEVICE_ATTRIBUTE_DEVICE_TYPE)?;
        Ok(value.map(|value| synDeviceType(u32::try_from(value).unwrap_or(u32::MAX))))
    }

    /// Free and total memory of a module's device in bytes, `None` where the library cannot say.
    pub(crate) fn memory_bytes(&self, module: synModuleId) -> Result<Option<(u64, u64)>, CallFailure> {
        let free = self.attribute(module, synDeviceAttribute::DEVICE_ATTRIBUTE_DRAM_FREE_SIZE)?;
        let total = self.attribute(module, synDeviceAttribute::DEVICE_ATTRIBUTE_DRAM_SIZE)?;
        Ok(free.zip(total))
    }
}
