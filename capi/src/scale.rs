//! The scales of an inspection's layers.

use std::ffi::{CString, c_char};

use kv::checkpoint::Attention;
use kv::scales::{CacheDtype, LayerReport, LayerScale, Origin};
use kv::{HeadScales, ScaleFactors};

use crate::failure::Failure;
use crate::inspect::{GAUDI_KV_BF16, GAUDI_KV_FP8, gaudi_kv_inspection};
use crate::last_error::{barrier, c_string};
use crate::pointer;
use crate::status::gaudi_kv_status;
use crate::structure::{self, Structure, field_end};

/// Keys and values in planes of their own: MHA, GQA and MQA.
pub const GAUDI_KV_MHA: i32 = 1;
/// One latent for keys and values.
pub const GAUDI_KV_MLA: i32 = 2;

/// The key's scale, or the latent's.
pub const GAUDI_KV_ROLE_K: i32 = 1;
/// The value's scale.
pub const GAUDI_KV_ROLE_V: i32 = 2;
/// The query's scale.
pub const GAUDI_KV_ROLE_Q: i32 = 3;
/// The scale of the softmax probabilities.
pub const GAUDI_KV_ROLE_PROB: i32 = 4;

/// There is no such scale: the cache is not FP8, the layer has no place for it (the value's of MLA), or an error of the
/// model says why.
pub const GAUDI_KV_ORIGIN_NONE: i32 = 0;
/// Its own tensor.
pub const GAUDI_KV_ORIGIN_LOADED: i32 = 1;
/// The other one of key and value, or one tensor for both.
pub const GAUDI_KV_ORIGIN_DUPLICATED: i32 = 2;
/// The layer whose cache this layer reads.
pub const GAUDI_KV_ORIGIN_INHERITED: i32 = 3;
/// Nowhere: 1.0, not adjusted.
pub const GAUDI_KV_ORIGIN_DEFAULTED: i32 = 4;
/// Computed from each token as it comes, so there are no numbers.
pub const GAUDI_KV_ORIGIN_DYNAMIC: i32 = 5;

/// A layer that has a KV cache. Output.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_layer {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// The layer's number in the model.
    pub layer: u64,
    /// The layer whose cache it reads; -1 where that is its own.
    pub cache_owner: i64,
    /// `GAUDI_KV_MHA` or `GAUDI_KV_MLA`.
    pub attention: i32,
    /// The type of its cache: `GAUDI_KV_FP8` or `GAUDI_KV_BF16`. Skipped layers differ from the model.
    pub kv_cache_dtype: i32,
    /// 1 for a draft (multi-token prediction) layer, else 0.
    pub is_draft: i32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_layer {
    const NAME: &'static str = "gaudi_kv_layer";
    const REQUIRED: usize = field_end!(gaudi_kv_layer, reserved);
    const WHOLE: usize = field_end!(gaudi_kv_layer, reserved);
}

/// One scale of a layer: raw, effective, and where it comes from. Output; arrays and text live as long as the
/// inspection.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_scale {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// One of `GAUDI_KV_ORIGIN_*`.
    pub origin: i32,
    /// Numbers of each array: 1 for all heads, or one for each KV head of the rank; 0 for `GAUDI_KV_ORIGIN_NONE` and
    /// `GAUDI_KV_ORIGIN_DYNAMIC`, whose arrays are null.
    pub count: u32,
    /// The dequantization factors of the checkpoint, `x = code * s`; 1.0 where it is defaulted.
    pub checkpoint: *const f32,
    /// What values are multiplied by on the way into FP8, on the inspected device.
    pub quant: *const f32,
    /// What codes are multiplied by on the way out: 1 / quant.
    pub dequant: *const f32,
    /// The tensor, or a sidecar's file and key, that holds the numbers, UTF-8; null where none does.
    pub tensor: *const c_char,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_scale {
    const NAME: &'static str = "gaudi_kv_scale";
    const REQUIRED: usize = field_end!(gaudi_kv_scale, tensor);
    const WHOLE: usize = field_end!(gaudi_kv_scale, tensor);
}

