//! Caches: their making, and what they are.

use std::ffi::c_void;

use kv::ScaleFactors;
use kv::cache::{AnyCache, BlockCache, CacheGeometry, MhaCache, MlaCache};
use kv::device::{AnyDevice, AnyPlane, Backend, Device, PlaneLayout, StorageDtype};

use crate::cache_lock::CacheLock;
use crate::device::{gaudi_kv_device, generation_number};
use crate::failure::Failure;
use crate::foreign_memory::ForeignMemory;
use crate::inspect::{GAUDI_KV_BF16, GAUDI_KV_F32, GAUDI_KV_FP8, check_reserved, choice};
use crate::last_error::{barrier, quiet_barrier};
use crate::pointer;
use crate::scale::{GAUDI_KV_MHA, GAUDI_KV_MLA, gaudi_kv_multipliers};
use crate::status::gaudi_kv_status;
use crate::structure::{self, Structure, field_end};

/// The sizes of a layer with separate keys and values (MHA, GQA, MQA). Input.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_mha_shape {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// Query heads, a multiple of `num_kv_heads`; a cache does not look at it.
    pub num_heads: usize,
    /// Heads of keys and values.
    pub num_kv_heads: usize,
    /// Elements of a query and of a key head.
    pub head_dim: usize,
    /// Elements of a value head.
    pub v_head_dim: usize,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_mha_shape {
    const NAME: &'static str = "gaudi_kv_mha_shape";
    const REQUIRED: usize = field_end!(gaudi_kv_mha_shape, v_head_dim);
    const WHOLE: usize = field_end!(gaudi_kv_mha_shape, v_head_dim);
}

/// The sizes of an MLA layer. Input.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_mla_shape {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// Query heads; a cache does not look at it.
    pub num_heads: usize,
    /// Elements of a latent without its rope part.
    pub kv_lora_rank: usize,
    /// Elements of a query or key head without its rope part; a cache does not look at it.
    pub qk_nope_head_dim: usize,
    /// Elements of the rope part.
    pub qk_rope_head_dim: usize,
    /// Elements of a value head; a cache does not look at it.
    pub v_head_dim: usize,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_mla_shape {
    const NAME: &'static str = "gaudi_kv_mla_shape";
    const REQUIRED: usize = field_end!(gaudi_kv_mla_shape, v_head_dim);
    const WHOLE: usize = field_end!(gaudi_kv_mla_shape, v_head_dim);
}

/// The blocks of a cache, how they are stored, and where. Input; the fields up to `v_scale` are required.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_cache_options {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// Blocks that hold tokens.
    pub num_blocks: usize,
    /// Tokens of a block: a power of two from 16 to 256. A Gaudi uses 128.
    pub block_size_tokens: usize,
    /// `GAUDI_KV_FP8`, `GAUDI_KV_BF16` or `GAUDI_KV_F32`.
    pub dtype: i32,
    /// 0.
    pub reserved: u32,
    /// The scale of keys, or of latents, whose count is 1. An FP8 cache must have it; another does not look at it.
    pub k_scale: gaudi_kv_multipliers,
    /// The scale of values. An FP8 cache of keys and values must have it; another does not look at it.
    pub v_scale: gaudi_kv_multipliers,
    /// Memory of the caller for the keys, or for the latents, of an emulated device: row-major `[num_blocks,
    /// block_size_tokens, num_kv_heads, head_dim]` or `[num_blocks, block_size_tokens, kv_lora_rank +
    /// qk_rope_head_dim]`, aligned to its elements. What it holds stays. It must live until the cache is freed, and
    /// nobody else may change it while a call uses the cache. Null: the cache has memory of its own, zeroed, with one
    /// more block, the pad block, for the writes of padding rows.
    pub key_memory: *mut c_void,
    /// Its size.
    pub key_memory_bytes: usize,
    /// Memory of the caller for the values, `[num_blocks, block_size_tokens, num_kv_heads, v_head_dim]`; null exactly
    /// where `key_memory` is, and for latents.
    pub value_memory: *mut c_void,
    /// Its size.
    pub value_memory_bytes: usize,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_cache_options {
    const NAME: &'static str = "gaudi_kv_cache_options";
    const REQUIRED: usize = field_end!(gaudi_kv_cache_options, v_scale);
    const WHOLE: usize = field_end!(gaudi_kv_cache_options, value_memory_bytes);
}

