//! Attention over separate keys and values: MHA, GQA and MQA.

use std::borrow::Cow;

use half::bf16;

use super::error::{check_rows, row_size};
use super::{AttentionError, AttentionOptions, AttentionScales, Batch, DecodeBatch};
use crate::cache::{BlockCache, MhaCache};
use crate::device::{DecodeKernel, Device, Fp8Prefill, PrefillKernel, StorageDtype, Values};

/// A layer's attention.
#[derive(Debug, Clone)]
pub struct MhaAttention {
    num_heads: usize,
    num_kv_heads: usize,
    head_dim: usize,
    v_head_dim: usize,
    scales: AttentionScales,
    options: AttentionOptions,
}

impl MhaAttention {
    /// A layer of `num_heads` query heads that share `num_kv_heads` KV heads in equal groups.
    ///
    /// # Errors
    /// The heads do not divide, a size is zero, or an option does not fit.
    pub fn new(
        (num_heads, num_kv_heads): (usize, usize),
        (head_dim, v_head_dim): (usize, usize),
        scales: AttentionScales,
        options: AttentionOptions,
    ) -> Result<Self, AttentionError> {
        for (what, value) in
            [("head_dim", head_dim), ("v_head_dim", v_head_dim), ("num_kv_heads", num_kv_heads)]
        {
            if value == 0 {
                return Err(AttentionError::Size { what, value, allowed: "it must be positive".to_owned() });
            }
        }
        if num_heads == 0 || !num_heads.is_multiple_of(num_kv_heads) {
            let allowed = format!("a positive multiple of the {num_kv_heads} KV heads is needed");
            return Err(AttentionError::Size { what: "num_heads", value: num_heads, allowed });
        }
        row_size("head_dim", &[head_dim, num_heads])?;
        row_size("v_head_dim", &[v_head_dim, num_heads])?;
        options.check(num_heads)?;
        Ok(Self { num_heads, num_kv_heads, head_dim, v_head_dim, scales, options })
    }

    /// Attention of new tokens, with their keys and values as they were computed and those of earlier tokens read from
    /// the cache. `q` is `[tokens, num_heads, head_dim]`, `k` and `v` `[tokens, num_kv_heads, ..]`; returns
    /// `[tokens, num_heads * v_head_dim]`, bfloat16 values in float32. Whether the new tokens are in the cache already
    /// makes no difference.
    ///
    /// # Errors
    /// The operands or the batch do not fit, or a sequence has cached context and there is no cache.
    pub fn prefill<D: Device>(
        &self,
        device: &D,
        cache: Option<&MhaCache<D::Plane>>,
        (q, k, v): (&[bf16], &[bf16], &[bf16]),
        batch: &Batch<'_>,
    ) -> Result<Vec<f32>, AttentionError> {
        let tokens = self.check_prefill((q, k, v))?;
        let mut out = vec![0.0; tokens * self.num_heads * self.v_head_dim];
        self.prefill_into(device, cache, (q, k, v), batch, &mut out)?;
        Ok(out)
    }

    /// [`prefill`](Self::prefill) into `[tokens, num_heads * v_head_dim]`.
    ///
    /// # Errors
    /// The operands or the batch do not fit, or a sequence has cached context and there is no cache. Nothing is written
    /// to `out` then.
    pub fn prefill_into<D: Device>(
        &self,
        device: &D,
        cache: Option<&MhaCache<D::Plane>>,
        (q, k, v): (&[bf16], &[bf16], &[bf16]),
        batch: &Batch<'_>,
        out: &mut [f32],
    ) -> Result<(), AttentionError> {
        let (q_row, k_row, v_row) = (
            self.num_heads * self.head_dim,
            self.num_kv_heads * self.head_dim,
            self.num_kv_heads * self.v_head_dim,
        );
        let (tokens, out_row) = (self.check_prefill((q, k, v))?, self.num_heads * self.v_head_dim);
        check_rows("out", out.len(), tokens, out_row)?;
        if let Some(cache) = cache {
            self.check_cache(device, cache)?;
        }
        let fp8 =
            cache.filter(|cache| self.options.fp8_prefill && cache.key.layout.dtype == StorageDtype::Fp8);
        if fp8.is_some() {
            self.scales.check(self.num_kv_heads)?;
        }
        let geometry = cache.map(MhaCache::geometry);
        for (sequence, slots) in batch.with_context(tokens, geometry)? {
            let rows = sequence.first_token..sequence.first_token + sequence.tokens;
            let (new_keys, new_values) =
                (&k[rows.start * k_row..rows.end * k_row], &v[rows.start * v_row..rows.end * v_row]);
            let (keys, values) = match cache {
                Some(cache) if !slots.is_empty() => {
                    let (mut keys, mut values) =
                        (cache.key.read(device, &slots)?, cache.value.read(device, &slots)?);
                    keys.extend_from_slice(new_keys);
                    values.extend_from_slice(new_values);
                    (Cow::Owned(keys), Cow::Owned(values))
                }
                _ => (Cow::Borrowed(new_keys), Cow::Borrowed(new_values)),
            };
            let kernel = PrefillKernel {
                q: &q[rows.start * q_row..rows.end * q_row],
                k: &keys,
                v: &values,
                num_heads: self.num_heads,
                num_kv_heads: self.num_kv_heads,
                dim: self.head_dim,
                value_dim: self.v_head_dim,
                fp8: fp8.map(|cache| Fp8Prefill {
                    query_scale: &self.scales.query,
                    key: &cache.key.scale,
                    value: &cache.value.scale,
                    prob: self.scales.prob,
                }),
                modifiers: self.options.modifiers(),
            };
            device.prefill(&kernel, &mut out[rows.start * out_row..rows.end * out_row])?;
        }
        Ok(())
    }

