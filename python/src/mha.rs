//! The cache and the attention of MHA and GQA.

use gaudi_kv::attention;
use gaudi_kv::cache::{self, AnyCache};
use gaudi_kv::device::AnyDevice;
use half::bf16;
use pyo3::prelude::*;

use crate::array::Array;
use crate::attention_output::Output;
use crate::batch::Batch;
use crate::cache::Cache;
use crate::device::Device;
use crate::dispatch::{compute, work};
use crate::error::Failure;
use crate::geometry::{Allocation, lent_geometry};
use crate::memory_lease::{Operands, RowsView};
use crate::scale::{Options, Scale, attention_scales, plane_scale};
use crate::slots::Slots;
use crate::tensor_plane::TensorPlane;

/// A cache with keys and values in planes of their own.
#[pyclass(frozen, extends = Cache, module = "gaudi_kv._native")]
#[derive(Debug)]
pub(crate) struct MhaCache {
    num_kv_heads: usize,
    head_dim: usize,
    v_head_dim: usize,
}

#[pymethods]
impl MhaCache {
    /// An empty cache in memory of its own, with a pad block.
    #[staticmethod]
    #[pyo3(signature = (device, allocation, num_kv_heads, dims, scales))]
    fn allocate(
        py: Python<'_>,
        device: &Device,
        allocation: Allocation,
        num_kv_heads: usize,
        dims: (usize, usize),
        scales: (Scale, Scale),
    ) -> PyResult<Py<Self>> {
        let (device, geometry) = (device.device.clone(), allocation.geometry()?);
        let (k_scale, v_scale) = (plane_scale(scales.0), plane_scale(scales.1));
        let cache = cache::MhaCache::new(&device, geometry, num_kv_heads, dims, (&k_scale, &v_scale));
        let cache = Cache::new(device, geometry, Vec::new(), cache.map_err(Failure::from)?);
        Self { num_kv_heads, head_dim: dims.0, v_head_dim: dims.1 }.over_blocks(py, cache)
    }

    /// A cache in tensors of the caller, `[num_blocks, block_size, num_kv_heads, head_dim]` each.
    #[staticmethod]
    #[pyo3(signature = (device, key, value, scales))]
    fn over(
        py: Python<'_>,
        device: &Device,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        scales: (Scale, Scale),
    ) -> PyResult<Py<Self>> {
        let (device, key, value) =
            (device.for_tensors()?, TensorPlane::of("key", key)?, TensorPlane::of("value", value)?);
        let (geometry, [num_kv_heads, head_dim]) = lent_geometry(&key)?;
        let (value_geometry, [value_heads, v_head_dim]) = lent_geometry(&value)?;
        if (value_geometry, value_heads) != (geometry, num_kv_heads) {
            return Err(Failure::Shape(format!(
                "the key plane is {:?} {}, the value plane {:?} {}; they may differ in head_dim only",
                key.shape(),
                geometry.dtype().name(),
                value.shape(),
                value_geometry.dtype().name()
            ))
            .into());
        }
        let mut operands = Operands::default();
        for tensor in [&key, &value] {
            tensor.claim(py, &mut operands, true)?;
        }
        operands.check_overlap()?;
        let (k_scale, v_scale) = (plane_scale(scales.0), plane_scale(scales.1));
        let cache = cache::MhaCache::over(
            &device,
            geometry,
            num_kv_heads,
            (head_dim, v_head_dim),
            (&k_scale, &v_scale),
            (|layout: &_| key.plane(layout), |layout: &_| value.plane(layout)),
        );
        let cache = Cache::new(device, geometry, vec![key, value], cache.map_err(Failure::from)?);
        Self { num_kv_heads, head_dim, v_head_dim }.over_blocks(py, cache)
    }

