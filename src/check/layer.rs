//! One layer through its cache, under one set of scales.

use half::bf16;

use super::activations::Activations;
use super::errors::digest;
use super::shape::{LayerShape, Scoring};
use super::stored::{StoredCache, StoredPart};
use super::variant::RunScales;
use crate::ScaleFactors;
use crate::attention::{AttentionError, Batch, MhaAttention, MlaAttention};
use crate::cache::{BlockCache, BlockImage, CacheGeometry, MhaCache, MlaCache};
use crate::device::{Device, DeviceError, StorageDtype};

/// Tokens of a block, as on the device.
const BLOCK_SIZE: usize = 128;

/// A layer that can be run with any scales.
pub(super) struct Layer<'a> {
    pub(super) shape: &'a LayerShape,
    pub(super) scoring: &'a Scoring,
    pub(super) activations: &'a Activations,
    /// Of the rank's heads; empty for MHA.
    pub(super) kv_b_proj: &'a [bf16],
    pub(super) dtype: StorageDtype,
}

/// What a run gives.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run {
    /// All tokens in one prefill, `[tokens, heads * v_head_dim]`.
    pub(super) prefill: Vec<f32>,
    /// Every token through the cache.
    pub(super) decode: Vec<f32>,
    pub(super) stored: StoredCache,
}

impl Layer<'_> {
    /// Writes all tokens to a new cache, then computes them as one prefill and through the cache.
    pub(super) fn run<D: Device>(&self, device: &D, scales: &RunScales) -> Result<Run, AttentionError> {
        let tokens = self.activations.tokens();
        let blocks = tokens.div_ceil(BLOCK_SIZE);
        let geometry = CacheGeometry::new(blocks, BLOCK_SIZE, self.dtype)?;
        let slots: Vec<i64> = (0..tokens as i64).collect();
        let block_table: Vec<i32> = (0..blocks as i32).collect();
        let query_start_loc = [0, tokens];
        let batch =
            Batch { query_start_loc: &query_start_loc, seq_lens: &[tokens], block_table: &block_table };
        let options = self.scoring.options.clone();
        match (self.shape, self.activations) {
            (LayerShape::Mha { heads, kv_heads, head_dim, v_head_dim }, Activations::Mha { q, k, v, .. }) => {
                let kv_heads = kv_heads.local.len();
                let dims = (*head_dim, *v_head_dim);
                let attention = MhaAttention::new(
                    (heads.local.len(), kv_heads),
                    dims,
                    scales.attention.clone(),
                    options,
                )?;
                let mut cache = MhaCache::new(device, geometry, kv_heads, dims, (&scales.k, &scales.v))?;
                cache.write(device, k, v, &slots)?;
                let prefill = attention.prefill(device, Some(&cache), (q, k, v), &batch)?;
                let decode = attention.decode(device, &cache, q, &batch)?;
                let images = images(&block_table, |block| Ok(cache.export_block(device, block)?))?;
                let planes = [plane(&images, 0, tokens), plane(&images, 1, tokens)];
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
                Ok(Run { prefill, decode, stored: StoredCache::new(digest(planes.iter()), parts) })
            }
            (
                LayerShape::Mla { kv_lora_rank, rope_dim, .. },
                Activations::Mla { q_nope, q_pe, kv_c, k_pe, .. },
            ) => {
                let shape = self.shape.mla().ok_or_else(mismatch)?;
                let attention = MlaAttention::new(shape, self.kv_b_proj, scales.attention.clone(), options)?;
                let mut cache = MlaCache::new(device, geometry, *kv_lora_rank, *rope_dim, &scales.k)?;
                cache.write(device, kv_c, k_pe, &slots)?;
                let prefill =
                    attention.prefill(device, Some(&cache), (q_nope, q_pe), (kv_c, k_pe), &batch)?;
                let decode = attention.decode(device, &cache, (q_nope, q_pe), &batch)?;
                let images = images(&block_table, |block| Ok(cache.export_block(device, block)?))?;
                let stored = plane(&images, 0, tokens);
                let part = |name, values: &[bf16], first: usize, dim: usize| {
                    if self.dtype != StorageDtype::Fp8 {
                        return Ok(StoredPart::kept(name, values));
                    }
                    let rows = stored.chunks_exact(kv_lora_rank + rope_dim);
                    let codes = rows.flat_map(|row| &row[first..first + dim]).copied();
                    StoredPart::count(name, device.generation(), values, (1, dim), &scales.k.quant, codes)
                        .map_err(DeviceError::from)
                };
                let parts = vec![
                    part("kv_c", kv_c, 0, *kv_lora_rank)?,
                    part("k_pe", k_pe, *kv_lora_rank, *rope_dim)?,
                ];
                let digest = digest(std::iter::once(&stored));
                Ok(Run { prefill, decode, stored: StoredCache::new(digest, parts) })
            }
            _ => Err(mismatch()),
        }
    }
}

/// A layer's activations are made for its shape, so this is not reached.
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
