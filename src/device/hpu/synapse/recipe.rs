//! Recipes: compiled graphs.

#![allow(unsafe_code, reason = "calls into a C library")]

use std::ffi::CString;
use std::path::Path;
use std::sync::Arc;

use habana_sys::{HABANA_DIM_MAX, synLaunchTensorInfo, synRecipeHandle, synTensorType};

use super::api::{Api, c_path};
use crate::device::hpu::error::{CallFailure, HpuError};

/// A recipe: it depends on no device and no address.
#[derive(Debug)]
pub(crate) struct Recipe {
    api: Arc<Api>,
    handle: synRecipeHandle,
    name: String,
}

// SAFETY: the handle names an object of the library, which may be used from any thread.
unsafe impl Send for Recipe {}
// SAFETY: a recipe does not change, so threads may use it at once.
unsafe impl Sync for Recipe {}

/// A persistent tensor as a launch names it.
#[derive(Debug, Clone)]
pub(crate) struct LaunchTensor {
    pub(crate) name: CString,
    pub(crate) id: u64,
    /// Sizes, the fastest-changing dimension first.
    pub(crate) fcd_sizes: Vec<usize>,
    pub(crate) address: u64,
}

impl LaunchTensor {
    pub(super) fn info(&self) -> synLaunchTensorInfo {
        let mut info = synLaunchTensorInfo {
            tensorName: self.name.as_ptr(),
            pTensorAddress: self.address,
            tensorType: synTensorType::DATA_TENSOR,
            tensorSize: [0; HABANA_DIM_MAX as usize],
            tensorId: self.id,
        };
        for (to, size) in info.tensorSize.iter_mut().zip(&self.fcd_sizes) {
            *to = *size as u64;
        }
        // The device takes a vector as `[n, 1]`.
        if self.fcd_sizes.len() < 2 {
            info.tensorSize[1] = 1;
        }
        info
    }
}

impl Recipe {
    pub(super) fn new(api: &Arc<Api>, handle: synRecipeHandle, name: &str) -> Self {
        Self { api: Arc::clone(api), handle, name: name.to_owned() }
    }

    /// Reads a recipe from a file that [`serialize`](Self::serialize) wrote.
    pub(crate) fn deserialize(api: &Arc<Api>, path: &Path, name: &str) -> Result<Self, HpuError> {
        let file = c_path(path)?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: `handle` is valid for a write, and the path lives until the call returns.
        let status = unsafe { (api.functions().synRecipeDeSerialize)(&raw mut handle, file.as_ptr()) };
        api.check("synRecipeDeSerialize", status, || path.display().to_string())?;
        Ok(Self::new(api, handle, name))
    }

    /// Writes the recipe to a file.
    pub(crate) fn serialize(&self, path: &Path) -> Result<(), HpuError> {
        let file = c_path(path)?;
        // SAFETY: the recipe exists, and the path lives until the call returns.
        let status = unsafe { (self.api.functions().synRecipeSerialize)(self.handle, file.as_ptr()) };
        self.api.check("synRecipeSerialize", status, || path.display().to_string())?;
        Ok(())
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn handle(&self) -> synRecipeHandle {
        self.handle
    }

    /// Bytes of memory that a launch needs on top of its tensors.
    pub(crate) fn workspace_bytes(&self) -> Result<usize, CallFailure> {
        let mut bytes = 0;
        // SAFETY: `bytes` is valid for a write, and the recipe exists.
        let status = unsafe { (self.api.functions().synWorkspaceGetSize)(&raw mut bytes, self.handle) };
        self.api.check("synWorkspaceGetSize", status, || format!("recipe {}", self.name))?;
        Ok(bytes as usize)
    }

    /// The ids of persistent tensors by name.
    pub(crate) fn tensor_ids(&self, names: &[CString]) -> Result<Vec<u64>, CallFailure> {
        let mut pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let mut ids = vec![0; names.len()];
        // SAFETY: there are as many names as room for ids, both live until the call returns, and the recipe exists.
        let status = unsafe {
            (self.api.functions().synTensorRetrieveIds)(
                self.handle,
                pointers.as_mut_ptr(),
                ids.as_mut_ptr(),
                names.len() as u32,
            )
        };
        self.api.check("synTensorRetrieveIds", status, || format!("recipe {}", self.name))?;
        Ok(ids)
    }
}

impl Drop for Recipe {
    fn drop(&mut self) {
        // SAFETY: the recipe was made by this value and is not used again.
        let status = unsafe { (self.api.functions().synRecipeDestroy)(self.handle) };
        self.api.note(self.api.check("synRecipeDestroy", status, || self.name.clone()));
    }
}
