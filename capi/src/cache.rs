//! Caches: their making, and what they are.

use kv::ScaleFactors;
use std::ffi::c_void;
use std::sync::RwLock;

use kv::cache::{BlockCache, CacheError, CacheGeometry, MhaCache, MlaCache};
use kv::device::emulated::EmulatedPlane;
use kv::device::{Device, PlaneLayout, StorageDtype};

use crate::device::{Place, gaudi_kv_device, generation_number};
use crate::failure::Failure;
use crate::inspect::{GAUDI_KV_BF16, GAUDI_KV_F32, GAUDI_KV_FP8, check_reserved, choice};
use crate::last_error::{barrier, quiet_barrier};
use crate::lent::Lent;
use crate::pointer;
use crate::scale::{GAUDI_KV_MHA, GAUDI_KV_MLA, gaudi_kv_multipliers};
use crate::status::gaudi_kv_status;
use crate::store::{Planes, Store, on_planes, on_store};
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
    /// The same for the values, `[num_blocks, block_size_tokens, num_kv_heads, v_head_dim]`; null exactly where
    /// `key_memory` is, and for latents.
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
    pub(crate) geometry: CacheGeometry,
    /// Elements of a token: of key and value, or of the latent's two parts.
    pub(crate) rows: (usize, usize),
    /// Memory of the caller, for checks of overlaps.
    pub(crate) lent: Vec<(&'static str, (usize, usize))>,
    pub(crate) store: Store,
}

/// The options, checked as far as the device plays no part.
struct Options {
    geometry: CacheGeometry,
    k_scale: ScaleFactors,
    v_scale: ScaleFactors,
    memory: Option<gaudi_kv_cache_options>,
}

/// # Safety
/// `options` is null or points to a structure of the size that it says, whose scales point to as much as they say.
unsafe fn options(options: *const gaudi_kv_cache_options, has_values: bool) -> Result<Options, Failure> {
    // SAFETY: the caller says so.
    let options = unsafe { structure::read(options) }?;
    let dtypes = [
        (GAUDI_KV_FP8, StorageDtype::Fp8),
        (GAUDI_KV_BF16, StorageDtype::Bf16),
        (GAUDI_KV_F32, StorageDtype::F32),
    ];
    let dtype = choice("dtype", options.dtype, &dtypes)?;
    check_reserved(options.reserved)?;
    let scale = |what: &str, multipliers: &gaudi_kv_multipliers| {
        if dtype != StorageDtype::Fp8 {
            return Ok(ScaleFactors::ONE);
        }
        // SAFETY: the caller says so.
        match unsafe { multipliers.factors(what) }? {
            Some(factors) => Ok(factors),
            None => Err(Failure::factor(format!("an FP8 cache needs a {what}; 1.0 is one"))),
        }
    };
    let has_memory = !(options.key_memory.is_null() && options.value_memory.is_null());
    let geometry = CacheGeometry::new(options.num_blocks, options.block_size_tokens, dtype)?;
    Ok(Options {
        geometry: if has_memory { geometry.without_pad_block() } else { geometry },
        k_scale: scale("k_scale", &options.k_scale)?,
        v_scale: if has_values { scale("v_scale", &options.v_scale)? } else { ScaleFactors::ONE },
        memory: has_memory.then_some(options),
    })
}

