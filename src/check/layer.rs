//! One layer through its cache, under one set of scales.

use half::bf16;

use super::distance::digest;
use super::scoring::Scoring;
use super::stored_cache::{StoredCache, StoredPart};
use super::variant::RunScales;
use crate::ScaleFactors;
use crate::activations::{Activations, LayerShape};
use crate::attention::{AttentionError, Batch, MhaAttention, MhaShape, MlaAttention, MlaShape};
use crate::cache::{BlockCache, BlockImage, CacheGeometry, MhaCache, MlaCache};
use crate::device::{Device, DeviceError, StorageDtype};

/// Tokens of a block, as on the device.
const BLOCK_SIZE: usize = 128;

/// A layer that can be run with any scales.
pub(super) struct LayerRunner<'a> {
    pub(super) shape: &'a LayerShape,
    pub(super) scoring: &'a Scoring,
    pub(super) activations: &'a Activations,
    /// The `kv_b_proj` of the rank's heads; empty for MHA.
    pub(super) kv_b_proj: &'a [bf16],
    pub(super) dtype: StorageDtype,
}

/// The outputs of a layer under one set of scales, and what its cache holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LayerRun {
    /// All tokens in one prefill, `[tokens, heads * v_head_dim]`.
    pub(super) prefill: Vec<f32>,
    /// Every token through the cache.
    pub(super) decode: Vec<f32>,
    pub(super) stored: StoredCache,
}

/// All tokens of the activations as one sequence in a cache of its own.
struct Sequence {
    tokens: usize,
    slot_mapping: Vec<i64>,
    block_table: Vec<i32>,
    query_start_loc: [usize; 2],
}

impl Sequence {
    fn new(tokens: usize) -> Self {
        Self {
            tokens,
            slot_mapping: (0..tokens as i64).collect(),
            block_table: (0..tokens.div_ceil(BLOCK_SIZE) as i32).collect(),
            query_start_loc: [0, tokens],
        }
    }

    fn geometry(&self, dtype: StorageDtype) -> Result<CacheGeometry, AttentionError> {
        Ok(CacheGeometry::new(self.block_table.len(), BLOCK_SIZE, dtype)?)
    }

    fn batch(&self) -> Batch<'_> {
        Batch {
            query_start_loc: &self.query_start_loc,
            seq_lens: &self.query_start_loc[1..],
            block_table: &self.block_table,
        }
    }
}

