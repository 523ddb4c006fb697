//! The cache of MHA and GQA: keys and values in planes of their own.

use half::bf16;
use xxhash_rust::xxh3::Xxh3;

use super::paged::{check_block, check_len, check_slots};
use super::{BlockImage, CacheError, CacheGeometry, Paged, PlaneScale};
use crate::Generation;
use crate::device::Device;

/// Keys and values, `[num_blocks + 1, block_size_tokens, num_kv_heads, head_dim]` each.
#[derive(Debug)]
pub struct MhaCache<P> {
    generation: Generation,
    pub(crate) key: Paged<P>,
    pub(crate) value: Paged<P>,
}

impl<P> MhaCache<P> {
    /// An empty cache on a device. `head_dim` is that of the key; the value's may differ.
    ///
    /// # Errors
    /// The cache is FP8 and the device does not apply scales, a scale does not fit, or the memory cannot be had.
    pub fn new<D: Device<Plane = P>>(
        device: &D,
        geometry: CacheGeometry,
        num_kv_heads: usize,
        (head_dim, v_head_dim): (usize, usize),
        (k_scale, v_scale): (&PlaneScale, &PlaneScale),
    ) -> Result<Self, CacheError> {
        Ok(Self {
            generation: device.generation(),
            key: Paged::new(device, geometry, (num_kv_heads, head_dim), k_scale, "key")?,
            value: Paged::new(device, geometry, (num_kv_heads, v_head_dim), v_scale, "value")?,
        })
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
        let slots = check_slots(&self.key.layout, slot_mapping)?;
        check_len("k", k.len(), slots.len() * self.key.layout.row())?;
        check_len("v", v.len(), slots.len() * self.value.layout.row())?;
        self.key.write(device, k, &slots)?;
        self.value.write(device, v, &slots)
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
        let slots = check_slots(&self.key.layout, slot_mapping)?;
        Ok((self.key.read(device, &slots)?, self.value.read(device, &slots)?))
    }

    /// Copies whole blocks within the cache, `(from, to)` pairs in order.
    ///
    /// # Errors
    /// A block id is outside the cache. Nothing is copied then.
    pub fn copy_blocks<D: Device<Plane = P>>(
        &mut self,
        device: &D,
        pairs: &[(i32, i32)],
    ) -> Result<(), CacheError> {
        self.check_device(device)?;
        let pairs = check_pairs(&self.key, pairs)?;
        device.copy_blocks(&self.key.layout, &mut self.key.memory, &pairs)?;
        device.copy_blocks(&self.value.layout, &mut self.value.memory, &pairs)?;
        Ok(())
    }

    /// One block with all that its bytes mean: to swap it out, or to move it to another device.
    ///
    /// # Errors
    /// The block id is outside the cache.
    pub fn export_block<D: Device<Plane = P>>(
        &self,
        device: &D,
        block: i32,
    ) -> Result<BlockImage, CacheError> {
        self.check_device(device)?;
        let block = check_block(&self.key.layout, block)?;
        let planes = vec![self.key.export(device, block)?, self.value.export(device, block)?];
        Ok(BlockImage { generation: self.generation, fingerprint: self.fingerprint(), planes })
    }

    /// Takes a block that was exported from a cache like this one.
    ///
    /// # Errors
    /// The block id is outside the cache, or the block's generation, type, shape or scales are not this cache's.
    /// Nothing is written then.
    pub fn import_block<D: Device<Plane = P>>(
        &mut self,
        device: &D,
        block: i32,
        image: &BlockImage,
    ) -> Result<(), CacheError> {
        self.check_device(device)?;
        let block = check_block(&self.key.layout, block)?;
        check_image(self.generation, self.fingerprint(), &[&self.key, &self.value], image)?;
        device.import_block(&self.key.layout, &mut self.key.memory, block, &image.planes[0].bytes)?;
        device.import_block(&self.value.layout, &mut self.value.memory, block, &image.planes[1].bytes)?;
        Ok(())
    }

    /// Refuses a device of another generation.
    pub(crate) fn check_device<D: Device<Plane = P>>(&self, device: &D) -> Result<(), CacheError> {
        check_device(self.generation, device.generation())
    }

    /// Equal for two caches of one generation exactly where the same bytes mean the same values in both.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        fingerprint(self.generation, &[&self.key, &self.value], &[])
    }
}

pub(super) fn check_device(cache: Generation, device: Generation) -> Result<(), CacheError> {
    if cache == device { Ok(()) } else { Err(CacheError::OtherDevice { device, cache }) }
}

pub(super) fn check_pairs<P>(
    plane: &Paged<P>,
    pairs: &[(i32, i32)],
) -> Result<Vec<(usize, usize)>, CacheError> {
    let check = |block| check_block(&plane.layout, block);
    pairs.iter().map(|(from, to)| Ok((check(*from)?, check(*to)?))).collect()
}

/// `parts` are sizes of a row's parts that the planes do not tell.
pub(super) fn fingerprint<P>(generation: Generation, planes: &[&Paged<P>], parts: &[usize]) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(generation.name().as_bytes());
    planes.iter().for_each(|plane| plane.hash_into(&mut hasher));
    parts.iter().for_each(|part| hasher.update(&(*part as u64).to_le_bytes()));
    hasher.digest()
}

pub(super) fn check_image<P>(
    generation: Generation,
    fingerprint: u64,
    planes: &[&Paged<P>],
    image: &BlockImage,
) -> Result<(), CacheError> {
    if image.generation != generation {
        return Err(CacheError::Generation { found: image.generation, expected: generation });
    }
    if image.planes.len() != planes.len() {
        let count = |n: usize| format!("{n} planes");
        return Err(CacheError::Shape { found: count(image.planes.len()), expected: count(planes.len()) });
    }
    for (plane, image) in planes.iter().zip(&image.planes) {
        plane.check_image(image)?;
    }
    if image.fingerprint != fingerprint {
        return Err(CacheError::Fingerprint { found: image.fingerprint, expected: fingerprint });
    }
    Ok(())
}
