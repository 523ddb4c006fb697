//! Devices: where caches live and attention runs.

use std::ffi::{CString, c_char};
#[cfg(feature = "hpu")]
use std::time::Duration;

use kv::Generation;
use kv::device::emulated::{Emulated, Mode};
#[cfg(feature = "hpu")]
use kv::device::hpu::{Hpu, HpuOptions, RecipeFolder};
use kv::device::{AnyDevice, Backend, Device};

use crate::failure::Failure;
use crate::last_error::{barrier, c_string, quiet_barrier};
use crate::pointer;
use crate::status::gaudi_kv_status;
use crate::structure::{self, Structure, field_end};

/// A Gaudi2: FP8 e4m3 reaches 240.
pub const GAUDI_KV_GAUDI2: i32 = 2;
/// A Gaudi3: FP8 e4m3 reaches 448.
pub const GAUDI_KV_GAUDI3: i32 = 3;

/// An emulated device accumulates products as a Gaudi does, bit for bit.
pub const GAUDI_KV_EXACT: i32 = 1;
/// An emulated device accumulates products in float. What is quantized, and every code in a cache, is as in
/// `GAUDI_KV_EXACT`.
pub const GAUDI_KV_FAST: i32 = 2;

/// The CPU, by the arithmetic of a Gaudi.
pub const GAUDI_KV_EMULATED: i32 = 1;
/// A Gaudi, through SynapseAI.
pub const GAUDI_KV_HPU: i32 = 2;

/// Where caches live and attention runs. Several threads may use one at a time. Caches and attention layers keep what
/// they need of it, so it may be freed before them.
#[derive(Debug)]
pub struct gaudi_kv_device {
    pub(crate) device: AnyDevice,
    description: CString,
}

/// The generation of that number.
pub(crate) fn generation(number: i32) -> Result<Generation, Failure> {
    match number {
        GAUDI_KV_GAUDI2 => Ok(Generation::Gaudi2),
        GAUDI_KV_GAUDI3 => Ok(Generation::Gaudi3),
        _ => Err(Failure::argument(format!(
            "{number} is no generation; GAUDI_KV_GAUDI2 (2) and GAUDI_KV_GAUDI3 (3) are"
        ))),
    }
}

pub(crate) const fn generation_number(generation: Generation) -> i32 {
    match generation {
        Generation::Gaudi2 => GAUDI_KV_GAUDI2,
        Generation::Gaudi3 => GAUDI_KV_GAUDI3,
    }
}

/// What a device is. Output.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_device_info {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// `GAUDI_KV_GAUDI2` or `GAUDI_KV_GAUDI3`.
    pub generation: i32,
    /// `GAUDI_KV_EMULATED` or `GAUDI_KV_HPU`.
    pub backend: i32,
    /// `GAUDI_KV_EXACT` or `GAUDI_KV_FAST` for an emulated one, 0 for a Gaudi.
    pub mode: i32,
    /// The largest finite e4m3 value that it writes: 240 or 448.
    pub fp8_max: f32,
    /// What it is, for people. It lives as long as the device.
    pub description: *const c_char,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_device_info {
    const NAME: &'static str = "gaudi_kv_device_info";
    const REQUIRED: usize = field_end!(gaudi_kv_device_info, description);
    const WHOLE: usize = field_end!(gaudi_kv_device_info, description);
}

/// How a Gaudi is found and used. Input; zeros are the defaults.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_hpu_options {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// The SynapseAI library, loaded with everything that this means; null for `GAUDI_KV_SYNAPSE` of the environment,
    /// else where the vendor installs it.
    pub library: *const c_char,
    /// Whether `module` says which Gaudi to take. 0: `HLS_MODULE_ID` of the environment, else any free one.
    pub has_module: u32,
    /// The module of the Gaudi.
    pub module: u32,
    /// The folder that keeps compiled recipes between processes; null for `GAUDI_KV_RECIPE_CACHE` of the environment,
    /// else `gaudi-kv/recipes` in the user's cache folder; an empty string for none.
    pub recipe_folder: *const c_char,
    /// How long data may be missing after the device has said that it is there, in milliseconds; 0 for 30 seconds. Work
    /// itself may take twenty times that.
    pub timeout_ms: u64,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_hpu_options {
    const NAME: &'static str = "gaudi_kv_hpu_options";
    const REQUIRED: usize = field_end!(gaudi_kv_hpu_options, struct_size);
    const WHOLE: usize = field_end!(gaudi_kv_hpu_options, timeout_ms);
}

fn handle(device: AnyDevice) -> gaudi_kv_device {
    let description = c_string(device.description().as_bytes());
    gaudi_kv_device { device, description }
}

