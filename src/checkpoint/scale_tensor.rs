//! The numbers of a scale tensor, widened or narrowed to float32.

use half::{bf16, f16};
use safetensors::Dtype;

use super::header::TensorEntry;
use super::{CheckpointError, Shard};
use crate::HeadScales;

/// Reads a scale tensor. `heads` are the head counts that a per-head shape may have.
///
/// # Errors
/// The dtype is none of F32, BF16, F16, F64 and F8_E8M0; or the shape is none of `()`, `(1)`, `(1,1)`, `(1,1,1)`,
/// `(H)`, `(H,1)` and `(H,1,1)` with an allowed `H`.
pub(crate) fn read_scale(
    shard: &Shard,
    tensor: &TensorEntry,
    layer: usize,
    heads: &[usize],
) -> Result<HeadScales, CheckpointError> {
    let path = shard.path();
    let is_one = tensor.shape.len() <= 3 && tensor.shape.iter().all(|dim| *dim == 1);
    let is_per_head = match tensor.shape.as_slice() {
        [h] | [h, 1] | [h, 1, 1] => heads.contains(h),
        _ => false,
    };
    if !is_one && !is_per_head {
        let counts: Vec<_> = heads.iter().map(|h| format!("({h}), ({h},1), ({h},1,1)")).collect();
        return Err(CheckpointError::ScaleShape {
            path: path.to_owned(),
            tensor: tensor.name.clone(),
            layer,
            shape: tensor.shape.clone(),
            allowed: format!("(), (1), (1,1), (1,1,1) or, one a head, {}", counts.join(", ")),
        });
    }
    let values =
        read_floats(tensor.dtype, shard.data(tensor)).ok_or_else(|| CheckpointError::ScaleDtype {
            path: path.to_owned(),
            tensor: tensor.name.clone(),
            dtype: tensor.dtype,
        })?;
    Ok(match values.as_slice() {
        [one] if is_one => HeadScales::One(*one),
        _ => HeadScales::PerHead(values),
    })
}

/// Rounds to float32. What is too large becomes infinite and is refused with all that is not finite; what is too small
/// becomes the smallest number of its sign and not zero, because zero means a scale that was never calibrated.
pub(crate) fn narrow(x: f64) -> f32 {
    let narrowed = x as f32;
    if narrowed == 0.0 && x != 0.0 { f32::from_bits(1).copysign(narrowed) } else { narrowed }
}

/// Unaligned little-endian floats as float32.
pub(crate) fn read_floats(dtype: Dtype, bytes: &[u8]) -> Option<Vec<f32>> {
    Some(match dtype {
        Dtype::F32 => bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect(),
        Dtype::BF16 => bytes.as_chunks::<2>().0.iter().map(|b| bf16::from_le_bytes(*b).to_f32()).collect(),
        Dtype::F16 => bytes.as_chunks::<2>().0.iter().map(|b| f16::from_le_bytes(*b).to_f32()).collect(),
        Dtype::F64 => bytes.as_chunks::<8>().0.iter().map(|b| narrow(f64::from_le_bytes(*b))).collect(),
        // A power of two; 0xFF is NaN.
        Dtype::F8_E8M0 => bytes
            .iter()
            .map(|code| if *code == 0xFF { f32::NAN } else { (f64::from(*code) - 127.0).exp2() as f32 })
            .collect(),
        _ => return None,
    })
}

/// The relative error that a stored number of this type may have against another reading of the same scale.
pub(crate) fn relative_precision(dtype: Dtype) -> f32 {
    match dtype {
        Dtype::BF16 => 1.0 / 256.0,
        Dtype::F16 => 1.0 / 2048.0,
        _ => 4.0 * f32::EPSILON,
    }
}

/// Whether every element of a zero-point tensor is zero: all its bits are, or only signs are set.
pub(crate) fn is_all_zero(shard: &Shard, tensor: &TensorEntry) -> bool {
    let bytes = shard.data(tensor);
    match tensor.dtype {
        Dtype::F8_E4M3 | Dtype::F8_E5M2 => bytes.iter().all(|b| b & 0x7F == 0),
        dtype => match read_floats(dtype, bytes) {
            Some(values) => values.iter().all(|v| *v == 0.0),
            None => bytes.iter().all(|b| *b == 0),
        },
    }
}