/// What a cache is. Output.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_cache_info {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// `GAUDI_KV_MHA` or `GAUDI_KV_MLA`.
    pub attention: i32,
    /// `GAUDI_KV_GAUDI2` or `GAUDI_KV_GAUDI3`.
    pub generation: i32,
    /// `GAUDI_KV_FP8`, `GAUDI_KV_BF16` or `GAUDI_KV_F32`.
    pub dtype: i32,
    /// 1 where there is a pad block behind the last block, 0 where the memory is the caller's.
    pub has_pad_block: i32,
    /// Blocks that hold tokens, and the id of the pad block.
    pub num_blocks: usize,
    /// Tokens of a block.
    pub block_size_tokens: usize,
    /// Elements of a token's key, all heads, or of its latent.
    pub key_row: usize,
    /// Elements of a token's value, all heads; 0 for latents.
    pub value_row: usize,
    /// Equal for two caches of one generation exactly where the same bytes mean the same values in both.
    pub fingerprint: u64,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_cache_info {
    const NAME: &'static str = "gaudi_kv_cache_info";
    const REQUIRED: usize = field_end!(gaudi_kv_cache_info, fingerprint);
    const WHOLE: usize = field_end!(gaudi_kv_cache_info, fingerprint);
}

/// A paged KV cache of one layer with the scales that it is stored with. Several threads may use one: calls that read
/// it run at the same time, and one that changes it waits until the others have ended.
#[derive(Debug)]
pub struct gaudi_kv_cache {
    pub(crate) device: AnyDevice,
    pub(crate) geometry: CacheGeometry,
    /// Elements of a token: of key and value, or of the latent's two parts.
    pub(crate) rows: (usize, usize),
    /// Memory of the caller, for checks of overlaps.
    pub(crate) lent: Vec<(&'static str, (usize, usize))>,
    pub(crate) lock: CacheLock,
}

/// The options of a cache, checked.
struct Options {
    geometry: CacheGeometry,
    k_scale: ScaleFactors,
    v_scale: ScaleFactors,
    /// Memory of the caller for each plane; none where the cache has memory of its own.
    memory: Vec<ForeignMemory>,
}

impl Options {
    /// The caller's options for a cache on `device`, with a value plane or without one.
    ///
    /// # Safety
    /// `options` is null or points to a structure of the size that it says, whose scales point to as much as they say and
    /// whose memory this library alone uses while a call runs, until the cache is freed.
    unsafe fn read(
        options: *const gaudi_kv_cache_options,
        device: &AnyDevice,
        has_values: bool,
    ) -> Result<Self, Failure> {
        // SAFETY: the caller promises a null pointer or a structure of the size that it says.
        let options = unsafe { structure::read(options) }?;
        let dtype = choice("dtype", options.dtype, &STORAGE_NUMBERS)?;
        check_reserved(options.reserved)?;
        let scale = |what: &str, multipliers: &gaudi_kv_multipliers| {
            if dtype != StorageDtype::Fp8 {
                return Ok(ScaleFactors::ONE);
            }
            // SAFETY: the caller promises that each scale points to as many numbers as its count.
            match unsafe { multipliers.factors(what) }? {
                Some(factors) => Ok(factors),
                None => Err(Failure::factor(format!("an FP8 cache needs a {what}; 1.0 is one"))),
            }
        };
        let geometry = CacheGeometry::new(options.num_blocks, options.block_size_tokens, dtype)?;
        let (k_scale, v_scale) = (
            scale("k_scale", &options.k_scale)?,
            if has_values { scale("v_scale", &options.v_scale)? } else { ScaleFactors::ONE },
        );
        if options.key_memory.is_null() && options.value_memory.is_null() {
            return Ok(Self { geometry, k_scale, v_scale, memory: Vec::new() });
        }
        // SAFETY: the caller promises that the memory is this library's while a call runs, until the cache is freed.
        let memory = unsafe { foreign_memory(&options, device, dtype, has_values) }?;
        Ok(Self { geometry: geometry.without_pad_block(), k_scale, v_scale, memory })
    }

