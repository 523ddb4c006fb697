//! The cache of MLA: one latent for keys and values.

use std::cell::Cell;

use half::bf16;

use super::blocks::{BlockCache, Planes};
use super::paged::{check_len, with_slots};
use super::{CacheError, CacheGeometry, Paged};
use crate::device::{Device, Plane, PlaneLayout, PlanePair};
use crate::{Generation, ScaleFactors};

/// Joined rows of more bytes than this are given back to the system.
const KEPT_BYTES: usize = 16 << 20;

thread_local! {
    /// Where the two parts of latents are joined.
    static ROWS: Cell<Vec<bf16>> = const { Cell::new(Vec::new()) };
}

/// Latents, `[num_blocks + 1, block_size_tokens, kv_lora_rank + qk_rope_head_dim]`, with one scale.
#[derive(Debug)]
pub struct MlaCache<P> {
    generation: Generation,
    pub(crate) kv_lora_rank: usize,
    pub(crate) qk_rope_head_dim: usize,
    pub(crate) latent: Paged<P>,
}

impl<P: Plane> MlaCache<P> {
    /// An empty cache on a device. Its one scale is `k_scale`; there is no place for another.
    ///
    /// # Errors
    /// The cache is FP8 and the device does not apply scales, the scale is per head, or the memory cannot be had.
    pub fn new<D: Device<Plane = P>>(
        device: &D,
        geometry: CacheGeometry,
        kv_lora_rank: usize,
        qk_rope_head_dim: usize,
        k_scale: &ScaleFactors,
    ) -> Result<Self, CacheError> {
        let allocate = |layout: &PlaneLayout| Ok(device.allocate(layout)?);
        Self::over(device, geometry, kv_lora_rank, qk_rope_head_dim, k_scale, allocate)
    }

    /// A cache in a plane that the caller makes, such as
    /// [one in an engine's memory](crate::device::emulated::EmulatedPlane::from_raw). What it holds stays.
    ///
    /// # Errors
    /// The cache is FP8 and the device does not apply scales, the scale is per head, or the plane cannot be made.
    pub fn over<D: Device<Plane = P>>(
        device: &D,
        geometry: CacheGeometry,
        kv_lora_rank: usize,
        qk_rope_head_dim: usize,
        k_scale: &ScaleFactors,
        plane: impl FnOnce(&PlaneLayout) -> Result<P, CacheError>,
    ) -> Result<Self, CacheError> {
        let dim = kv_lora_rank.checked_add(qk_rope_head_dim).filter(|_| kv_lora_rank > 0);
        let dim = dim.ok_or(CacheError::Size { what: "kv_lora_rank", value: kv_lora_rank })?;
        let latent = Paged::new(device, geometry, (1, dim), k_scale, "latent", plane)?;
        Ok(Self { generation: device.generation(), kv_lora_rank, qk_rope_head_dim, latent })
    }

    /// Its blocks, and how they are stored.
    #[must_use]
    pub fn geometry(&self) -> CacheGeometry {
        CacheGeometry::of(self.latent.layout())
    }

    /// Its plane as attention takes it, of keys and values, with the blocks of a batch.
    pub(crate) const fn plane_pair<'a>(&'a self, blocks: &'a [usize]) -> PlanePair<'a, P> {
        PlanePair { key: &self.latent.plane, value: &self.latent.plane, blocks }
    }

    /// Stores the latents of tokens at their slots: `kv_c` is `[tokens, kv_lora_rank]`, normalized; `k_pe`
    /// `[tokens, qk_rope_head_dim]`, after rotary embedding. Both parts are stored with the one scale.
    ///
    /// # Errors
    /// A slot is outside the cache, or the rows do not match the slots. Nothing is written then.
    pub fn write<D: Device<Plane = P>>(
        &mut self,
        device: &D,
        kv_c: &[bf16],
        k_pe: &[bf16],
        slot_mapping: &[i64],
    ) -> Result<(), CacheError> {
        self.check_device(device)?;
        let (rank, rope, layout) = (self.kv_lora_rank, self.qk_rope_head_dim, *self.latent.layout());
        with_slots(&layout, slot_mapping, |slots| {
            check_len("kv_c", kv_c.len(), slots.len() * rank)?;
            check_len("k_pe", k_pe.len(), slots.len() * rope)?;
            let mut rows = ROWS.take();
            rows.clear();
            push_joined(kv_c, rank, k_pe, rope, &mut rows);
            let result = self.latent.write(device, &rows, slots);
            if size_of_val(&*rows) <= KEPT_BYTES {
                ROWS.set(rows);
            }
            result
        })
    }

    /// The latents at slots, `[slots, kv_lora_rank + qk_rope_head_dim]`, as bfloat16.
    ///
    /// # Errors
    /// A slot is outside the cache.
    pub fn read<D: Device<Plane = P>>(
        &self,
        device: &D,
        slot_mapping: &[i64],
    ) -> Result<Vec<bf16>, CacheError> {
        self.check_device(device)?;
        with_slots(self.latent.layout(), slot_mapping, |slots| self.latent.read(device, slots))
    }
}

impl<P: Plane> Planes<P> for MlaCache<P> {
    fn generation(&self) -> Generation {
        self.generation
    }

    fn planes(&self) -> Vec<&Paged<P>> {
        vec![&self.latent]
    }

    fn planes_mut(&mut self) -> Vec<&mut Paged<P>> {
        vec![&mut self.latent]
    }

    fn row_parts(&self) -> Vec<usize> {
        vec![self.kv_lora_rank]
    }
}

/// Appends rows of two matrices side by side.
pub(crate) fn push_joined(a: &[bf16], a_dim: usize, b: &[bf16], b_dim: usize, joined: &mut Vec<bf16>) {
    for (number, a) in a.chunks_exact(a_dim).enumerate() {
        joined.extend_from_slice(a);
        joined.extend_from_slice(&b[number * b_dim..][..b_dim]);
    }
}
