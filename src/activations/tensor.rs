//! Tensors of a safetensors file as bfloat16 values.

use std::os::unix::fs::FileExt;
use std::path::Path;

use half::bf16;
use safetensors::Dtype;

use crate::checkpoint::{CheckpointError, Shard, TensorEntry, read_floats};

/// A buffer that stays in a core's own cache. A whole number of elements of every type.
const BLOCK_BYTES: usize = 256 << 10;

/// Whether elements of this type are numbers as they are, and not codes that need a scale.
pub(crate) fn is_float(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::BF16 | Dtype::F16 | Dtype::F32)
}

/// Reads a bfloat16, float16 or float32 tensor, rounded to bfloat16. Every value must be finite once rounded.
pub(crate) fn read_bf16(shard: &Shard, tensor: &TensorEntry) -> Result<Vec<bf16>, CheckpointError> {
    let mut values = Vec::with_capacity(tensor.shape.iter().product());
    stream_bf16(shard, tensor, |_, block| values.extend_from_slice(block))?;
    Ok(values)
}

/// Reads a bfloat16, float16 or float32 tensor a block at a time, with positioned reads, so that one of any size takes little memory. `take` is
/// given the number of the block's first element and its values.
pub(crate) fn stream_bf16(
    shard: &Shard,
    tensor: &TensorEntry,
    mut take: impl FnMut(usize, &[bf16]),
) -> Result<(), CheckpointError> {
    if !is_float(tensor.dtype) {
        let reason = format!("dtype {:?}; allowed are BF16, F16 and F32", tensor.dtype);
        return Err(CheckpointError::tensor(shard.path(), &tensor.name, reason));
    }
    let mut buffer = vec![0; BLOCK_BYTES.min(tensor.end - tensor.start)];
    let mut values = Vec::new();
    let mut first = 0;
    for start in (tensor.start..tensor.end).step_by(BLOCK_BYTES) {
        let block = &mut buffer[..BLOCK_BYTES.min(tensor.end - start)];
        shard.file().read_exact_at(block, start as u64).map_err(|e| CheckpointError::io(shard.path(), e))?;
        values.clear();
        match tensor.dtype {
            Dtype::BF16 => values.extend(block.as_chunks::<2>().0.iter().map(|b| bf16::from_le_bytes(*b))),
            dtype => {
                values.extend(read_floats(dtype, block).unwrap_or_default().into_iter().map(bf16::from_f32));
            }
        }
        check_finite(shard.path(), &tensor.name, first, &values)?;
        take(first, &values);
        first += values.len();
    }
    Ok(())
}

/// Names the first value that is not finite. `first` is the number of the first one in its tensor.
pub(crate) fn check_finite(
    path: &Path,
    name: &str,
    first: usize,
    values: &[bf16],
) -> Result<(), CheckpointError> {
    match values.iter().position(|x| !x.is_finite()) {
        Some(at) => {
            let reason = format!("element {} is {} as bfloat16", first + at, values[at]);
            Err(CheckpointError::tensor(path, name, reason))
        }
        None => Ok(()),
    }
}
