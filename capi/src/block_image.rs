//! Whole blocks: copied within a cache, and on their way to another device or process.

use kv::cache::{BlockCache, BlockImage, PlaneImage};

use crate::cache::{STORAGE_NUMBERS, gaudi_kv_cache, storage_number};
use crate::device::{generation, generation_number};
use crate::failure::Failure;
use crate::inspect::{check_reserved, choice};
use crate::last_error::{barrier, quiet_barrier};
use crate::pointer;
use crate::status::gaudi_kv_status;
use crate::structure::{self, Structure, field_end};

/// A block of a cache with all that its bytes mean. One thread at a time may use it; several may read it.
#[derive(Debug)]
pub struct gaudi_kv_block {
    image: BlockImage,
}

/// What a block is. Output.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_block_info {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// Hash of storage type, shape and scales: that of the cache it came from.
    pub fingerprint: u64,
    /// The generation whose arithmetic stored it: `GAUDI_KV_GAUDI2` or `GAUDI_KV_GAUDI3`.
    pub generation: i32,
    /// Planes: 2 for key and value, 1 for latents.
    pub num_planes: u32,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_block_info {
    const NAME: &'static str = "gaudi_kv_block_info";
    const REQUIRED: usize = field_end!(gaudi_kv_block_info, num_planes);
    const WHOLE: usize = field_end!(gaudi_kv_block_info, num_planes);
}

/// One plane of a block: key, value or latent. Input and output.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_plane {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// `GAUDI_KV_FP8`, `GAUDI_KV_BF16` or `GAUDI_KV_F32`.
    pub dtype: i32,
    /// 0.
    pub reserved: u32,
    /// Tokens of the block.
    pub block_size_tokens: usize,
    /// Heads of a token.
    pub heads: usize,
    /// Elements of a head.
    pub dim: usize,
    /// The stored bytes, little endian, `[block_size_tokens, heads, dim]`. As output they live as long as the block.
    pub bytes: *const u8,
    /// How many there are.
    pub num_bytes: usize,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_plane {
    const NAME: &'static str = "gaudi_kv_plane";
    const REQUIRED: usize = field_end!(gaudi_kv_plane, num_bytes);
    const WHOLE: usize = field_end!(gaudi_kv_plane, num_bytes);
}

/// Copies whole blocks within a cache, pair by pair in order: `pairs` holds `num_pairs` times the ids from and to.
///
/// Returns `GAUDI_KV_INVALID_SHAPE` where an id is outside the cache. Nothing is copied then.
///
/// # Safety
/// `cache` is null or a cache. `pairs` points to `2 * num_pairs` ids that nobody changes during the call; null is for
/// none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_cache_copy_blocks(
    cache: *mut gaudi_kv_cache,
    pairs: *const i32,
    num_pairs: usize,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live cache or null, and two ids a pair, which nobody changes.
        let (cache, pairs) = unsafe {
            (
                pointer::handle("the cache", cache.cast_const())?,
                pointer::slice("pairs", pairs, num_pairs.saturating_mul(2))?,
            )
        };
        let pairs: Vec<(i32, i32)> = pairs.as_chunks::<2>().0.iter().map(|[from, to]| (*from, *to)).collect();
        Ok(cache.lock.write().copy_blocks(&cache.device, &pairs)?)
    })
}

/// Takes a copy of one block of a cache, to swap it out or to move it. To be freed with `gaudi_kv_block_free`.
///
/// Returns `GAUDI_KV_INVALID_SHAPE` where the id is outside the cache.
///
/// # Safety
/// `cache` is null or a cache. `out` is null or points to a pointer, which is set; to null where the call fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_cache_export_block(
    cache: *const gaudi_kv_cache,
    block: i32,
    out: *mut *mut gaudi_kv_block,
) -> gaudi_kv_status {
    let make = || {
        // SAFETY: the caller promises a live cache or null.
        let cache = unsafe { pointer::handle("the cache", cache) }?;
        let image = cache.lock.read().export_block(&cache.device, block)?;
        Ok(gaudi_kv_block { image })
    };
    // SAFETY: the caller promises that `out` is null or can be written.
    barrier(|| unsafe { pointer::hand_out(out, make) })
}

