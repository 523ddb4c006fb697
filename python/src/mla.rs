//! The cache and the attention of MLA.

use gaudi_kv::attention::{self, MlaShape};
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
use crate::memory_lease::{Operands, View};
use crate::scale::{Options, Scale, attention_scales, plane_scale};
use crate::slots::Slots;
use crate::tensor_plane::TensorPlane;

/// A cache with one latent for keys and values.
#[pyclass(frozen, extends = Cache, module = "gaudi_kv._native")]
#[derive(Debug)]
pub(crate) struct MlaCache {
    kv_lora_rank: usize,
    qk_rope_head_dim: usize,
}

#[pymethods]
impl MlaCache {
    /// An empty cache in memory of its own, with a pad block.
    #[staticmethod]
    #[pyo3(signature = (device, allocation, kv_lora_rank, qk_rope_head_dim, k_scale))]
    fn allocate(
        py: Python<'_>,
        device: &Device,
        allocation: Allocation,
        kv_lora_rank: usize,
        qk_rope_head_dim: usize,
        k_scale: Scale,
    ) -> PyResult<Py<Self>> {
        let (device, geometry) = (device.device.clone(), allocation.geometry()?);
        let k_scale = plane_scale(k_scale);
        let cache = cache::MlaCache::new(&device, geometry, kv_lora_rank, qk_rope_head_dim, &k_scale);
        let cache = Cache::new(device, geometry, Vec::new(), cache.map_err(Failure::from)?);
        Self { kv_lora_rank, qk_rope_head_dim }.over_blocks(py, cache)
    }

    /// A cache in a tensor of the caller, `[num_blocks, block_size, kv_lora_rank + qk_rope_head_dim]`.
    #[staticmethod]
    #[pyo3(signature = (device, latent, kv_lora_rank, k_scale))]
    fn over(
        py: Python<'_>,
        device: &Device,
        latent: &Bound<'_, PyAny>,
        kv_lora_rank: usize,
        k_scale: Scale,
    ) -> PyResult<Py<Self>> {
        let (device, latent) = (device.for_tensors()?, TensorPlane::of("latent", latent)?);
        let (geometry, [dim]) = lent_geometry(&latent)?;
        let Some(qk_rope_head_dim) = dim.checked_sub(kv_lora_rank) else {
            let message = format!("latents of {dim} elements have no {kv_lora_rank} of kv_lora_rank");
            return Err(Failure::Shape(message).into());
        };
        let (k_scale, plane) = (plane_scale(k_scale), |layout: &_| latent.plane(layout));
        let cache = cache::MlaCache::over(&device, geometry, kv_lora_rank, qk_rope_head_dim, &k_scale, plane);
        let cache = Cache::new(device, geometry, vec![latent], cache.map_err(Failure::from)?);
        Self { kv_lora_rank, qk_rope_head_dim }.over_blocks(py, cache)
    }

    /// Stores latents at their slots.
    #[pyo3(signature = (kv_c, k_pe, slot_mapping))]
    fn write(
        slf: &Bound<'_, Self>,
        kv_c: &Bound<'_, PyAny>,
        k_pe: &Bound<'_, PyAny>,
        slot_mapping: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let mut operands = Operands::default();
        let (slots, tokens) = Slots::of(slot_mapping, &mut operands)?;
        let Self { kv_lora_rank: rank, qk_rope_head_dim: rope } = *slf.get();
        let kv_c: View<bf16> = rows("kv_c", kv_c, tokens, [1, rank], &mut operands)?;
        let k_pe: View<bf16> = rows("k_pe", k_pe, tokens, [1, rope], &mut operands)?;
        let (py, cache) = (slf.py(), slf.as_super().get());
        cache.claim(py, &mut operands, true)?;
        work(py, operands, |lease| {
            let kept = slots.kept(lease);
            let (kv_c, k_pe) = (kept.rows(lease.slice(kv_c), rank), kept.rows(lease.slice(k_pe), rope));
            let written = cache.write().mla_mut()?.write(&cache.device, &kv_c, &k_pe, &kept.slots);
            Ok(written.map_err(|error| kept.blame(error))?)
        })
    }

