//! Rows of caches: what tokens store, and what is read back.

use half::bf16;

use crate::cache::gaudi_kv_cache;
use crate::failure::Failure;
use crate::last_error::barrier;
use crate::pointer::{self, bytes_of, check_disjoint};
use crate::status::gaudi_kv_status;

/// Stores keys and values of tokens at their slots: `k` is `[tokens, num_kv_heads, head_dim]`, `v` `[tokens,
/// num_kv_heads, v_head_dim]`, both bfloat16 bits, and `slot_mapping` has a slot for each token: `block *
/// block_size_tokens + place in the block`. An FP8 cache stores `fp8(bf16(x * bf16(quant)))`, rounded to nearest even,
/// saturating; NaN becomes 0x7F.
///
/// `k_len` and `v_len` are elements. Padding rows go to a slot of the pad block, where there is one: the first is
/// `num_blocks * block_size_tokens`.
///
/// Returns `GAUDI_KV_INVALID_SHAPE` where a slot is outside the cache or lengths do not fit, and
/// `GAUDI_KV_INVALID_ARGUMENT` for a cache of latents or for memory that overlaps with the cache's. Nothing is written
/// then.
///
/// # Safety
/// `cache` is null or a cache. `k`, `v` and `slot_mapping` point to as many elements as is said; null is for none.
/// Nobody changes them during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_cache_write_mha(
    cache: *mut gaudi_kv_cache,
    k: *const u16,
    k_len: usize,
    v: *const u16,
    v_len: usize,
    slot_mapping: *const i64,
    tokens: usize,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live cache or null.
        let cache = unsafe { pointer::handle("the cache", cache.cast_const()) }?;
        let read = [
            ("k", bytes_of(k, k_len)),
            ("v", bytes_of(v, v_len)),
            ("slot_mapping", bytes_of(slot_mapping, tokens)),
        ];
        check_disjoint(&cache.lent, &read)?;
        // SAFETY: the caller promises as many elements behind each pointer, which nobody changes; bf16 is its bits,
        // of which any are a value, and none lies in the cache's memory.
        let (k, v, slots) = unsafe {
            (
                pointer::slice("k", k.cast::<bf16>(), k_len)?,
                pointer::slice("v", v.cast::<bf16>(), v_len)?,
                pointer::slice("slot_mapping", slot_mapping, tokens)?,
            )
        };
        Ok(cache.lock.write().mha_mut()?.write(&cache.device, k, v, slots)?)
    })
}

/// Stores latents of tokens at their slots: `kv_c` is `[tokens, kv_lora_rank]`, normalized, `k_pe` `[tokens,
/// qk_rope_head_dim]`, after rotary embedding, both bfloat16 bits. Both parts are stored with the one scale. For the
/// rest as `gaudi_kv_cache_write_mha`, for a cache of latents.
///
/// # Safety
/// As for `gaudi_kv_cache_write_mha`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_cache_write_mla(
    cache: *mut gaudi_kv_cache,
    kv_c: *const u16,
    kv_c_len: usize,
    k_pe: *const u16,
    k_pe_len: usize,
    slot_mapping: *const i64,
    tokens: usize,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live cache or null.
        let cache = unsafe { pointer::handle("the cache", cache.cast_const()) }?;
        let read = [
            ("kv_c", bytes_of(kv_c, kv_c_len)),
            ("k_pe", bytes_of(k_pe, k_pe_len)),
            ("slot_mapping", bytes_of(slot_mapping, tokens)),
        ];
        check_disjoint(&cache.lent, &read)?;
        // SAFETY: the caller promises as many elements behind each pointer, which nobody changes; bf16 is its bits,
        // of which any are a value, and none lies in the cache's memory.
        let (kv_c, k_pe, slots) = unsafe {
            (
                pointer::slice("kv_c", kv_c.cast::<bf16>(), kv_c_len)?,
                pointer::slice("k_pe", k_pe.cast::<bf16>(), k_pe_len)?,
                pointer::slice("slot_mapping", slot_mapping, tokens)?,
            )
        };
        Ok(cache.lock.write().mla_mut()?.write(&cache.device, kv_c, k_pe, slots)?)
    })
}

