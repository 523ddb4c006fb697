//! Inspections of models: the whole as JSON, and what an engine needs of it as numbers.

use std::ffi::{CString, c_char};

use kv::check::ModelJson;
use kv::checkpoint::{ModelFolder, TensorParallel};
use kv::device::Device;
use kv::scales::{
    CacheDtypeRequest, Inspection, MlaScale, Options, QMissing, SkipLayer, requested_scale_adjustment,
};

use crate::device::gaudi_kv_device;
use crate::failure::Failure;
use crate::last_error::{barrier, c_string, quiet_barrier};
use crate::pointer;
use crate::scale::Layers;
use crate::status::gaudi_kv_status;
use crate::structure::{self, Structure, field_end};
use crate::threads::on_threads;

/// The cache type that the checkpoint's config declares.
pub const GAUDI_KV_AUTO: i32 = 0;
/// The device's e4m3, with scales.
pub const GAUDI_KV_FP8: i32 = 1;
/// bfloat16, without scales.
pub const GAUDI_KV_BF16: i32 = 2;
/// float32 that holds bfloat16 values, without scales. For caches only.
pub const GAUDI_KV_F32: i32 = 3;

/// The one latent of an MLA layer takes `k_scale`.
pub const GAUDI_KV_MLA_SCALE_K_ONLY: i32 = 0;
/// It takes the larger of `k_scale` and `v_scale`, as vllm-gaudi has it.
pub const GAUDI_KV_MLA_SCALE_MAX_KV: i32 = 1;

/// A query without a scale is quantized by its own amax, one scale for each token and head.
pub const GAUDI_KV_Q_MISSING_DYNAMIC: i32 = 0;
/// It is quantized with 1.0, what vLLM ends up with.
pub const GAUDI_KV_Q_MISSING_ONE: i32 = 1;

/// Scale adjustment as `VLLM_SCALE_ADJUSTMENT` of the environment says, automatic where it is unset.
pub const GAUDI_KV_ADJUSTMENT_ENVIRONMENT: i32 = 0;
/// On where the checkpoint's range is larger than the device's; the environment plays no part.
pub const GAUDI_KV_ADJUSTMENT_AUTOMATIC: i32 = 1;
/// As if `VLLM_SCALE_ADJUSTMENT` were true: on where it is due.
pub const GAUDI_KV_ADJUSTMENT_ON: i32 = 2;
/// As if `VLLM_SCALE_ADJUSTMENT` were false: off.
pub const GAUDI_KV_ADJUSTMENT_OFF: i32 = 3;

/// Read all FP8 weights and check the checkpoint's flavor against them.
pub const GAUDI_KV_INSPECT_VERIFY_WEIGHTS: u32 = 1;
/// Scales of zero are errors.
pub const GAUDI_KV_INSPECT_STRICT: u32 = 2;
/// Layers that attend to a sliding window keep a bfloat16 cache.
pub const GAUDI_KV_INSPECT_SKIP_SLIDING_WINDOW: u32 = 4;

/// What a model is inspected for. Input; zeros are the defaults.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_inspect_options {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// `GAUDI_KV_AUTO`, `GAUDI_KV_FP8` or `GAUDI_KV_BF16`.
    pub kv_cache_dtype: i32,
    /// One of `GAUDI_KV_MLA_SCALE_*`.
    pub mla_scale: i32,
    /// One of `GAUDI_KV_Q_MISSING_*`.
    pub q_missing: i32,
    /// One of `GAUDI_KV_ADJUSTMENT_*`.
    pub scale_adjustment: i32,
    /// The number of tensor-parallel ranks that per-head scales are sliced for; 0 for all heads.
    pub tensor_parallel_size: u32,
    /// The rank, below `tensor_parallel_size`; not looked at where that is 0.
    pub tensor_parallel_rank: u32,
    /// The numbers of layers that keep a bfloat16 cache, `num_skip_layers` of them.
    pub skip_layers: *const u32,
    /// How many there are.
    pub num_skip_layers: usize,
    /// `GAUDI_KV_INSPECT_*`, or-ed.
    pub flags: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_inspect_options {
    const NAME: &'static str = "gaudi_kv_inspect_options";
    const REQUIRED: usize = field_end!(gaudi_kv_inspect_options, struct_size);
    const WHOLE: usize = field_end!(gaudi_kv_inspect_options, reserved);
}

