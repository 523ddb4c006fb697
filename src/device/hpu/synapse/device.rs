//! An acquired device.

#![allow(unsafe_code, reason = "calls into a C library")]

use std::sync::Arc;

use habana_sys::{synDeviceAttribute, synDeviceId, synDeviceType};

use super::api::{Api, until_nul};
use crate::device::hpu::error::CallFailure;

/// A device that this process has acquired, released with the last of its children.
#[derive(Debug)]
pub(crate) struct AcquiredDevice {
    api: Arc<Api>,
    id: synDeviceId,
}

impl AcquiredDevice {
    /// Acquires the device of a module of the machine.
    pub(crate) fn acquire_module(api: &Arc<Api>, module: u32) -> Result<Self, CallFailure> {
        let mut id = 0;
        // SAFETY: `id` is valid for a write.
        let status = unsafe { (api.functions().synDeviceAcquireByModuleId)(&raw mut id, module) };
        api.check("synDeviceAcquireByModuleId", status, || format!("module {module}"))?;
        Ok(Self { api: Arc::clone(api), id })
    }

    /// Acquires any free device of a type.
    pub(crate) fn acquire_type(api: &Arc<Api>, device_type: synDeviceType) -> Result<Self, CallFailure> {
        let mut id = 0;
        // SAFETY: `id` is valid for a write.
        let status = unsafe { (api.functions().synDeviceAcquireByDeviceType)(&raw mut id, device_type) };
        api.check("synDeviceAcquireByDeviceType", status, || format!("device type {}", device_type.0))?;
        Ok(Self { api: Arc::clone(api), id })
    }

    pub(crate) fn api(&self) -> &Arc<Api> {
        &self.api
    }

    pub(super) fn id(&self) -> synDeviceId {
        self.id
    }

    fn attribute(&self, attribute: synDeviceAttribute) -> Result<u64, CallFailure> {
        let mut value = 0;
        // SAFETY: one attribute is read and one value written, both of which live here.
        let status = unsafe {
            (self.api.functions().synDeviceGetAttribute)(&raw mut value, &raw const attribute, 1, self.id)
        };
        self.api.check("synDeviceGetAttribute", status, || format!("attribute {}", attribute.0))?;
        Ok(value)
    }

    /// The type of the device.
    pub(crate) fn device_type(&self) -> Result<synDeviceType, CallFailure> {
        let value = self.attribute(synDeviceAttribute::DEVICE_ATTRIBUTE_DEVICE_TYPE)?;
        Ok(synDeviceType(u32::try_from(value).unwrap_or(u32::MAX)))
    }

    /// The name of the device, as the library says it.
    pub(crate) fn name(&self) -> Result<String, CallFailure> {
        let mut text = [0u8; 256];
        // SAFETY: the buffer is valid for writes of the length that is passed.
        let status =
            unsafe { (self.api.functions().synDeviceGetName)(text.as_mut_ptr().cast(), 256, self.id) };
        self.api.check("synDeviceGetName", status, String::new)?;
        Ok(until_nul(&text))
    }

    /// The device's free and total memory in bytes.
    pub(crate) fn memory_bytes(&self) -> Result<(u64, u64), CallFailure> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both values are valid for writes.
        let status =
            unsafe { (self.api.functions().synDeviceGetMemoryInfo)(self.id, &raw mut free, &raw mut total) };
        self.api.check("synDeviceGetMemoryInfo", status, String::new)?;
        Ok((free, total))
    }
}

impl Drop for AcquiredDevice {
    fn drop(&mut self) {
        // SAFETY: the device was acquired by this value, and its children, which keep it alive, are gone.
        let status = unsafe { (self.api.functions().synDeviceRelease)(self.id) };
        self.api.note(self.api.check("synDeviceRelease", status, String::new));
    }
}