    /// Reads latents as bfloat16, `[slots, kv_lora_rank + qk_rope_head_dim]`.
    #[pyo3(signature = (slot_mapping, out))]
    fn read(slf: &Bound<'_, Self>, slot_mapping: &Bound<'_, PyAny>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut operands = Operands::default();
        let (slots, tokens) = Slots::of(slot_mapping, &mut operands)?;
        let out = Array::of("out", out)?;
        let Self { kv_lora_rank, qk_rope_head_dim } = *slf.get();
        out.rows(Some(tokens), &[1, kv_lora_rank + qk_rope_head_dim])?;
        let out = operands.write::<bf16>(&out)?;
        let (py, cache) = (slf.py(), slf.as_super().get());
        cache.claim(py, &mut operands, false)?;
        work(py, operands, |lease| {
            let latents = cache.read().mla()?.read(&cache.device, slots.all(lease))?;
            lease.slice_mut(out).copy_from_slice(&latents);
            Ok(())
        })
    }

    #[getter]
    fn kv_lora_rank(&self) -> usize {
        self.kv_lora_rank
    }

    #[getter]
    fn qk_rope_head_dim(&self) -> usize {
        self.qk_rope_head_dim
    }
}

impl MlaCache {
    /// The Python object, over the part that concerns blocks.
    fn over_blocks(self, py: Python<'_>, cache: Cache) -> PyResult<Py<Self>> {
        Py::new(py, PyClassInitializer::from(cache).add_subclass(self))
    }
}

/// Resolves `[rows, factors..]` that is read.
fn rows(
    what: &'static str,
    object: &Bound<'_, PyAny>,
    rows: usize,
    factors: [usize; 2],
    operands: &mut Operands,
) -> PyResult<View<bf16>> {
    let array = Array::of(what, object)?;
    array.rows(Some(rows), &factors)?;
    Ok(operands.read(&array)?)
}

/// A layer's attention over latents.
#[pyclass(frozen, module = "gaudi_kv._native")]
#[derive(Debug)]
pub(crate) struct MlaAttention {
    device: AnyDevice,
    shape: MlaShape,
    attention: attention::MlaAttention,
}

#[pymethods]
impl MlaAttention {
    /// `shape` is (num_heads, kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim, v_head_dim).
    #[new]
    #[pyo3(signature = (device, shape, kv_b_proj, q_scale, prob_scale, options))]
    fn new(
        py: Python<'_>,
        device: &Device,
        shape: (usize, usize, usize, usize, usize),
        kv_b_proj: &Bound<'_, PyAny>,
        q_scale: Option<Scale>,
        prob_scale: (f32, f32),
        options: Options,
    ) -> PyResult<Self> {
        let (num_heads, kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim, v_head_dim) = shape;
        let shape = MlaShape { num_heads, kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim, v_head_dim };
        let weight = Array::of("kv_b_proj", kv_b_proj)?;
        let weight_rows = num_heads.saturating_mul(qk_nope_head_dim.saturating_add(v_head_dim));
        weight.rows(Some(weight_rows), &[kv_lora_rank])?;
        let mut operands = Operands::default();
        let weight: View<bf16> = operands.read(&weight)?;
        let scales = attention_scales(q_scale, prob_scale);
        let attention = work(py, operands, |lease| {
            Ok(attention::MlaAttention::new(shape, lease.slice(weight), scales, options.into())?)
        })?;
        Ok(Self { device: device.device.clone(), shape, attention })
    }

