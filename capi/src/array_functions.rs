//! Functions over arrays that need no codec: rounding to bfloat16, the largest magnitude, codes that a device cannot
//! read; and scales that cost nothing.

use half::bf16;
use kv::fp8::{align_dequant_scale, amax_bf16, amax_f32, bf16_from_f32_slice, scan_codes};

use crate::device::generation;
use crate::failure::Failure;
use crate::last_error::barrier;
use crate::pointer::{self, bytes_of, check_disjoint};
use crate::status::gaudi_kv_status;
use crate::structure::{self, Structure, field_end};

/// What a scan of e4m3 codes found. Output.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_code_scan {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// Codes with `code & 0x7F` above 0x77: 256 to 448 and NaN as OCP e4m3fn, Inf or NaN to a Gaudi2.
    pub above_gaudi2_max: u64,
    /// Codes 0x7F and 0xFF, NaN to every reader of e4m3fn; also counted in `above_gaudi2_max`.
    pub nan: u64,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_code_scan {
    const NAME: &'static str = "gaudi_kv_code_scan";
    const REQUIRED: usize = field_end!(gaudi_kv_code_scan, nan);
    const WHOLE: usize = field_end!(gaudi_kv_code_scan, nan);
}

/// A dequantization scale that costs nothing on the device. Output.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_aligned_scale {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// The scale: a power of two.
    pub scale: f32,
    /// The exponent bias that stands for it: 7 minus the logarithm of the scale.
    pub bias: u32,
    /// 1 where the scale asked for is larger than the largest one of the device, so that values will saturate that
    /// need not have; else 0.
    pub clamped: i32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_aligned_scale {
    const NAME: &'static str = "gaudi_kv_aligned_scale";
    const REQUIRED: usize = field_end!(gaudi_kv_aligned_scale, reserved);
    const WHOLE: usize = field_end!(gaudi_kv_aligned_scale, reserved);
}

/// Rounds `len` float32 values to bfloat16 bits, as the device does: nearest even, overflow becomes Inf, denormals are
/// kept, every NaN becomes 0x7FFF.
///
/// Returns `GAUDI_KV_INVALID_ARGUMENT` where the arrays overlap. Nothing is written then.
///
/// # Safety
/// `values` and `rounded` point to `len` elements; null is for none. Nobody changes `values` or uses `rounded` during
/// the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_round_bf16(
    values: *const f32,
    rounded: *mut u16,
    len: usize,
) -> gaudi_kv_status {
    barrier(|| {
        check_disjoint(&[("rounded", bytes_of(rounded, len))], &[("values", bytes_of(values, len))])?;
        // SAFETY: the caller promises `len` elements behind both pointers, used by nobody else; bf16 is its bits, and
        // nothing overlaps.
        let (values, rounded) = unsafe {
            (
                pointer::slice("values", values, len)?,
                pointer::slice_mut("rounded", rounded.cast::<bf16>(), len)?,
            )
        };
        Ok(bf16_from_f32_slice(values, rounded)?)
    })
}

/// # Safety
/// `amax` is null or can be written.
unsafe fn set_amax(amax: *mut f32, make: impl FnOnce() -> Result<f32, Failure>) -> Result<(), Failure> {
    if amax.is_null() {
        return Err(Failure::argument("amax is null"));
    }
    let made = make()?;
    // SAFETY: not null, and the caller says that it can be written.
    unsafe { amax.write(made) };
    Ok(())
}

/// The largest magnitude of `len` float32 values: 0 if there are none, NaN if any is NaN, else possibly Inf.
///
/// # Safety
/// `values` points to `len` elements that nobody changes during the call; null is for none. `amax` is null or points
/// to a number, which is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_amax_f32(
    values: *const f32,
    len: usize,
    amax: *mut f32,
) -> gaudi_kv_status {
    // SAFETY: the caller promises `len` values that nobody changes, and that `amax` is null or can be written.
    barrier(|| unsafe { set_amax(amax, || Ok(amax_f32(pointer::slice("values", values, len)?))) })
}

/// The largest magnitude of `len` bfloat16 values, given as bits: 0 if there are none, NaN if any is NaN, else
/// possibly Inf.
///
/// # Safety
/// As for `gaudi_kv_amax_f32`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_amax_bf16(
    values: *const u16,
    len: usize,
    amax: *mut f32,
) -> gaudi_kv_status {
    // SAFETY: the caller promises `len` values that nobody changes, and that `amax` is null or can be written; bf16
    // is its bits, of which any are a value.
    barrier(|| unsafe {
        set_amax(amax, || Ok(amax_bf16(pointer::slice("values", values.cast::<bf16>(), len)?).to_f32()))
    })
}

/// Counts the e4m3 codes that a Gaudi2 cannot read, and the NaN codes, sign ignored.
///
/// # Safety
/// `codes` points to `len` codes that nobody changes during the call; null is for none. `scan` is null or points to a
/// structure of the size that it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_scan_codes(
    codes: *const u8,
    len: usize,
    scan: *mut gaudi_kv_code_scan,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises `len` codes that nobody changes, and a structure of the size that it says.
        let (codes, scan) = unsafe { (pointer::slice("codes", codes, len)?, structure::out(scan)?) };
        let found = scan_codes(codes);
        let (above_gaudi2_max, nan) = (found.above_gaudi2_max, found.nan);
        scan.fill(gaudi_kv_code_scan { struct_size: 0, above_gaudi2_max, nan });
        Ok(())
    })
}

/// The smallest dequantization scale that a `generation` folds into an exponent bias and that is not below `scale`.
/// Gaudi2 folds 1/256, 1/16, 1 and 16, Gaudi3 every power of two from 2^-56 to 2^7.
///
/// Returns `GAUDI_KV_INVALID_FACTOR` for a scale that is not finite and positive, in float32 or rounded to bfloat16,
/// and `GAUDI_KV_INVALID_ARGUMENT` for another generation.
///
/// # Safety
/// `aligned` is null or points to a structure of the size that it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_align_dequant_scale(
    generation: i32,
    scale: f32,
    aligned: *mut gaudi_kv_aligned_scale,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises that `aligned` is null or a structure of the size that it says.
        let out = unsafe { structure::out(aligned) }?;
        let found = align_dequant_scale(self::generation(generation)?, scale)?;
        out.fill(gaudi_kv_aligned_scale {
            struct_size: 0,
            scale: found.scale,
            bias: found.bias.into(),
            clamped: found.clamped.into(),
            reserved: 0,
        });
        Ok(())
    })
}