/// Checks the length of an output before anything is done for it.
fn check_len(what: &str, len: usize, rows: usize, row: usize) -> Result<(), Failure> {
    let expected = rows.saturating_mul(row);
    if len == expected { Ok(()) } else { Err(Failure::length(what, len, expected)) }
}

/// The keys and values at slots, as bfloat16 bits: `k` is `[tokens, num_kv_heads, head_dim]`, `v`
/// `[tokens, num_kv_heads, v_head_dim]`. An FP8 cache gives `bf16(value(code) * bf16(dequant))`.
///
/// `k_len` and `v_len` are elements. Several threads may read a cache at the same time.
///
/// Returns `GAUDI_KV_INVALID_SHAPE` where a slot is outside the cache or lengths do not fit, and
/// `GAUDI_KV_INVALID_ARGUMENT` for a cache of latents or for memory that overlaps, also with the cache's. Nothing is written then.
///
/// # Safety
/// `cache` is null or a cache. `slot_mapping` points to `tokens` slots, `k` and `v` to as many elements as is said;
/// null is for none. Nobody else uses `k` and `v` or changes the slots during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_cache_read_mha(
    cache: *const gaudi_kv_cache,
    slot_mapping: *const i64,
    tokens: usize,
    k: *mut u16,
    k_len: usize,
    v: *mut u16,
    v_len: usize,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live cache or null.
        let cache = unsafe { pointer::handle("the cache", cache) }?;
        let written = [("k", bytes_of(k, k_len)), ("v", bytes_of(v, v_len))];
        check_disjoint(&written, &[("slot_mapping", bytes_of(slot_mapping, tokens))])?;
        check_disjoint(&written, &cache.lent)?;
        // SAFETY: the caller promises `tokens` slots that nobody changes, and as many elements of `k` and `v` that
        // nobody else uses; bf16 is its bits, of which any are a value, and nothing overlaps.
        let (slots, k, v) = unsafe {
            (
                pointer::slice("slot_mapping", slot_mapping, tokens)?,
                pointer::slice_mut("k", k.cast::<bf16>(), k_len)?,
                pointer::slice_mut("v", v.cast::<bf16>(), v_len)?,
            )
        };
        let locked = cache.lock.read();
        let planes = locked.mha()?;
        check_len("k", k.len(), slots.len(), cache.rows.0)?;
        check_len("v", v.len(), slots.len(), cache.rows.1)?;
        let (keys, values) = planes.read(&cache.device, slots)?;
        k.copy_from_slice(&keys);
        v.copy_from_slice(&values);
        Ok(())
    })
}

/// The latents at slots, as bfloat16 bits: `[tokens, kv_lora_rank + qk_rope_head_dim]`. For the rest as
/// `gaudi_kv_cache_read_mha`, for a cache of latents.
///
/// # Safety
/// As for `gaudi_kv_cache_read_mha`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_cache_read_mla(
    cache: *const gaudi_kv_cache,
    slot_mapping: *const i64,
    tokens: usize,
    latents: *mut u16,
    latents_len: usize,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live cache or null.
        let cache = unsafe { pointer::handle("the cache", cache) }?;
        let written = [("latents", bytes_of(latents, latents_len))];
        check_disjoint(&written, &[("slot_mapping", bytes_of(slot_mapping, tokens))])?;
        check_disjoint(&written, &cache.lent)?;
        // SAFETY: the caller promises `tokens` slots that nobody changes, and as many latents that nobody else uses;
        // bf16 is its bits, of which any are a value, and nothing overlaps.
        let (slots, latents) = unsafe {
            (
                pointer::slice("slot_mapping", slot_mapping, tokens)?,
                pointer::slice_mut("latents", latents.cast::<bf16>(), latents_len)?,
            )
        };
        let row = cache.rows.0 + cache.rows.1;
        let locked = cache.lock.read();
        let plane = locked.mla()?;
        check_len("latents", latents.len(), slots.len(), row)?;
        latents.copy_from_slice(&plane.read(&cache.device, slots)?);
        Ok(())
    })
}