    /// Attention of new tokens over expanded keys and values.
    #[pyo3(signature = (cache, q_nope, q_pe, kv_c, k_pe, batch, out))]
    #[expect(clippy::too_many_arguments, reason = "these are the operands")]
    fn prefill(
        &self,
        py: Python<'_>,
        cache: Option<&Bound<'_, MlaCache>>,
        q_nope: &Bound<'_, PyAny>,
        q_pe: &Bound<'_, PyAny>,
        kv_c: &Bound<'_, PyAny>,
        k_pe: &Bound<'_, PyAny>,
        batch: &Batch,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (mut operands, tokens) = (Operands::default(), batch.tokens());
        let (q_nope, q_pe) = self.query(q_nope, q_pe, batch, &mut operands)?;
        let kv_c = rows("kv_c", kv_c, tokens, [1, self.shape.kv_lora_rank], &mut operands)?;
        let k_pe = rows("k_pe", k_pe, tokens, [1, self.shape.qk_rope_head_dim], &mut operands)?;
        let out = self.output(batch, out, &mut operands)?;
        let cache = cache.map(|cache| cache.as_super().get());
        if let Some(cache) = cache {
            cache.claim(py, &mut operands, false)?;
        }
        let lock = || cache.map(Cache::read);
        compute(py, operands, &self.device, self.products(batch), lock, |lease, workspace, device, cache| {
            let cache = cache.as_deref().map(AnyCache::mla).transpose()?;
            let q = (lease.slice(q_nope), lease.slice(q_pe));
            let latents = (lease.slice(kv_c), lease.slice(k_pe));
            out.fill(lease, &mut workspace.results, |out| {
                let (batch, workspace) = (batch.view(), &mut workspace.mla);
                Ok(self.attention.prefill_into(device, cache, q, latents, &batch, workspace, out)?)
            })
        })
    }

    /// Attention of tokens that are in the cache, with the projections absorbed.
    #[pyo3(signature = (cache, q_nope, q_pe, batch, out))]
    fn decode(
        &self,
        py: Python<'_>,
        cache: &Bound<'_, MlaCache>,
        q_nope: &Bound<'_, PyAny>,
        q_pe: &Bound<'_, PyAny>,
        batch: &Batch,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let mut operands = Operands::default();
        let (q_nope, q_pe) = self.query(q_nope, q_pe, batch, &mut operands)?;
        let out = self.output(batch, out, &mut operands)?;
        let cache = cache.as_super().get();
        cache.claim(py, &mut operands, false)?;
        let lock = || cache.read();
        compute(py, operands, &self.device, self.products(batch), lock, |lease, workspace, device, cache| {
            let prepared = batch.prepared(cache.geometry())?;
            let q = (lease.slice(q_nope), lease.slice(q_pe));
            out.fill(lease, &mut workspace.results, |out| {
                let (cache, workspace) = (cache.mla()?, &mut workspace.mla);
                Ok(self.attention.decode_into(device, cache, q, &prepared, workspace, out)?)
            })
        })
    }
}

impl MlaAttention {
    /// The number of multiplications of a decode, about: a prefill has no more than that of latents and pairs.
    fn products(&self, batch: &Batch) -> usize {
        let MlaShape { num_heads, kv_lora_rank, .. } = self.shape;
        batch.pairs().saturating_mul(num_heads).saturating_mul(kv_lora_rank)
    }

    fn query(
        &self,
        q_nope: &Bound<'_, PyAny>,
        q_pe: &Bound<'_, PyAny>,
        batch: &Batch,
        operands: &mut Operands,
    ) -> PyResult<(View<bf16>, View<bf16>)> {
        let MlaShape { num_heads, qk_nope_head_dim, qk_rope_head_dim, .. } = self.shape;
        Ok((
            rows("q_nope", q_nope, batch.tokens(), [num_heads, qk_nope_head_dim], operands)?,
            rows("q_pe", q_pe, batch.tokens(), [num_heads, qk_rope_head_dim], operands)?,
        ))
    }

    fn output(&self, batch: &Batch, out: &Bound<'_, PyAny>, operands: &mut Operands) -> PyResult<Output> {
        let out = Array::of("out", out)?;
        out.rows(Some(batch.tokens()), &[self.shape.num_heads, self.shape.v_head_dim])?;
        Ok(Output::of(&out, operands)?)
    }
}
