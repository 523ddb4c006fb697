//! Attention over separate keys and values: MHA, GQA and MQA.

use half::bf16;

use super::error::{check_rows, row_size};
use super::{AttentionError, AttentionOptions, AttentionScales, Batch, DecodeBatch};
use crate::ScaleFactors;
use crate::cache::{BlockCache, MhaCache};
use crate::device::{
    AttentionProblem, AttentionWorkspace, Device, KeysAndValues, MhaShape, StorageDtype, TensorPair,
};

/// A layer's attention.
#[derive(Debug, Clone)]
pub struct MhaAttention {
    shape: MhaShape,
    scales: AttentionScales,
    options: AttentionOptions,
}

impl MhaAttention {
    /// A layer whose query heads share the KV heads in equal groups.
    ///
    /// # Errors
    /// The heads do not divide, a size is zero, or an option does not fit.
    pub fn new(
        shape: MhaShape,
        scales: AttentionScales,
        options: AttentionOptions,
    ) -> Result<Self, AttentionError> {
        let MhaShape { num_heads, num_kv_heads, head_dim, v_head_dim } = shape;
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
        Ok(Self { shape, scales, options })
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
        let mut out = vec![0.0; tokens * self.shape.out_row()];
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
        let shape = self.shape;
        let tokens = self.check_prefill((q, k, v))?;
        check_rows("out", out.len(), tokens, shape.out_row())?;
        if let Some(cache) = cache {
            self.check_cache(device, cache)?;
        }
        let quantizing =
            cache.filter(|cache| self.options.fp8_prefill && cache.key.layout().dtype == StorageDtype::Fp8);
        if quantizing.is_some() {
            self.scales.check(shape.num_kv_heads)?;
        }
        let (sequences, blocks) = batch.with_context(tokens, cache.map(MhaCache::geometry))?;
        let one = ScaleFactors::ONE;
        let mut workspace = AttentionWorkspace::default();
        for sequence in &sequences {
            let rows = sequence.first_token..sequence.first_token + sequence.tokens;
            let new = TensorPair {
                k: &k[rows.start * shape.k_row()..rows.end * shape.k_row()],
                v: &v[rows.start * shape.v_row()..rows.end * shape.v_row()],
            };
            let operands = match cache {
                Some(cache) if sequence.context_tokens() > 0 => {
                    KeysAndValues::ContextAndTensors { context: cache.plane_pair(&blocks), new }
                }
                _ => KeysAndValues::Tensors(new),
            };
            let problem = AttentionProblem {
                q,
                shape,
                operands,
                key_factors: cache.map_or(&one, |cache| &cache.key.scale),
                value_factors: cache.map_or(&one, |cache| &cache.value.scale),
                fp8: quantizing.map(|_| self.scales.fp8_products()),
                modifiers: self.options.modifiers(),
                sequences: std::slice::from_ref(sequence),
            };
            device.attend(&problem, &mut workspace, out)?;
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
        let q_row = self.shape.q_row();
        let tokens = q.len() / q_row;
        check_rows("q", q.len(), tokens, q_row)?;
        let mut prepared = DecodeBatch::new();
        prepared.prepare(batch, tokens, cache.geometry())?;
        let mut out = vec![0.0; tokens * self.shape.out_row()];
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
        check_rows("q", q.len(), tokens, self.shape.q_row())?;
        check_rows("out", out.len(), tokens, self.shape.out_row())?;
        let is_fp8 = cache.key.layout().dtype == StorageDtype::Fp8;
        if is_fp8 {
            self.scales.check(self.shape.num_kv_heads)?;
        }
        let problem = AttentionProblem {
            q,
            shape: self.shape,
            operands: KeysAndValues::Planes(cache.plane_pair(&batch.blocks)),
            key_factors: &cache.key.scale,
            value_factors: &cache.value.scale,
            fp8: is_fp8.then(|| self.scales.fp8_products()),
            modifiers: self.options.modifiers(),
            sequences: &batch.sequences,
        };
        device.attend(&problem, &mut AttentionWorkspace::default(), out)?;
        Ok(())
    }

    /// How many tokens there are.
    fn check_prefill(&self, (q, k, v): (&[bf16], &[bf16], &[bf16])) -> Result<usize, AttentionError> {
        let q_row = self.shape.q_row();
        let tokens = q.len() / q_row;
        check_rows("q", q.len(), tokens, q_row)?;
        check_rows("k", k.len(), tokens, self.shape.k_row())?;
        check_rows("v", v.len(), tokens, self.shape.v_row())?;
        Ok(tokens)
    }

    fn check_cache<D: Device>(&self, device: &D, cache: &MhaCache<D::Plane>) -> Result<(), AttentionError> {
        cache.check_device(device)?;
        let (key, value) = (cache.key.layout(), cache.value.layout());
        for (what, value, expected) in [
            ("the cache's num_kv_heads", key.heads, self.shape.num_kv_heads),
            ("the cache's head_dim", key.dim, self.shape.head_dim),
            ("the cache's v_head_dim", value.dim, self.shape.v_head_dim),
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
