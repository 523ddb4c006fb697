//! Attention over one latent: expanded for a prefill, absorbed for a decode.

use crate::ScaleFactors;
use std::borrow::Cow;

use half::bf16;
use half::slice::HalfFloatSliceExt;

use super::error::{check_len, check_rows, row_size};
use super::{AttentionError, AttentionOptions, AttentionScales, Batch, DecodeBatch};
use crate::cache::{BlockCache, MlaCache, push_joined};
use crate::device::{
    AttentionProblem, AttentionWorkspace, Device, DeviceError, Fp8Products, KeysAndValues, MhaShape,
    MlaShape, ProjectKernel, QueryScale, StorageDtype, TensorPair,
};
use crate::fp8::bf16_from_f32_slice;

/// Memory of a prefill or a decode, which the next one uses again.
#[derive(Debug, Default)]
pub struct MlaWorkspace {
    /// `[tokens, num_heads, kv_lora_rank]`: the query of a decode, with the key's projection absorbed.
    absorbed: Vec<bf16>,
    /// The query with the rope parts.
    q: Vec<bf16>,
    expanded: Expanded,
    /// `[tokens, num_heads, kv_lora_rank]`: what attention makes of the latents, then the same as bfloat16.
    accumulated: Vec<f32>,
    latents: Vec<bf16>,
    /// `[tokens, num_heads, v_head_dim]`.
    values: Vec<bf16>,
    attention: AttentionWorkspace,
}

/// A workspace of more bytes than this is given back to the system.
const KEPT_BYTES: usize = 64 << 20;

impl MlaWorkspace {
    /// Gives the memory back if it is more than is worth keeping between calls, 64 MiB.
    pub fn trim(&mut self) {
        let Expanded { nope, keys, values } = &self.expanded;
        let words = [&self.absorbed, &self.q, &self.latents, &self.values, nope, keys, values];
        let words: usize = words.iter().map(|words| words.capacity()).sum();
        let floats = self.accumulated.capacity() * size_of::<f32>();
        if words * size_of::<bf16>() + floats + self.attention.bytes() > KEPT_BYTES {
            *self = Self::default();
        }
    }
}

/// Latents, expanded.
#[derive(Debug, Default)]
struct Expanded {
    /// `[tokens, num_heads, qk_nope_head_dim]`.
    nope: Vec<bf16>,
    /// `[tokens, num_heads, qk_nope_head_dim + qk_rope_head_dim]`.
    keys: Vec<bf16>,
    /// `[tokens, num_heads, v_head_dim]`.
    values: Vec<bf16>,
}

/// A layer's attention, with the projection that expands a latent.
#[derive(Debug, Clone)]
pub struct MlaAttention {
    shape: MlaShape,
    /// `[num_heads, qk_nope_head_dim, kv_lora_rank]`, expands a latent to a key.
    key_rows: Vec<bf16>,
    /// `[num_heads, kv_lora_rank, qk_nope_head_dim]`, takes a query to the latent: the key rows transposed.
    key_columns: Vec<bf16>,
    /// `[num_heads, v_head_dim, kv_lora_rank]`, expands a latent to a value.
    value_rows: Vec<bf16>,
    scales: AttentionScales,
    options: AttentionOptions,
}

