//! The header of a safetensors file: parsed and checked before anything in it is trusted.

use std::fmt;
use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::TensorInfo;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::CheckpointError;

/// The cap of the public `safetensors` library.
const MAX_HEADER_BYTES: u64 = 100_000_000;
/// The header's length, little endian, comes first.
const LENGTH_BYTES: usize = 8;

/// A tensor as the header describes it.
#[derive(Debug, Clone)]
pub struct TensorEntry {
    /// The tensor's name.
    pub name: String,
    /// Its element type.
    pub dtype: Dtype,
    /// Its shape, outermost dimension first.
    pub shape: Vec<usize>,
    /// Where its bytes begin, from the start of the file. Not aligned to anything.
    pub start: usize,
    /// Where its bytes end.
    pub end: usize,
}

/// Parses and checks the header of a whole safetensors file.
///
/// # Errors
/// The file is shorter than its header says, the header is no JSON object of tensors or repeats a name, a tensor's
/// offsets do not match its type and shape, or the tensors do not cover the data exactly: an overlap, a hole, or
/// bytes after the last one. The first tensor concerned is named.
pub(crate) fn parse_header(path: &Path, file: &[u8]) -> Result<Vec<TensorEntry>, CheckpointError> {
    let fail = |reason: String| CheckpointError::safetensors(path, reason);
    let Some((length, rest)) = file.split_first_chunk::<LENGTH_BYTES>() else {
        return Err(fail(format!("{} bytes: too short for a safetensors header", file.len())));
    };
    let length = u64::from_le_bytes(*length);
    if length > MAX_HEADER_BYTES {
        return Err(fail(format!(
            "the header claims {length} bytes; at most {MAX_HEADER_BYTES} are allowed"
        )));
    }
    let Some((header, data)) = rest.split_at_checked(length as usize) else {
        return Err(fail(format!(
            "truncated: the header claims {length} bytes and {} follow its length",
            rest.len()
        )));
    };
    // Copied, because another process may write to a mapped file, and text that was checked must stay as it was.
    let header = header.to_vec();
    let header = std::str::from_utf8(&header).map_err(|e| fail(format!("the header is not UTF-8: {e}")))?;
    let mut deserializer = serde_json::Deserializer::from_str(header);
    let tensors = deserializer.deserialize_map(HeaderVisitor).and_then(|t| deserializer.end().map(|()| t));
    let tensors = tensors.map_err(|e| fail(format!("invalid header: {e}")))?;
    check_layout(path, tensors, LENGTH_BYTES + header.len(), data.len())
}

/// Checks sizes and coverage, and turns offsets into positions in the file.
fn check_layout(
    path: &Path,
    mut tensors: Vec<(String, TensorInfo)>,
    data_start: usize,
    data_bytes: usize,
) -> Result<Vec<TensorEntry>, CheckpointError> {
    tensors.sort_by(|a, b| (a.1.data_offsets, &a.0).cmp(&(b.1.data_offsets, &b.0)));
    let mut covered = 0;
    let mut entries = Vec::with_capacity(tensors.len());
    for (name, info) in tensors {
        let (start, end) = info.data_offsets;
        let fail = |reason: String| CheckpointError::tensor(path, name.clone(), reason);
        if end < start {
            return Err(fail(format!("offsets {start}..{end} run backwards")));
        }
        if end > data_bytes {
            return Err(fail(format!(
                "offsets {start}..{end} lie outside the file, which has {data_bytes} bytes of data"
            )));
        }
        let Some(bytes) = byte_size(info.dtype, &info.shape) else {
            return Err(fail(format!(
                "{:?} of shape {:?} has no whole number of bytes that fits",
                info.dtype, info.shape
            )));
        };
        if end - start != bytes {
            return Err(fail(format!(
                "{:?} of shape {:?} takes {bytes} bytes, its offsets hold {}",
                info.dtype,
                info.shape,
                end - start
            )));
        }
        if start < covered {
            return Err(fail(format!(
                "offsets {start}..{end} overlap the tensor before, which ends at {covered}"
            )));
        }
        if start > covered {
            return Err(fail(format!("a hole of {} bytes lies before it", start - covered)));
        }
        covered = end;
        entries.push(TensorEntry {
            name,
            dtype: info.dtype,
            shape: info.shape,
            start: data_start + start,
            end: data_start + end,
        });
    }
    if covered != data_bytes {
        return Err(CheckpointError::safetensors(
            path,
            format!("{} bytes follow the last tensor", data_bytes - covered),
        ));
    }
    Ok(entries)
}

/// The size of a tensor in bytes; `None` on overflow or where it is not whole.
fn byte_size(dtype: Dtype, shape: &[usize]) -> Option<usize> {
    let elements = shape.iter().try_fold(1usize, |product, dim| product.checked_mul(*dim))?;
    let bits = elements.checked_mul(dtype.bitsize())?;
    bits.is_multiple_of(8).then_some(bits / 8)
}

/// Collects the tensors in order; a repeated name is an error that a map would hide.
struct HeaderVisitor;

impl<'de> Visitor<'de> for HeaderVisitor {
    type Value = Vec<(String, TensorInfo)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut tensors: Vec<(String, TensorInfo)> = Vec::new();
        let mut has_metadata = false;
        while let Some(name) = access.next_key::<String>()? {
            if name == "__metadata__" {
                if std::mem::replace(&mut has_metadata, true) {
                    return Err(A::Error::custom("`__metadata__` appears twice"));
                }
                access.next_value::<IgnoredAny>()?;
            } else {
                let info = access
                    .next_value::<TensorInfo>()
                    .map_err(|e| A::Error::custom(format_args!("tensor `{name}`: {e}")))?;
                tensors.push((name, info));
            }
        }
        let mut names: Vec<&str> = tensors.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(A::Error::custom(format_args!("tensor `{}` appears twice", pair[0])));
        }
        Ok(tensors)
    }
}
