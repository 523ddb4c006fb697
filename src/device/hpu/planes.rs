//! Cache planes: allocating, writing, reading, copying, exporting and importing them.

use std::collections::{HashMap, HashSet};

use half::bf16;

use super::buckets::{self, MAX_ROWS};
use super::engine::{NamedOperand, Operand, bf16_bytes, f32_bytes, index_bytes};
use super::error::HpuError;
use super::graph::copy::copy_blocks_graph;
use super::graph::read::{fetch_graph, read_graph};
use super::graph::write::write_graph;
use super::graph::{Dtype, ScaleShape};
use super::kernels::CodeMover;
use super::plane::{HpuPlane, plane_bytes};
use super::session::Session;
use crate::Generation;
use crate::device::{DeviceError, HeadScales, PlaneLayout, StorageDtype};
use crate::fp8::Quantizer;

/// The multipliers of a plane's heads, in the shape that its recipe takes.
fn multipliers(heads: usize, scales: &HeadScales) -> (ScaleShape, Operand<'static>) {
    match scales {
        HeadScales::One(scale) => (ScaleShape::One, f32_bytes([*scale])),
        HeadScales::PerHead(_) => (ScaleShape::PerHead, f32_bytes((0..heads).map(|head| scales.of(head)))),
    }
}

/// Refuses multipliers that no conversion takes, as a conversion on the host does.
pub(super) fn check_scales(
    generation: Generation,
    heads: usize,
    scales: &HeadScales,
) -> Result<(), DeviceError> {
    for head in 0..heads {
        Quantizer::kv_cache(generation, scales.of(head))?;
    }
    Ok(())
}

/// The values with the last one repeated up to a length.
fn filled(values: &[usize], len: usize) -> impl Iterator<Item = usize> + '_ {
    let last = values.last().copied().unwrap_or_default();
    values.iter().copied().chain(std::iter::repeat(last)).take(len)
}

impl Session<'_> {
    /// New memory for a plane.
    pub(super) fn allocate(&mut self, layout: &PlaneLayout) -> Result<HpuPlane, HpuError> {
        buckets::indexable((layout.slots() + 1).saturating_mul(layout.heads))?;
        Ok(HpuPlane { layout: *layout, memory: self.engine.zeroed("a cache plane", plane_bytes(layout))? })
    }

    pub(super) fn write(
        &mut self,
        plane: &HpuPlane,
        rows: &[bf16],
        slots: &[usize],
        quant: &HeadScales,
    ) -> Result<(), DeviceError> {
        let layout = &plane.layout;
        if layout.dtype == StorageDtype::Fp8 {
            check_scales(self.generation, layout.heads, quant)?;
        }
        let kept = last_of_each(slots);
        let row = layout.row();
        for numbers in kept.chunks(MAX_ROWS) {
            let count = buckets::rounded(numbers.len());
            let taken = filled(numbers, count).collect::<Vec<_>>();
            let values = taken.iter().flat_map(|number| &rows[number * row..(number + 1) * row]).copied();
            let view = self.kernels.view(CodeMover::IndexCopy, layout.dtype, self.engine)?;
            let (shape, scale) = multipliers(layout.heads, quant);
            let mut operands = vec![
                ("cache", Operand::Memory(&plane.memory)),
                ("slots", index_bytes(taken.iter().map(|number| slots[*number]))),
                ("rows", bf16_bytes(values)),
            ];
            let shape = if layout.dtype == StorageDtype::Fp8 {
                operands.push(("quant", scale));
                shape
            } else {
                ScaleShape::One
            };
            let compiled = self.recipes.get(&write_graph(layout, count, shape, view))?;
            self.engine.change(&compiled, &operands)?;
        }
        Ok(())
    }

    pub(super) fn read(
        &mut self,
        plane: &HpuPlane,
        slots: &[usize],
        dequant: &HeadScales,
        rows: &mut [bf16],
    ) -> Result<(), DeviceError> {
        let layout = &plane.layout;
        if layout.dtype == StorageDtype::Fp8 {
            check_scales(self.generation, layout.heads, dequant)?;
        }
        let row = layout.row();
        for (slots, rows) in slots.chunks(MAX_ROWS).zip(rows.chunks_mut(MAX_ROWS * row)) {
            let count = buckets::rounded(slots.len());
            let indices = index_bytes(filled(slots, count));
            let cache = ("cache", Operand::Memory(&plane.memory));
            match layout.dtype {
                StorageDtype::Fp8 => {
                    let view = self.kernels.view(CodeMover::Gather, layout.dtype, self.engine)?;
                    let (shape, scale) = multipliers(layout.heads, dequant);
                    let compiled = self.recipes.get(&read_graph(layout, count, shape, view))?;
                    let operands = [cache, ("slots", indices), ("dequant", scale)];
                    let values = self.engine.compute(&compiled, &operands)?;
                    rows.copy_from_slice(&values[..rows.len()]);
                }
                StorageDtype::Bf16 => {
                    let bytes = self.fetch(Dtype::Bf16, layout, count, [cache, ("rows", indices)])?;
                    let values = bytes.as_chunks::<2>().0;
                    rows.iter_mut().zip(values).for_each(|(to, from)| *to = bf16::from_le_bytes(*from));
                }
                StorageDtype::F32 => {
                    let bytes = self.fetch(Dtype::F32, layout, count, [cache, ("rows", indices)])?;
                    let values = bytes.as_chunks::<4>().0;
                    let narrowed = values.iter().map(|value| bf16::from_f32(f32::from_le_bytes(*value)));
                    rows.iter_mut().zip(narrowed).for_each(|(to, from)| *to = from);
                }
            }
        }
        Ok(())
    }

    /// Rows of a plane as they are stored.
    fn fetch(
        &mut self,
        dtype: Dtype,
        layout: &PlaneLayout,
        rows: usize,
        operands: [NamedOperand<'_>; 2],
    ) -> Result<Vec<u8>, HpuError> {
        let compiled = self.recipes.get(&fetch_graph(dtype, (layout.slots(), layout.row()), rows))?;
        self.engine.fetch(&compiled, &operands)
    }

    pub(super) fn copy_blocks(&mut self, plane: &HpuPlane, pairs: &[(usize, usize)]) -> Result<(), HpuError> {
        let layout = &plane.layout;
        for pairs in pairs.chunks(buckets::max_pairs(layout.block_bytes())) {
            let (from, to) = at_once(pairs);
            if from.is_empty() {
                continue;
            }
            let count = buckets::rounded(from.len());
            let compiled = self.recipes.get(&copy_blocks_graph(layout, count))?;
            let operands = [
                ("cache", Operand::Memory(&plane.memory)),
                ("from", index_bytes(filled(&from, count))),
                ("to", index_bytes(filled(&to, count))),
            ];
            self.engine.change(&compiled, &operands)?;
        }
        Ok(())
    }

    pub(super) fn export_block(&mut self, plane: &HpuPlane, block: usize) -> Result<Vec<u8>, HpuError> {
        let layout = &plane.layout;
        let bytes = layout.block_bytes();
        self.engine.download(&plane.memory, block * bytes, bytes)
    }

    pub(super) fn import_block(
        &mut self,
        plane: &HpuPlane,
        block: usize,
        bytes: &[u8],
    ) -> Result<(), HpuError> {
        let layout = &plane.layout;
        self.engine.store(&plane.memory, block * layout.block_bytes(), bytes)
    }
}

