//! Tensors of a safetensors file as bfloat16 values.

use std::path::Path;

use half::bf16;
use safetensors::Dtype;

use crate::checkpoint::{CheckpointError, Shard, TensorEntry, read_floats};

/// The element types of a tensor that is no quantized one.
pub(super) fn is_float(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::BF16 | Dtype::F16 | Dtype::F32)
}

/// Reads a bfloat16, float16 or float32 tensor, rounded to bfloat16. Every value must be finite once rounded.
pub(super) fn read_bf16(shard: &Shard, tensor: &TensorEntry) -> Result<Vec<bf16>, CheckpointError> {
    let fail = |reason: String| CheckpointError::tensor(shard.path(), &tensor.name, reason);
    if !is_float(tensor.dtype) {
        return Err(fail(format!("dtype {:?}; allowed are BF16, F16 and F32", tensor.dtype)));
    }
    let values = read_floats(tensor.dtype, shard.data(tensor)).unwrap_or_default();
    let values: Vec<bf16> = values.into_iter().map(bf16::from_f32).collect();
    check_finite(shard.path(), &tensor.name, &values)?;
    Ok(values)
}

/// Names the first value that is not finite.
pub(super) fn check_finite(path: &Path, name: &str, values: &[bf16]) -> Result<(), CheckpointError> {
    match values.iter().position(|x| !x.is_finite()) {
        Some(at) => {
            Err(CheckpointError::tensor(path, name, format!("element {at} is {} as bfloat16", values[at])))
        }
        None => Ok(()),
    }
}