/// Overwrites one block of a cache with one that came from a cache like it.
///
/// Returns `GAUDI_KV_MISMATCH` where generation, storage type, shape or scales are not this cache's, and
/// `GAUDI_KV_INVALID_SHAPE` where the id is outside it. Nothing is written then.
///
/// # Safety
/// `cache` is null or a cache, `image` null or a block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_cache_import_block(
    cache: *mut gaudi_kv_cache,
    block: i32,
    image: *const gaudi_kv_block,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live cache and a live block, or null.
        let (cache, image) = unsafe {
            (pointer::handle("the cache", cache.cast_const())?, &pointer::handle("the block", image)?.image)
        };
        Ok(cache.lock.write().import_block(&cache.device, block, image)?)
    })
}

/// A block without planes, to be made of bytes that came from elsewhere: `gaudi_kv_block_add_plane` adds the planes in
/// the order that they were exported in. To be freed with `gaudi_kv_block_free`.
///
/// # Safety
/// `out` is null or points to a pointer, which is set; to null where the call fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_block_create(
    generation: i32,
    fingerprint: u64,
    out: *mut *mut gaudi_kv_block,
) -> gaudi_kv_status {
    let make = || {
        let generation = self::generation(generation)?;
        Ok(gaudi_kv_block { image: BlockImage { generation, fingerprint, planes: Vec::new() } })
    };
    // SAFETY: the caller promises that `out` is null or can be written.
    barrier(|| unsafe { pointer::hand_out(out, make) })
}

/// Adds a plane to a block; its bytes are copied.
///
/// # Safety
/// `block` is null or a block that no other call uses. `plane` is null or points to a structure of the size that it
/// says, and its bytes to as many as it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_block_add_plane(
    block: *mut gaudi_kv_block,
    plane: *const gaudi_kv_plane,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live block or null that no other call uses, and a structure of the size that
        // it says.
        let (block, plane) = unsafe { (pointer::handle_mut("the block", block)?, structure::read(plane)?) };
        let dtype = choice("dtype", plane.dtype, &STORAGE_NUMBERS)?;
        check_reserved(plane.reserved)?;
        // SAFETY: the caller promises `num_bytes` bytes that nobody changes.
        let bytes = unsafe { pointer::slice("bytes", plane.bytes, plane.num_bytes) }?.to_vec();
        let gaudi_kv_plane { block_size_tokens, heads, dim, .. } = plane;
        block.image.planes.push(PlaneImage { dtype, block_size_tokens, heads, dim, bytes });
        Ok(())
    })
}

/// What a block is.
///
/// # Safety
/// `block` is null or a block. `info` is null or points to a structure of the size that it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_block_get_info(
    block: *const gaudi_kv_block,
    info: *mut gaudi_kv_block_info,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live block or null, and a structure of the size that it says or null.
        let (block, info) = unsafe { (pointer::handle("the block", block)?, structure::out(info)?) };
        info.fill(gaudi_kv_block_info {
            struct_size: 0,
            fingerprint: block.image.fingerprint,
            generation: generation_number(block.image.generation),
            num_planes: u32::try_from(block.image.planes.len()).unwrap_or(u32::MAX),
        });
        Ok(())
    })
}

/// Plane `index` of a block: key and value, or latents.
///
/// Returns `GAUDI_KV_NOT_FOUND` where there is no such plane.
///
/// # Safety
/// `block` is null or a block. `plane` is null or points to a structure of the size that it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_block_get_plane(
    block: *const gaudi_kv_block,
    index: u32,
    plane: *mut gaudi_kv_plane,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live block or null, and a structure of the size that it says or null.
        let (block, out) = unsafe { (pointer::handle("the block", block)?, structure::out(plane)?) };
        let planes = &block.image.planes;
        let Some(PlaneImage { dtype, block_size_tokens, heads, dim, bytes }) = planes.get(index as usize)
        else {
            return Err(Failure::not_found(format!("plane {index} of {} planes", planes.len())));
        };
        out.fill(gaudi_kv_plane {
            struct_size: 0,
            dtype: storage_number(*dtype),
            reserved: 0,
            block_size_tokens: *block_size_tokens,
            heads: *heads,
            dim: *dim,
            bytes: bytes.as_ptr(),
            num_bytes: bytes.len(),
        });
        Ok(())
    })
}

/// Frees a block; null is none.
///
/// # Safety
/// `block` is null or a block that has not been freed, and no other call uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_block_free(block: *mut gaudi_kv_block) {
    // SAFETY: the caller promises that the block is null or not freed, and that no other call uses it.
    quiet_barrier(|| unsafe { pointer::free(block) });
}
