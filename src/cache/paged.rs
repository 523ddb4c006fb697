//! One paged plane with its scales: what the caches of MHA and MLA are made of.

use crate::ScaleFactors;
use std::cell::Cell;

use half::bf16;
use xxhash_rust::xxh3::Xxh3;

use super::plane_scale::{checked_for_plane, factor_bits};
use super::{CacheError, CacheGeometry, PlaneImage};
use crate::device::{Device, Plane, PlaneLayout, StorageDtype};

/// A plane in a device's memory, and the multipliers that it is written and read with.
#[derive(Debug)]
pub struct Paged<P> {
    pub(crate) plane: P,
    pub(crate) scale: ScaleFactors,
}

thread_local! {
    /// Where slots are kept once they are checked.
    static SLOTS: Cell<Vec<usize>> = const { Cell::new(Vec::new()) };
}

/// Checks a slot mapping as a whole, before anything is written, then does something with the slots.
pub(super) fn with_slots<R>(
    layout: &PlaneLayout,
    slot_mapping: &[i64],
    run: impl FnOnce(&[usize]) -> Result<R, CacheError>,
) -> Result<R, CacheError> {
    let last = layout.slots() - 1;
    let mut slots = SLOTS.take();
    slots.clear();
    for (index, slot) in slot_mapping.iter().enumerate() {
        let checked = usize::try_from(*slot).ok().filter(|slot| *slot <= last);
        slots.push(checked.ok_or(CacheError::Slot { slot: *slot, index, last })?);
    }
    let result = run(&slots);
    SLOTS.set(slots);
    result
}

/// Checks one block id of a cache that has `blocks` of them, its pad block, which is the last, included.
pub(crate) fn check_block(blocks: usize, block: i32) -> Result<usize, CacheError> {
    let last = blocks.saturating_sub(1);
    let id = usize::try_from(block).ok().filter(|id| *id <= last);
    id.ok_or(CacheError::Block { block: i64::from(block), last })
}

pub(super) fn check_len(what: &'static str, len: usize, expected: usize) -> Result<(), CacheError> {
    if len == expected { Ok(()) } else { Err(CacheError::Length { what, len, expected }) }
}

impl<P: Plane> Paged<P> {
    /// What lies where in the plane.
    pub(crate) fn layout(&self) -> &PlaneLayout {
        self.plane.layout()
    }

    pub(super) fn new<D: Device<Plane = P>>(
        device: &D,
        geometry: CacheGeometry,
        (heads, dim): (usize, usize),
        scale: &ScaleFactors,
        what: &'static str,
        make: impl FnOnce(&PlaneLayout) -> Result<P, CacheError>,
    ) -> Result<Self, CacheError> {
        if geometry.dtype() == StorageDtype::Fp8 && !device.applies_scales() {
            return Err(CacheError::NoScales { device: device.description() });
        }
        let layout = geometry.plane(heads, dim)?;
        let scale = checked_for_plane(scale, &layout, what)?;
        let plane = make(&layout)?;
        if *plane.layout() != layout {
            let shape = |layout: &PlaneLayout| format!("a plane of {layout:?}");
            return Err(CacheError::Shape { found: shape(plane.layout()), expected: shape(&layout) });
        }
        Ok(Self { plane, scale })
    }

    /// Stores rows at slots that were checked.
    pub(super) fn write<D: Device<Plane = P>>(
        &mut self,
        device: &D,
        rows: &[bf16],
        slots: &[usize],
    ) -> Result<(), CacheError> {
        device.write(&mut self.plane, rows, slots, &self.scale.quant)?;
        Ok(())
    }

    /// The rows at slots that were checked, `[slots, heads, dim]`.
    pub(crate) fn read<D: Device<Plane = P>>(
        &self,
        device: &D,
        slots: &[usize],
    ) -> Result<Vec<bf16>, CacheError> {
        let mut rows = vec![bf16::ZERO; slots.len() * self.layout().row()];
        device.read(&self.plane, slots, &self.scale.dequant, &mut rows)?;
        Ok(rows)
    }

    /// Hashes everything that the meaning of stored bytes depends on.
    pub(super) fn hash_into(&self, hasher: &mut Xxh3) {
        let layout = self.layout();
        hasher.update(layout.dtype.name().as_bytes());
        for size in [layout.block_size_tokens, layout.heads, layout.dim] {
            hasher.update(&(size as u64).to_le_bytes());
        }
        for bits in factor_bits(&self.scale, layout.heads) {
            hasher.update(&bits.to_le_bytes());
        }
    }

    pub(super) fn export<D: Device<Plane = P>>(
        &self,
        device: &D,
        block: usize,
    ) -> Result<PlaneImage, CacheError> {
        let layout = self.layout();
        Ok(PlaneImage {
            dtype: layout.dtype,
            block_size_tokens: layout.block_size_tokens,
            heads: layout.heads,
            dim: layout.dim,
            bytes: device.export_block(&self.plane, block)?,
        })
    }

    /// Whether a block of another cache has this plane's type and shape.
    pub(super) fn check_image(&self, image: &PlaneImage) -> Result<(), CacheError> {
        let layout = self.layout();
        if image.dtype != layout.dtype {
            return Err(CacheError::Dtype { found: image.dtype, expected: layout.dtype });
        }
        let shape = |tokens: usize, heads: usize, dim: usize, bytes: usize| {
            format!("{tokens} tokens of {heads} heads of {dim} ({bytes} bytes)")
        };
        let found = shape(image.block_size_tokens, image.heads, image.dim, image.bytes.len());
        let expected = shape(layout.block_size_tokens, layout.heads, layout.dim, layout.block_bytes());
        if found == expected { Ok(()) } else { Err(CacheError::Shape { found, expected }) }
    }
}
