//! Conversions of arrays to FP8 and back, and from one generation's range to the other's.

use gaudi_kv::fp8::{Dequantizer, Format, Quantizer, Rerange, RerangeCounts, bf16_from_f32_slice};
use pyo3::prelude::*;

use crate::array::{Array, Element};
use crate::device::generation;
use crate::dispatch::work;
use crate::error::Failure;
use crate::memory_lease::{Operands, View, ViewMut};

/// Checks that an output has the shape of its input.
fn same_shape(x: &Array, out: &Array) -> Result<(), Failure> {
    if x.shape == out.shape {
        return Ok(());
    }
    let message = format!("{} has the shape {:?}, {} {:?}", x.what, x.shape, out.what, out.shape);
    Err(Failure::Shape(message))
}

/// Writes the FP8 codes of `x * quant` to `out`.
#[pyfunction]
#[pyo3(signature = (x, quant, generation, out))]
pub(crate) fn quant_fp8(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    quant: f32,
    generation: &str,
    out: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let quantizer = Quantizer::kv_cache(self::generation(generation)?, quant).map_err(Failure::from)?;
    let (x, out) = (Array::of("x", x)?, Array::of("out", out)?);
    same_shape(&x, &out)?;
    let mut operands = Operands::default();
    let codes: ViewMut<u8> = operands.write(&out)?;
    if x.element == Element::F32 {
        let x: View<f32> = operands.read(&x)?;
        return work(py, operands, |lease| Ok(quantizer.quant_f32(lease.slice(x), lease.slice_mut(codes))?));
    }
    let x = operands.read(&x)?;
    work(py, operands, |lease| Ok(quantizer.quant_bf16(lease.slice(x), lease.slice_mut(codes))?))
}

/// Writes the values of FP8 codes times `dequant` to `out`.
#[pyfunction]
#[pyo3(signature = (codes, dequant, generation, out))]
pub(crate) fn dequant_fp8(
    py: Python<'_>,
    codes: &Bound<'_, PyAny>,
    dequant: f32,
    generation: &str,
    out: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let format = Format::kv_cache(self::generation(generation)?);
    let dequantizer = Dequantizer::new(format, dequant).map_err(Failure::from)?;
    let (codes, out) = (Array::of("codes", codes)?, Array::of("out", out)?);
    same_shape(&codes, &out)?;
    let mut operands = Operands::default();
    let codes: View<u8> = operands.read(&codes)?;
    if out.element == Element::F32 {
        let out = operands.write(&out)?;
        return work(py, operands, |lease| {
            Ok(dequantizer.dequant_f32(lease.slice(codes), lease.slice_mut(out))?)
        });
    }
    let out = operands.write(&out)?;
    work(py, operands, |lease| Ok(dequantizer.dequant_bf16(lease.slice(codes), lease.slice_mut(out))?))
}

/// Rewrites e4m3 codes for the range of another generation, with half or twice each value: in place, or into `out`.
/// Returns how many codes are exact, rounded, flushed to zero, saturated, NaN.
#[pyfunction]
#[pyo3(signature = (codes, to, out))]
pub(crate) fn rerange(
    py: Python<'_>,
    codes: &Bound<'_, PyAny>,
    to: &str,
    out: Option<&Bound<'_, PyAny>>,
) -> PyResult<(u64, u64, u64, u64, u64)> {
    let rerange = match generation(to)? {
        gaudi_kv::Generation::Gaudi2 => Rerange::halve_for_gaudi2(),
        gaudi_kv::Generation::Gaudi3 => Rerange::double_from_gaudi2(),
    };
    let codes = Array::of("codes", codes)?;
    let mut operands = Operands::default();
    let counts = if let Some(out) = out {
        let out = Array::of("out", out)?;
        same_shape(&codes, &out)?;
        let (codes, out) = (operands.read(&codes)?, operands.write(&out)?);
        work(py, operands, |lease| Ok(copy_reranged(&rerange, lease.slice(codes), lease.slice_mut(out))))?
    } else {
        let codes = operands.write(&codes)?;
        work(py, operands, |lease| Ok(rerange.apply(lease.slice_mut(codes))))?
    };
    Ok((counts.exact, counts.rounded, counts.flushed, counts.saturated, counts.nan))
}

/// Rewrites a copy of codes piece by piece, so that each is in the cache of the core when it is rewritten.
fn copy_reranged(rerange: &Rerange, codes: &[u8], out: &mut [u8]) -> RerangeCounts {
    const PIECE: usize = 128 << 10;
    let mut sum = RerangeCounts::default();
    for (codes, out) in codes.chunks(PIECE).zip(out.chunks_mut(PIECE)) {
        out.copy_from_slice(codes);
        let counts = rerange.apply(out);
        sum.exact += counts.exact;
        sum.rounded += counts.rounded;
        sum.flushed += counts.flushed;
        sum.saturated += counts.saturated;
        sum.nan += counts.nan;
    }
    sum
}

/// Rounds float32 to bfloat16, as the device does.
#[pyfunction]
#[pyo3(signature = (x, out))]
pub(crate) fn round_bf16(py: Python<'_>, x: &Bound<'_, PyAny>, out: &Bound<'_, PyAny>) -> PyResult<()> {
    let (x, out) = (Array::of("x", x)?, Array::of("out", out)?);
    same_shape(&x, &out)?;
    let mut operands = Operands::default();
    let (x, out) = (operands.read(&x)?, operands.write(&out)?);
    work(py, operands, |lease| Ok(bf16_from_f32_slice(lease.slice(x), lease.slice_mut(out))?))
}