    /// The cache with all that C asks of it.
    fn finish(
        self,
        device: &AnyDevice,
        rows: (usize, usize),
        cache: impl Into<AnyCache<AnyPlane>>,
    ) -> gaudi_kv_cache {
        gaudi_kv_cache {
            device: device.clone(),
            geometry: self.geometry,
            rows,
            lent: self.memory.iter().map(ForeignMemory::range).collect(),
            lock: CacheLock::new(cache),
        }
    }
}

/// Memory of the caller for the key plane, and for the value plane of a cache that has one.
///
/// # Safety
/// The memory of `options` has the size that it says, and this library alone uses it while a call runs, until the cache
/// is freed.
unsafe fn foreign_memory(
    options: &gaudi_kv_cache_options,
    device: &AnyDevice,
    dtype: StorageDtype,
    has_values: bool,
) -> Result<Vec<ForeignMemory>, Failure> {
    if device.backend() == Backend::Hpu {
        let message = "a Gaudi has memory of its own; key_memory and value_memory must be null";
        return Err(Failure::unsupported(message));
    }
    let (key, value) = (options.key_memory, options.value_memory);
    if !has_values && !value.is_null() {
        return Err(Failure::argument("latents have no values; value_memory must be null"));
    }
    // SAFETY: the caller promises as much of the memory for the first plane.
    let mut memory = vec![unsafe { ForeignMemory::of("key_memory", key, options.key_memory_bytes, dtype) }?];
    if has_values {
        let bytes = options.value_memory_bytes;
        // SAFETY: the caller promises as much of the memory for the second plane.
        memory.push(unsafe { ForeignMemory::of("value_memory", value, bytes, dtype) }?);
    }
    let ranges: Vec<_> = memory.iter().map(ForeignMemory::range).collect();
    pointer::check_disjoint(&ranges, &[])?;
    Ok(memory)
}

/// An empty cache of keys and values on a device. To be freed with `gaudi_kv_cache_free`.
///
/// Returns `GAUDI_KV_INVALID_SHAPE` for sizes that do not fit, `GAUDI_KV_INVALID_FACTOR` for a scale that is missing,
/// not finite and positive or of another number of heads, `GAUDI_KV_OUT_OF_MEMORY` where memory cannot be had, and
/// `GAUDI_KV_UNSUPPORTED` for memory of the caller on a Gaudi.
///
/// # Safety
/// `device` is null or a device. `shape` and `options` are null or point to structures of the size that they say; the
/// scales of `options` point to as many numbers as they say, and its memory is as it says. `out` is null or points to a
/// pointer, which is set; to null where the call fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_cache_create_mha(
    device: *const gaudi_kv_device,
    shape: *const gaudi_kv_mha_shape,
    options: *const gaudi_kv_cache_options,
    out: *mut *mut gaudi_kv_cache,
) -> gaudi_kv_status {
    let make = || {
        // SAFETY: the caller promises a live device or null, and structures of the sizes that they say or null.
        let (device, shape) = unsafe { (pointer::handle("the device", device)?, structure::read(shape)?) };
        let device = &device.device;
        // SAFETY: the caller promises that scales and memory are as the options say.
        let options = unsafe { Options::read(options, device, true) }?;
        let (heads, dims) = (shape.num_kv_heads, (shape.head_dim, shape.v_head_dim));
        let scales = (&options.k_scale, &options.v_scale);
        let cache = match options.memory[..] {
            [key, value] => {
                let planes =
                    (|layout: &PlaneLayout| key.plane(layout), |layout: &PlaneLayout| value.plane(layout));
                MhaCache::over(device, options.geometry, heads, dims, scales, planes)?
            }
            _ => MhaCache::new(device, options.geometry, heads, dims, scales)?,
        };
        Ok(options.finish(device, (heads * dims.0, heads * dims.1), cache))
    };
    // SAFETY: the caller promises that `out` is null or can be written.
    barrier(|| unsafe { pointer::hand_out(out, make) })
}