    /// Stores keys and values at their slots.
    #[pyo3(signature = (k, v, slot_mapping))]
    fn write(
        slf: &Bound<'_, Self>,
        k: &Bound<'_, PyAny>,
        v: &Bound<'_, PyAny>,
        slot_mapping: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let mut operands = Operands::default();
        let (slots, tokens) = Slots::of(slot_mapping, &mut operands)?;
        let (k, v) = (Array::of_rows("k", k)?, Array::of_rows("v", v)?);
        let Self { num_kv_heads, head_dim, v_head_dim } = *slf.get();
        k.rows(Some(tokens), &[num_kv_heads, head_dim])?;
        v.rows(Some(tokens), &[num_kv_heads, v_head_dim])?;
        let (k, v): (RowsView<bf16>, RowsView<bf16>) = (operands.read_rows(&k)?, operands.read_rows(&v)?);
        let (py, cache) = (slf.py(), slf.as_super().get());
        cache.claim(py, &mut operands, true)?;
        let (k_row, v_row) = (num_kv_heads * head_dim, num_kv_heads * v_head_dim);
        work(py, operands, |lease| {
            let (kept, mut buffers) = (slots.kept(lease), (Vec::new(), Vec::new()));
            let (k, v) = (k.rows(lease, &mut buffers.0), v.rows(lease, &mut buffers.1));
            let (k, v) = (kept.rows(k, k_row), kept.rows(v, v_row));
            let written = cache.write().mha_mut()?.write(&cache.device, &k, &v, &kept.slots);
            Ok(written.map_err(|error| kept.blame(error))?)
        })
    }

    /// Reads keys and values as bfloat16.
    #[pyo3(signature = (slot_mapping, k_out, v_out))]
    fn read(
        slf: &Bound<'_, Self>,
        slot_mapping: &Bound<'_, PyAny>,
        k_out: &Bound<'_, PyAny>,
        v_out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let mut operands = Operands::default();
        let (slots, tokens) = Slots::of(slot_mapping, &mut operands)?;
        let (k_out, v_out) = (Array::of("k_out", k_out)?, Array::of("v_out", v_out)?);
        let Self { num_kv_heads, head_dim, v_head_dim } = *slf.get();
        k_out.rows(Some(tokens), &[num_kv_heads, head_dim])?;
        v_out.rows(Some(tokens), &[num_kv_heads, v_head_dim])?;
        let (k_out, v_out) = (operands.write::<bf16>(&k_out)?, operands.write::<bf16>(&v_out)?);
        let (py, cache) = (slf.py(), slf.as_super().get());
        cache.claim(py, &mut operands, false)?;
        work(py, operands, |lease| {
            let (k, v) = cache.read().mha()?.read(&cache.device, slots.all(lease))?;
            lease.slice_mut(k_out).copy_from_slice(&k);
            lease.slice_mut(v_out).copy_from_slice(&v);
            Ok(())
        })
    }

    #[getter]
    fn num_kv_heads(&self) -> usize {
        self.num_kv_heads
    }

    #[getter]
    fn head_dim(&self) -> usize {
        self.head_dim
    }

    #[getter]
    fn v_head_dim(&self) -> usize {
        self.v_head_dim
    }
}

impl MhaCache {
    /// The Python object, over the part that concerns blocks.
    fn over_blocks(self, py: Python<'_>, cache: Cache) -> PyResult<Py<Self>> {
        Py::new(py, PyClassInitializer::from(cache).add_subclass(self))
    }
}

/// A layer's attention over keys and values.
#[pyclass(frozen, module = "gaudi_kv._native")]
#[derive(Debug)]
pub(crate) struct MhaAttention {
    device: AnyDevice,
    heads: (usize, usize),
    dims: (usize, usize),
    attention: attention::MhaAttention,
}

#[pymethods]
impl MhaAttention {
    #[new]
    #[pyo3(signature = (device, heads, dims, q_scale, prob_scale, options))]
    fn new(
        device: &Device,
        heads: (usize, usize),
        dims: (usize, usize),
        q_scale: Option<Scale>,
        prob_scale: (f32, f32),
        options: Options,
    ) -> PyResult<Self> {
        let scales = attention_scales(q_scale, prob_scale);
        let shape = attention::MhaShape {
            num_heads: heads.0,
            num_kv_heads: heads.1,
            head_dim: dims.0,
            v_head_dim: dims.1,
        };
        let attention = attention::MhaAttention::new(shape, scales, options.into()).map_err(Failure::from)?;
        Ok(Self { device: device.device.clone(), heads, dims, attention })
    }

