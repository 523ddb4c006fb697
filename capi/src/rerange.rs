//! Re-ranging of codes, in place.

use kv::Generation;
use kv::fp8::{Format, Rerange};

use crate::device::generation;
use crate::failure::Failure;
use crate::last_error::barrier;
use crate::pointer;
use crate::status::gaudi_kv_status;
use crate::structure::{self, Structure, field_end};

/// What became of codes. Output; every code is counted once.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct gaudi_kv_rerange_counts {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// The new code is exactly the old value times the factor.
    pub exact: u64,
    /// It is the nearest one, which is another and not zero.
    pub rounded: u64,
    /// It is zero, and the old value was not.
    pub flushed: u64,
    /// It is the largest finite one: the product lies beyond it, or the old code was Inf.
    pub saturated: u64,
    /// The old code was NaN, and so is the new one.
    pub nan: u64,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_rerange_counts {
    const NAME: &'static str = "gaudi_kv_rerange_counts";
    const REQUIRED: usize = field_end!(gaudi_kv_rerange_counts, nan);
    const WHOLE: usize = field_end!(gaudi_kv_rerange_counts, nan);
}

/// Multiplies each of `len` e4m3 codes by `factor`, in place: the product is formed in float32 and rounded to the
/// nearest code, ties to even, saturating. Signs stay. The scale that belongs to the codes is to be divided by
/// `factor`: 0.5 for a Gaudi2 and 2 on the way back lose least, 240.0 / 448.0 is the ratio of the ranges.
///
/// `GAUDI_KV_GAUDI2` as `device` goes from e4m3 up to 448 (OCP e4m3fn) to what a Gaudi2 reads, up to 240;
/// `GAUDI_KV_GAUDI3` goes from what a Gaudi2 reads back to e4m3 up to 448, which a Gaudi3 reads.
///
/// One thread is used; different threads may work on different codes at the same time.
///
/// Returns `GAUDI_KV_INVALID_ARGUMENT` for null pointers, for a `device` that there is none of, or for a `struct_size`
/// that is too small, and `GAUDI_KV_INVALID_FACTOR` for a factor that is not finite and positive, in float32 or
/// rounded to bfloat16. Nothing is changed then.
///
/// # Safety
/// `codes` points to `len` bytes; it may be null where `len` is 0. `counts` is null, or points to a structure of the
/// size that it says. Nothing else uses them during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_rerange(
    codes: *mut u8,
    len: usize,
    device: i32,
    factor: f32,
    counts: *mut gaudi_kv_rerange_counts,
) -> gaudi_kv_status {
    barrier(|| {
        let (ocp, gaudi2) = (Format::E4M3FN, Format::kv_cache(Generation::Gaudi2));
        let (from, to) = match generation(device)? {
            Generation::Gaudi2 => (ocp, gaudi2),
            Generation::Gaudi3 => (gaudi2, ocp),
        };
        // SAFETY: the caller promises a structure of the size that it says; null is for who does not want to know.
        let counts = if counts.is_null() { None } else { Some(unsafe { structure::out(counts) }?) };
        let rerange = Rerange::new(from, to, factor).map_err(Failure::from)?;
        // SAFETY: the caller promises `len` codes that nobody else uses.
        let result = rerange.apply(unsafe { pointer::slice_mut("codes", codes, len) }?);
        if let Some(counts) = counts {
            counts.fill(gaudi_kv_rerange_counts {
                struct_size: 0,
                exact: result.exact,
                rounded: result.rounded,
                flushed: result.flushed,
                saturated: result.saturated,
                nan: result.nan,
            });
        }
        Ok(())
    })
}
