//! Per-head scales: grouped, sliced for a tensor-parallel rank, or reduced to one.

use crate::checkpoint::{CacheLayer, ScaleValue, TensorParallel};

/// Whether `size` ranks can share the KV heads of a layer: they divide them, or are a multiple of them.
#[must_use]
pub(super) fn fits(layer: &CacheLayer, tensor_parallel: TensorParallel) -> bool {
    let (heads, size) = (layer.num_kv_heads, tensor_parallel.size);
    heads.is_multiple_of(size) || size.is_multiple_of(heads)
}

/// The largest of each group of query heads that shares a KV head. A value of another length is returned as it is.
pub(super) fn group_query_heads(value: ScaleValue, layer: &CacheLayer) -> ScaleValue {
    if value.values.len() != layer.num_heads || layer.num_heads == layer.num_kv_heads || !value.is_per_head {
        return value;
    }
    let group = layer.num_heads.div_ceil(layer.num_kv_heads);
    let values = value.values.chunks(group).map(largest).collect();
    ScaleValue { values, is_per_head: true }
}

/// The part of a per-head value that a rank holds: its slice, or its one head where there are more ranks than heads.
pub(super) fn slice_for_rank(
    value: &ScaleValue,
    layer: &CacheLayer,
    tensor_parallel: TensorParallel,
) -> ScaleValue {
    let TensorParallel { size, rank } = tensor_parallel;
    if !value.is_per_head || !fits(layer, tensor_parallel) {
        return value.clone();
    }
    let heads = layer.num_kv_heads;
    let range = if size <= heads {
        let local = heads / size;
        rank * local..(rank + 1) * local
    } else {
        let head = rank / (size / heads);
        head..head + 1
    };
    ScaleValue { values: value.values.get(range).unwrap_or_default().to_vec(), is_per_head: true }
}

/// The largest of all heads, as one scale.
pub(super) fn reduce(value: &ScaleValue) -> ScaleValue {
    ScaleValue::one(largest(&value.values))
}

fn largest(values: &[f32]) -> f32 {
    values.iter().copied().fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Attention;

    fn layer(num_heads: usize, num_kv_heads: usize) -> CacheLayer {
        CacheLayer {
            index: 0,
            attention: Attention::Mha,
            is_draft: false,
            owner: None,
            is_sliding: false,
            num_heads,
            num_kv_heads,
        }
    }

    fn per_head(values: &[f32]) -> ScaleValue {
        ScaleValue { values: values.to_vec(), is_per_head: true }
    }

    #[test]
    fn ranks_slice_and_replicate() {
        let layer = layer(8, 4);
        let value = per_head(&[0.01, 0.02, 0.04, 0.08]);
        let slice = |size, rank| slice_for_rank(&value, &layer, TensorParallel { size, rank }).values;
        assert_eq!(slice(2, 1), [0.04, 0.08]);
        assert_eq!(slice(4, 2), [0.04]);
        assert_eq!((slice(8, 4), slice(8, 5), slice(8, 7)), (vec![0.04], vec![0.04], vec![0.08]));
    }

    #[test]
    fn query_heads_are_grouped_by_their_largest() {
        let value = per_head(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]);
        assert_eq!(group_query_heads(value, &layer(8, 4)).values, [0.2, 0.4, 0.6, 0.8]);
    }
}
