//! A plane on the CPU: what is written to it, read from it, and moved.
#![allow(unsafe_code, reason = "a plane may lie in memory that Rust does not own")]

use half::bf16;
use half::slice::HalfFloatSliceExt;

use super::element_slice::ElementSlice;
use super::memory::PlaneMemory;
use super::quantize::{quantize_rows, with_quantizers};
use crate::Generation;
use crate::device::{DeviceError, HeadScales, Plane, PlaneLayout, StorageDtype};
use crate::fp8::{Dequantizer, Format};

/// A plane of an emulated device: `[num_blocks + 1, block_size_tokens, heads, dim]`, without the one where there is no pad
/// block.
#[derive(Debug)]
pub struct EmulatedPlane {
    layout: PlaneLayout,
    elements: PlaneElements,
}

/// The elements of a plane, by how they are stored.
#[derive(Debug)]
enum PlaneElements {
    /// The generation's e4m3 codes.
    Fp8(PlaneMemory<u8>),
    /// bfloat16 values.
    Bf16(PlaneMemory<bf16>),
    /// bfloat16 values, widened.
    F32(PlaneMemory<f32>),
}

/// Zeros, or an error where the memory cannot be had.
fn zeros<T: Clone + Default>(bytes: usize) -> Result<PlaneMemory<T>, DeviceError> {
    let (len, mut values) = (bytes / size_of::<T>(), Vec::new());
    values.try_reserve_exact(len).map_err(|_| DeviceError::OutOfMemory { bytes })?;
    values.resize(len, T::default());
    Ok(PlaneMemory::Owned(values))
}

impl Plane for EmulatedPlane {
    fn layout(&self) -> &PlaneLayout {
        &self.layout
    }
}

impl EmulatedPlane {
    /// A plane in memory that somebody else owns, such as a tensor of an engine. What it holds stays, and is not freed with
    /// the plane.
    ///
    /// # Errors
    /// `bytes` is not the size of such a plane, or `address` is null or not aligned to its elements.
    ///
    /// # Safety
    /// Whenever a call is given the plane, `bytes` bytes can be read and written at `address`, and until the call ends nobody
    /// but this library uses them: nobody writes to them, and where the call changes the plane, nobody reads them either.
    pub unsafe fn from_raw(layout: PlaneLayout, address: *mut u8, bytes: usize) -> Result<Self, DeviceError> {
        let expected = layout.bytes().unwrap_or(usize::MAX);
        if bytes != expected {
            return Err(DeviceError::PlaneMemory { found: bytes, expected });
        }
        let len = bytes / layout.dtype.bytes();
        // SAFETY: any bits are a u8, bf16 or f32, and the slices that are made of this memory live within a call that is
        // given the plane, shared for reading or exclusive for writing, when the caller's promise holds.
        let elements = unsafe {
            match layout.dtype {
                StorageDtype::Fp8 => PlaneMemory::foreign(address, len).map(PlaneElements::Fp8),
                StorageDtype::Bf16 => PlaneMemory::foreign(address, len).map(PlaneElements::Bf16),
                StorageDtype::F32 => PlaneMemory::foreign(address, len).map(PlaneElements::F32),
            }
        };
        let elements = elements.ok_or(DeviceError::PlaneAddress { alignment: layout.dtype.bytes() })?;
        Ok(Self { layout, elements })
    }

    pub(in super::super) fn allocate(layout: &PlaneLayout) -> Result<Self, DeviceError> {
        let bytes = layout.bytes().unwrap_or(usize::MAX);
        let elements = match layout.dtype {
            StorageDtype::Fp8 => PlaneElements::Fp8(zeros(bytes)?),
            StorageDtype::Bf16 => PlaneElements::Bf16(zeros(bytes)?),
            StorageDtype::F32 => PlaneElements::F32(zeros(bytes)?),
        };
        Ok(Self { layout: *layout, elements })
    }