/// An empty cache of latents on a device. Its one scale is `k_scale`, with one number for each direction. To be freed
/// with `gaudi_kv_cache_free`.
///
/// Returns what `gaudi_kv_cache_create_mha` returns.
///
/// # Safety
/// As for `gaudi_kv_cache_create_mha`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_cache_create_mla(
    device: *const gaudi_kv_device,
    shape: *const gaudi_kv_mla_shape,
    options: *const gaudi_kv_cache_options,
    out: *mut *mut gaudi_kv_cache,
) -> gaudi_kv_status {
    let make = || {
        // SAFETY: the caller promises a live device or null, and structures of the sizes that they say or null.
        let (device, shape) = unsafe { (pointer::handle("the device", device)?, structure::read(shape)?) };
        let device = &device.device;
        // SAFETY: the caller promises that the scale and the memory are as the options say.
        let options = unsafe { Options::read(options, device, false) }?;
        let (rank, rope) = (shape.kv_lora_rank, shape.qk_rope_head_dim);
        let cache = match options.memory[..] {
            [latent] => {
                let plane = |layout: &PlaneLayout| latent.plane(layout);
                MlaCache::over(device, options.geometry, rank, rope, &options.k_scale, plane)?
            }
            _ => MlaCache::new(device, options.geometry, rank, rope, &options.k_scale)?,
        };
        Ok(options.finish(device, (rank, rope), cache))
    };
    // SAFETY: the caller promises that `out` is null or can be written.
    barrier(|| unsafe { pointer::hand_out(out, make) })
}

/// What a cache is.
///
/// # Safety
/// `cache` is null or a cache. `info` is null or points to a structure of the size that it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_cache_get_info(
    cache: *const gaudi_kv_cache,
    info: *mut gaudi_kv_cache_info,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live cache or null, and a structure of the size that it says or null.
        let (cache, info) = unsafe { (pointer::handle("the cache", cache)?, structure::out(info)?) };
        info.fill(cache.describe());
        Ok(())
    })
}

impl gaudi_kv_cache {
    fn describe(&self) -> gaudi_kv_cache_info {
        let (geometry, (first, second)) = (self.geometry, self.rows);
        let (fingerprint, is_mha) = {
            let cache = self.lock.read();
            (cache.fingerprint(), matches!(*cache, AnyCache::Mha(_)))
        };
        gaudi_kv_cache_info {
            struct_size: 0,
            attention: if is_mha { GAUDI_KV_MHA } else { GAUDI_KV_MLA },
            generation: generation_number(self.device.generation()),
            dtype: storage_number(geometry.dtype()),
            has_pad_block: (geometry.blocks() > geometry.num_blocks()).into(),
            num_blocks: geometry.num_blocks(),
            block_size_tokens: geometry.block_size_tokens(),
            key_row: if is_mha { first } else { first + second },
            value_row: if is_mha { second } else { 0 },
            fingerprint,
        }
    }
}

/// The types of a cache's elements by their numbers.
pub(crate) const STORAGE_NUMBERS: [(i32, StorageDtype); 3] = [
    (GAUDI_KV_FP8, StorageDtype::Fp8),
    (GAUDI_KV_BF16, StorageDtype::Bf16),
    (GAUDI_KV_F32, StorageDtype::F32),
];

pub(crate) const fn storage_number(dtype: StorageDtype) -> i32 {
    match dtype {
        StorageDtype::Fp8 => GAUDI_KV_FP8,
        StorageDtype::Bf16 => GAUDI_KV_BF16,
        StorageDtype::F32 => GAUDI_KV_F32,
    }
}

/// Frees a cache; null is none. Memory that the caller lent it is the caller's again.
///
/// # Safety
/// `cache` is null or a cache that has not been freed, and no other call uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_cache_free(cache: *mut gaudi_kv_cache) {
    // SAFETY: the caller promises that the cache is null or not freed, and that no other call uses it.
    quiet_barrier(|| unsafe { pointer::free(cache) });
}
