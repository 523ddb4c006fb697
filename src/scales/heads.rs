//! Per-head scales: grouped, sliced for a tensor-parallel rank, or reduced to one.

use crate::HeadScales;
use crate::checkpoint::{CacheLayer, TensorParallel};

/// Whether `size` ranks can share the KV heads of a layer: they divide them, or are a multiple of them.
#[must_use]
pub(super) fn fits(layer: &CacheLayer, tensor_parallel: TensorParallel) -> bool {
    let (heads, size) = (layer.num_kv_heads, tensor_parallel.size);
    heads.is_multiple_of(size) || size.is_multiple_of(heads)
}

/// The largest of each group of query heads that shares a KV head. A value of another length is returned as it is.
pub(super) fn group_query_heads(value: HeadScales, layer: &CacheLayer) -> HeadScales {
    match value {
        HeadScales::PerHead(values)
            if values.len() == layer.num_heads && layer.num_heads != layer.num_kv_heads =>
        {
            let group = layer.num_heads.div_ceil(layer.num_kv_heads);
            HeadScales::PerHead(values.chunks(group).map(largest).collect())
        }
        value => value,
    }
}

/// The part of a per-head value that a rank holds: its slice, or its one head where there are more ranks than heads.
pub(super) fn slice_for_rank(
    value: HeadScales,
    layer: &CacheLayer,
    tensor_parallel: TensorParallel,
) -> HeadScales {
    let TensorParallel { size, rank } = tensor_parallel;
    let values = match value {
        HeadScales::PerHead(values) if fits(layer, tensor_parallel) => values,
        value => return value,
    };
    let heads = layer.num_kv_heads;
    let range = if size <= heads {
        let local = heads / size;
        rank * local..(rank + 1) * local
    } else {
        let head = rank / (size / heads);
        head..head + 1
    };
    HeadScales::PerHead(values.get(range).unwrap_or_default().to_vec())
}

/// The largest of all heads, which serves where there can be only one scale.
pub(super) fn reduce(value: &HeadScales) -> f32 {
    largest(value.as_slice())
}

fn largest(values: &[f32]) -> f32 {
    values.iter().copied().fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Attention;

    fn layer(num_heads: usize, num_kv_heads: usize) -> CacheLayer {
        CacheLayer::for_test(Attention::Mha, num_heads, num_kv_heads)
    }

    fn per_head(values: &[f32]) -> HeadScales {
        HeadScales::PerHead(values.to_vec())
    }

    #[test]
    fn ranks_slice_and_replicate() {
        let layer = layer(8, 4);
        let value = per_head(&[0.01, 0.02, 0.04, 0.08]);
        let slice = |size, rank| slice_for_rank(value.clone(), &layer, TensorParallel { size, rank });
        assert_eq!(slice(2, 1), per_head(&[0.04, 0.08]));
        assert_eq!(slice(4, 2), per_head(&[0.04]));
        assert_eq!([4, 5, 7].map(|rank| slice(8, rank)), [0.04, 0.04, 0.08].map(|s| per_head(&[s])));
    }

    #[test]
    fn query_heads_are_grouped_by_their_largest() {
        let value = per_head(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]);
        assert_eq!(group_query_heads(value, &layer(8, 4)), per_head(&[0.2, 0.4, 0.6, 0.8]));
    }
}