/// The multipliers that a plane of a cache, or a query, is quantized with: `quant`, `dequant` and `count` of a
/// `gaudi_kv_scale`. Input. It is part of other structures and never grows.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_multipliers {
    /// `count` numbers, finite and positive also when rounded to bfloat16: what values are multiplied by on the way
    /// into FP8.
    pub quant: *const f32,
    /// `count` numbers, as above: what codes are multiplied by on the way out.
    pub dequant: *const f32,
    /// 1 for all heads, or the number of KV heads; 0 for no scale.
    pub count: usize,
}

impl gaudi_kv_multipliers {
    /// The factors as the library has them; `None` for no scale.
    ///
    /// # Safety
    /// Both point to as many numbers as it says.
    pub(crate) unsafe fn factors(&self, what: &str) -> Result<Option<ScaleFactors>, Failure> {
        let heads = |part, pointer| -> Result<HeadScales, Failure> {
            // SAFETY: the caller promises `count` numbers behind both pointers, which nobody changes.
            let numbers = unsafe { pointer::slice(&format!("{part} of {what}"), pointer, self.count) }?;
            Ok(match numbers {
                [one] => HeadScales::One(*one),
                all => HeadScales::PerHead(all.to_vec()),
            })
        };
        if self.count == 0 {
            return Ok(None);
        }
        Ok(Some(ScaleFactors {
            quant: heads("quant", self.quant)?,
            dequant: heads("dequant", self.dequant)?,
        }))
    }
}

/// The layers of an inspection, as they are handed out.
#[derive(Debug)]
pub(crate) struct Layers {
    /// By number.
    sorted: Vec<Layer>,
    /// The places in `sorted` in the order of the inspection, draft layers last.
    order: Vec<usize>,
}

#[derive(Debug)]
struct Layer {
    number: usize,
    attention: Attention,
    dtype: CacheDtype,
    owner: Option<usize>,
    is_draft: bool,
    /// Key, value, query, probabilities.
    scales: [Option<Scale>; 4],
}

#[derive(Debug)]
struct Scale {
    origin: i32,
    /// Checkpoint, quant and dequant, one after the other.
    numbers: Vec<f32>,
    tensor: Option<CString>,
}

pub(crate) const fn dtype_number(dtype: CacheDtype) -> i32 {
    match dtype {
        CacheDtype::Bf16 => GAUDI_KV_BF16,
        CacheDtype::Fp8 => GAUDI_KV_FP8,
    }
}

impl Scale {
    fn of(scale: &LayerScale) -> Self {
        let origin = match scale.origin {
            Origin::Loaded => GAUDI_KV_ORIGIN_LOADED,
            Origin::Duplicated => GAUDI_KV_ORIGIN_DUPLICATED,
            Origin::Inherited => GAUDI_KV_ORIGIN_INHERITED,
            Origin::Defaulted => GAUDI_KV_ORIGIN_DEFAULTED,
            Origin::Dynamic => GAUDI_KV_ORIGIN_DYNAMIC,
        };
        let numbers = |numbers: Option<&HeadScales>| {
            numbers.into_iter().flat_map(HeadScales::as_slice).copied().collect()
        };
        let parts: [Vec<f32>; 3] = [scale.checkpoint.as_ref(), scale.quant(), scale.dequant()].map(numbers);
        let tensor = scale.tensor.as_ref().map(|tensor| c_string(tensor.as_bytes()));
        Self { origin, numbers: parts.concat(), tensor }
    }

    fn view(&self) -> gaudi_kv_scale {
        let count = self.numbers.len() / 3;
        let part = |number: usize| {
            if count == 0 { std::ptr::null() } else { self.numbers[number * count..].as_ptr() }
        };
        gaudi_kv_scale {
            struct_size: 0,
            origin: self.origin,
            count: u32::try_from(count).unwrap_or(u32::MAX),
            checkpoint: part(0),
            quant: part(1),
            dequant: part(2),
            tensor: self.tensor.as_ref().map_or(std::ptr::null(), |tensor| tensor.as_ptr()),
        }
    }
}

