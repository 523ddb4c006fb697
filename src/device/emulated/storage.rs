//! The memory of a plane on the CPU.

use half::bf16;
use half::slice::HalfFloatSliceExt;

use super::PlaneMemory;
use super::head_rows::{quantize_rows, set_quantizers};
use super::workspace;
use crate::Generation;
use crate::device::{DeviceError, HeadScales, PlaneLayout, StorageDtype};
use crate::fp8::{Dequantizer, Format};

/// A plane's elements, `[num_blocks + 1, block_size_tokens, heads, dim]`; without the one where there is no pad block.
#[derive(Debug)]
pub enum EmulatedPlane {
    /// The generation's e4m3 codes.
    Fp8(PlaneMemory<u8>),
    /// bfloat16 values.
    Bf16(PlaneMemory<bf16>),
    /// bfloat16 values, widened.
    F32(PlaneMemory<f32>),
}

/// Zeros, or an error where the memory cannot be had.
fn zeros<T: Clone + Default>(len: usize) -> Result<PlaneMemory<T>, DeviceError> {
    let mut values = Vec::new();
    let bytes = len.saturating_mul(size_of::<T>());
    values.try_reserve_exact(len).map_err(|_| DeviceError::OutOfMemory { bytes })?;
    values.resize(len, T::default());
    Ok(PlaneMemory::Owned(values))
}

impl EmulatedPlane {
    /// This plane, after a check that `layout` describes it. What it holds stays.
    ///
    /// # Errors
    /// The layout has another number of elements, or another type.
    pub fn checked(self, layout: &PlaneLayout) -> Result<Self, DeviceError> {
        let found = match &self {
            Self::Fp8(codes) => (codes.len(), StorageDtype::Fp8),
            Self::Bf16(values) => (values.len(), StorageDtype::Bf16),
            Self::F32(values) => (values.len(), StorageDtype::F32),
        };
        let expected = (layout.slots() * layout.row(), layout.dtype);
        if found == expected { Ok(self) } else { Err(DeviceError::PlaneMemory { found, expected }) }
    }

    pub(super) fn allocate(layout: &PlaneLayout) -> Result<Self, DeviceError> {
        let len = layout.slots() * layout.row();
        Ok(match layout.dtype {
            StorageDtype::Fp8 => Self::Fp8(zeros(len)?),
            StorageDtype::Bf16 => Self::Bf16(zeros(len)?),
            StorageDtype::F32 => Self::F32(zeros(len)?),
        })
    }

    pub(super) fn write(
        &mut self,
        generation: Generation,
        layout: &PlaneLayout,
        rows: &[bf16],
        slots: &[usize],
        quant: &HeadScales,
    ) -> Result<(), DeviceError> {
        let row = layout.row();
        match self {
            Self::Fp8(codes) => {
                return workspace::with(|workspace| {
                    let quantizers = &mut workspace.quantizers;
                    set_quantizers(quantizers, generation, layout.heads, quant)?;
                    // Runs of slots, nearly all of a prefill, are converted in one go.
                    for (first, slot, len) in runs(slots) {
                        let (from, to) = (first * row..(first + len) * row, slot * row..(slot + len) * row);
                        quantize_rows(quantizers, &rows[from], layout.dim, &mut codes[to])?;
                    }
                    Ok(())
                });
            }
            Self::Bf16(values) => {
                for (first, slot, len) in runs(slots) {
                    let from = &rows[first * row..(first + len) * row];
                    values[slot * row..(slot + len) * row].copy_from_slice(from);
                }
            }
            Self::F32(values) => {
                for (first, slot, len) in runs(slots) {
                    let from = &rows[first * row..(first + len) * row];
                    from.convert_to_f32_slice(&mut values[slot * row..(slot + len) * row]);
                }
            }
        }
        Ok(())
    }

    pub(super) fn read(
        &self,
        generation: Generation,
        layout: &PlaneLayout,
        slots: &[usize],
        dequant: &HeadScales,
        rows: &mut [bf16],
    ) -> Result<(), DeviceError> {
        let row = layout.row();
        match self {
            Self::Fp8(codes) => {
                let format = Format::kv_cache(generation);
                let dequantizers = (0..layout.heads)
                    .map(|head| Dequantizer::new(format, dequant.of(head)))
                    .collect::<Result<Vec<_>, _>>()?;
                for (first, slot, len) in runs(slots) {
                    let from = &codes[slot * row..(slot + len) * row];
                    let to = &mut rows[first * row..(first + len) * row];
                    if let HeadScales::One(_) = dequant {
                        dequantizers[0].dequant_bf16(from, to)?;
                        continue;
                    }
                    let pieces = from.chunks_exact(layout.dim).zip(to.chunks_exact_mut(layout.dim));
                    for (number, (from, to)) in pieces.enumerate() {
                        dequantizers[number % layout.heads].dequant_bf16(from, to)?;
                    }
                }
            }
            Self::Bf16(values) => {
                for (first, slot, len) in runs(slots) {
                    let from = &values[slot * row..(slot + len) * row];
                    rows[first * row..(first + len) * row].copy_from_slice(from);
                }
            }
            Self::F32(values) => {
                for (first, slot, len) in runs(slots) {
                    let from = &values[slot * row..(slot + len) * row];
                    rows[first * row..(first + len) * row].convert_from_f32_slice(from);
                }
            }
        }
        Ok(())
    }

    pub(super) fn copy_blocks(&mut self, layout: &PlaneLayout, pairs: &[(usize, usize)]) {
        let len = layout.block_size_tokens * layout.row();
        for (from, to) in pairs {
            let (from, to) = (from * len..(from + 1) * len, to * len);
            match self {
                Self::Fp8(codes) => codes.copy_within(from, to),
                Self::Bf16(values) => values.copy_within(from, to),
                Self::F32(values) => values.copy_within(from, to),
            }
        }
    }

    pub(super) fn export_block(&self, layout: &PlaneLayout, block: usize) -> Vec<u8> {
        let len = layout.block_size_tokens * layout.row();
        let range = block * len..(block + 1) * len;
        match self {
            Self::Fp8(codes) => codes[range].to_vec(),
            Self::Bf16(values) => values[range].iter().flat_map(|v| v.to_le_bytes()).collect(),
            Self::F32(values) => values[range].iter().flat_map(|v| v.to_le_bytes()).collect(),
        }
    }

    pub(super) fn import_block(&mut self, layout: &PlaneLayout, block: usize, bytes: &[u8]) {
        let len = layout.block_size_tokens * layout.row();
        let range = block * len..(block + 1) * len;
        match self {
            Self::Fp8(codes) => codes[range].copy_from_slice(bytes),
            Self::Bf16(values) => {
                let source = bytes.as_chunks::<2>().0;
                values[range].iter_mut().zip(source).for_each(|(v, b)| *v = bf16::from_le_bytes(*b));
            }
            Self::F32(values) => {
                let source = bytes.as_chunks::<4>().0;
                values[range].iter_mut().zip(source).for_each(|(v, b)| *v = f32::from_le_bytes(*b));
            }
        }
    }
}

/// Runs of consecutive slots: (number of the first row, its slot, length).
fn runs(slots: &[usize]) -> impl Iterator<Item = (usize, usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let first = *slots.get(at)?;
        let len = slots[at..].iter().enumerate().take_while(|(i, slot)| **slot == first + i).count();
        let run = (at, first, len);
        at += len;
        Some(run)
    })
}
