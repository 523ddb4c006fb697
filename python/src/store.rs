//! A cache that several threads may use.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use gaudi_kv::cache::{BlockCache, CacheGeometry};
use gaudi_kv::device::emulated::{Emulated, EmulatedPlane};
use pyo3::prelude::*;

use crate::call::work;
use crate::image::{Exported, Imported, exported};
use crate::lease::Operands;
use crate::lent::LentTensor;

/// A cache, its device, and the tensors that its planes lie in where they are somebody else's.
#[derive(Debug)]
pub(crate) struct Store<C> {
    pub(crate) device: Emulated,
    pub(crate) geometry: CacheGeometry,
    tensors: Vec<LentTensor>,
    cache: RwLock<C>,
}

impl<C: BlockCache<EmulatedPlane> + Send + Sync> Store<C> {
    pub(crate) fn new(device: Emulated, geometry: CacheGeometry, tensors: Vec<LentTensor>, cache: C) -> Self {
        Self { device, geometry, tensors, cache: RwLock::new(cache) }
    }

    /// Whether the planes lie in tensors of the caller.
    pub(crate) fn is_lent(&self) -> bool {
        !self.tensors.is_empty()
    }

    /// Claims the tensors for a call. Nothing may touch the cache without that.
    pub(crate) fn claim(&self, py: Python<'_>, operands: &mut Operands, is_write: bool) -> PyResult<()> {
        self.tensors.iter().try_for_each(|tensor| tensor.claim(py, operands, is_write))
    }

    /// The cache, once no call changes it.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, C> {
        self.cache.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cache, once no other call uses it.
    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, C> {
        self.cache.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies whole blocks, pair by pair in order.
    pub(crate) fn copy_blocks(&self, py: Python<'_>, pairs: &[(i32, i32)]) -> PyResult<()> {
        let mut operands = Operands::default();
        self.claim(py, &mut operands, true)?;
        work(py, operands, |_| Ok(self.write().copy_blocks(&self.device, pairs)?))
    }

    /// One block with all that its bytes mean.
    pub(crate) fn export_block<'py>(&self, py: Python<'py>, block: i32) -> PyResult<Exported<'py>> {
        let mut operands = Operands::default();
        self.claim(py, &mut operands, false)?;
        let image = work(py, operands, |_| Ok(self.read().export_block(&self.device, block)?))?;
        Ok(exported(py, image))
    }

    /// Takes a block that was exported from a cache like this one.
    pub(crate) fn import_block(&self, py: Python<'_>, block: i32, image: &Imported) -> PyResult<()> {
        let mut operands = Operands::default();
        self.claim(py, &mut operands, true)?;
        work(py, operands, |_| Ok(self.write().import_block(&self.device, block, &image.image())?))
    }

    /// Equal where the same bytes mean the same values.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.read().fingerprint()
    }
}