impl Layers {
    pub(crate) fn of(reports: &[LayerReport]) -> Self {
        let layer = |report: &LayerReport| Layer {
            number: report.layer,
            attention: report.attention,
            dtype: report.kv_cache_dtype,
            owner: report.cache_owner,
            is_draft: report.draft,
            scales: [&report.k, &report.v, &report.q, &report.prob]
                .map(|scale| scale.as_ref().map(Scale::of)),
        };
        let mut sorted: Vec<Layer> = reports.iter().map(layer).collect();
        sorted.sort_by_key(|layer| layer.number);
        let place = |report: &LayerReport| sorted.partition_point(|layer| layer.number < report.layer);
        let order = reports.iter().map(place).collect();
        Self { sorted, order }
    }

    fn numbered(&self, number: u64) -> Result<&Layer, Failure> {
        let found = self.sorted.binary_search_by_key(&number, |layer| layer.number as u64);
        let found = found.map_err(|_| Failure {
            layer: usize::try_from(number).ok(),
            ..Failure::not_found(format!("the model has no layer {number} with a KV cache"))
        })?;
        Ok(&self.sorted[found])
    }
}

/// The layer at `index` of the layers that have a KV cache, from 0 to `num_layers` of `gaudi_kv_inspection_info` less
/// one, draft layers last.
///
/// Returns `GAUDI_KV_NOT_FOUND` for a larger index.
///
/// # Safety
/// `inspection` is null or an inspection. `layer` is null or points to a structure of the size that it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_inspection_get_layer(
    inspection: *const gaudi_kv_inspection,
    index: usize,
    layer: *mut gaudi_kv_layer,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live inspection or null, and a structure of the size that it says or null.
        let (this, out) = unsafe { (pointer::handle("the inspection", inspection)?, structure::out(layer)?) };
        let Some(place) = this.layers.order.get(index) else {
            let count = this.layers.order.len();
            return Err(Failure::not_found(format!("index {index} of {count} layers that have a KV cache")));
        };
        let found = &this.layers.sorted[*place];
        out.fill(gaudi_kv_layer {
            struct_size: 0,
            layer: found.number as u64,
            cache_owner: found.owner.and_then(|owner| i64::try_from(owner).ok()).unwrap_or(-1),
            attention: match found.attention {
                Attention::Mha => GAUDI_KV_MHA,
                Attention::Mla => GAUDI_KV_MLA,
            },
            kv_cache_dtype: dtype_number(found.dtype),
            is_draft: found.is_draft.into(),
            reserved: 0,
        });
        Ok(())
    })
}

/// The scale that layer number `layer` has for `role`, one of `GAUDI_KV_ROLE_*`. A layer that has none gives
/// `GAUDI_KV_ORIGIN_NONE`.
///
/// Returns `GAUDI_KV_NOT_FOUND` for a number that no layer with a KV cache has.
///
/// # Safety
/// `inspection` is null or an inspection. `scale` is null or points to a structure of the size that it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_inspection_get_scale(
    inspection: *const gaudi_kv_inspection,
    layer: u64,
    role: i32,
    scale: *mut gaudi_kv_scale,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live inspection or null, and a structure of the size that it says or null.
        let (this, out) = unsafe { (pointer::handle("the inspection", inspection)?, structure::out(scale)?) };
        let place = match role {
            GAUDI_KV_ROLE_K => 0,
            GAUDI_KV_ROLE_V => 1,
            GAUDI_KV_ROLE_Q => 2,
            GAUDI_KV_ROLE_PROB => 3,
            _ => return Err(Failure::argument(format!("{role} is none of GAUDI_KV_ROLE_* (1 to 4)"))),
        };
        let none = Scale { origin: GAUDI_KV_ORIGIN_NONE, numbers: Vec::new(), tensor: None };
        let found = &this.layers.numbered(layer)?.scales[place];
        out.fill(found.as_ref().unwrap_or(&none).view());
        Ok(())
    })
}
