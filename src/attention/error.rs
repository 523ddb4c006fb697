//! What attention refuses.

use crate::cache::CacheError;
use crate::device::DeviceError;

/// A request that does not fit. Nothing was computed, unless the device itself failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttentionError {
    /// An operand of the wrong length.
    #[error("{what} has {len} elements, {expected} are needed")]
    Length {
        /// Which operand.
        what: &'static str,
        /// Its length.
        len: usize,
        /// What fits.
        expected: usize,
    },
    /// A number of heads or elements that does not fit.
    #[error("{what} is {value}; {allowed}")]
    Size {
        /// Which one.
        what: &'static str,
        /// Its value.
        value: usize,
        /// What is allowed.
        allowed: String,
    },
    /// A number that is not finite, or not positive where it must be.
    #[error("{what} is {value}; it must be finite{}", if *is_positive { " and positive" } else { "" })]
    Value {
        /// Which one.
        what: &'static str,
        /// Its value.
        value: f32,
        /// Whether it must be positive.
        is_positive: bool,
    },
    /// A batch that contradicts itself.
    #[error("sequence {sequence}: {reason}")]
    Batch {
        /// Which sequence.
        sequence: usize,
        /// What is wrong.
        reason: String,
    },
    /// A batch that was prepared for caches of other blocks, or not at all.
    #[error("{}; the cache has {} blocks of {} tokens, a pad block included", prepared_for(*prepared), cache.0, cache.1)]
    OtherBlocks {
        /// Blocks, a pad block included, and tokens of each, that it was prepared for; `None` before it is prepared.
        prepared: Option<(usize, usize)>,
        /// Those of the cache.
        cache: (usize, usize),
    },
    /// Cached context and no cache to read it from.
    #[error("sequence {sequence} has {context_tokens} cached tokens, but no cache was given")]
    NoCache {
        /// Which sequence.
        sequence: usize,
        /// Its cached tokens.
        context_tokens: usize,
    },
    /// The cache refused.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl AttentionError {
    /// Whether it is the device that failed, and not what it was given that does not fit.
    #[must_use]
    pub const fn is_of_the_device(&self) -> bool {
        match self {
            Self::Device(error) | Self::Cache(CacheError::Device(error)) => error.is_of_the_device(),
            _ => false,
        }
    }
}

fn prepared_for(blocks: Option<(usize, usize)>) -> String {
    match blocks {
        Some((blocks, tokens)) => format!("the batch was prepared for {blocks} blocks of {tokens} tokens"),
        None => "the batch is not prepared".to_owned(),
    }
}

/// Checks an operand of `rows` rows of `row` elements.
pub(super) fn check_rows(
    what: &'static str,
    len: usize,
    rows: usize,
    row: usize,
) -> Result<(), AttentionError> {
    check_len(what, len, rows.saturating_mul(row))
}

/// The size of a row made of `factors`; `what` is the one to blame where it does not fit the address space.
pub(super) fn row_size(what: &'static str, factors: &[usize]) -> Result<usize, AttentionError> {
    let size = factors.iter().try_fold(1usize, |product, factor| product.checked_mul(*factor));
    size.filter(|size| *size <= isize::MAX as usize / size_of::<f32>()).ok_or_else(|| AttentionError::Size {
        what,
        value: factors.first().copied().unwrap_or(0),
        allowed: "a row must fit the address space".to_owned(),
    })
}

pub(super) fn check_len(what: &'static str, len: usize, expected: usize) -> Result<(), AttentionError> {
    if len == expected { Ok(()) } else { Err(AttentionError::Length { what, len, expected }) }
}
