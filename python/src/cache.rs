//! A cache that several threads may use, whatever its layers compute.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use gaudi_kv::cache::{AnyCache, BlockCache, CacheGeometry};
use gaudi_kv::device::{AnyDevice, AnyPlane};
use pyo3::prelude::*;

use crate::block_bytes::{Exported, Image, Imported, exported};
use crate::dispatch::work;
use crate::memory_lease::Operands;
use crate::tensor_plane::TensorPlane;

/// A cache of either kind, its device, and the tensors that its planes lie in where they are somebody else's: all that
/// concerns whole blocks.
#[pyclass(frozen, subclass, module = "gaudi_kv._native")]
#[derive(Debug)]
pub(crate) struct Cache {
    pub(crate) device: AnyDevice,
    pub(crate) geometry: CacheGeometry,
    tensors: Vec<TensorPlane>,
    cache: RwLock<AnyCache<AnyPlane>>,
}

#[pymethods]
impl Cache {
    /// Copies whole blocks, `(from, to)` pair by pair in order.
    fn copy_blocks(&self, py: Python<'_>, pairs: Vec<(i32, i32)>) -> PyResult<()> {
        let mut operands = Operands::default();
        self.claim(py, &mut operands, true)?;
        work(py, operands, |_| Ok(self.write().copy_blocks(&self.device, &pairs)?))
    }

    /// One block with all that its bytes mean: generation, fingerprint and planes.
    fn export_block<'py>(&self, py: Python<'py>, block: i32) -> PyResult<Exported<'py>> {
        let mut operands = Operands::default();
        self.claim(py, &mut operands, false)?;
        let image = work(py, operands, |_| Ok(self.read().export_block(&self.device, block)?))?;
        Ok(exported(py, image))
    }

    /// Takes a block that was exported from a cache like this one.
    fn import_block(&self, py: Python<'_>, block: i32, image: Image) -> PyResult<()> {
        let (mut operands, image) = (Operands::default(), Imported::of(image)?);
        self.claim(py, &mut operands, true)?;
        work(py, operands, |_| Ok(self.write().import_block(&self.device, block, &image.image())?))
    }

    /// A hash of all that says what the cache's bytes mean.
    #[getter]
    fn fingerprint(&self) -> u64 {
        self.read().fingerprint()
    }

    #[getter]
    fn num_blocks(&self) -> usize {
        self.geometry.num_blocks()
    }

    #[getter]
    fn block_size(&self) -> usize {
        self.geometry.block_size_tokens()
    }

    #[getter]
    fn kv_cache_dtype(&self) -> &'static str {
        self.geometry.dtype().name()
    }

    /// Whether the planes lie in tensors of the caller.
    #[getter]
    fn is_lent(&self) -> bool {
        !self.tensors.is_empty()
    }
}

impl Cache {
    pub(crate) fn new(
        device: AnyDevice,
        geometry: CacheGeometry,
        tensors: Vec<TensorPlane>,
        cache: impl Into<AnyCache<AnyPlane>>,
    ) -> Self {
        Self { device, geometry, tensors, cache: RwLock::new(cache.into()) }
    }

    /// Claims the tensors for a call. Nothing may touch the cache without that.
    pub(crate) fn claim(&self, py: Python<'_>, operands: &mut Operands, is_write: bool) -> PyResult<()> {
        self.tensors.iter().try_for_each(|tensor| tensor.claim(py, operands, is_write))
    }

    /// The cache, once no call changes it.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, AnyCache<AnyPlane>> {
        self.cache.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cache, once no other call uses it.
    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, AnyCache<AnyPlane>> {
        self.cache.write().unwrap_or_else(PoisonError::into_inner)
    }
}