/// What an inspection found, in numbers. Output.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_inspection_info {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// Layers that have a KV cache, draft layers included.
    pub num_layers: usize,
    /// KV-scale tensors that no layer takes.
    pub num_unused: usize,
    /// Notes, which need no attention.
    pub num_notes: usize,
    /// Warnings.
    pub num_warnings: usize,
    /// Errors; a model with any cannot be run as asked.
    pub num_errors: usize,
    /// The type of the cache: `GAUDI_KV_FP8` or `GAUDI_KV_BF16`.
    pub kv_cache_dtype: i32,
    /// 1 where scales are adjusted to the device's range, else 0.
    pub adjustment_enabled: i32,
    /// The largest value that the checkpoint was quantized to: 448 or 240.
    pub fp8_max_quant: u32,
    /// The largest value of the device's FP8: 240 or 448.
    pub fp8_max_deploy: u32,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_inspection_info {
    const NAME: &'static str = "gaudi_kv_inspection_info";
    const REQUIRED: usize = field_end!(gaudi_kv_inspection_info, fp8_max_deploy);
    const WHOLE: usize = field_end!(gaudi_kv_inspection_info, fp8_max_deploy);
}

/// What is known of a model's KV scales on a device. It never changes; several threads may read it.
#[derive(Debug)]
pub struct gaudi_kv_inspection {
    inspection: Inspection,
    pub(crate) layers: Layers,
    json: CString,
}

/// Picks what a number stands for.
pub(crate) fn choice<T: Copy>(what: &str, number: i32, known: &[(i32, T)]) -> Result<T, Failure> {
    let found = known.iter().find(|(known, _)| *known == number);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<_> = known.iter().map(|(number, _)| number.to_string()).collect();
        Failure::argument(format!("{what} is {number}; known are {}", known.join(", ")))
    })
}

/// Refuses flags that this library does not know.
pub(crate) fn check_flags(flags: u32, known: u32) -> Result<(), Failure> {
    match flags & !known {
        0 => Ok(()),
        unknown => Err(Failure::unsupported(format!("the flags {unknown:#x} are not known to this library"))),
    }
}

/// Refuses what a later version may give a meaning.
pub(crate) fn check_reserved(reserved: u32) -> Result<(), Failure> {
    if reserved == 0 { Ok(()) } else { Err(Failure::unsupported(format!("reserved is {reserved}, not 0"))) }
}

impl gaudi_kv_inspect_options {
    /// # Safety
    /// `skip_layers` points to as many numbers as it says.
    unsafe fn resolve(&self, generation: kv::Generation) -> Result<Options, Failure> {
        const STRICT: u32 = GAUDI_KV_INSPECT_STRICT;
        const VERIFY_WEIGHTS: u32 = GAUDI_KV_INSPECT_VERIFY_WEIGHTS;
        const SKIP_SLIDING: u32 = GAUDI_KV_INSPECT_SKIP_SLIDING_WINDOW;
        check_flags(self.flags, STRICT | VERIFY_WEIGHTS | SKIP_SLIDING)?;
        check_reserved(self.reserved)?;
        // SAFETY: the caller promises `num_skip_layers` numbers that nobody changes.
        let skip_layers = unsafe { pointer::slice("skip_layers", self.skip_layers, self.num_skip_layers) }?;
        let skip_layers = skip_layers.iter().map(|layer| SkipLayer::Index(*layer as usize));
        let sliding = (self.flags & SKIP_SLIDING != 0).then_some(SkipLayer::SlidingWindow);
        let scale_adjustment = choice(
            "scale_adjustment",
            self.scale_adjustment,
            &[
                (GAUDI_KV_ADJUSTMENT_ENVIRONMENT, None),
                (GAUDI_KV_ADJUSTMENT_AUTOMATIC, Some(None)),
                (GAUDI_KV_ADJUSTMENT_ON, Some(Some(true))),
                (GAUDI_KV_ADJUSTMENT_OFF, Some(Some(false))),
            ],
        )?;
        let dtypes = [
            (GAUDI_KV_AUTO, CacheDtypeRequest::Auto),
            (GAUDI_KV_FP8, CacheDtypeRequest::Fp8),
            (GAUDI_KV_BF16, CacheDtypeRequest::Bf16),
        ];
        let mla_scales =
            [(GAUDI_KV_MLA_SCALE_K_ONLY, MlaScale::KOnly), (GAUDI_KV_MLA_SCALE_MAX_KV, MlaScale::MaxKv)];
        let q_missing =
            [(GAUDI_KV_Q_MISSING_DYNAMIC, QMissing::Dynamic), (GAUDI_KV_Q_MISSING_ONE, QMissing::One)];
        Ok(Options {
            kv_cache_dtype: choice("kv_cache_dtype", self.kv_cache_dtype, &dtypes)?,
            mla_scale: choice("mla_scale", self.mla_scale, &mla_scales)?,
            q_missing: choice("q_missing", self.q_missing, &q_missing)?,
            tensor_parallel: (self.tensor_parallel_size > 0).then_some(TensorParallel {
                size: self.tensor_parallel_size as usize,
                rank: self.tensor_parallel_rank as usize,
            }),
            skip_layers: skip_layers.chain(sliding).collect(),
            scale_adjustment: scale_adjustment.unwrap_or_else(requested_scale_adjustment),
            verify_weights: self.flags & VERIFY_WEIGHTS != 0,
            strict: self.flags & STRICT != 0,
            ..Options::new(generation)
        })
    }
}

