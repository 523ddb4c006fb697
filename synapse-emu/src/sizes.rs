//! Sizes of tensors as the API gives them.

/// The most dimensions of a tensor.
pub(crate) const MAX_DIMS: usize = habana_sys::HABANA_DIM_MAX as usize;

/// Whether `min` has the dimensions of `max` and is nowhere above it.
pub(crate) fn covers(max: &[u64], min: &[u64]) -> bool {
    max.len() == min.len() && max.iter().zip(min).all(|(max, min)| min <= max)
}