    /// All elements.
    pub(in super::super) fn elements(&self) -> ElementSlice<'_> {
        match &self.elements {
            PlaneElements::Fp8(codes) => ElementSlice::Codes(codes),
            PlaneElements::Bf16(values) => ElementSlice::Words(values),
            PlaneElements::F32(values) => ElementSlice::Floats(values),
        }
    }

    pub(in super::super) fn write(
        &mut self,
        generation: Generation,
        rows: &[bf16],
        slots: &[usize],
        quant: &HeadScales,
    ) -> Result<(), DeviceError> {
        let layout = self.layout;
        let row = layout.row();
        match &mut self.elements {
            PlaneElements::Fp8(codes) => {
                return with_quantizers(generation, layout.heads, quant, |quantizers| {
                    // Runs of slots, nearly all of a prefill, are converted in one go.
                    for (first, slot, len) in runs(slots) {
                        let (from, to) = (first * row..(first + len) * row, slot * row..(slot + len) * row);
                        quantize_rows(quantizers, &rows[from], layout.dim, &mut codes[to])?;
                    }
                    Ok(())
                });
            }
            PlaneElements::Bf16(values) => {
                for (first, slot, len) in runs(slots) {
                    let from = &rows[first * row..(first + len) * row];
                    values[slot * row..(slot + len) * row].copy_from_slice(from);
                }
            }
            PlaneElements::F32(values) => {
                for (first, slot, len) in runs(slots) {
                    let from = &rows[first * row..(first + len) * row];
                    from.convert_to_f32_slice(&mut values[slot * row..(slot + len) * row]);
                }
            }
        }
        Ok(())
    }

    pub(in super::super) fn read(
        &self,
        generation: Generation,
        slots: &[usize],
        dequant: &HeadScales,
        rows: &mut [bf16],
    ) -> Result<(), DeviceError> {
        let layout = self.layout;
        let row = layout.row();
        match &self.elements {
            PlaneElements::Fp8(codes) => {
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
            PlaneElements::Bf16(values) => {
                for (first, slot, len) in runs(slots) {
                    let from = &values[slot * row..(slot + len) * row];
                    rows[first * row..(first + len) * row].copy_from_slice(from);
                }
            }
            PlaneElements::F32(values) => {
                for (first, slot, len) in runs(slots) {
                    let from = &values[slot * row..(slot + len) * row];
                    rows[first * row..(first + len) * row].convert_from_f32_slice(from);
                }
            }
        }
        Ok(())
    }

    pub(in super::super) fn copy_blocks(&mut self, pairs: &[(usize, usize)]) {
        let len = self.layout.block_size_tokens * self.layout.row();
        for (from, to) in pairs {
            let (from, to) = (from * len..(from + 1) * len, to * len);
            match &mut self.elements {
                PlaneElements::Fp8(codes) => codes.copy_within(from, to),
                PlaneElements::Bf16(values) => values.copy_within(from, to),
                PlaneElements::F32(values) => values.copy_within(from, to),
            }
        }
    }

    pub(in super::super) fn export_block(&self, block: usize) -> Vec<u8> {
        let len = self.layout.block_size_tokens * self.layout.row();
        let range = block * len..(block + 1) * len;
        match &self.elements {
            PlaneElements::Fp8(codes) => codes[range].to_vec(),
            PlaneElements::Bf16(values) => values[range].iter().flat_map(|v| v.to_le_bytes()).collect(),
            PlaneElements::F32(values) => values[range].iter().flat_map(|v| v.to_le_bytes()).collect(),
        }
    }

    pub(in super::super) fn import_block(&mut self, block: usize, bytes: &[u8]) {
        let len = self.layout.block_size_tokens * self.layout.row();
        let range = block * len..(block + 1) * len;
        match &mut self.elements {
            PlaneElements::Fp8(codes) => codes[range].copy_from_slice(bytes),
            PlaneElements::Bf16(values) => {
                let source = bytes.as_chunks::<2>().0;
                values[range].iter_mut().zip(source).for_each(|(v, b)| *v = bf16::from_le_bytes(*b));
            }
            PlaneElements::F32(values) => {
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
