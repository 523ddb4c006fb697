//! The error of a thread's last call that failed, and the barrier that every call stands behind.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::os::unix::ffi::OsStrExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::failure::Failure;
use crate::status::{GAUDI_KV_INTERNAL, GAUDI_KV_OK, gaudi_kv_status};
use crate::structure::{self, Structure, field_end};

/// Why the last call of this thread that failed did. Output.
///
/// The texts are UTF-8, the path has the system's encoding. They live until another call of this thread fails.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_error {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// What the call returned; `GAUDI_KV_OK` where no call of this thread has failed yet.
    pub status: gaudi_kv_status,
    /// 0.
    pub reserved: u32,
    /// The layer that it is about, -1 where it is about none.
    pub layer: i64,
    /// What went wrong, in a sentence without a full stop; empty where no call has failed.
    pub message: *const c_char,
    /// The file or folder that it is about, or null.
    pub file: *const c_char,
    /// The tensor that it is about, or null.
    pub tensor: *const c_char,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_error {
    const NAME: &'static str = "gaudi_kv_error";
    const REQUIRED: usize = field_end!(gaudi_kv_error, tensor);
    const WHOLE: usize = field_end!(gaudi_kv_error, tensor);
}

/// What the last call that failed said.
#[derive(Debug, Default)]
struct Kept {
    status: gaudi_kv_status,
    message: CString,
    file: Option<CString>,
    tensor: Option<CString>,
    layer: Option<usize>,
}

thread_local! {
    static LAST: RefCell<Kept> = RefCell::default();
}

/// A C string of any bytes: one that holds a zero ends there.
pub(crate) fn c_string(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}

fn keep(failure: Failure) -> gaudi_kv_status {
    let Failure { status, message, file, tensor, layer } = failure;
    let kept = Kept {
        status,
        message: c_string(message.as_bytes()),
        file: file.map(|file| c_string(file.as_os_str().as_bytes())),
        tensor: tensor.map(|tensor| c_string(tensor.as_bytes())),
        layer,
    };
    // A thread that is ending may have no place for it any more.
    let _ = LAST.try_with(|last| last.replace(kept));
    status
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Does the work of a call: its failure is kept for the caller, and a panic ends here.
pub(crate) fn barrier(work: impl FnOnce() -> Result<(), Failure>) -> gaudi_kv_status {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => GAUDI_KV_OK,
        Ok(Err(failure)) => keep(failure),
        Err(panic) => {
            let message = format!("a defect of this library: {}", panic_message(&*panic));
            // The panic's own value may panic when it is dropped.
            std::mem::forget(panic);
            keep(Failure::internal(message))
        }
    }
}

/// [`barrier`] for what cannot fail and returns nothing.
pub(crate) fn quiet_barrier(work: impl FnOnce()) {
    barrier(|| {
        work();
        Ok(())
    });
}

/// The message of this thread's last call that failed, as in `gaudi_kv_error`: never null, empty where none has failed.
/// A call that succeeds leaves it as it is.
#[unsafe(no_mangle)]
pub extern "C" fn gaudi_kv_last_error_message() -> *const c_char {
    LAST.try_with(|last| last.borrow().message.as_ptr()).unwrap_or(c"".as_ptr())
}

/// Everything that is known of this thread's last call that failed. A call that succeeds leaves it as it is.
///
/// Returns `GAUDI_KV_INVALID_ARGUMENT` where `error` is null or too small; that is not kept as an error.
///
/// # Safety
/// `error` is null or points to a structure of the size that it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_last_error(error: *mut gaudi_kv_error) -> gaudi_kv_status {
    let text = |text: &Option<CString>| text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr());
    let of = |kept: &Kept| gaudi_kv_error {
        struct_size: 0,
        status: kept.status,
        reserved: 0,
        layer: kept.layer.and_then(|layer| i64::try_from(layer).ok()).unwrap_or(-1),
        message: kept.message.as_ptr(),
        file: text(&kept.file),
        tensor: text(&kept.tensor),
    };
    let work = || {
        let value = LAST.try_with(|last| of(&last.borrow()));
        // SAFETY: the caller promises that `error` is null or a structure of the size that it says.
        let written = unsafe { structure::out(error) }?;
        written.fill(value.map_err(|_| Failure::internal("this thread is ending"))?);
        Ok(())
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_or_else(|failure: Failure| failure.status, |()| GAUDI_KV_OK),
        Err(panic) => {
            std::mem::forget(panic);
            GAUDI_KV_INTERNAL
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    fn message() -> &'static str {
        // SAFETY: a C string that lives until the next failure of this thread.
        unsafe { CStr::from_ptr(gaudi_kv_last_error_message()) }.to_str().unwrap()
    }

    #[test]
    fn a_panic_ends_at_the_barrier() {
        assert_eq!(barrier(|| panic!("of {}", 7)), GAUDI_KV_INTERNAL);
        assert_eq!(message(), "a defect of this library: of 7");
        quiet_barrier(|| panic!("static"));
        assert_eq!(message(), "a defect of this library: static");
        assert_eq!(barrier(|| std::panic::panic_any(7)), GAUDI_KV_INTERNAL);
        assert_eq!(message(), "a defect of this library: no message");
    }

    #[test]
    fn each_thread_has_its_own() {
        assert_eq!(barrier(|| Err(Failure::shape("here"))), 6);
        std::thread::spawn(|| {
            assert_eq!(message(), "");
            assert_eq!(barrier(|| Err(Failure::argument("there"))), 1);
            assert_eq!(message(), "there");
        })
        .join()
        .unwrap();
        assert_eq!(message(), "here");
        assert_eq!(barrier(|| Ok(())), GAUDI_KV_OK);
        assert_eq!(message(), "here");
    }

    #[test]
    fn a_text_with_a_zero_ends_there() {
        assert_eq!(c_string(b"a\0b"), c"a".to_owned());
    }
}
