#![allow(unsafe_code, reason = "planes lie in tensors that Python owns")]
//! Cache planes in the memory of an engine's tensors.

use gaudi_kv::cache::CacheError;
use gaudi_kv::device::emulated::EmulatedPlane;
use gaudi_kv::device::{AnyPlane, PlaneLayout, StorageDtype};
use pyo3::prelude::*;

use crate::array::{Array, Element};
use crate::error::Failure;
use crate::memory_lease::Operands;

/// A tensor of an engine that a cache plane lies in.
#[derive(Debug)]
pub(crate) struct TensorPlane {
    object: Py<PyAny>,
    array: Array,
}

impl TensorPlane {
    /// Resolves a tensor.
    ///
    /// # Errors
    /// It is no array that can hold a plane.
    pub(crate) fn of(what: &'static str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let array = Array::of(what, object)?;
        if !array.is_writable {
            return Err(Failure::Dtype(format!("{what} is read-only")).into());
        }
        Ok(Self { array, object: object.clone().unbind() })
    }

    /// The name of the operand that the tensor was.
    pub(crate) fn what(&self) -> &'static str {
        self.array.what
    }

    /// The tensor's shape.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.array.shape
    }

    /// The storage type of a plane in the tensor.
    ///
    /// # Errors
    /// No plane is stored so.
    pub(crate) fn dtype(&self) -> Result<StorageDtype, Failure> {
        match self.array.element {
            Element::Code => Ok(StorageDtype::Fp8),
            Element::Bf16 => Ok(StorageDtype::Bf16),
            Element::F32 => Ok(StorageDtype::F32),
            other => Err(Failure::Dtype(format!(
                "{} is {}; a cache plane is uint8 or float8_e4m3fn, bfloat16 (in NumPy its bits as uint16), or float32",
                self.array.what,
                other.name()
            ))),
        }
    }

    /// A plane in its memory, for an emulated device. To be used only while a lease has what [`claim`](Self::claim) asks for.
    ///
    /// # Errors
    /// The layout is not that of the tensor.
    pub(crate) fn plane(&self, layout: &PlaneLayout) -> Result<AnyPlane, CacheError> {
        let (address, bytes) = (self.array.address as *mut u8, self.array.len() * self.array.element.bytes());
        // SAFETY: `Array` found as many contiguous bytes there. The cache holds the tensor, and before every use
        // `TensorPlane::claim` finds that it still has this memory; the lease of that call keeps writes of other calls
        // away, where it changes the cache every other use, and the cache's lock does so for this plane.
        Ok(unsafe { EmulatedPlane::from_raw(*layout, address, bytes) }?.into())
    }

    /// Claims the tensor's memory for a call.
    ///
    /// # Errors
    /// The tensor has other memory or another shape than when the cache was made.
    pub(crate) fn claim(&self, py: Python<'_>, operands: &mut Operands, is_write: bool) -> PyResult<()> {
        let now = Array::of(self.array.what, self.object.bind(py))?;
        if now != self.array {
            let what = self.array.what;
            let message =
                format!("{what} was resized or given other memory after the cache was made over it");
            return Err(Failure::Shape(message).into());
        }
        operands.claim(&self.array, is_write);
        Ok(())
    }
}