    /// Attention of query tokens whose keys and values, and those of all tokens before them, are in the cache. `q` is
    /// `[tokens, num_heads, head_dim]`, one or several tokens a sequence; returns `[tokens, num_heads * v_head_dim]`.
    ///
    /// # Errors
    /// The operands or the batch do not fit the cache.
    pub fn decode<D: Device>(
        &self,
        device: &D,
        cache: &MhaCache<D::Plane>,
        q: &[bf16],
        batch: &Batch<'_>,
    ) -> Result<Vec<f32>, AttentionError> {
        let q_row = self.num_heads * self.head_dim;
        let tokens = q.len() / q_row;
        check_rows("q", q.len(), tokens, q_row)?;
        let mut prepared = DecodeBatch::new();
        prepared.prepare(batch, tokens, cache.geometry())?;
        let mut out = vec![0.0; tokens * self.num_heads * self.v_head_dim];
        self.decode_into(device, cache, q, &prepared, &mut out)?;
        Ok(out)
    }

    /// [`decode`](Self::decode) of a batch that is prepared, into `[tokens, num_heads * v_head_dim]`.
    ///
    /// # Errors
    /// The operands or the batch do not fit the cache. Nothing is written to `out` then.
    pub fn decode_into<D: Device>(
        &self,
        device: &D,
        cache: &MhaCache<D::Plane>,
        q: &[bf16],
        batch: &DecodeBatch,
        out: &mut [f32],
    ) -> Result<(), AttentionError> {
        self.check_cache(device, cache)?;
        let tokens = batch.tokens_for(cache.geometry())?;
        check_rows("q", q.len(), tokens, self.num_heads * self.head_dim)?;
        check_rows("out", out.len(), tokens, self.num_heads * self.v_head_dim)?;
        if cache.key.layout.dtype == StorageDtype::Fp8 {
            self.scales.check(self.num_kv_heads)?;
        }
        let kernel = DecodeKernel {
            q,
            num_heads: self.num_heads,
            key_layout: &cache.key.layout,
            key: &cache.key.memory,
            key_dequant: &cache.key.scale.dequant,
            values: Values::Plane {
                layout: &cache.value.layout,
                plane: &cache.value.memory,
                dequant: &cache.value.scale.dequant,
            },
            query_scale: &self.scales.query,
            prob: self.scales.prob,
            modifiers: self.options.modifiers(),
            sequences: &batch.sequences,
            blocks: &batch.blocks,
        };
        device.decode(&kernel, out)?;
        Ok(())
    }

    /// How many tokens there are.
    fn check_prefill(&self, (q, k, v): (&[bf16], &[bf16], &[bf16])) -> Result<usize, AttentionError> {
        let q_row = self.num_heads * self.head_dim;
        let tokens = q.len() / q_row;
        check_rows("q", q.len(), tokens, q_row)?;
        check_rows("k", k.len(), tokens, self.num_kv_heads * self.head_dim)?;
        check_rows("v", v.len(), tokens, self.num_kv_heads * self.v_head_dim)?;
        Ok(tokens)
    }

    fn check_cache<D: Device>(&self, device: &D, cache: &MhaCache<D::Plane>) -> Result<(), AttentionError> {
        cache.check_device(device)?;
        let (key, value) = (&cache.key.layout, &cache.value.layout);
        for (what, value, expected) in [
            ("the cache's num_kv_heads", key.heads, self.num_kv_heads),
            ("the cache's head_dim", key.dim, self.head_dim),
            ("the cache's v_head_dim", value.dim, self.v_head_dim),
        ] {
            if value != expected {
                return Err(AttentionError::Size {
                    what,
                    value,
                    allowed: format!("the layer has {expected}"),
                });
            }
        }
        Ok(())
    }
}
