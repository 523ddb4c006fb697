//! The parameters of nodes, as the bytes that the library takes.

/// A node's parameters; padding is zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Params(Vec<u8>);

impl Params {
    /// A node that has none.
    pub(crate) const fn none() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn words(words: &[u32]) -> Self {
        Self(words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    /// `synGEMMParams`.
    pub(crate) fn gemm(transpose_a: bool, transpose_b: bool) -> Self {
        Self(vec![u8::from(transpose_a), u8::from(transpose_b)])
    }

    /// `ns_GatherKernel::Params`: the axis counts from the fastest-changing dimension.
    pub(super) fn gather(fcd_axis: u32) -> Self {
        Self::words(&[fcd_axis])
    }

    /// `ns_IndexCopy::Params`: the axis counts from the outermost dimension.
    pub(super) fn index_copy(outer_axis: u32) -> Self {
        Self::words(&[outer_axis])
    }

    /// `synAxisParams`: the axis counts from the fastest-changing dimension.
    pub(super) fn concat(fcd_axis: u32) -> Self {
        Self::words(&[fcd_axis])
    }

    /// `synSliceAxisParams`: elements `0..end` of the fastest-changing dimension.
    pub(super) fn first_elements(end: u32) -> Self {
        Self::words(&[0, 0, end])
    }

    /// `ns_Reduction::ParamsV2` over the fastest-changing dimension, which stays with a size of 1.
    pub(super) fn reduce_rows() -> Self {
        Self::words(&[1, 1])
    }

    /// `ns_CastKernel::Params`, the mode `CAST_ROUND_HALF_NE`.
    pub(crate) fn round_to_nearest() -> Self {
        Self::words(&[0])
    }

    /// `ns_CastKernel::ParamsV3`: to nearest, no seed, the mode `CAST_CLIP`.
    pub(crate) fn clip() -> Self {
        Self::words(&[0, 0, 1])
    }

    /// `ns_ScatterNdUpdateKernel::Params`: of several updates of one place the last one wins.
    pub(crate) fn last_update() -> Self {
        Self::words(&[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_long_as_the_structs_of_the_headers() {
        // Sizes from the vendor's headers, compiled.
        for (params, bytes) in [
            (Params::gemm(false, true), 2),
            (Params::gather(1), 4),
            (Params::index_copy(0), 4),
            (Params::concat(0), 4),
            (Params::first_elements(7), 12),
            (Params::reduce_rows(), 8),
            (Params::round_to_nearest(), 4),
            (Params::clip(), 12),
            (Params::last_update(), 4),
        ] {
            assert_eq!(params.bytes().len(), bytes);
        }
        assert_eq!(Params::first_elements(0x0102).bytes(), [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0]);
    }
}
