//! The weights that attention itself needs: the `kv_b_proj` of MLA, and sinks.

use std::collections::BTreeMap;

use half::bf16;
use safetensors::Dtype;

use crate::Generation;
use crate::activations::{LayerShape, check_finite, is_float, read_bf16, take_heads};
use crate::checkpoint::{CheckpointError, ModelFolder, Shard, TensorEntry, attention_tensor, read_floats};
use crate::fp8::{Fnuz, Format, Rerange};

/// Rows and columns of a block that shares a `weight_scale_inv`.
const BLOCK: usize = 128;

/// The tensors of each layer's attention, by what stands below the module.
#[derive(Debug)]
pub(super) struct AttentionWeights<'a> {
    tensors: BTreeMap<(usize, &'a str), (&'a Shard, &'a TensorEntry)>,
    is_adjusted: bool,
}

/// What became of a weight.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Weight {
    Found(Vec<bf16>),
    /// It is not there, or in a form that is not read; the reason says so.
    Unavailable(String),
}

impl<'a> AttentionWeights<'a> {
    /// Finds the tensors. None is read. Where scales are adjusted, FP8 weights are halved as they are loaded, which
    /// costs the smallest of them a bit.
    pub(super) fn find(folder: &'a ModelFolder, is_adjusted: bool) -> Result<Self, CheckpointError> {
        let plan = folder.layers();
        let mut tensors = BTreeMap::new();
        for shard in folder.shards() {
            for tensor in shard.tensors() {
                let Some((layer, part)) = attention_tensor(&tensor.name).filter(|(_, part)| is_needed(part))
                else {
                    continue;
                };
                let Some(layer) = plan.number(layer) else { continue };
                if let Some((_, other)) = tensors.insert((layer, part), (shard, tensor)) {
                    let other: &TensorEntry = other;
                    let reason = format!("belongs to layer {layer}, and so does {}", other.name);
                    return Err(CheckpointError::tensor(shard.path(), &tensor.name, reason));
                }
            }
        }
        Ok(Self { tensors, is_adjusted })
    }