/// Inspects the model folder `model` for a device: finds its KV scales, decides what they become there, and says why
/// and what is wrong. `options` may be null for the defaults. What is wrong with the model itself is in the
/// inspection, not an error of the call. To be freed with `gaudi_kv_inspection_free`.
///
/// Unless the options say otherwise, `VLLM_SCALE_ADJUSTMENT` of the environment is read: nobody may change the
/// environment meanwhile.
///
/// Returns `GAUDI_KV_INVALID_MODEL` where the folder cannot be read or does not fit the options, with the file, tensor
/// and layer in `gaudi_kv_last_error`.
///
/// # Safety
/// `model` is null or a path that ends with a zero, `device` null or a device. `options` is null or points to a
/// structure of the size that it says, whose pointers lead to as much as it says. `out` is null or points to a
/// pointer, which is set; to null where the call fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_inspect(
    model: *const c_char,
    device: *const gaudi_kv_device,
    options: *const gaudi_kv_inspect_options,
    out: *mut *mut gaudi_kv_inspection,
) -> gaudi_kv_status {
    let make = || {
        // SAFETY: the caller promises a path that ends with a zero, a live device and a structure of the size that it
        // says, or null.
        let (model, device, options) = unsafe {
            (
                pointer::path("the model", model)?,
                pointer::handle("the device", device)?,
                structure::read_or_default(options)?,
            )
        };
        // SAFETY: the caller promises as many numbers of layers as the options say.
        let options = unsafe { options.resolve(device.device.generation()) }?;
        let inspection = on_threads(|| {
            let folder = ModelFolder::open(model)?;
            Ok(kv::scales::inspect(&folder, &options, &|_| {})?)
        })?;
        let object = ModelJson::new(&inspection, device.device.backend().name());
        let json = serde_json::to_vec(&object).map_err(|error| Failure::internal(error.to_string()))?;
        let (layers, json) = (Layers::of(&inspection.layers), c_string(&json));
        Ok(gaudi_kv_inspection { inspection, layers, json })
    };
    // SAFETY: the caller promises that `out` is null or can be written.
    barrier(|| unsafe { pointer::hand_out(out, make) })
}

/// The inspection as JSON, UTF-8: the object that `gaudi-kv inspect --json` prints. Numbers have enough digits to
/// restore each float32. The text lives as long as the inspection; `len`, which may be null, is set to its bytes
/// without the zero at its end.
///
/// # Safety
/// `inspection` is null or an inspection. `json` is null or points to a pointer, `len` is null or points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_inspection_json(
    inspection: *const gaudi_kv_inspection,
    json: *mut *const c_char,
    len: *mut usize,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live inspection or null.
        let this = unsafe { pointer::handle("the inspection", inspection) }?;
        if json.is_null() {
            return Err(Failure::argument("the place for the JSON is null"));
        }
        // SAFETY: not null, and the caller says that they can be written.
        unsafe {
            json.write(this.json.as_ptr());
            if !len.is_null() {
                len.write(this.json.count_bytes());
            }
        }
        Ok(())
    })
}

/// What an inspection found, in numbers.
///
/// # Safety
/// `inspection` is null or an inspection. `info` is null or points to a structure of the size that it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_inspection_get_info(
    inspection: *const gaudi_kv_inspection,
    info: *mut gaudi_kv_inspection_info,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live inspection or null, and a structure of the size that it says or null.
        let (this, info) = unsafe { (pointer::handle("the inspection", inspection)?, structure::out(info)?) };
        let Inspection { layers, unused, findings, scale_adjustment, .. } = &this.inspection;
        info.fill(gaudi_kv_inspection_info {
            struct_size: 0,
            num_layers: layers.len(),
            num_unused: unused.len(),
            num_notes: findings.notes.len(),
            num_warnings: findings.warnings.len(),
            num_errors: findings.errors.len(),
            kv_cache_dtype: crate::scale::dtype_number(this.inspection.kv_cache_dtype),
            adjustment_enabled: scale_adjustment.enabled.into(),
            fp8_max_quant: scale_adjustment.fp8_max_quant,
            fp8_max_deploy: scale_adjustment.fp8_max_deploy,
        });
        Ok(())
    })
}

/// Frees an inspection, and with it every text and array that came from it; null is none.
///
/// # Safety
/// `inspection` is null or an inspection that has not been freed, and no other call uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_inspection_free(inspection: *mut gaudi_kv_inspection) {
    // SAFETY: the caller promises that the inspection is null or not freed, and that no other call uses it.
    quiet_barrier(|| unsafe { pointer::free(inspection) });
}
