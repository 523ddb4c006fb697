//! Blocks of caches as the bytes that Python keeps or sends.

use gaudi_kv::Generation;
use gaudi_kv::cache::{BlockImage, PlaneImage};
use gaudi_kv::device::StorageDtype;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::device::generation;
use crate::error::Failure;
use crate::geometry::storage_dtype;

/// A plane of a block: storage type, tokens, heads, elements of a head, and the stored bytes.
type Plane<B> = (String, usize, usize, usize, B);

/// A block for Python: generation, fingerprint and planes.
pub(crate) type Exported<'py> = (&'static str, u64, Vec<Plane<Bound<'py, PyBytes>>>);

/// A block from Python: generation, fingerprint and planes.
pub(crate) type Image = (String, u64, Vec<Plane<PyBackedBytes>>);

/// Turns a block of the library into what Python gets.
pub(crate) fn exported(py: Python<'_>, image: BlockImage) -> Exported<'_> {
    let plane = |plane: PlaneImage| {
        let bytes = PyBytes::new(py, &plane.bytes);
        (plane.dtype.name().to_owned(), plane.block_size_tokens, plane.heads, plane.dim, bytes)
    };
    (image.generation.name(), image.fingerprint, image.planes.into_iter().map(plane).collect())
}

/// A block from Python, checked. Its bytes stay in Python's memory.
#[derive(Debug)]
pub(crate) struct Imported {
    generation: Generation,
    fingerprint: u64,
    planes: Vec<(StorageDtype, [usize; 3], PyBackedBytes)>,
}

impl Imported {
    /// Reads the names in a block from Python.
    ///
    /// # Errors
    /// A generation or a storage type is not known.
    pub(crate) fn of((generation_name, fingerprint, planes): Image) -> Result<Self, Failure> {
        let plane = |(dtype, block_size, heads, dim, bytes): Plane<PyBackedBytes>| {
            Ok((storage_dtype(&dtype)?, [block_size, heads, dim], bytes))
        };
        let planes = planes.into_iter().map(plane).collect::<Result<_, Failure>>()?;
        Ok(Self { generation: generation(&generation_name)?, fingerprint, planes })
    }

    /// The library's block, with bytes of its own. To be called without the interpreter's lock.
    pub(crate) fn image(&self) -> BlockImage {
        let planes = self.planes.iter().map(|(dtype, [block_size_tokens, heads, dim], bytes)| PlaneImage {
            dtype: *dtype,
            block_size_tokens: *block_size_tokens,
            heads: *heads,
            dim: *dim,
            bytes: bytes.to_vec(),
        });
        BlockImage { generation: self.generation, fingerprint: self.fingerprint, planes: planes.collect() }
    }
}