impl MlaAttention {
    /// A layer with the weight of its `kv_b_proj`: `[num_heads * (qk_nope_head_dim + v_head_dim), kv_lora_rank]`, for
    /// each head the key's rows, then the value's.
    ///
    /// # Errors
    /// A size is zero, the weight does not fit, or an option does not.
    pub fn new(
        shape: MlaShape,
        kv_b_proj: &[bf16],
        scales: AttentionScales,
        options: AttentionOptions,
    ) -> Result<Self, AttentionError> {
        let MlaShape { num_heads, kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim, v_head_dim } = shape;
        for (what, value) in [
            ("num_heads", num_heads),
            ("kv_lora_rank", kv_lora_rank),
            ("qk_nope_head_dim", qk_nope_head_dim),
            ("v_head_dim", v_head_dim),
        ] {
            if value == 0 {
                return Err(AttentionError::Size { what, value, allowed: "it must be positive".to_owned() });
            }
        }
        let head_rows = qk_nope_head_dim.saturating_add(v_head_dim);
        check_len(
            "kv_b_proj",
            kv_b_proj.len(),
            row_size("num_heads", &[num_heads, head_rows, kv_lora_rank])?,
        )?;
        for part in [qk_nope_head_dim, kv_lora_rank] {
            row_size("qk_rope_head_dim", &[qk_rope_head_dim.saturating_add(part), num_heads])?;
        }
        options.check(num_heads)?;
        let heads = || {
            let heads = kv_b_proj.chunks_exact(head_rows * kv_lora_rank);
            heads.map(|head| head.split_at(qk_nope_head_dim * kv_lora_rank))
        };
        let transposed = |key: &'_ [bf16]| -> Vec<bf16> {
            let columns = (0..kv_lora_rank).flat_map(|c| key[c..].iter().step_by(kv_lora_rank));
            columns.copied().collect()
        };
        Ok(Self {
            shape,
            key_rows: heads().flat_map(|(key, _)| key).copied().collect(),
            key_columns: heads().flat_map(|(key, _)| transposed(key)).collect(),
            value_rows: heads().flat_map(|(_, value)| value).copied().collect(),
            scales,
            options,
        })
    }

    /// Attention of new tokens over expanded keys and values: those of the new tokens from their latents as computed,
    /// those of earlier tokens from latents read from the cache. `q_nope` is `[tokens, num_heads, qk_nope_head_dim]`,
    /// `q_pe` `[tokens, num_heads, qk_rope_head_dim]`, `kv_c` `[tokens, kv_lora_rank]`, `k_pe`
    /// `[tokens, qk_rope_head_dim]`; returns `[tokens, num_heads * v_head_dim]`.
    ///
    /// # Errors
    /// The operands or the batch do not fit, or a sequence has cached context and there is no cache.
    pub fn prefill<D: Device>(
        &self,
        device: &D,
        cache: Option<&MlaCache<D::Plane>>,
        (q_nope, q_pe): (&[bf16], &[bf16]),
        (kv_c, k_pe): (&[bf16], &[bf16]),
        batch: &Batch<'_>,
    ) -> Result<Vec<f32>, AttentionError> {
        let tokens = self.check_prefill((q_nope, q_pe), (kv_c, k_pe))?;
        let mut out = vec![0.0; tokens * self.shape.num_heads * self.shape.v_head_dim];
        let mut workspace = MlaWorkspace::default();
        self.prefill_into(device, cache, (q_nope, q_pe), (kv_c, k_pe), batch, &mut workspace, &mut out)?;
        Ok(out)
    }

    /// [`prefill`](Self::prefill) into `[tokens, num_heads * v_head_dim]`. A workspace may serve any layers, one after the
    /// other.
    ///
    /// # Errors
    /// The operands or the batch do not fit, or a sequence has cached context and there is no cache. Nothing is written
    /// to `out` then.
    #[expect(clippy::too_many_arguments, reason = "these are the operands")]
    pub fn prefill_into<D: Device>(
        &self,
        device: &D,
        cache: Option<&MlaCache<D::Plane>>,
        (q_nope, q_pe): (&[bf16], &[bf16]),
        (kv_c, k_pe): (&[bf16], &[bf16]),
        batch: &Batch<'_>,
        workspace: &mut MlaWorkspace,
        out: &mut [f32],
    ) -> Result<(), AttentionError> {
        let MlaShape { num_heads, qk_nope_head_dim, qk_rope_head_dim, v_head_dim, .. } = self.shape;
        let dim = qk_nope_head_dim + qk_rope_head_dim;
        let (k_row, v_row) = (num_heads * dim, num_heads * v_head_dim);
        let tokens = self.check_prefill((q_nope, q_pe), (kv_c, k_pe))?;
        check_rows("out", out.len(), tokens, v_row)?;
        if let Some(cache) = cache {
            self.check_cache(device, cache)?;
        }
        let (sequences, blocks) = batch.with_context(tokens, cache.map(MlaCache::geometry))?;
        let MlaWorkspace { q, expanded, attention, .. } = workspace;
        q.clear();
        push_joined(q_nope, qk_nope_head_dim, q_pe, qk_rope_head_dim, q);
        self.expand(device, kv_c, k_pe, expanded)?;
        let is_fp8 = self.options.fp8_prefill
            && cache.is_some_and(|cache| cache.latent.layout().dtype == StorageDtype::Fp8);
        // The expanded operands have no scale of their own; those of the latent mean something else.
        let query_scale = QueryScale::Static(ScaleFactors::ONE);
        let fp8 = Fp8Products { query_scale: &query_scale, prob: ScaleFactors::from_quant(1.0) };
        for sequence in &sequences {
            let rows = sequence.first_token..sequence.first_token + sequence.tokens;
            let new_keys = &expanded.keys[rows.start * k_row..rows.end * k_row];
            let new_values = &expanded.values[rows.start * v_row..rows.end * v_row];
            let (keys, values) = match cache {
                Some(cache) if sequence.context_tokens() > 0 => {
                    let slots = cache.plane_pair(&blocks).context_slots(sequence);
                    let Expanded { mut keys, mut values, .. } =
                        self.expand_latents(device, &cache.latent.read(device, &slots)?)?;
                    keys.extend_from_slice(new_keys);
                    values.extend_from_slice(new_values);
                    (Cow::Owned(keys), Cow::Owned(values))
                }
                _ => (Cow::Borrowed(new_keys), Cow::Borrowed(new_values)),
            };
            let problem = AttentionProblem {
                q,
                shape: MhaShape { num_heads, num_kv_heads: num_heads, head_dim: dim, v_head_dim },
                operands: KeysAndValues::Tensors(TensorPair { k: &keys, v: &values }),
                key_factors: &ScaleFactors::ONE,
                value_factors: &ScaleFactors::ONE,
                fp8: is_fp8.then_some(fp8),
                modifiers: self.options.modifiers(),
                sequences: std::slice::from_ref(sequence),
            };
            device.attend(&problem, attention, out)?;
        }
        Ok(())
    }

    /// Attention of query tokens whose latents, and those of all tokens before them, are in the cache. The key's
    /// projection is absorbed into the query and the value's applied to the result, so the latent itself is key and
    /// value, and one scale serves both products. Returns `[tokens, num_heads * v_head_dim]`.
    ///
    /// # Errors
    /// The operands or the batch do not fit the cache.
    pub fn decode<D: Device>(
        &self,
        device: &D,
        cache: &MlaCache<D::Plane>,
        (q_nope, q_pe): (&[bf16], &[bf16]),
        batch: &Batch<'_>,
    ) -> Result<Vec<f32>, AttentionError> {
        let tokens = q_nope.len() / (self.shape.num_heads * self.shape.qk_nope_head_dim);
        self.check_query(q_nope, q_pe, tokens)?;
        let mut prepared = DecodeBatch::new();
        prepared.prepare(batch, tokens, cache.geometry())?;
        let mut out = vec![0.0; tokens * self.shape.num_heads * self.shape.v_head_dim];
        let mut workspace = MlaWorkspace::default();
        self.decode_into(device, cache, (q_nope, q_pe), &prepared, &mut workspace, &mut out)?;
        Ok(out)
    }

    /// [`decode`](Self::decode) of a batch that is prepared, into `[tokens, num_heads * v_head_dim]`. A workspace may serve
    /// any layers, one after the other.
    ///
    /// # Errors
    /// The operands or the batch do not fit the cache. Nothing is written to `out` then.
    pub fn decode_into<D: Device>(
        &self,
        device: &D,
        cache: &MlaCache<D::Plane>,
        (q_nope, q_pe): (&[bf16], &[bf16]),
        batch: &DecodeBatch,
        workspace: &mut MlaWorkspace,
        out: &mut [f32],
    ) -> Result<(), AttentionError> {
        let MlaShape { num_heads, kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim, v_head_dim } = self.shape;
        self.check_cache(device, cache)?;
        let tokens = batch.tokens_for(cache.geometry())?;
        self.check_query(q_nope, q_pe, tokens)?;
        check_rows("out", out.len(), tokens, num_heads * v_head_dim)?;
        let is_fp8 = cache.latent.layout().dtype == StorageDtype::Fp8;
        if is_fp8 {
            // One latent, one scale: of the query too.
            self.scales.check(1)?;
        }
        let rows = tokens * num_heads;
        let MlaWorkspace { absorbed, q, accumulated, latents, values, attention, .. } = workspace;
        absorbed.resize(rows * kv_lora_rank, bf16::ZERO);
        let weights =
            ProjectKernel { rows: q_nope, weights: &self.key_columns, heads: num_heads, k: qk_nope_head_dim };
        device.project(&weights, absorbed)?;
        q.clear();
        push_joined(absorbed, kv_lora_rank, q_pe, qk_rope_head_dim, q);
        accumulated.resize(rows * kv_lora_rank, 0.0);
        let problem = AttentionProblem {
            q,
            shape: MhaShape {
                num_heads,
                num_kv_heads: 1,
                head_dim: kv_lora_rank + qk_rope_head_dim,
                v_head_dim: kv_lora_rank,
            },
            operands: KeysAndValues::Planes(cache.plane_pair(&batch.blocks)),
            key_factors: &cache.latent.scale,
            value_factors: &cache.latent.scale,
            fp8: is_fp8.then(|| self.scales.fp8_products()),
            modifiers: self.options.modifiers(),
            sequences: &batch.sequences,
        };
        device.attend(&problem, attention, accumulated)?;
        latents.resize(accumulated.len(), bf16::ZERO);
        // They are bfloat16 values.
        bf16_from_f32_slice(accumulated, latents).map_err(DeviceError::from)?;
        values.resize(rows * v_head_dim, bf16::ZERO);
        let weights =
            ProjectKernel { rows: latents, weights: &self.value_rows, heads: num_heads, k: kv_lora_rank };
        device.project(&weights, values)?;
        values.convert_to_f32_slice(out);
        Ok(())
    }

    /// How many tokens there are.
    fn check_prefill(
        &self,
        (q_nope, q_pe): (&[bf16], &[bf16]),
        (kv_c, k_pe): (&[bf16], &[bf16]),
    ) -> Result<usize, AttentionError> {
        let tokens = q_nope.len() / (self.shape.num_heads * self.shape.qk_nope_head_dim);
        self.check_query(q_nope, q_pe, tokens)?;
        check_rows("kv_c", kv_c.len(), tokens, self.shape.kv_lora_rank)?;
        check_rows("k_pe", k_pe.len(), tokens, self.shape.qk_rope_head_dim)?;
        Ok(tokens)
    }

    fn check_query(&self, q_nope: &[bf16], q_pe: &[bf16], tokens: usize) -> Result<(), AttentionError> {
        check_rows("q_nope", q_nope.len(), tokens, self.shape.num_heads * self.shape.qk_nope_head_dim)?;
        check_rows("q_pe", q_pe.len(), tokens, self.shape.num_heads * self.shape.qk_rope_head_dim)
    }

    fn check_cache<D: Device>(&self, device: &D, cache: &MlaCache<D::Plane>) -> Result<(), AttentionError> {
        cache.check_device(device)?;
        for (what, value, expected) in [
            ("the cache's kv_lora_rank", cache.kv_lora_rank, self.shape.kv_lora_rank),
            ("the cache's qk_rope_head_dim", cache.qk_rope_head_dim, self.shape.qk_rope_head_dim),
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

    /// Expands latents as they are in a cache, `[tokens, kv_lora_rank + qk_rope_head_dim]`.
    fn expand_latents<D: Device>(&self, device: &D, latents: &[bf16]) -> Result<Expanded, AttentionError> {
        let rank = self.shape.kv_lora_rank;
        let rows = latents.chunks_exact(rank + self.shape.qk_rope_head_dim);
        let kv_c: Vec<bf16> = rows.clone().flat_map(|row| &row[..rank]).copied().collect();
        let k_pe: Vec<bf16> = rows.flat_map(|row| &row[rank..]).copied().collect();
        let mut expanded = Expanded::default();
        self.expand(device, &kv_c, &k_pe, &mut expanded)?;
        Ok(expanded)
    }

    /// Expands latents to the keys and values of all heads, which share the rope part.
    fn expand<D: Device>(
        &self,
        device: &D,
        kv_c: &[bf16],
        k_pe: &[bf16],
        expanded: &mut Expanded,
    ) -> Result<(), AttentionError> {
        let MlaShape { num_heads, kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim, v_head_dim } = self.shape;
        let tokens = kv_c.len() / kv_lora_rank;
        let Expanded { nope, keys, values } = expanded;
        // One product for all heads: they share the latents.
        let project = |weights: &[bf16], dim: usize, out: &mut Vec<bf16>| {
            out.resize(tokens * num_heads * dim, bf16::ZERO);
            device.project(&ProjectKernel { rows: kv_c, weights, heads: 1, k: kv_lora_rank }, out)
        };
        project(&self.key_rows, qk_nope_head_dim, nope)?;
        project(&self.value_rows, v_head_dim, values)?;
        keys.clear();
        for (token, nope) in nope.chunks_exact(num_heads * qk_nope_head_dim).enumerate() {
            for nope in nope.chunks_exact(qk_nope_head_dim) {
                keys.extend_from_slice(nope);
                keys.extend_from_slice(&k_pe[token * qk_rope_head_dim..][..qk_rope_head_dim]);
            }
        }
        Ok(())
    }
}
