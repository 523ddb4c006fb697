//! Attention layers: their making.

use half::bf16;
use kv::attention::{self, AttentionOptions, AttentionScales, MlaShape};
use kv::device::AnyDevice;

use crate::cache::{gaudi_kv_mha_shape, gaudi_kv_mla_shape};
use crate::device::gaudi_kv_device;
use crate::failure::Failure;
use crate::inspect::{check_flags, check_reserved};
use crate::last_error::{barrier, quiet_barrier};
use crate::pointer;
use crate::scale::gaudi_kv_multipliers;
use crate::status::gaudi_kv_status;
use crate::structure::{self, Structure, field_end};

/// Quantize q, k and v of a prefill over an FP8 cache too: with their scales for MHA, with 1.0 for MLA.
pub const GAUDI_KV_ATTENTION_FP8_PREFILL: u32 = 1;

/// What changes a layer's scores, and the scales that its cache does not have. Input; the fields up to
/// `logits_soft_cap` are required, and zeros are the defaults of the others. Applied in this order: softmax scale,
/// soft cap, ALiBi, mask, sinks.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_attention_options {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// Multiplies the product of query and key, usually `head_dim^-0.5`; finite and positive.
    pub softmax_scale: f32,
    /// `cap * tanh(score / cap)`; 0 for none, else finite and positive.
    pub logits_soft_cap: f32,
    /// By query head, `num_heads` numbers: `slope * (key position - query position)` is added. Null for none.
    pub alibi_slopes: *const f32,
    /// By query head, `num_heads` numbers: a score that takes part in the softmax and has no value. Null for none.
    pub sinks: *const f32,
    /// A query sees itself and this many keys less one before it; 0 for all.
    pub sliding_window: usize,
    /// The query's scale, by KV head for MHA; a count of 0 for one scale for each token and head, from its amax.
    pub q_scale: gaudi_kv_multipliers,
    /// What the probabilities are multiplied by on the way into FP8; 0 in this and the next for 1.0 in both.
    pub prob_quant: f32,
    /// What their codes are multiplied by on the way out.
    pub prob_dequant: f32,
    /// `GAUDI_KV_ATTENTION_*`, or-ed.
    pub flags: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_attention_options {
    const NAME: &'static str = "gaudi_kv_attention_options";
    const REQUIRED: usize = field_end!(gaudi_kv_attention_options, logits_soft_cap);
    const WHOLE: usize = field_end!(gaudi_kv_attention_options, reserved);
}

/// A layer's attention. It never changes; several threads may use it.
#[derive(Debug)]
pub struct gaudi_kv_attention {
    pub(crate) device: AnyDevice,
    pub(crate) layer: Layer,
}

/// The kinds of layers, with the elements of a token's output.
#[derive(Debug)]
pub(crate) enum Layer {
    Mha(attention::MhaAttention, usize),
    Mla(attention::MlaAttention, usize),
}

/// # Safety
/// The arrays point to `num_heads` numbers, those of the query's scale to as many as it says.
unsafe fn resolve(
    options: &gaudi_kv_attention_options,
    num_heads: usize,
) -> Result<(AttentionScales, AttentionOptions), Failure> {
    check_flags(options.flags, GAUDI_KV_ATTENTION_FP8_PREFILL)?;
    check_reserved(options.reserved)?;
    let per_head = |what, pointer: *const f32| {
        // SAFETY: the caller promises `num_heads` numbers behind each array that is not null.
        let numbers = || unsafe { pointer::slice(what, pointer, num_heads) }.map(<[f32]>::to_vec);
        (!pointer.is_null()).then(numbers).transpose()
    };
    // SAFETY: the caller promises as many numbers as the count of the query's scale.
    let query = unsafe { options.q_scale.factors("q_scale") }?;
    let prob = match (options.prob_quant, options.prob_dequant) {
        (0.0, 0.0) => (1.0, 1.0),
        both => both,
    };
    let scales = AttentionScales::default().with_prob(prob.0, prob.1);
    let scales = match query {
        Some(factors) => scales.with_query(factors),
        None => scales,
    };
    let options = AttentionOptions {
        softmax_scale: options.softmax_scale,
        logits_soft_cap: (options.logits_soft_cap != 0.0).then_some(options.logits_soft_cap),
        alibi_slopes: per_head("alibi_slopes", options.alibi_slopes)?,
        sliding_window: (options.sliding_window > 0).then_some(options.sliding_window),
        sinks: per_head("sinks", options.sinks)?,
        fp8_prefill: options.flags & GAUDI_KV_ATTENTION_FP8_PREFILL != 0,
    };
    Ok((scales, options))
}

