//! The cache of MHA and GQA: keys and values in planes of their own.

use half::bf16;

use super::blocks::{BlockCache, Planes};
use super::paged::{check_len, with_slots};
use super::{CacheError, CacheGeometry, Paged};
use crate::device::{Device, Plane, PlaneLayout, PlanePair};
use crate::{Generation, ScaleFactors};

/// Keys and values, `[num_blocks + 1, block_size_tokens, num_kv_heads, head_dim]` each.
#[derive(Debug)]
pub struct MhaCache<P> {
    generation: Generation,
    pub(crate) key: Paged<P>,
    pub(crate) value: Paged<P>,
}

impl<P: Plane> MhaCache<P> {
    /// An empty cache on a device. `head_dim` is that of the key; the value's may differ.
    ///
    /// # Errors
    /// The cache is FP8 and the device does not apply scales, a scale does not fit, or the memory cannot be had.
    pub fn new<D: Device<Plane = P>>(
        device: &D,
        geometry: CacheGeometry,
        num_kv_heads: usize,
        (head_dim, v_head_dim): (usize, usize),
        (k_scale, v_scale): (&ScaleFactors, &ScaleFactors),
    ) -> Result<Self, CacheError> {
        let allocate = |layout: &PlaneLayout| Ok(device.allocate(layout)?);
        let (dims, scales) = ((head_dim, v_head_dim), (k_scale, v_scale));
        Self::over(device, geometry, num_kv_heads, dims, scales, (allocate, allocate))
    }

    /// A cache in planes that the caller makes, of the key and of the value, such as
    /// [planes in an engine's memory](crate::device::emulated::EmulatedPlane::from_raw). What they hold stays.
    ///
    /// # Errors
    /// The cache is FP8 and the device does not apply scales, a scale does not fit, or a plane cannot be made.
    pub fn over<D: Device<Plane = P>>(
        device: &D,
        geometry: CacheGeometry,
        num_kv_heads: usize,
        (head_dim, v_head_dim): (usize, usize),
        (k_scale, v_scale): (&ScaleFactors, &ScaleFactors),
        (key, value): (
            impl FnOnce(&PlaneLayout) -> Result<P, CacheError>,
            impl FnOnce(&PlaneLayout) -> Result<P, CacheError>,
        ),
    ) -> Result<Self, CacheError> {
        Ok(Self {
            generation: device.generation(),
            key: Paged::new(device, geometry, (num_kv_heads, head_dim), k_scale, "key", key)?,
            value: Paged::new(device, geometry, (num_kv_heads, v_head_dim), v_scale, "value", value)?,
        })
    }

    /// Its blocks, and how they are stored.
    #[must_use]
    pub fn geometry(&self) -> CacheGeometry {
        CacheGeometry::of(self.key.layout())
    }

    /// Its planes as attention takes them, with the blocks of a batch.
    pub(crate) const fn plane_pair<'a>(&'a self, blocks: &'a [usize]) -> PlanePair<'a, P> {
        PlanePair { key: &self.key.plane, value: &self.value.plane, blocks }
    }

    /// Stores the keys and values of tokens at their slots, `[tokens, num_kv_heads, head_dim]`.
    ///
    /// # Errors
    /// A slot is outside the cache, or the rows do not match the slots. Nothing is written then.
    pub fn write<D: Device<Plane = P>>(
        &mut self,
        device: &D,
        k: &[bf16],
        v: &[bf16],
        slot_mapping: &[i64],
    ) -> Result<(), CacheError> {
        self.check_device(device)?;
        let layout = *self.key.layout();
        with_slots(&layout, slot_mapping, |slots| {
            check_len("k", k.len(), slots.len() * self.key.layout().row())?;
            check_len("v", v.len(), slots.len() * self.value.layout().row())?;
            self.key.write(device, k, slots)?;
            self.value.write(device, v, slots)
        })
    }

    /// The keys and values at slots, as bfloat16.
    ///
    /// # Errors
    /// A slot is outside the cache.
    pub fn read<D: Device<Plane = P>>(
        &self,
        device: &D,
        slot_mapping: &[i64],
    ) -> Result<(Vec<bf16>, Vec<bf16>), CacheError> {
        self.check_device(device)?;
        with_slots(self.key.layout(), slot_mapping, |slots| {
            Ok((self.key.read(device, slots)?, self.value.read(device, slots)?))
        })
    }
}

impl<P: Plane> Planes<P> for MhaCache<P> {
    fn generation(&self) -> Generation {
        self.generation
    }

    fn planes(&self) -> Vec<&Paged<P>> {
        vec![&self.key, &self.value]
    }

    fn planes_mut(&mut self) -> Vec<&mut Paged<P>> {
        vec![&mut self.key, &mut self.value]
    }
}
