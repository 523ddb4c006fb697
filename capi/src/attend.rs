//! Prefill and decode.

use std::cell::RefCell;

use half::bf16;
use kv::attention::{MhaAttention, MlaAttention, MlaWorkspace};

use crate::attention::{Layer, gaudi_kv_attention};
use crate::batch::gaudi_kv_batch;
use crate::cache::gaudi_kv_cache;
use crate::device::{Place, on_device};
use crate::failure::Failure;
use crate::last_error::barrier;
use crate::pointer::{self, bytes_of, check_disjoint};
use crate::status::gaudi_kv_status;
use crate::store::{Store, reading};
use crate::threads::on_threads;

thread_local! {
    /// Memory that the calls of a thread use one after the other.
    static WORKSPACE: RefCell<MlaWorkspace> = RefCell::default();
}

/// Works with the memory of the thread. Large contexts do not keep theirs.
fn with_workspace<T>(work: impl FnOnce(&mut MlaWorkspace) -> T) -> T {
    WORKSPACE.with_borrow_mut(|workspace| {
        let result = work(workspace);
        workspace.trim();
        result
    })
}

/// Does the same on a device and the planes of a cache on it, of any kind. A cache is locked on the caller's thread: a
/// thread of the pool that waits takes on another call meanwhile, whose lock would wait for a writer that waits for the
/// first.
macro_rules! on_both {
    ($attention:expr, $cache:expr, |$device:ident, $planes:ident| $work:expr) => {
        match (&$attention.place, &$cache.store) {
            (Place::Emulated($device), Store::Emulated(_, $planes)) => $work,
            #[cfg(feature = "hpu")]
            (Place::Hpu($device), Store::Hpu(_, $planes)) => $work,
            #[cfg(feature = "hpu")]
            (place, store) => Err(other_place(place, store)),
        }
    };
}

#[cfg(feature = "hpu")]
fn other_place(place: &Place, store: &Store) -> Failure {
    let (layer, cache) = (place.description(), store.description());
    Failure::mismatch(format!("the cache is on {cache}, the attention on {layer}"))
}

impl gaudi_kv_attention {
    /// The layer and the elements of its output.
    fn mha(&self, tokens: usize, out: &[f32]) -> Result<&MhaAttention, Failure> {
        match &self.layer {
            Layer::Mha(layer, row) => check_out(out, tokens, *row).map(|()| layer),
            Layer::Mla(..) => {
                Err(Failure::argument("the layer is of MLA; one over keys and values (MHA) is needed"))
            }
        }
    }

    fn mla(&self, tokens: usize, out: &[f32]) -> Result<&MlaAttention, Failure> {
        match &self.layer {
            Layer::Mla(layer, row) => check_out(out, tokens, *row).map(|()| layer),
            Layer::Mha(..) => {
                Err(Failure::argument("the layer is over keys and values (MHA); one of MLA is needed"))
            }
        }
    }
}

fn check_out(out: &[f32], tokens: usize, row: usize) -> Result<(), Failure> {
    let expected = tokens.saturating_mul(row);
    if out.len() == expected { Ok(()) } else { Err(Failure::length("out", out.len(), expected)) }
}