    fn get(&self, layer: usize, parts: &[&'static str]) -> Option<(&'a Shard, &'a TensorEntry)> {
        parts.iter().find_map(|part| self.tensors.get(&(layer, *part)).copied())
    }

    /// `[heads * (nope_dim + v_head_dim), kv_lora_rank]` of the rank's heads, as bfloat16.
    pub(super) fn kv_b_proj(&self, layer: usize, shape: &LayerShape) -> Result<Weight, CheckpointError> {
        let LayerShape::Mla { heads, kv_lora_rank, nope_dim, v_head_dim, .. } = shape else {
            return Ok(Weight::Found(Vec::new()));
        };
        let Some((shard, tensor)) = self.get(layer, &["kv_b_proj.weight", "wkv_b.weight"]) else {
            return Ok(Weight::Unavailable("the model has no kv_b_proj.weight that can be read".to_owned()));
        };
        let head_rows = nope_dim + v_head_dim;
        let expected = [heads.all * head_rows, *kv_lora_rank];
        if tensor.shape != expected {
            let reason = format!("shape {:?}; the config asks for {expected:?}", tensor.shape);
            return Err(CheckpointError::tensor(shard.path(), &tensor.name, reason));
        }
        let values = if is_float(tensor.dtype) {
            read_bf16(shard, tensor)?
        } else if let Some(table) = decode_table(tensor.dtype, self.is_adjusted) {
            let scale_names = [
                "kv_b_proj.weight_scale",
                "kv_b_proj.weight_scale_inv",
                "wkv_b.scale",
                "wkv_b.weight_scale_inv",
            ];
            let Some(scale) = self.get(layer, &scale_names) else {
                let reason = "is FP8, and no weight_scale or weight_scale_inv lies beside it";
                return Err(CheckpointError::tensor(shard.path(), &tensor.name, reason));
            };
            dequantize((shard, tensor), &table, scale)?
        } else {
            let reason = format!("{} is stored as {:?}, which is not read", tensor.name, tensor.dtype);
            return Ok(Weight::Unavailable(reason));
        };
        Ok(Weight::Found(match heads.local.len() < heads.all {
            true => take_heads(&values, heads.all, head_rows * kv_lora_rank, &heads.local),
            false => values,
        }))
    }

    /// The attention sinks of a layer's heads, where it has any.
    pub(super) fn sinks(
        &self,
        layer: usize,
        shape: &LayerShape,
    ) -> Result<Option<Vec<f32>>, CheckpointError> {
        let (LayerShape::Mha { heads, .. } | LayerShape::Mla { heads, .. }) = shape;
        let Some((shard, tensor)) = self.get(layer, &["sinks", "attention_sink_bias"]) else {
            return Ok(None);
        };
        if tensor.shape != [heads.all] {
            let reason = format!("shape {:?}; the config asks for [{}]", tensor.shape, heads.all);
            return Err(CheckpointError::tensor(shard.path(), &tensor.name, reason));
        }
        let values = read_bf16(shard, tensor)?;
        Ok(Some(values[heads.local.clone()].iter().map(|x| x.to_f32()).collect()))
    }
}

fn is_needed(part: &str) -> bool {
    part.starts_with("kv_b_proj.")
        || part.starts_with("wkv_b.")
        || matches!(part, "sinks" | "attention_sink_bias")
}

/// The values of an FP8 type's codes.
fn decode_table(dtype: Dtype, is_adjusted: bool) -> Option<[u32; 256]> {
    match dtype {
        Dtype::F8_E4M3 if is_adjusted => Some(adjusted_table()),
        Dtype::F8_E4M3 => Some(Format::E4M3FN.decode_table()),
        Dtype::F8_E5M2 => Some(Format::E5M2.decode_table()),
        Dtype::F8_E4M3FNUZ => Some(Fnuz::E4M3.decode_table()),
        Dtype::F8_E5M2FNUZ => Some(Fnuz::E5M2.decode_table()),
        _ => None,
    }
}

/// What a Gaudi2 reads of codes that were halved while they were loaded, with twice their scale.
fn adjusted_table() -> [u32; 256] {
    let mut codes: [u8; 256] = std::array::from_fn(|code| code as u8);
    Rerange::halve_for_gaudi2().apply(&mut codes);
    let values = Format::kv_cache(Generation::Gaudi2).decode_table();
    codes.map(|code| (f32::from_bits(values[usize::from(code)]) * 2.0).to_bits())
}

/// `bf16(code * scale)`. The scale is one number, one for each row, or one for each block of 128 by 128.
fn dequantize(
    (shard, tensor): (&Shard, &TensorEntry),
    table: &[u32; 256],
    (scale_shard, scale): (&Shard, &TensorEntry),
) -> Result<Vec<bf16>, CheckpointError> {
    let (rows, columns) = (tensor.shape[0], tensor.shape[1]);
    let fail = |reason: String| CheckpointError::tensor(scale_shard.path(), &scale.name, reason);
    let numbers = read_floats(scale.dtype, scale_shard.data(scale))
        .ok_or_else(|| fail(format!("dtype {:?} is not a scale", scale.dtype)))?;
    let (scale_rows, scale_columns) = match scale.shape.as_slice() {
        [] | [1] => (1, 1),
        [rows] => (*rows, 1),
        [rows, columns] => (*rows, *columns),
        _ => (0, 0),
    };
    // How many rows, and how many columns, share a scale.
    let shared = |whole: usize, parts: usize| match parts {
        1 => Some(whole),
        parts if parts == whole => Some(1),
        parts if parts == whole.div_ceil(BLOCK) => Some(BLOCK),
        _ => None,
    };
    let (Some(by_rows), Some(by_columns)) = (shared(rows, scale_rows), shared(columns, scale_columns)) else {
        let reason = format!(
            "shape {:?} for a weight of {:?}; allowed are one scale, one for each row, and blocks of {BLOCK}",
            scale.shape, tensor.shape
        );
        return Err(fail(reason));
    };
    let codes = shard.data(tensor);
    let value = |(at, code): (usize, &u8)| {
        let (row, column) = (at / columns, at % columns);
        let factor = numbers[row / by_rows * scale_columns + column / by_columns];
        bf16::from_f32(f32::from_bits(table[usize::from(*code)]) * factor)
    };
    let values: Vec<bf16> = codes.iter().enumerate().map(value).collect();
    check_finite(shard.path(), &tensor.name, 0, &values)?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use safetensors::tensor::TensorView;

    use super::*;

    /// A weight `[rows, columns]` whose codes all stand for 1.0, dequantized with a scale of a shape.
    fn scaled(rows: usize, columns: usize, shape: &[usize]) -> Result<Vec<f32>, CheckpointError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        let codes = vec![0x38; rows * columns];
        let numbers: Vec<u8> =
            (0..shape.iter().product::<usize>()).flat_map(|n| (n as f32 + 1.0).to_le_bytes()).collect();
        let views = [
            ("weight", TensorView::new(Dtype::F8_E4M3, vec![rows, columns], &codes).unwrap()),
            ("weight_scale", TensorView::new(Dtype::F32, shape.to_vec(), &numbers).unwrap()),
        ];
        std::fs::write(&path, safetensors::serialize(views, None).unwrap()).unwrap();
        let shard = Shard::open(&path).unwrap();
        let tensor = |name: &str| shard.tensors().iter().find(|tensor| tensor.name == name).unwrap();
        let table = decode_table(Dtype::F8_E4M3, false).unwrap();
        let values = dequantize((&shard, tensor("weight")), &table, (&shard, tensor("weight_scale")))?;
        Ok(values.iter().map(|x| x.to_f32()).collect())
    }