fn no_memory_of_the_caller<T>() -> Result<T, Failure> {
    Err(Failure::unsupported("a Gaudi has memory of its own; key_memory and value_memory must be null"))
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
        // SAFETY: the caller says so of all of them.
        let (device, shape, options) = unsafe {
            (pointer::handle("the device", device)?, structure::read(shape)?, self::options(options, true)?)
        };
        let Options { geometry, k_scale, v_scale, memory } = options;
        let (heads, dims) = (shape.num_kv_heads, (shape.head_dim, shape.v_head_dim));
        let scales = (&k_scale, &v_scale);
        let mut lent = Vec::new();
        let store = match (&device.place, memory) {
            (Place::Emulated(device), None) => {
                Store::Emulated(*device, mha(MhaCache::new(device, geometry, heads, dims, scales)?))
            }
            (Place::Emulated(device), Some(memory)) => {
                // SAFETY: the caller says so of the memory.
                let (key, value) = unsafe {
                    (
                        Lent::of("key_memory", memory.key_memory, memory.key_memory_bytes, geometry.dtype())?,
                        Lent::of(
                            "value_memory",
                            memory.value_memory,
                            memory.value_memory_bytes,
                            geometry.dtype(),
                        )?,
                    )
                };
                lent = vec![key.range(), value.range()];
                pointer::check_disjoint(&lent, &[])?;
                let planes =
                    (|layout: &PlaneLayout| key.plane(layout), |layout: &PlaneLayout| value.plane(layout));
                Store::Emulated(*device, mha(MhaCache::over(device, geometry, heads, dims, scales, planes)?))
            }
            #[cfg(feature = "hpu")]
            (Place::Hpu(device), None) => {
                Store::Hpu(device.clone(), mha(MhaCache::new(device, geometry, heads, dims, scales)?))
            }
            #[cfg(feature = "hpu")]
            (Place::Hpu(_), Some(_)) => return no_memory_of_the_caller(),
        };
        Ok(gaudi_kv_cache { geometry, rows: (heads * dims.0, heads * dims.1), lent, store })
    };
    // SAFETY: the caller says so.
    barrier(|| unsafe { pointer::hand_out(out, make) })
}

fn mha<P>(cache: MhaCache<P>) -> Planes<P> {
    Planes::Mha(RwLock::new(cache))
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
        // SAFETY: the caller says so of all of them.
        let (device, shape, options) = unsafe {
            (pointer::handle("the device", device)?, structure::read(shape)?, self::options(options, false)?)
        };
        let Options { geometry, k_scale, memory, .. } = options;
        let (rank, rope) = (shape.kv_lora_rank, shape.qk_rope_head_dim);
        let mut lent = Vec::new();
        let store = match (&device.place, memory) {
            (Place::Emulated(device), None) => {
                Store::Emulated(*device, mla(MlaCache::new(device, geometry, rank, rope, &k_scale)?))
            }
            (Place::Emulated(device), Some(memory)) => {
                if !memory.value_memory.is_null() {
                    return Err(Failure::argument("latents have no values; value_memory must be null"));
                }
                let (pointer, bytes) = (memory.key_memory, memory.key_memory_bytes);
                // SAFETY: the caller says so of the memory.
                let latent = unsafe { Lent::of("key_memory", pointer, bytes, geometry.dtype()) }?;
                lent = vec![latent.range()];
                let plane =
                    |layout: &PlaneLayout| -> Result<EmulatedPlane, CacheError> { latent.plane(layout) };
                let cache = MlaCache::over(device, geometry, rank, rope, &k_scale, plane)?;
                Store::Emulated(*device, mla(cache))
            }
            #[cfg(feature = "hpu")]
            (Place::Hpu(device), None) => {
                Store::Hpu(device.clone(), mla(MlaCache::new(device, geometry, rank, rope, &k_scale)?))
            }
            #[cfg(feature = "hpu")]
            (Place::Hpu(_), Some(_)) => return no_memory_of_the_caller(),
        };
        Ok(gaudi_kv_cache { geometry, rows: (rank, rope), lent, store })
    };
    // SAFETY: the caller says so.
    barrier(|| unsafe { pointer::hand_out(out, make) })
}

fn mla<P>(cache: MlaCache<P>) -> Planes<P> {
    Planes::Mla(RwLock::new(cache))
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
        // SAFETY: the caller says so of both.
        let (cache, info) = unsafe { (pointer::handle("the cache", cache)?, structure::out(info)?) };
        info.fill(cache.describe());
        Ok(())
    })
}

impl gaudi_kv_cache {
    fn describe(&self) -> gaudi_kv_cache_info {
        let (geometry, (first, second)) = (self.geometry, self.rows);
        let (generation, fingerprint, is_mha) = on_store!(&self.store, |device, planes| {
            let fingerprint = on_planes!(planes, reading, |cache| cache.fingerprint());
            (device.generation(), fingerprint, matches!(planes, Planes::Mha(_)))
        });
        gaudi_kv_cache_info {
            struct_size: 0,
            attention: if is_mha { GAUDI_KV_MHA } else { GAUDI_KV_MLA },
            generation: generation_number(generation),
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
    // SAFETY: the caller says so.
    quiet_barrier(|| unsafe { pointer::free(cache) });
}