/// A layer's attention over keys and values, on a device. To be freed with `gaudi_kv_attention_free`.
///
/// Scales are checked where they are used: by the first call over an FP8 cache.
///
/// Returns `GAUDI_KV_INVALID_SHAPE` where sizes do not fit, `GAUDI_KV_INVALID_ARGUMENT` where a number is not finite,
/// or not positive where it must be.
///
/// # Safety
/// `device` is null or a device. `shape` and `options` are null or point to structures of the size that they say,
/// whose arrays have as many numbers as is said. `out` is null or points to a pointer, which is set; to null where the
/// call fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_attention_create_mha(
    device: *const gaudi_kv_device,
    shape: *const gaudi_kv_mha_shape,
    options: *const gaudi_kv_attention_options,
    out: *mut *mut gaudi_kv_attention,
) -> gaudi_kv_status {
    let make = || {
        // SAFETY: the caller promises a live device or null, and structures of the sizes that they say or null.
        let (device, shape, options) = unsafe {
            (pointer::handle("the device", device)?, structure::read(shape)?, structure::read(options)?)
        };
        // SAFETY: the caller promises that the arrays of `options` have `num_heads` numbers, and its scale as many as
        // it says.
        let (scales, options) = unsafe { resolve(&options, shape.num_heads) }?;
        let gaudi_kv_mha_shape { num_heads, num_kv_heads, head_dim, v_head_dim, .. } = shape;
        let shape = attention::MhaShape { num_heads, num_kv_heads, head_dim, v_head_dim };
        let layer = attention::MhaAttention::new(shape, scales, options)?;
        Ok(gaudi_kv_attention { device: device.device.clone(), layer: Layer::Mha(layer, shape.out_row()) })
    };
    // SAFETY: the caller promises that `out` is null or can be written.
    barrier(|| unsafe { pointer::hand_out(out, make) })
}

/// A layer's attention over latents, on a device, with the weight of its `kv_b_proj`: bfloat16 bits,
/// `[num_heads * (qk_nope_head_dim + v_head_dim), kv_lora_rank]`, for each head the key's rows, then the value's. It is
/// copied. To be freed with `gaudi_kv_attention_free`.
///
/// Returns what `gaudi_kv_attention_create_mha` returns.
///
/// # Safety
/// As for `gaudi_kv_attention_create_mha`; `kv_b_proj` points to `kv_b_proj_len` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_attention_create_mla(
    device: *const gaudi_kv_device,
    shape: *const gaudi_kv_mla_shape,
    kv_b_proj: *const u16,
    kv_b_proj_len: usize,
    options: *const gaudi_kv_attention_options,
    out: *mut *mut gaudi_kv_attention,
) -> gaudi_kv_status {
    let make = || {
        // SAFETY: the caller promises a live device or null, structures of the sizes that they say or null, and
        // `kv_b_proj_len` elements that nobody changes; bf16 is its bits, of which any are a value.
        let (device, shape, kv_b_proj, options) = unsafe {
            (
                pointer::handle("the device", device)?,
                structure::read(shape)?,
                pointer::slice("kv_b_proj", kv_b_proj.cast::<bf16>(), kv_b_proj_len)?,
                structure::read(options)?,
            )
        };
        let gaudi_kv_mla_shape {
            num_heads,
            kv_lora_rank,
            qk_nope_head_dim,
            qk_rope_head_dim,
            v_head_dim,
            ..
        } = shape;
        let shape = MlaShape { num_heads, kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim, v_head_dim };
        // SAFETY: the caller promises that the arrays of `options` have `num_heads` numbers, and its scale as many as
        // it says.
        let (scales, options) = unsafe { resolve(&options, num_heads) }?;
        let layer = attention::MlaAttention::new(shape, kv_b_proj, scales, options)?;
        Ok(gaudi_kv_attention {
            device: device.device.clone(),
            layer: Layer::Mla(layer, num_heads * v_head_dim),
        })
    };
    // SAFETY: the caller promises that `out` is null or can be written.
    barrier(|| unsafe { pointer::hand_out(out, make) })
}

/// Frees a layer's attention; null is none.
///
/// # Safety
/// `attention` is null or came from this library and has not been freed, and no other call uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_attention_free(attention: *mut gaudi_kv_attention) {
    // SAFETY: the caller promises that the layer is null or not freed, and that no other call uses it.
    quiet_barrier(|| unsafe { pointer::free(attention) });
}