/// A Gaudi of `generation` (`GAUDI_KV_GAUDI2`, `GAUDI_KV_GAUDI3`) in `mode` (`GAUDI_KV_EXACT`, `GAUDI_KV_FAST`),
/// computed on the CPU. To be freed with `gaudi_kv_device_free`.
///
/// Attention and inspections run on the threads of this library: as many as `RAYON_NUM_THREADS` of the environment
/// says, else as the process may use, started by the first call that needs them. A child process that was forked where no
/// call runs in another thread gets threads of its own.
///
/// Returns `GAUDI_KV_INVALID_ARGUMENT` for another generation or mode.
///
/// # Safety
/// `out` is null or points to a pointer, which is set; to null where the call fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_device_create_emulated(
    generation: i32,
    mode: i32,
    out: *mut *mut gaudi_kv_device,
) -> gaudi_kv_status {
    let make = || {
        let generation = self::generation(generation)?;
        let mode = match mode {
            GAUDI_KV_EXACT => Mode::Exact,
            GAUDI_KV_FAST => Mode::Fast,
            _ => {
                return Err(Failure::argument(format!(
                    "{mode} is no mode; GAUDI_KV_EXACT (1) and GAUDI_KV_FAST (2) are"
                )));
            }
        };
        Ok(handle(Emulated::new(generation, mode).into()))
    };
    // SAFETY: the caller promises that `out` is null or can be written.
    barrier(|| unsafe { pointer::hand_out(out, make) })
}

/// A Gaudi of this machine, through SynapseAI. A process holds one: another call gives the same. Nothing falls back to
/// the CPU. `options` may be null for the defaults. To be freed with `gaudi_kv_device_free`; the Gaudi is given back
/// with the last device, cache and attention layer on it.
///
/// Returns `GAUDI_KV_DEVICE_FAILED` where there is no library or no Gaudi, or the process holds another, and
/// `GAUDI_KV_UNSUPPORTED` where this library was built without it.
///
/// # Safety
/// `options` is null or points to a structure of the size that it says, whose texts end with a zero. `out` is null or
/// points to a pointer, which is set; to null where the call fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_device_create_hpu(
    options: *const gaudi_kv_hpu_options,
    out: *mut *mut gaudi_kv_device,
) -> gaudi_kv_status {
    let make = || {
        // SAFETY: the caller promises that `options` is null or a structure of the size that it says.
        let options = unsafe { structure::read_or_default(options) }?;
        // SAFETY: the caller promises that the texts of `options` are null or end with a zero.
        unsafe { open_hpu(&options) }.map(handle)
    };
    // SAFETY: the caller promises that `out` is null or can be written.
    barrier(|| unsafe { pointer::hand_out(out, make) })
}

/// # Safety
/// The texts are null or end with a zero.
#[cfg(feature = "hpu")]
unsafe fn open_hpu(options: &gaudi_kv_hpu_options) -> Result<AnyDevice, Failure> {
    let path = |what, text: *const c_char| {
        // SAFETY: the caller promises a text that ends with a zero, and null is left out.
        (!text.is_null()).then(|| unsafe { pointer::path(what, text) }).transpose()
    };
    let recipe_cache = match path("recipe_folder", options.recipe_folder)? {
        None => RecipeFolder::Default,
        Some(path) if path.as_os_str().is_empty() => RecipeFolder::Nowhere,
        Some(path) => RecipeFolder::At(path.to_owned()),
    };
    let mut open = HpuOptions {
        library: path("library", options.library)?.map(ToOwned::to_owned),
        module_id: (options.has_module != 0).then_some(options.module),
        recipe_cache,
        ..HpuOptions::default()
    };
    if options.timeout_ms > 0 {
        open.timeout = Duration::from_millis(options.timeout_ms);
    }
    Ok(Hpu::open(&open)?.into())
}

/// # Safety
/// None is needed.
#[cfg(not(feature = "hpu"))]
unsafe fn open_hpu(_: &gaudi_kv_hpu_options) -> Result<AnyDevice, Failure> {
    Err(Failure::unsupported(
        "this library was built without the feature hpu, so it has emulated devices only",
    ))
}

/// What a device is.
///
/// # Safety
/// `device` is null or a device. `info` is null or points to a structure of the size that it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_device_get_info(
    device: *const gaudi_kv_device,
    info: *mut gaudi_kv_device_info,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live device or null, and a structure of the size that it says or null.
        let (device, info) = unsafe { (pointer::handle("the device", device)?, structure::out(info)?) };
        let generation = device.device.generation();
        let (backend, mode) = match device.device.backend() {
            Backend::Emulated(Mode::Exact) => (GAUDI_KV_EMULATED, GAUDI_KV_EXACT),
            Backend::Emulated(Mode::Fast) => (GAUDI_KV_EMULATED, GAUDI_KV_FAST),
            Backend::Hpu => (GAUDI_KV_HPU, 0),
        };
        info.fill(gaudi_kv_device_info {
            struct_size: 0,
            generation: generation_number(generation),
            backend,
            mode,
            fp8_max: generation.fp8_max(),
            description: device.description.as_ptr(),
        });
        Ok(())
    })
}

/// Frees a device; null is none.
///
/// # Safety
/// `device` is null or a device that has not been freed, and no other call uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_device_free(device: *mut gaudi_kv_device) {
    // SAFETY: the caller promises that the device is null or not freed, and that no other call uses it.
    quiet_barrier(|| unsafe { pointer::free(device) });
}

/// The generation of the first Gaudi on this machine's PCI bus: `GAUDI_KV_GAUDI2`, `GAUDI_KV_GAUDI3`, or 0 where there
/// is none. Needs no vendor software.
#[unsafe(no_mangle)]
pub extern "C" fn gaudi_kv_installed_generation() -> i32 {
    let mut number = 0;
    quiet_barrier(|| number = kv::device::installed_generation().map_or(0, generation_number));
    number
}