/// Attention of new tokens over keys and values, those of the new tokens as they were computed and those of earlier
/// tokens read from the cache. `q` is `[tokens, num_heads, head_dim]`, `k` `[tokens, num_kv_heads, head_dim]`, `v`
/// `[tokens, num_kv_heads, v_head_dim]`, all bfloat16 bits; `out` is `[tokens, num_heads * v_head_dim]`, bfloat16
/// values in float32. Lengths are in elements. Whether the new tokens are in the cache already makes no difference.
///
/// `cache` may be null where no sequence has earlier tokens. An FP8 prefill takes place over an FP8 cache only.
///
/// Several threads may use the layer, the batch and the cache at the same time.
///
/// Returns `GAUDI_KV_INVALID_SHAPE` where operands or batch do not fit, `GAUDI_KV_MISMATCH` where the cache is on
/// another device, `GAUDI_KV_INVALID_FACTOR` where a scale cannot be used, and `GAUDI_KV_INVALID_ARGUMENT` for a layer
/// or a cache of the other kind, or where `out` overlaps with an operand or the cache's memory. Nothing is written to `out` then.
///
/// # Safety
/// `attention` is null or a layer's attention, `cache` null or a cache, `batch` null or a batch. The operands point to
/// as many elements as is said; null is for none. Nobody changes them, or uses `out`, during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_attention_prefill_mha(
    attention: *const gaudi_kv_attention,
    cache: *const gaudi_kv_cache,
    batch: *const gaudi_kv_batch,
    q: *const u16,
    q_len: usize,
    k: *const u16,
    k_len: usize,
    v: *const u16,
    v_len: usize,
    out: *mut f32,
    out_len: usize,
) -> gaudi_kv_status {
    barrier(|| {
        let read = [("q", bytes_of(q, q_len)), ("k", bytes_of(k, k_len)), ("v", bytes_of(v, v_len))];
        let written = [("out", bytes_of(out, out_len))];
        check_disjoint(&written, &read)?;
        // SAFETY: the caller says so.
        let cache = unsafe { cache.as_ref() };
        check_disjoint(&written, cache.map_or(&[], |cache| &cache.lent))?;
        // SAFETY: the caller says so of all of them; bf16 is its bits, of which any are a value; nothing overlaps.
        let (attention, batch, operands, out) = unsafe {
            (
                pointer::handle("the attention", attention)?,
                pointer::handle("the batch", batch)?,
                (
                    pointer::slice("q", q.cast::<bf16>(), q_len)?,
                    pointer::slice("k", k.cast::<bf16>(), k_len)?,
                    pointer::slice("v", v.cast::<bf16>(), v_len)?,
                ),
                pointer::slice_mut("out", out, out_len)?,
            )
        };
        let layer = attention.mha(batch.tokens(), out)?;
        match cache {
            None => on_device!(&attention.place, |device| {
                on_threads(|| Ok(layer.prefill_into(device, None, operands, &batch.view(), out)?))
            }),
            Some(cache) => on_both!(attention, cache, |device, planes| {
                let cache = reading(planes.mha()?);
                let cache = Some(&*cache);
                on_threads(|| Ok(layer.prefill_into(device, cache, operands, &batch.view(), out)?))
            }),
        }
    })
}

/// Attention of new tokens over expanded keys and values: those of the new tokens from their latents as computed,
/// those of earlier tokens from latents read from the cache. `q_nope` is `[tokens, num_heads, qk_nope_head_dim]`,
/// `q_pe` `[tokens, num_heads, qk_rope_head_dim]`, `kv_c` `[tokens, kv_lora_rank]`, `k_pe` `[tokens,
/// qk_rope_head_dim]`, all bfloat16 bits; `out` is `[tokens, num_heads * v_head_dim]`, bfloat16 values in float32. For
/// the rest as `gaudi_kv_attention_prefill_mha`, for a layer of MLA and a cache of latents.
///
/// # Safety
/// As for `gaudi_kv_attention_prefill_mha`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_attention_prefill_mla(
    attention: *const gaudi_kv_attention,
    cache: *const gaudi_kv_cache,
    batch: *const gaudi_kv_batch,
    q_nope: *const u16,
    q_nope_len: usize,
    q_pe: *const u16,
    q_pe_len: usize,
    kv_c: *const u16,
    kv_c_len: usize,
    k_pe: *const u16,
    k_pe_len: usize,
    out: *mut f32,
    out_len: usize,
) -> gaudi_kv_status {
    barrier(|| {
        let read = [
            ("q_nope", bytes_of(q_nope, q_nope_len)),
            ("q_pe", bytes_of(q_pe, q_pe_len)),
            ("kv_c", bytes_of(kv_c, kv_c_len)),
            ("k_pe", bytes_of(k_pe, k_pe_len)),
        ];
        let written = [("out", bytes_of(out, out_len))];
        check_disjoint(&written, &read)?;
        // SAFETY: the caller says so.
        let cache = unsafe { cache.as_ref() };
        check_disjoint(&written, cache.map_or(&[], |cache| &cache.lent))?;
        // SAFETY: the caller says so of all of them; bf16 is its bits, of which any are a value; nothing overlaps.
        let (attention, batch, query, latents, out) = unsafe {
            (
                pointer::handle("the attention", attention)?,
                pointer::handle("the batch", batch)?,
                (
                    pointer::slice("q_nope", q_nope.cast::<bf16>(), q_nope_len)?,
                    pointer::slice("q_pe", q_pe.cast::<bf16>(), q_pe_len)?,
                ),
                (
                    pointer::slice("kv_c", kv_c.cast::<bf16>(), kv_c_len)?,
                    pointer::slice("k_pe", k_pe.cast::<bf16>(), k_pe_len)?,
                ),
                pointer::slice_mut("out", out, out_len)?,
            )
        };
        let layer = attention.mla(batch.tokens(), out)?;
        let batch = batch.view();
        with_workspace(|workspace| match cache {
            None => on_device!(&attention.place, |device| {
                on_threads(|| Ok(layer.prefill_into(device, None, query, latents, &batch, workspace, out)?))
            }),
            Some(cache) => on_both!(attention, cache, |device, planes| {
                let cache = reading(planes.mla()?);
                let cache = Some(&*cache);
                on_threads(|| Ok(layer.prefill_into(device, cache, query, latents, &batch, workspace, out)?))
            }),
        })
    })
}

