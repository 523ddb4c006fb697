//! Quantizing bfloat16 rows to e4m3 codes: by the multipliers of their heads, or each by its own amax.

use std::cell::Cell;

use half::bf16;

use crate::Generation;
use crate::device::amax::quant_by_amax;
use crate::device::{DeviceError, HeadScales};
use crate::fp8::Quantizer;

thread_local! {
    /// Where the quantizers of a plane's heads are kept while it is written.
    static QUANTIZERS: Cell<Vec<Quantizer>> = const { Cell::new(Vec::new()) };
}

/// Does something with the quantizers of `heads` heads: one for all, or one for each.
pub(in super::super) fn with_quantizers(
    generation: Generation,
    heads: usize,
    quant: &HeadScales,
    work: impl FnOnce(&[Quantizer]) -> Result<(), DeviceError>,
) -> Result<(), DeviceError> {
    let mut quantizers = QUANTIZERS.take();
    let result = set_quantizers(&mut quantizers, generation, heads, quant).and_then(|()| work(&quantizers));
    QUANTIZERS.set(quantizers);
    result
}

/// The quantizers of `heads` heads, in place of those in the list: one for all, or one for each.
fn set_quantizers(
    quantizers: &mut Vec<Quantizer>,
    generation: Generation,
    heads: usize,
    quant: &HeadScales,
) -> Result<(), DeviceError> {
    let count = if let HeadScales::One(_) = quant { 1 } else { heads };
    quantizers.clear();
    for head in 0..count {
        quantizers.push(Quantizer::kv_cache(generation, quant.of(head))?);
    }
    Ok(())
}

/// Quantizes `[rows, heads, dim]` by the quantizers of the heads.
pub(in super::super) fn quantize_rows(
    quantizers: &[Quantizer],
    values: &[bf16],
    dim: usize,
    codes: &mut [u8],
) -> Result<(), DeviceError> {
    match quantizers {
        [one] => one.quant_bf16(values, codes)?,
        each => Quantizer::quant_heads_bf16(each, dim, values, codes)?,
    }
    Ok(())
}

/// Quantizes a row so that its largest magnitude reaches the end of the range, and returns what multiplies it back.
pub(in super::super) fn quantize_by_amax(
    generation: Generation,
    values: &[bf16],
    codes: &mut [u8],
) -> Result<f32, DeviceError> {
    let quant = quant_by_amax(generation, values);
    Quantizer::kv_cache(generation, quant)?.quant_bf16(values, codes)?;
    Ok(1.0 / quant)
}
