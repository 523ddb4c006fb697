//! The cache and the attention of MHA and GQA.

use gaudi_kv::attention;
use gaudi_kv::cache;
use gaudi_kv::device::emulated::{Emulated, EmulatedPlane};
use half::bf16;
use pyo3::prelude::*;

use crate::array::Array;
use crate::batch::Batch;
use crate::call::{compute, work};
use crate::device::Device;
use crate::error::Failure;
use crate::geometry::{Allocation, lent_geometry};
use crate::image::{Exported, Image, Imported};
use crate::lease::{Operands, RowsView};
use crate::lent::LentTensor;
use crate::output::Output;
use crate::scale::{Options, Scale, attention_scales, plane_scale};
use crate::slots::Slots;
use crate::store::Store;

/// Keys and values in planes of their own.
#[pyclass(frozen, module = "gaudi_kv._native")]
#[derive(Debug)]
pub(crate) struct MhaCache {
    num_kv_heads: usize,
    head_dim: usize,
    v_head_dim: usize,
    store: Store<cache::MhaCache<EmulatedPlane>>,
}

#[pymethods]
impl MhaCache {
    /// An empty cache in memory of its own, with a pad block.
    #[staticmethod]
    #[pyo3(signature = (device, allocation, num_kv_heads, dims, scales))]
    fn allocate(
        device: &Device,
        allocation: Allocation,
        num_kv_heads: usize,
        dims: (usize, usize),
        scales: (Scale, Scale),
    ) -> PyResult<Self> {
        let (device, geometry) = (device.emulated, allocation.geometry()?);
        let (k_scale, v_scale) = (plane_scale(scales.0), plane_scale(scales.1));
        let cache = cache::MhaCache::new(&device, geometry, num_kv_heads, dims, (&k_scale, &v_scale));
        let store = Store::new(device, geometry, Vec::new(), cache.map_err(Failure::from)?);
        Ok(Self { num_kv_heads, head_dim: dims.0, v_head_dim: dims.1, store })
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
    ) -> PyResult<Self> {
        let (device, key, value) =
            (device.emulated, LentTensor::of("key", key)?, LentTensor::of("value", value)?);
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
        let store = Store::new(device, geometry, vec![key, value], cache.map_err(Failure::from)?);
        Ok(Self { num_kv_heads, head_dim, v_head_dim, store })
    }

    /// Stores keys and values at their slots.
    #[pyo3(signature = (k, v, slot_mapping))]
    fn write(
        &self,
        py: Python<'_>,
        k: &Bound<'_, PyAny>,
        v: &Bound<'_, PyAny>,
        slot_mapping: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let mut operands = Operands::default();
        let (slots, tokens) = Slots::of(slot_mapping, &mut operands)?;
        let (k, v) = (Array::of_rows("k", k)?, Array::of_rows("v", v)?);
        k.rows(Some(tokens), &[self.num_kv_heads, self.head_dim])?;
        v.rows(Some(tokens), &[self.num_kv_heads, self.v_head_dim])?;
        let (k, v): (RowsView<bf16>, RowsView<bf16>) = (operands.read_rows(&k)?, operands.read_rows(&v)?);
        self.store.claim(py, &mut operands, true)?;
        let (k_row, v_row) = (self.num_kv_heads * self.head_dim, self.num_kv_heads * self.v_head_dim);
        work(py, operands, |lease| {
            let (kept, mut buffers) = (slots.kept(lease), (Vec::new(), Vec::new()));
            let (k, v) = (k.rows(lease, &mut buffers.0), v.rows(lease, &mut buffers.1));
            let (k, v) = (kept.rows(k, k_row), kept.rows(v, v_row));
            let written = self.store.write().write(&self.store.device, &k, &v, &kept.slots);
            Ok(written.map_err(|error| kept.blame(error))?)
        })
    }

    /// Reads keys and values as bfloat16.
    #[pyo3(signature = (slot_mapping, k_out, v_out))]
    fn read(
        &self,
        py: Python<'_>,
        slot_mapping: &Bound<'_, PyAny>,
        k_out: &Bound<'_, PyAny>,
        v_out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let mut operands = Operands::default();
        let (slots, tokens) = Slots::of(slot_mapping, &mut operands)?;
        let k_out = self.rows("k_out", k_out, Some(tokens), self.head_dim)?;
        let v_out = self.rows("v_out", v_out, Some(tokens), self.v_head_dim)?;
        let (k_out, v_out) = (operands.write::<bf16>(&k_out)?, operands.write::<bf16>(&v_out)?);
        self.store.claim(py, &mut operands, false)?;
        work(py, operands, |lease| {
            let (k, v) = self.store.read().read(&self.store.device, slots.all(lease))?;
            lease.slice_mut(k_out).copy_from_slice(&k);
            lease.slice_mut(v_out).copy_from_slice(&v);
            Ok(())
        })
    }