impl LayerRunner<'_> {
    /// Writes all tokens to a new cache, then computes them as one prefill and through the cache.
    pub(super) fn run<D: Device>(&self, device: &D, scales: &RunScales) -> Result<LayerRun, AttentionError> {
        match self.shape {
            LayerShape::Mha { .. } => self.mha(device, scales),
            LayerShape::Mla { .. } => self.mla(device, scales),
        }
    }

    fn mha<D: Device>(&self, device: &D, scales: &RunScales) -> Result<LayerRun, AttentionError> {
        let (LayerShape::Mha { heads, kv_heads, head_dim, v_head_dim }, Activations::Mha { tokens, q, k, v }) =
            (self.shape, self.activations)
        else {
            return Err(mismatch());
        };
        let (kv_heads, dims) = (kv_heads.local.len(), (*head_dim, *v_head_dim));
        let shape = MhaShape {
            num_heads: heads.local.len(),
            num_kv_heads: kv_heads,
            head_dim: *head_dim,
            v_head_dim: *v_head_dim,
        };
        let (options, attention_scales) = (self.scoring.options.clone(), scales.attention.clone());
        let attention = MhaAttention::new(shape, attention_scales, options)?;
        let sequence = Sequence::new(*tokens);
        let (geometry, batch) = (sequence.geometry(self.dtype)?, sequence.batch());
        let mut cache = MhaCache::new(device, geometry, kv_heads, dims, (&scales.k, &scales.v))?;
        cache.write(device, k, v, &sequence.slot_mapping)?;
        let prefill = attention.prefill(device, Some(&cache), (q, k, v), &batch)?;
        let decode = attention.decode(device, &cache, q, &batch)?;
        let images = images(&sequence.block_table, |block| Ok(cache.export_block(device, block)?))?;
        let planes = [plane(&images, 0, sequence.tokens), plane(&images, 1, sequence.tokens)];
        let part = |name, values: &[bf16], dim, scale: &ScaleFactors, stored: &[u8]| {
            if self.dtype != StorageDtype::Fp8 {
                return Ok(StoredPart::kept(name, values));
            }
            let codes = stored.iter().copied();
            StoredPart::count(name, device.generation(), values, (kv_heads, dim), &scale.quant, codes)
                .map_err(DeviceError::from)
        };
        let parts = vec![
            part("k", k, *head_dim, &scales.k, &planes[0])?,
            part("v", v, *v_head_dim, &scales.v, &planes[1])?,
        ];
        Ok(LayerRun { prefill, decode, stored: StoredCache::new(digest(planes.iter()), parts) })
    }

    fn mla<D: Device>(&self, device: &D, scales: &RunScales) -> Result<LayerRun, AttentionError> {
        let (Some(shape), Activations::Mla { tokens, q_nope, q_pe, kv_c, k_pe }) =
            (mla_shape(self.shape), self.activations)
        else {
            return Err(mismatch());
        };
        let (rank, rope) = (shape.kv_lora_rank, shape.qk_rope_head_dim);
        let (options, attention_scales) = (self.scoring.options.clone(), scales.attention.clone());
        let attention = MlaAttention::new(shape, self.kv_b_proj, attention_scales, options)?;
        let sequence = Sequence::new(*tokens);
        let (geometry, batch) = (sequence.geometry(self.dtype)?, sequence.batch());
        let mut cache = MlaCache::new(device, geometry, rank, rope, &scales.k)?;
        cache.write(device, kv_c, k_pe, &sequence.slot_mapping)?;
        let prefill = attention.prefill(device, Some(&cache), (q_nope, q_pe), (kv_c, k_pe), &batch)?;
        let decode = attention.decode(device, &cache, (q_nope, q_pe), &batch)?;
        let images = images(&sequence.block_table, |block| Ok(cache.export_block(device, block)?))?;
        let stored = plane(&images, 0, sequence.tokens);
        let part = |name, values: &[bf16], first: usize, dim: usize| {
            if self.dtype != StorageDtype::Fp8 {
                return Ok(StoredPart::kept(name, values));
            }
            let rows = stored.chunks_exact(rank + rope);
            let codes = rows.flat_map(|row| &row[first..first + dim]).copied();
            StoredPart::count(name, device.generation(), values, (1, dim), &scales.k.quant, codes)
                .map_err(DeviceError::from)
        };
        let parts = vec![part("kv_c", kv_c, 0, rank)?, part("k_pe", k_pe, rank, rope)?];
        let digest = digest(std::iter::once(&stored));
        Ok(LayerRun { prefill, decode, stored: StoredCache::new(digest, parts) })
    }
}

/// The rank's sizes as MLA attention takes them; `None` of a layer of MHA.
fn mla_shape(shape: &LayerShape) -> Option<MlaShape> {
    match shape {
        LayerShape::Mha { .. } => None,
        LayerShape::Mla { heads, kv_lora_rank, nope_dim, rope_dim, v_head_dim } => Some(MlaShape {
            num_heads: heads.local.len(),
            kv_lora_rank: *kv_lora_rank,
            qk_nope_head_dim: *nope_dim,
            qk_rope_head_dim: *rope_dim,
            v_head_dim: *v_head_dim,
        }),
    }
}

/// The error of activations of another shape than the layer's, which are never made.
fn mismatch() -> AttentionError {
    AttentionError::Batch {
        sequence: 0,
        reason: "the activations are not those of this kind of layer".to_owned(),
    }
}

fn images(
    block_table: &[i32],
    export: impl Fn(i32) -> Result<BlockImage, AttentionError>,
) -> Result<Vec<BlockImage>, AttentionError> {
    block_table.iter().map(|block| export(*block)).collect()
}

/// The stored bytes of the first `tokens` tokens of one plane.
fn plane(images: &[BlockImage], number: usize, tokens: usize) -> Vec<u8> {
    let planes = images.iter().filter_map(|image| image.planes.get(number));
    let token_bytes = |plane: &crate::cache::PlaneImage| plane.bytes.len() / plane.block_size_tokens;
    let wanted = planes.clone().next().map_or(0, |plane| tokens * token_bytes(plane));
    planes.flat_map(|plane| &plane.bytes).copied().take(wanted).collect()
}
