//! Writing a new file from an old one, in pieces, on all cores.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rayon::prelude::*;
use rustix::fs::copy_file_range;
use rustix::io::Errno;
use safetensors::Dtype;

use super::factor::Change;
use super::kv_scale::compensate;
use super::layout::{Action, Layout, Segment};
use super::scale_cast::multiply;
use super::{ConvertError, WeightCounts};
use crate::checkpoint::{Shard, read_floats};
use crate::fp8::{Rerange, scan_codes};

/// What a thread reads, changes and writes at once. It stays in the core's own cache, and with one for each of 128
/// cores memory stays small.
const BLOCK_BYTES: usize = 256 << 10;
/// A piece of work; large tensors are split so that all cores share them.
const PIECE_BYTES: u64 = 8 << 20;

thread_local! {
    /// One buffer a thread, however work is nested, and one for scales that change their type.
    static BUFFERS: RefCell<(Vec<u8>, Vec<u8>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

/// What it takes to write a new weight file.
pub(super) struct ShardWriter<'a> {
    pub(super) shard: &'a Shard,
    pub(super) layout: &'a Layout,
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
        let written = |e| ConvertError::io("write", self.out_path, e);
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
        let reranged = self.layout.segments.iter().filter(|s| s.action == Action::Rerange).count() as u64;
        if let Some(tensor) = found.nan_tensor {
            return Err(ConvertError::WeightsNan {
                file: self.shard.path().to_owned(),
                tensor: self.shard.tensors()[tensor].name.clone(),
                nan_codes: found.weights.nan,
            });
        }
        Ok(WeightCounts { tensors: reranged, ..found.weights })
    }

    fn piece(&self, segment: &Segment, start: u64, end: u64) -> Result<Found, ConvertError> {
        let found = match segment.action {
            Action::Keep => {
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
        action: Action,
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
                .map_err(|e| ConvertError::io("read", self.shard.path(), e))?;
            let elements_before = (from - segment.start) / old_width;
            let (new, new_width): (&[u8], usize) = match action {
                Action::Rerange => {
                    let scan = scan_codes(block);
                    found.weights += WeightCounts::of(scan, self.rerange.apply(block));
                    found.nan_tensor = found.nan_tensor.or((scan.nan > 0).then_some(segment.tensor));
                    (block, 1)
                }
                Action::Scale { factor, to } => {
                    multiply(block, tensor.dtype, to, factor, products).map_err(|value| {
                        let (file, tensor) = (self.shard.path().to_owned(), tensor.name.clone());
                        ConvertError::ScaleRange { file, tensor, value, factor, dtype: to }
                    })?;
                    (products, to.bitsize() / 8)
                }
                Action::KvScale { is_reciprocal } => {
                    let stored = read_floats(tensor.dtype, block).unwrap_or_default();
                    products.clear();
                    for s in stored {
                        products.extend(compensate(s, is_reciprocal, self.change).to_le_bytes());
                    }
                    (products, Dtype::F32.bitsize() / 8)
                }
                Action::Keep => (block, old_width as usize),
            };
            let at = segment.at + elements_before * new_width as u64;
            self.out.write_all_at(new, at).map_err(|e| ConvertError::io("write", self.out_path, e))?;
            from += bytes as u64;
        }
        Ok(found)
    }
}

/// Copies a whole file, byte for byte.
pub(super) fn copy_file(
    from: &File,
    from_path: &Path,
    bytes: u64,
    to: &File,
    to_path: &Path,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(), ConvertError> {
    let starts: Vec<u64> = (0..bytes).step_by(PIECE_BYTES as usize).collect();
    starts.into_par_iter().try_for_each(|start| {
        let end = bytes.min(start + PIECE_BYTES);
        copy_range(from, from_path, start..end, to, to_path, start)?;
        progress(end - start);
        Ok(())
    })
}

/// Copies bytes within the kernel where it can, else through a buffer.
fn copy_range(
    from: &File,
    from_path: &Path,
    range: std::ops::Range<u64>,
    to: &File,
    to_path: &Path,
    at: u64,
) -> Result<(), ConvertError> {
    let (mut from_at, mut to_at) = (range.start, at);
    while from_at < range.end {
        let bytes = usize::try_from(range.end - from_at).unwrap_or(usize::MAX);
        match copy_file_range(from, Some(&mut from_at), to, Some(&mut to_at), bytes) {
            Ok(0) => return Err(ConvertError::Changed { path: from_path.to_owned() }),
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => {
                return copy_through_buffer(from, from_path, from_at..range.end, to, to_path, to_at);
            }
            Err(error) => return Err(ConvertError::io("write", to_path, error.into())),
        }
    }
    Ok(())
}

fn copy_through_buffer(
    from: &File,
    from_path: &Path,
    range: std::ops::Range<u64>,
    to: &File,
    to_path: &Path,
    mut at: u64,
) -> Result<(), ConvertError> {
    BUFFERS.with_borrow_mut(|(block, _)| {
        block.resize(BLOCK_BYTES, 0);
        for start in range.clone().step_by(BLOCK_BYTES) {
            let block = &mut block[..(range.end - start).min(BLOCK_BYTES as u64) as usize];
            from.read_exact_at(block, start).map_err(|e| match e.kind() {
                io::ErrorKind::UnexpectedEof => ConvertError::Changed { path: from_path.to_owned() },
                _ => ConvertError::io("read", from_path, e),
            })?;
            to.write_all_at(block, at).map_err(|e| ConvertError::io("write", to_path, e))?;
            at += block.len() as u64;
        }
        Ok(())
    })
}