    #[test]
    fn a_scale_serves_the_tensor_a_row_or_a_block() {
        let at = |values: &[f32], row: usize, column: usize| values[row * 200 + column];
        for shape in [&[][..], &[1], &[1, 1]] {
            assert!(scaled(130, 200, shape).unwrap().iter().all(|x| *x == 1.0));
        }
        for shape in [&[130][..], &[130, 1]] {
            let by_row = scaled(130, 200, shape).unwrap();
            assert_eq!((at(&by_row, 0, 199), at(&by_row, 1, 0), at(&by_row, 129, 7)), (1.0, 2.0, 130.0));
        }
        let by_block = scaled(130, 200, &[2, 2]).unwrap();
        assert_eq!((at(&by_block, 127, 127), at(&by_block, 127, 128)), (1.0, 2.0));
        assert_eq!((at(&by_block, 128, 0), at(&by_block, 129, 199)), (3.0, 4.0));
        for shape in [&[3][..], &[2, 3], &[130, 200, 1]] {
            let error = scaled(130, 200, shape).unwrap_err().to_string();
            assert!(error.contains("`weight_scale`"), "{error}");
        }
    }

    /// 448 is there after halving; 0x01 is half of the smallest code and 0x03 lies between two.
    #[test]
    fn adjusted_codes_keep_their_values_but_for_the_smallest() {
        let [plain, adjusted] = [false, true].map(|a| decode_table(Dtype::F8_E4M3, a).unwrap());
        let at = |code: usize| f32::from_bits(adjusted[code]);
        assert_eq!((at(0x7E), at(0xFE), at(0x02), at(0x03)), (448.0, -448.0, 2.0 / 512.0, 4.0 / 512.0));
        assert_eq!(adjusted[0x81], (-0f32).to_bits());
        assert_eq!(plain[0x10..0x7F], adjusted[0x10..0x7F]);
    }
}