    /// Attention of new tokens.
    #[pyo3(signature = (cache, q, k, v, batch, out))]
    #[expect(clippy::too_many_arguments, reason = "these are the operands")]
    fn prefill(
        &self,
        py: Python<'_>,
        cache: Option<&Bound<'_, MhaCache>>,
        q: &Bound<'_, PyAny>,
        k: &Bound<'_, PyAny>,
        v: &Bound<'_, PyAny>,
        batch: &Batch,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let ((num_heads, num_kv_heads), (head_dim, v_head_dim)) = (self.heads, self.dims);
        let mut operands = Operands::default();
        let mut read = |what, object: &Bound<'_, PyAny>, factors: [usize; 2]| -> PyResult<RowsView<bf16>> {
            let array = Array::of_rows(what, object)?;
            array.rows(Some(batch.tokens()), &factors)?;
            Ok(operands.read_rows(&array)?)
        };
        let q = read("q", q, [num_heads, head_dim])?;
        let k = read("k", k, [num_kv_heads, head_dim])?;
        let v = read("v", v, [num_kv_heads, v_head_dim])?;
        let out = self.output(batch, out, &mut operands)?;
        let cache = cache.map(|cache| cache.as_super().get());
        if let Some(cache) = cache {
            cache.claim(py, &mut operands, false)?;
        }
        let lock = || cache.map(Cache::read);
        compute(py, operands, &self.device, self.products(batch), lock, |lease, workspace, device, cache| {
            let cache = cache.as_deref().map(AnyCache::mha).transpose()?;
            let [of_q, of_k, of_v] = &mut workspace.rows;
            let operands = (q.rows(lease, of_q), k.rows(lease, of_k), v.rows(lease, of_v));
            out.fill(lease, &mut workspace.results, |out| {
                Ok(self.attention.prefill_into(device, cache, operands, &batch.view(), out)?)
            })
        })
    }

    /// Attention of tokens that are in the cache.
    #[pyo3(signature = (cache, q, batch, out))]
    fn decode(
        &self,
        py: Python<'_>,
        cache: &Bound<'_, MhaCache>,
        q: &Bound<'_, PyAny>,
        batch: &Batch,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let mut operands = Operands::default();
        let q = Array::of_rows("q", q)?;
        q.rows(Some(batch.tokens()), &[self.heads.0, self.dims.0])?;
        let q: RowsView<bf16> = operands.read_rows(&q)?;
        let out = self.output(batch, out, &mut operands)?;
        let cache = cache.as_super().get();
        cache.claim(py, &mut operands, false)?;
        let lock = || cache.read();
        compute(py, operands, &self.device, self.products(batch), lock, |lease, workspace, device, cache| {
            let prepared = batch.prepared(cache.geometry())?;
            let q = q.rows(lease, &mut workspace.rows[0]);
            out.fill(lease, &mut workspace.results, |out| {
                Ok(self.attention.decode_into(device, cache.mha()?, q, &prepared, out)?)
            })
        })
    }
}

impl MhaAttention {
    /// The number of multiplications of a batch.
    fn products(&self, batch: &Batch) -> usize {
        batch.pairs().saturating_mul(self.heads.0).saturating_mul(self.dims.0.saturating_add(self.dims.1))
    }

    fn output(&self, batch: &Batch, out: &Bound<'_, PyAny>, operands: &mut Operands) -> PyResult<Output> {
        let out = Array::of("out", out)?;
        out.rows(Some(batch.tokens()), &[self.heads.0, self.dims.1])?;
        Ok(Output::of(&out, operands)?)
    }
}