    /// Copies whole blocks, `(from, to)` pair by pair in order.
    fn copy_blocks(&self, py: Python<'_>, pairs: Vec<(i32, i32)>) -> PyResult<()> {
        self.store.copy_blocks(py, &pairs)
    }

    /// One block: generation, fingerprint and planes.
    fn export_block<'py>(&self, py: Python<'py>, block: i32) -> PyResult<Exported<'py>> {
        self.store.export_block(py, block)
    }

    /// Takes a block that was exported from a cache like this one.
    fn import_block(&self, py: Python<'_>, block: i32, image: Image) -> PyResult<()> {
        self.store.import_block(py, block, &Imported::of(image)?)
    }

    #[getter]
    fn fingerprint(&self) -> u64 {
        self.store.fingerprint()
    }

    #[getter]
    fn num_blocks(&self) -> usize {
        self.store.geometry.num_blocks()
    }

    #[getter]
    fn block_size(&self) -> usize {
        self.store.geometry.block_size_tokens()
    }

    #[getter]
    fn kv_cache_dtype(&self) -> &'static str {
        self.store.geometry.dtype().name()
    }

    #[getter]
    fn is_lent(&self) -> bool {
        self.store.is_lent()
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
    fn rows(
        &self,
        what: &'static str,
        object: &Bound<'_, PyAny>,
        rows: Option<usize>,
        dim: usize,
    ) -> PyResult<Array> {
        let array = Array::of(what, object)?;
        array.rows(rows, &[self.num_kv_heads, dim])?;
        Ok(array)
    }
}

/// A layer's attention over keys and values.
#[pyclass(frozen, module = "gaudi_kv._native")]
#[derive(Debug)]
pub(crate) struct MhaAttention {
    device: Emulated,
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
        let attention =
            attention::MhaAttention::new(heads, dims, scales, options.into()).map_err(Failure::from)?;
        Ok(Self { device: device.emulated, heads, dims, attention })
    }

    /// Attention of new tokens.
    #[pyo3(signature = (cache, q, k, v, batch, out))]
    #[expect(clippy::too_many_arguments, reason = "these are the operands")]
    fn prefill(
        &self,
        py: Python<'_>,
        cache: Option<&MhaCache>,
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
        if let Some(cache) = cache {
            cache.store.claim(py, &mut operands, false)?;
        }
        let lock = || cache.map(|cache| cache.store.read());
        compute(py, operands, self.device, self.products(batch), lock, |lease, workspace, device, cache| {
            let [of_q, of_k, of_v] = &mut workspace.rows;
            let operands = (q.rows(lease, of_q), k.rows(lease, of_k), v.rows(lease, of_v));
            out.fill(lease, &mut workspace.results, |out| {
                Ok(self.attention.prefill_into(device, cache.as_deref(), operands, &batch.view(), out)?)
            })
        })
    }

    /// Attention of tokens that are in the cache.
    #[pyo3(signature = (cache, q, batch, out))]
    fn decode(
        &self,
        py: Python<'_>,
        cache: &MhaCache,
        q: &Bound<'_, PyAny>,
        batch: &Batch,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let mut operands = Operands::default();
        let q = Array::of_rows("q", q)?;
        q.rows(Some(batch.tokens()), &[self.heads.0, self.dims.0])?;
        let q: RowsView<bf16> = operands.read_rows(&q)?;
        let out = self.output(batch, out, &mut operands)?;
        cache.store.claim(py, &mut operands, false)?;
        let (geometry, lock) = (cache.store.geometry, || cache.store.read());
        compute(py, operands, self.device, self.products(batch), lock, |lease, workspace, device, cache| {
            let prepared = batch.prepared(geometry)?;
            let q = q.rows(lease, &mut workspace.rows[0]);
            out.fill(lease, &mut workspace.results, |out| {
                Ok(self.attention.decode_into(device, cache, q, &prepared, out)?)
            })
        })
    }
}

impl MhaAttention {
    /// Multiplications of a batch.
    fn products(&self, batch: &Batch) -> usize {
        batch.pairs().saturating_mul(self.heads.0).saturating_mul(self.dims.0.saturating_add(self.dims.1))
    }

    fn output(&self, batch: &Batch, out: &Bound<'_, PyAny>, operands: &mut Operands) -> PyResult<Output> {
        let out = Array::of("out", out)?;
        out.rows(Some(batch.tokens()), &[self.heads.0, self.dims.1])?;
        Ok(Output::of(&out, operands)?)
    }
}
