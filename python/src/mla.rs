//! The cache and the attention of MLA.

use gaudi_kv::attention::{self, MlaShape};
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
use crate::lease::{Operands, View};
use crate::lent::LentTensor;
use crate::output::Output;
use crate::scale::{Options, Scale, attention_scales, plane_scale};
use crate::slots::Slots;
use crate::store::Store;

/// One latent for keys and values.
#[pyclass(frozen, module = "gaudi_kv._native")]
#[derive(Debug)]
pub(crate) struct MlaCache {
    kv_lora_rank: usize,
    qk_rope_head_dim: usize,
    store: Store<cache::MlaCache<EmulatedPlane>>,
}

#[pymethods]
impl MlaCache {
    /// An empty cache in memory of its own, with a pad block.
    #[staticmethod]
    #[pyo3(signature = (device, allocation, kv_lora_rank, qk_rope_head_dim, k_scale))]
    fn allocate(
        device: &Device,
        allocation: Allocation,
        kv_lora_rank: usize,
        qk_rope_head_dim: usize,
        k_scale: Scale,
    ) -> PyResult<Self> {
        let (device, geometry) = (device.emulated, allocation.geometry()?);
        let k_scale = plane_scale(k_scale);
        let cache = cache::MlaCache::new(&device, geometry, kv_lora_rank, qk_rope_head_dim, &k_scale);
        let store = Store::new(device, geometry, Vec::new(), cache.map_err(Failure::from)?);
        Ok(Self { kv_lora_rank, qk_rope_head_dim, store })
    }

    /// A cache in a tensor of the caller, `[num_blocks, block_size, kv_lora_rank + qk_rope_head_dim]`.
    #[staticmethod]
    #[pyo3(signature = (device, latent, kv_lora_rank, k_scale))]
    fn over(
        device: &Device,
        latent: &Bound<'_, PyAny>,
        kv_lora_rank: usize,
        k_scale: Scale,
    ) -> PyResult<Self> {
        let (device, latent) = (device.emulated, LentTensor::of("latent", latent)?);
        let (geometry, [dim]) = lent_geometry(&latent)?;
        let Some(qk_rope_head_dim) = dim.checked_sub(kv_lora_rank) else {
            let message = format!("latents of {dim} elements have no {kv_lora_rank} of kv_lora_rank");
            return Err(Failure::Shape(message).into());
        };
        let (k_scale, plane) = (plane_scale(k_scale), |layout: &_| latent.plane(layout));
        let cache = cache::MlaCache::over(&device, geometry, kv_lora_rank, qk_rope_head_dim, &k_scale, plane);
        let store = Store::new(device, geometry, vec![latent], cache.map_err(Failure::from)?);
        Ok(Self { kv_lora_rank, qk_rope_head_dim, store })
    }

    /// Stores latents at their slots.
    #[pyo3(signature = (kv_c, k_pe, slot_mapping))]
    fn write(
        &self,
        py: Python<'_>,
        kv_c: &Bound<'_, PyAny>,
        k_pe: &Bound<'_, PyAny>,
        slot_mapping: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let mut operands = Operands::default();
        let (slots, tokens) = Slots::of(slot_mapping, &mut operands)?;
        let (rank, rope) = (self.kv_lora_rank, self.qk_rope_head_dim);
        let kv_c: View<bf16> = rows("kv_c", kv_c, tokens, [1, rank], &mut operands)?;
        let k_pe: View<bf16> = rows("k_pe", k_pe, tokens, [1, rope], &mut operands)?;
        self.store.claim(py, &mut operands, true)?;
        work(py, operands, |lease| {
            let kept = slots.kept(lease);
            let (kv_c, k_pe) = (kept.rows(lease.slice(kv_c), rank), kept.rows(lease.slice(k_pe), rope));
            let written = self.store.write().write(&self.store.device, &kv_c, &k_pe, &kept.slots);
            Ok(written.map_err(|error| kept.blame(error))?)
        })
    }

    /// Reads latents as bfloat16, `[slots, kv_lora_rank + qk_rope_head_dim]`.
    #[pyo3(signature = (slot_mapping, out))]
    fn read(&self, py: Python<'_>, slot_mapping: &Bound<'_, PyAny>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut operands = Operands::default();
        let (slots, tokens) = Slots::of(slot_mapping, &mut operands)?;
        let out = Array::of("out", out)?;
        out.rows(Some(tokens), &[1, self.kv_lora_rank + self.qk_rope_head_dim])?;
        let out = operands.write::<bf16>(&out)?;
        self.store.claim(py, &mut operands, false)?;
        work(py, operands, |lease| {
            let latents = self.store.read().read(&self.store.device, slots.all(lease))?;
            lease.slice_mut(out).copy_from_slice(&latents);
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
    fn kv_lora_rank(&self) -> usize {
        self.kv_lora_rank
    }

    #[getter]
    fn qk_rope_head_dim(&self) -> usize {
        self.qk_rope_head_dim
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
    device: Emulated,
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
        Ok(Self { device: device.emulated, shape, attention })
    }

    /// Attention of new tokens over expanded keys and values.
    #[pyo3(signature = (cache, q_nope, q_pe, kv_c, k_pe, batch, out))]
    #[expect(clippy::too_many_arguments, reason = "these are the operands")]
    fn prefill(
        &self,
        py: Python<'_>,
        cache: Option<&MlaCache>,
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
        if let Some(cache) = cache {
            cache.store.claim(py, &mut operands, false)?;
        }
        let lock = || cache.map(|cache| cache.store.read());
        compute(py, operands, self.device, self.products(batch), lock, |lease, workspace, device, cache| {
            let q = (lease.slice(q_nope), lease.slice(q_pe));
            let latents = (lease.slice(kv_c), lease.slice(k_pe));
            out.fill(lease, &mut workspace.results, |out| {
                let (cache, workspace) = (cache.as_deref(), &mut workspace.mla);
                Ok(self.attention.prefill_into(device, cache, q, latents, &batch.view(), workspace, out)?)
            })
        })
    }

    /// Attention of tokens that are in the cache, with the projections absorbed.
    #[pyo3(signature = (cache, q_nope, q_pe, batch, out))]
    fn decode(
        &self,
        py: Python<'_>,
        cache: &MlaCache,
        q_nope: &Bound<'_, PyAny>,
        q_pe: &Bound<'_, PyAny>,
        batch: &Batch,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let mut operands = Operands::default();
        let (q_nope, q_pe) = self.query(q_nope, q_pe, batch, &mut operands)?;
        let out = self.output(batch, out, &mut operands)?;
        cache.store.claim(py, &mut operands, false)?;
        let (geometry, lock) = (cache.store.geometry, || cache.store.read());
        compute(py, operands, self.device, self.products(batch), lock, |lease, workspace, device, cache| {
            let prepared = batch.prepared(geometry)?;
            let q = (lease.slice(q_nope), lease.slice(q_pe));
            out.fill(lease, &mut workspace.results, |out| {
                Ok(self.attention.decode_into(device, cache, q, &prepared, &mut workspace.mla, out)?)
            })
        })
    }
}

impl MlaAttention {
    /// Multiplications of a decode, about: a prefill has no more than that of latents and pairs.
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
