//! What becomes of each tensor of a weight file, and where it goes in the new one.

use std::os::unix::fs::FileExt;

use safetensors::Dtype;

use super::RewriteError;
use super::json_text::find;
use crate::checkpoint::{Shard, TensorEntry};

/// What becomes of a tensor in the new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Carried over byte for byte.
    Kept,
    /// Its elements change, and have this type then.
    Changed(Dtype),
    /// Left out.
    Dropped,
}

impl Fate {
    fn dtype_after(self, dtype: Dtype) -> Dtype {
        match self {
            Self::Kept | Self::Dropped => dtype,
            Self::Changed(after) => after,
        }
    }

    /// The size of a tensor afterwards. Only whole-byte types change theirs.
    pub(crate) fn bytes_after(self, tensor: &TensorEntry) -> usize {
        let (bytes, after) = (tensor.end - tensor.start, self.dtype_after(tensor.dtype));
        if self == Self::Dropped {
            0
        } else if after == tensor.dtype {
            bytes
        } else {
            bytes / (tensor.dtype.bitsize() / 8).max(1) * (after.bitsize() / 8)
        }
    }
}

/// Bytes of the old file and where they go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Their place in the new file.
    pub(crate) at: u64,
    /// The first tensor that they belong to.
    pub(crate) tensor: usize,
    /// They stay as they are.
    pub(crate) is_kept: bool,
}

/// A new weight file: its header, with the length before it, and what follows.
#[derive(Debug)]
pub(crate) struct ShardLayout {
    pub(crate) header: Vec<u8>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) bytes: u64,
}

impl ShardLayout {
    /// Lays a file out. Where every tensor stays and none changes its type, the header and all places stay as they are.
    /// Else the tensors are ordered by the size of their elements, largest first, so that every tensor stays aligned;
    /// those of one size keep their order.
    pub(crate) fn new(shard: &Shard, fates: &[Fate]) -> Result<Self, RewriteError> {
        let old = read_header(shard)?;
        let tensors = shard.tensors();
        let after = |tensor: usize| fates[tensor].dtype_after(tensors[tensor].dtype);
        let mut order: Vec<usize> =
            (0..tensors.len()).filter(|tensor| fates[*tensor] != Fate::Dropped).collect();
        let is_same =
            |tensor: usize| fates[tensor] != Fate::Dropped && after(tensor) == tensors[tensor].dtype;
        let header = if (0..tensors.len()).all(is_same) {
            old
        } else {
            order.sort_by_key(|tensor| std::cmp::Reverse(after(*tensor).bitsize()));
            new_header(&old, tensors, fates, &order)
        };
        let mut at = header.len() as u64;
        let mut segments: Vec<Segment> = Vec::new();
        for tensor in order {
            let (entry, is_kept) = (&tensors[tensor], fates[tensor] == Fate::Kept);
            let (start, end) = (entry.start as u64, entry.end as u64);
            match segments.last_mut() {
                // What stays together is copied together.
                Some(last) if last.is_kept && is_kept && last.end == start => last.end = end,
                _ if start == end => {}
                _ => segments.push(Segment { start, end, at, tensor, is_kept }),
            }
            at += fates[tensor].bytes_after(entry) as u64;
        }
        Ok(Self { header, segments, bytes: at })
    }
}

/// The header of a file whose header has been checked, with the length before it.
fn read_header(shard: &Shard) -> Result<Vec<u8>, RewriteError> {
    let fail = |e| RewriteError::io("read", shard.path(), e);
    let mut length = [0; 8];
    shard.file().read_exact_at(&mut length, 0).map_err(fail)?;
    let expected = match shard.tensors().first() {
        Some(first) => first.start as u64,
        None => shard.file().metadata().map_err(fail)?.len(),
    };
    if u64::from_le_bytes(length).checked_add(8) != Some(expected) {
        return Err(RewriteError::Changed { path: shard.path().to_owned() });
    }
    let mut header = vec![0; expected as usize];
    shard.file().read_exact_at(&mut header, 0).map_err(fail)?;
    Ok(header)
}

/// A header of the same tensors in a new order, with the old metadata as it was written, padded to eight bytes.
fn new_header(old: &[u8], tensors: &[TensorEntry], fates: &[Fate], order: &[usize]) -> Vec<u8> {
    let text = old.get(8..).unwrap_or_default();
    let mut header = vec![0; 8];
    header.push(b'{');
    if let Some(metadata) = find(text, ["__metadata__"]) {
        header.extend_from_slice(b"\"__metadata__\":");
        header.extend_from_slice(&text[metadata]);
        header.push(b',');
    }
    let mut at = 0;
    for tensor in order {
        let (entry, fate) = (&tensors[*tensor], fates[*tensor]);
        let end = at + fate.bytes_after(entry);
        let description = serde_json::json!({
            "dtype": fate.dtype_after(entry.dtype), "shape": entry.shape, "data_offsets": [at, end]});
        header.extend_from_slice(
            format!("{}:{description},", serde_json::Value::from(entry.name.as_str())).as_bytes(),
        );
        at = end;
    }
    if header.last() == Some(&b',') {
        header.pop();
    }
    header.push(b'}');
    header.resize(header.len().next_multiple_of(8), b' ');
    let length = (header.len() - 8) as u64;
    header[..8].copy_from_slice(&length.to_le_bytes());
    header
}
