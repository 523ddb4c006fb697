//! Any bytes as the plan of a recipe file of the emulated library. What stands around it is right, so that each input gets as
//! far as the parser.

#![no_main]

use std::ffi::{CString, c_char};
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::sync::LazyLock;

use Synapse as _;
use habana_sys::{synRecipeHandle, synStatus};
use libfuzzer_sys::fuzz_target;
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::xxh3_64;

unsafe extern "C" {
    fn synInitialize() -> synStatus;
    fn synRecipeDeSerialize(recipe: *mut synRecipeHandle, path: *const c_char) -> synStatus;
    fn synRecipeDestroy(recipe: synRecipeHandle) -> synStatus;
}

static FILE: LazyLock<(NamedTempFile, CString)> = LazyLock::new(|| {
    // SAFETY: it takes nothing.
    unsafe { synInitialize() };
    let file = NamedTempFile::new().expect("a temporary file");
    let path = CString::new(file.path().as_os_str().as_bytes()).expect("a path without zeros");
    (file, path)
});

fuzz_target!(|plan: &[u8]| {
    let (file, path) = &*FILE;
    let mut bytes = b"SYNEMURC".to_vec();
    bytes.extend(1u32.to_le_bytes());
    bytes.extend((plan.len() as u64).to_le_bytes());
    bytes.extend(plan);
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    std::fs::write(file.path(), bytes).expect("a file that can be written");
    let mut recipe = ptr::null_mut();
    // SAFETY: the handle is written, the path ends with a zero; the recipe is destroyed once, where there is one.
    unsafe {
        if synRecipeDeSerialize(&raw mut recipe, path.as_ptr()) == synStatus::synSuccess {
            synRecipeDestroy(recipe);
        }
    }
});