/// The numbers of the rows that remain when each slot takes the last one meant for it, in order. Which of two writes to
/// one place of a launch comes last is not defined.
fn last_of_each(slots: &[usize]) -> Vec<usize> {
    let mut seen = HashSet::with_capacity(slots.len());
    let mut kept: Vec<usize> = (0..slots.len()).rev().filter(|number| seen.insert(slots[*number])).collect();
    kept.reverse();
    kept
}

/// Copies that are to be made one after the other, as copies that can be made at once: where each block's new content
/// is before any of them. Sources, then destinations.
fn at_once(pairs: &[(usize, usize)]) -> (Vec<usize>, Vec<usize>) {
    let mut origins: HashMap<usize, usize> = HashMap::with_capacity(pairs.len());
    let mut order = Vec::with_capacity(pairs.len());
    for (from, to) in pairs {
        let origin = origins.get(from).copied().unwrap_or(*from);
        if origins.insert(*to, origin).is_none() {
            order.push(*to);
        }
    }
    let moved = order.into_iter().map(|to| (origins[&to], to)).filter(|(from, to)| from != to);
    moved.unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_row_for_a_slot_is_kept() {
        assert_eq!(last_of_each(&[5, 3, 5, 7, 3]), [2, 3, 4]);
        assert_eq!(last_of_each(&[1, 2, 3]), [0, 1, 2]);
        assert!(last_of_each(&[]).is_empty());
    }

    #[test]
    fn copies_in_order_are_resolved_to_where_the_content_is() {
        // 0 -> 1, then 1 -> 2: block 2 gets what block 0 held.
        assert_eq!(at_once(&[(0, 1), (1, 2)]), (vec![0, 0], vec![1, 2]));
        // A swap by way of a third block.
        assert_eq!(at_once(&[(0, 2), (1, 0), (2, 1)]), (vec![0, 1, 0], vec![2, 0, 1]));
        // There and back again, onto itself, and twice to one place.
        assert_eq!(at_once(&[(0, 1), (1, 0), (3, 3), (4, 1)]), (vec![4], vec![1]));
    }
}
