//! The loaded and initialized library.

#![allow(unsafe_code, reason = "calls into a C library")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use habana_sys::{Library, synStatus};
use tracing::{debug, error};

use crate::device::hpu::error::{CallFailure, HpuError};

/// The one initialized library of the process.
static LOADED: Mutex<Weak<Api>> = Mutex::new(Weak::new());

/// The initialized library, and what went wrong while objects were given back.
#[derive(Debug)]
pub(crate) struct Api {
    library: Library,
    /// Whether this value initialized it, and so has to end that.
    is_ours: bool,
    pending: Mutex<Vec<CallFailure>>,
}

impl Api {
    /// Loads and initializes the library at `explicit`, or where `habana_sys` finds one. A second call while the first
    /// result is in use gives the first.
    pub(crate) fn open(explicit: Option<&Path>) -> Result<Arc<Self>, HpuError> {
        let library = Library::open(explicit)?;
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(api) = loaded.upgrade() {
            let (held, asked) = (api.path().to_owned(), library.path().to_owned());
            return if held == asked { Ok(api) } else { Err(HpuError::OtherLibrary { held, asked }) };
        }
        let mut api = Self { library, is_ours: false, pending: Mutex::default() };
        // SAFETY: takes nothing; the library is loaded.
        match unsafe { (api.library.synInitialize)() } {
            synStatus::synObjectAlreadyInitialized | synStatus::synAlreadyInitialized => {
                debug!("another part of this process has initialized SynapseAI");
            }
            status => {
                api.check("synInitialize", status, String::new)?;
                api.is_ours = true;
            }
        }
        let api = Arc::new(api);
        *loaded = Arc::downgrade(&api);
        Ok(api)
    }

    /// The file that was loaded.
    pub(crate) fn path(&self) -> &Path {
        self.library.path()
    }

    /// The functions of the library.
    pub(super) fn functions(&self) -> &Library {
        &self.library
    }

    /// Makes an error of any status but success. `arguments` says what mattered of those of the call.
    pub(super) fn check(
        &self,
        function: &'static str,
        status: synStatus,
        arguments: impl FnOnce() -> String,
    ) -> Result<(), CallFailure> {
        if status == synStatus::synSuccess {
            return Ok(());
        }
        let description = self.describe(status);
        Err(CallFailure { function, arguments: arguments(), status, description })
    }

    /// The library's own words for a status, empty where it has none.
    fn describe(&self, status: synStatus) -> String {
        let mut text = [0u8; habana_sys::STATUS_DESCRIPTION_MAX_SIZE as usize];
        let len = text.len() as u64;
        // SAFETY: the buffer is valid for writes of its length, which is what is passed.
        let result =
            unsafe { (self.library.synStatusGetBriefDescription)(status, text.as_mut_ptr().cast(), len) };
        if result == synStatus::synSuccess { until_nul(&text) } else { String::new() }
    }

    /// Notes the failure of giving something back, for the next call to report.
    pub(super) fn note(&self, result: Result<(), CallFailure>) {
        if let Err(failure) = result {
            self.pending.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
        }
    }

    /// Reports what was noted since the last call.
    pub(crate) fn report(&self) -> Result<(), HpuError> {
        let failures = std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        if failures.is_empty() { Ok(()) } else { Err(HpuError::NotReleased { failures }) }
    }

    /// The version of driver and library, as the library says it.
    pub(crate) fn version(&self) -> Result<String, CallFailure> {
        let mut text = [0u8; 256];
        // SAFETY: the buffer is valid for writes of the length that is passed.
        let status = unsafe { (self.library.synDriverGetVersion)(text.as_mut_ptr().cast(), 256) };
        self.check("synDriverGetVersion", status, String::new)?;
        Ok(until_nul(&text))
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        if self.is_ours {
            // SAFETY: undoes the initialization of `open`; every object keeps the library, so none is left.
            let status = unsafe { (self.library.synDestroy)() };
            self.note(self.check("synDestroy", status, String::new));
        }
        // Nobody is left to report to.
        if let Err(failures) = self.report() {
            error!("{failures}");
        }
    }
}

/// Text of the library up to its NUL.
pub(super) fn until_nul(text: &[u8]) -> String {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    String::from_utf8_lossy(&text[..end]).into_owned()
}

/// A path as a C string.
pub(super) fn c_path(path: &Path) -> Result<std::ffi::CString, HpuError> {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::CString::new(path.as_os_str().as_bytes())
        .map_err(|_| HpuError::Path { path: PathBuf::from(path) })
}
