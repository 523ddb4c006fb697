//! Writing a new file from an old one, in pieces, on all cores.

use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rayon::prelude::*;
use safetensors::Dtype;

use super::factor::Change;
use super::kv_scale::compensate;
use super::scale_cast::multiply;
use super::tensor_edit::TensorEdit;
use super::{ConvertError, WeightCounts};
use crate::checkpoint::{Shard, read_floats};
use crate::fp8::{Rerange, scan_codes};
use crate::rewrite::{BLOCK_BYTES, PIECE_BYTES, RewriteError, Segment, ShardLayout, copy_range};

thread_local! {
    /// One buffer a thread, however work is nested, and one for scales that change their type.
    static BUFFERS: RefCell<(Vec<u8>, Vec<u8>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

/// What it takes to write a new weight file.
pub(super) struct ShardWriter<'a> {
    pub(super) shard: &'a Shard,
    pub(super) actions: &'a [TensorEdit],
    pub(super) layout: &'a ShardLayout,
    pub(super) change: Change,
    pub(super) rerange: &'a Rerange,
    pub(super) out: &'a File,
    pub(super) out_path: &'a Path,
    pub(super) progress: &'a (dyn Fn(u64) + Sync),
}

/// What was found in a piece, and the first tensor with NaN codes.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    weights: WeightCounts,
    nan_tensor: Option<usize>,
}

impl Found {
    fn and(mut self, other: Self) -> Self {
        self.weights += other.weights;
        self.nan_tensor = self.nan_tensor.into_iter().chain(other.nan_tensor).min();
        self
    }
}

impl ShardWriter<'_> {
    /// Writes the whole file.
    pub(super) fn write(&self) -> Result<WeightCounts, ConvertError> {
        let written = |e| RewriteError::io("write", self.out_path, e);
        self.out.write_all_at(&self.layout.header, 0).map_err(written)?;
        // Pieces are written in any order, and a file that has its size need not grow with each.
        self.out.set_len(self.layout.bytes).map_err(written)?;
        let mut pieces = Vec::new();
        for segment in &self.layout.segments {
            let starts = (segment.start..segment.end).step_by(PIECE_BYTES as usize);
            pieces.extend(starts.map(|start| (segment, start, segment.end.min(start + PIECE_BYTES))));
        }
        let found = pieces
            .into_par_iter()
            .map(|(segment, start, end)| self.piece(segment, start, end))
            .try_reduce(Found::default, |a, b| Ok(a.and(b)))?;
        let reranged =
            self.layout.segments.iter().filter(|s| self.action(s) == TensorEdit::Rerange).count() as u64;
        if let Some(tensor) = found.nan_tensor {
            return Err(ConvertError::WeightsNan {
                file: self.shard.path().to_owned(),
                tensor: self.shard.tensors()[tensor].name.clone(),
                nan_codes: found.weights.nan,
            });
        }
        Ok(WeightCounts { tensors: reranged, ..found.weights })
    }

    /// What becomes of a segment.
    fn action(&self, segment: &Segment) -> TensorEdit {
        if segment.is_kept { TensorEdit::Keep } else { self.actions[segment.tensor] }
    }

    fn piece(&self, segment: &Segment, start: u64, end: u64) -> Result<Found, ConvertError> {
        let found = match self.action(segment) {
            TensorEdit::Keep => {
                let at = segment.at + (start - segment.start);
                copy_range(self.shard.file(), self.shard.path(), start..end, self.out, self.out_path, at)?;
                Found::default()
            }
            action => BUFFERS.with_borrow_mut(|(block, products)| {
                self.changed_piece(segment, action, start, end, block, products)
            })?,
        };
        (self.progress)(end - start);
        Ok(found)
    }

    /// Blocks begin at multiples of their size, which every element's size divides.
    fn changed_piece(
        &self,
        segment: &Segment,
        action: TensorEdit,
        start: u64,
        end: u64,
        block: &mut Vec<u8>,
        products: &mut Vec<u8>,
    ) -> Result<Found, ConvertError> {
        block.resize(BLOCK_BYTES, 0);
        let tensor = &self.shard.tensors()[segment.tensor];
        let old_width = (tensor.dtype.bitsize() / 8).max(1) as u64;
        let mut found = Found::default();
        let mut from = start;
        while from < end {
            let bytes = (end - from).min(BLOCK_BYTES as u64) as usize;
            let block = &mut block[..bytes];
            self.shard
                .file()
                .read_exact_at(block, from)
                .map_err(|e| RewriteError::io("read", self.shard.path(), e))?;
            let elements_before = (from - segment.start) / old_width;
            let (new, new_width): (&[u8], usize) = match action {
                TensorEdit::Rerange => {
                    let scan = scan_codes(block);
                    found.weights += WeightCounts::of(scan, self.rerange.apply(block));
                    found.nan_tensor = found.nan_tensor.or((scan.nan > 0).then_some(segment.tensor));
                    (block, 1)
                }
                TensorEdit::Scale { factor, to } => {
                    multiply(block, tensor.dtype, to, factor, products).map_err(|value| {
                        let (file, tensor) = (self.shard.path().to_owned(), tensor.name.clone());
                        ConvertError::ScaleRange { file, tensor, value, factor, dtype: to }
                    })?;
                    (products, to.bitsize() / 8)
                }
                TensorEdit::KvScale { is_reciprocal } => {
                    let stored = read_floats(tensor.dtype, block).unwrap_or_default();
                    products.clear();
                    for s in stored {
                        products.extend(compensate(s, is_reciprocal, self.change).to_le_bytes());
                    }
                    (products, Dtype::F32.bitsize() / 8)
                }
                TensorEdit::Keep => (block, old_width as usize),
            };
            let at = segment.at + elements_before * new_width as u64;
            self.out.write_all_at(new, at).map_err(|e| RewriteError::io("write", self.out_path, e))?;
            from += bytes as u64;
        }
        Ok(found)
    }
}
