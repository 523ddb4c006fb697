//! The number, size and storage type of a cache's blocks, as Python gives them.

use gaudi_kv::cache::CacheGeometry;
use gaudi_kv::device::StorageDtype;
use pyo3::prelude::*;

use crate::error::Failure;
use crate::tensor_plane::TensorPlane;

/// The blocks of a cache with memory of its own.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Allocation {
    num_blocks: usize,
    block_size: usize,
    kv_cache_dtype: String,
}

impl Allocation {
    /// The blocks of the cache, and a pad block.
    pub(crate) fn geometry(&self) -> Result<CacheGeometry, Failure> {
        let dtype = storage_dtype(&self.kv_cache_dtype)?;
        Ok(CacheGeometry::new(self.num_blocks, self.block_size, dtype)?)
    }
}

/// The storage type that is called `name`.
pub(crate) fn storage_dtype(name: &str) -> Result<StorageDtype, Failure> {
    match name {
        "fp8" | "fp8_e4m3" | "fp8_inc" => Ok(StorageDtype::Fp8),
        "bf16" | "bfloat16" => Ok(StorageDtype::Bf16),
        "f32" | "float32" => Ok(StorageDtype::F32),
        _ => Err(Failure::Option(format!("kv_cache_dtype {name:?}; fp8, bf16 and f32 are known"))),
    }
}

/// The blocks of a plane in a tensor of `[num_blocks, block_size]` and `N` more dimensions, which are returned. There is
/// no pad block: every block of the tensor is the engine's.
pub(crate) fn lent_geometry<const N: usize>(
    tensor: &TensorPlane,
) -> Result<(CacheGeometry, [usize; N]), Failure> {
    let dtype = tensor.dtype()?;
    if let [num_blocks, block_size, row @ ..] = tensor.shape()
        && let Ok(row) = row.try_into()
    {
        return Ok((CacheGeometry::new(*num_blocks, *block_size, dtype)?.without_pad_block(), row));
    }
    Err(Failure::Shape(format!(
        "{} has {} dimensions; [num_blocks, block_size] and {N} more are needed",
        tensor.what(),
        tensor.shape().len()
    )))
}
