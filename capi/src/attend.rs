//! Prefill and decode.

use std::cell::RefCell;

use half::bf16;
use kv::attention::{MhaAttention, MlaAttention, MlaWorkspace};
use kv::device::Device;

use crate::attention::{Layer, gaudi_kv_attention};
use crate::cache::gaudi_kv_cache;
use crate::failure::Failure;
use crate::last_error::barrier;
use crate::pointer::{self, bytes_of, check_disjoint};
use crate::status::gaudi_kv_status;
use crate::step_batch::gaudi_kv_batch;
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

/// A bfloat16 operand of the caller: its name, its bits, and how many elements there are.
type Operand = (&'static str, *const u16, usize);

/// What a call of attention is given, checked as far as all kinds of layers share it.
struct Call<'a, const N: usize> {
    attention: &'a gaudi_kv_attention,
    batch: &'a gaudi_kv_batch,
    cache: Option<&'a gaudi_kv_cache>,
    operands: [&'a [bf16]; N],
    out: &'a mut [f32],
}

impl<'a, const N: usize> Call<'a, N> {
    /// Takes handles and memory of the caller.
    ///
    /// # Errors
    /// A null handle, an array that is not aligned, an output that overlaps with an operand or the cache's memory, or a
    /// cache on another kind of device than the layer.
    ///
    /// # Safety
    /// The handles are null or live. Each operand and `out` point to as many elements as is said, or are null for none;
    /// while the result lives nobody changes the operands or uses `out`.
    unsafe fn take(
        attention: *const gaudi_kv_attention,
        cache: *const gaudi_kv_cache,
        batch: *const gaudi_kv_batch,
        operands: [Operand; N],
        (out, out_len): (*mut f32, usize),
    ) -> Result<Self, Failure> {
        let written = [("out", bytes_of(out, out_len))];
        check_disjoint(&written, &operands.map(|(name, bits, len)| (name, bytes_of(bits, len))))?;
        // SAFETY: the caller promises that the cache is null or not freed.
        let cache = unsafe { cache.as_ref() };
        check_disjoint(&written, cache.map_or(&[], |cache| &cache.lent))?;
        // SAFETY: the caller promises that both are null or not freed.
        let (attention, batch) =
            unsafe { (pointer::handle("the attention", attention)?, pointer::handle("the batch", batch)?) };
        let mut slices: [&[bf16]; N] = [&[]; N];
        for (slice, (name, bits, len)) in slices.iter_mut().zip(operands) {
            // SAFETY: the caller promises that many elements, which nobody changes; bf16 is its bits, of which any
            // are a value, and the output does not overlap with them.
            *slice = unsafe { pointer::slice(name, bits.cast::<bf16>(), len) }?;
        }
        // SAFETY: the caller promises that many elements, which nobody else uses, and nothing overlaps with them.
        let out = unsafe { pointer::slice_mut("out", out, out_len) }?;
        if let Some(cache) = cache {
            check_device(attention, cache)?;
        }
        Ok(Self { attention, batch, cache, operands: slices, out })
    }

    /// The cache of a call that cannot do without one.
    fn needed_cache(&self) -> Result<&'a gaudi_kv_cache, Failure> {
        self.cache.ok_or_else(|| Failure::argument("the cache is null"))
    }
}

/// Refuses a cache on another kind of device than the layer.
fn check_device(attention: &gaudi_kv_attention, cache: &gaudi_kv_cache) -> Result<(), Failure> {
    let (layer, planes) = (&attention.device, &cache.device);
    if layer.backend().name() == planes.backend().name() {
        return Ok(());
    }
    let (layer, planes) = (layer.description(), planes.description());
    Err(Failure::mismatch(format!("the cache is on {planes}, the attention on {layer}")))
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
        let operands = [("q", q, q_len), ("k", k, k_len), ("v", v, v_len)];
        // SAFETY: the caller promises live handles or null, and as many elements as is said behind each pointer.
        let call = unsafe { Call::take(attention, cache, batch, operands, (out, out_len)) }?;
        let Call { attention, batch, cache, operands: [q, k, v], out } = call;
        let layer = attention.mha(batch.tokens(), out)?;
        // On the caller's thread, as all locks are taken: a thread of the pool that waits takes on another call meanwhile,
        // whose lock would wait for a writer that waits for the first.
        let locked = cache.map(|cache| cache.lock.read());
        let cache = locked.as_ref().map(|cache| cache.mha()).transpose()?;
        let (device, batch) = (&attention.device, batch.view());
        on_threads(|| Ok(layer.prefill_into(device, cache, (q, k, v), &batch, out)?))
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
        let operands = [
            ("q_nope", q_nope, q_nope_len),
            ("q_pe", q_pe, q_pe_len),
            ("kv_c", kv_c, kv_c_len),
            ("k_pe", k_pe, k_pe_len),
        ];
        // SAFETY: the caller promises live handles or null, and as many elements as is said behind each pointer.
        let call = unsafe { Call::take(attention, cache, batch, operands, (out, out_len)) }?;
        let Call { attention, batch, cache, operands: [q_nope, q_pe, kv_c, k_pe], out } = call;
        let layer = attention.mla(batch.tokens(), out)?;
        let locked = cache.map(|cache| cache.lock.read());
        let cache = locked.as_ref().map(|cache| cache.mla()).transpose()?;
        let (device, batch) = (&attention.device, batch.view());
        let (query, latents) = ((q_nope, q_pe), (kv_c, k_pe));
        with_workspace(|workspace| {
            on_threads(|| Ok(layer.prefill_into(device, cache, query, latents, &batch, workspace, out)?))
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
        // SAFETY: the caller promises live handles or null, and as many elements as is said behind each pointer.
        let call = unsafe { Call::take(attention, cache, batch, [("q", q, q_len)], (out, out_len)) }?;
        let locked = call.needed_cache()?.lock.read();
        let Call { attention, batch, operands: [q], out, .. } = call;
        let (layer, cache) = (attention.mha(batch.tokens(), out)?, locked.mha()?);
        let device = &attention.device;
        on_threads(|| Ok(layer.decode_into(device, cache, q, &batch.decode, out)?))
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
        let operands = [("q_nope", q_nope, q_nope_len), ("q_pe", q_pe, q_pe_len)];
        // SAFETY: the caller promises live handles or null, and as many elements as is said behind each pointer.
        let call = unsafe { Call::take(attention, cache, batch, operands, (out, out_len)) }?;
        let locked = call.needed_cache()?.lock.read();
        let Call { attention, batch, operands: [q_nope, q_pe], out, .. } = call;
        let (layer, cache) = (attention.mla(batch.tokens(), out)?, locked.mla()?);
        let device = &attention.device;
        with_workspace(|workspace| {
            let query = (q_nope, q_pe);
            on_threads(|| Ok(layer.decode_into(device, cache, query, &batch.decode, workspace, out)?))
        })
    })
}