/// Attention of query tokens whose keys and values, and those of all tokens before them, are in the cache. `q` is
/// `[tokens, num_heads, head_dim]`, bfloat16 bits, one or several tokens a sequence; `out` is `[tokens, num_heads *
/// v_head_dim]`, bfloat16 values in float32. Lengths are in elements. Over an FP8 cache both products are FP8.
///
/// Several threads may use the layer, the batch and the cache at the same time.
///
/// Returns `GAUDI_KV_INVALID_SHAPE` where operands or cache do not fit, `GAUDI_KV_MISMATCH` where the batch was not
/// prepared for caches of these blocks or the cache is on another device, `GAUDI_KV_INVALID_FACTOR` where a scale
/// cannot be used, and `GAUDI_KV_INVALID_ARGUMENT` for a layer or a cache of the other kind, or where `out` overlaps
/// with an operand or the cache's memory. Nothing is written to `out` then.
///
/// # Safety
/// `attention` is null or a layer's attention, `cache` null or a cache, `batch` null or a batch. The operands point to
/// as many elements as is said; null is for none. Nobody changes them, or uses `out`, during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_attention_decode_mha(
    attention: *const gaudi_kv_attention,
    cache: *const gaudi_kv_cache,
    batch: *const gaudi_kv_batch,
    q: *const u16,
    q_len: usize,
    out: *mut f32,
    out_len: usize,
) -> gaudi_kv_status {
    barrier(|| {
        let written = [("out", bytes_of(out, out_len))];
        check_disjoint(&written, &[("q", bytes_of(q, q_len))])?;
        // SAFETY: the caller says so.
        let cache = unsafe { pointer::handle("the cache", cache) }?;
        check_disjoint(&written, &cache.lent)?;
        // SAFETY: the caller says so of all of them; bf16 is its bits, of which any are a value; nothing overlaps.
        let (attention, batch, q, out) = unsafe {
            (
                pointer::handle("the attention", attention)?,
                pointer::handle("the batch", batch)?,
                pointer::slice("q", q.cast::<bf16>(), q_len)?,
                pointer::slice_mut("out", out, out_len)?,
            )
        };
        let layer = attention.mha(batch.tokens(), out)?;
        on_both!(attention, cache, |device, planes| {
            let cache = reading(planes.mha()?);
            let cache = &*cache;
            on_threads(|| Ok(layer.decode_into(device, cache, q, &batch.decode, out)?))
        })
    })
}

/// Attention of query tokens whose latents, and those of all tokens before them, are in the cache, with the projections
/// absorbed. `q_nope` is `[tokens, num_heads, qk_nope_head_dim]`, `q_pe` `[tokens, num_heads, qk_rope_head_dim]`, both
/// bfloat16 bits; `out` is `[tokens, num_heads * v_head_dim]`, bfloat16 values in float32. For the rest as
/// `gaudi_kv_attention_decode_mha`, for a layer of MLA and a cache of latents.
///
/// # Safety
/// As for `gaudi_kv_attention_decode_mha`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_attention_decode_mla(
    attention: *const gaudi_kv_attention,
    cache: *const gaudi_kv_cache,
    batch: *const gaudi_kv_batch,
    q_nope: *const u16,
    q_nope_len: usize,
    q_pe: *const u16,
    q_pe_len: usize,
    out: *mut f32,
    out_len: usize,
) -> gaudi_kv_status {
    barrier(|| {
        let read = [("q_nope", bytes_of(q_nope, q_nope_len)), ("q_pe", bytes_of(q_pe, q_pe_len))];
        let written = [("out", bytes_of(out, out_len))];
        check_disjoint(&written, &read)?;
        // SAFETY: the caller says so.
        let cache = unsafe { pointer::handle("the cache", cache) }?;
        check_disjoint(&written, &cache.lent)?;
        // SAFETY: the caller says so of all of them; bf16 is its bits, of which any are a value; nothing overlaps.
        let (attention, batch, query, out) = unsafe {
            (
                pointer::handle("the attention", attention)?,
                pointer::handle("the batch", batch)?,
                (
                    pointer::slice("q_nope", q_nope.cast::<bf16>(), q_nope_len)?,
                    pointer::slice("q_pe", q_pe.cast::<bf16>(), q_pe_len)?,
                ),
                pointer::slice_mut("out", out, out_len)?,
            )
        };
        let layer = attention.mla(batch.tokens(), out)?;
        with_workspace(|workspace| {
            on_both!(attention, cache, |device, planes| {
                let cache = reading(planes.mla()?);
                let cache = &*cache;
                on_threads(|| Ok(layer.decode_into(device, cache, query, &batch.decode, workspace, out)?))
            })
        })
    })
}
