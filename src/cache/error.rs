//! What a cache refuses.

use crate::Generation;
use crate::device::{DeviceError, StorageDtype};

/// A request that a cache refuses. Nothing was written, unless the device itself failed ([`Device`](Self::Device)): then some
/// planes may have been.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// A block size that is no power of two from 16 to 256.
    #[error("block size {0} tokens; allowed are powers of two from 16 to 256")]
    BlockSize(usize),
    /// A size of zero, or one whose product does not fit.
    #[error("{what} is {value}; it must be positive and the cache must fit the address space")]
    Size {
        /// Which one.
        what: &'static str,
        /// Its value.
        value: usize,
    },
    /// An FP8 cache on a device that does not apply scales.
    #[error("{device} does not apply scales, so it cannot hold an FP8 cache")]
    NoScales {
        /// The device.
        device: String,
    },
    /// A per-head scale with another number of heads.
    #[error("the {plane} scale has {scales} heads, the cache has {heads}")]
    ScaleHeads {
        /// `key`, `value`, `latent` or `query`.
        plane: &'static str,
        /// Heads of the scale.
        scales: usize,
        /// Heads of the cache.
        heads: usize,
    },
    /// A multiplier that is not finite and positive, in float32 or rounded to bfloat16.
    #[error("the {plane} scale {value:e} is not finite and positive as float32 and as bfloat16")]
    ScaleValue {
        /// `key`, `value`, `latent` or `query`.
        plane: &'static str,
        /// The multiplier.
        value: f32,
    },
    /// A device of another generation than the one that the cache was made on: the same codes mean other values there.
    #[error("the cache was made on a {cache}, this device is a {device}")]
    OtherDevice {
        /// The generation of the device.
        device: Generation,
        /// That of the cache.
        cache: Generation,
    },
    /// A slot outside the cache.
    #[error(
        "slot {slot} at index {index} of the slot mapping; the cache has slots 0 to {last}, a pad block included"
    )]
    Slot {
        /// The slot.
        slot: i64,
        /// Where in the mapping.
        index: usize,
        /// The last slot.
        last: usize,
    },
    /// A block id outside the cache.
    #[error("block {block}; the cache has blocks 0 to {last}, a pad block included")]
    Block {
        /// The id.
        block: i64,
        /// The last block.
        last: usize,
    },
    /// Rows that do not match the slots.
    #[error("{what} has {len} elements, {expected} are needed")]
    Length {
        /// Which operand.
        what: &'static str,
        /// Its length.
        len: usize,
        /// What fits.
        expected: usize,
    },
    /// A block from another generation.
    #[error("the block was stored by a {found}, this cache belongs to a {expected}")]
    Generation {
        /// The generation of the block.
        found: Generation,
        /// The generation of the cache.
        expected: Generation,
    },
    /// A block of another storage type.
    #[error("the block is stored as {}, this cache as {}", found.name(), expected.name())]
    Dtype {
        /// The storage type of the block.
        found: StorageDtype,
        /// The storage type of the cache.
        expected: StorageDtype,
    },
    /// A block of another shape, or with another number of bytes than its shape has.
    #[error("the block has {found}, this cache {expected}")]
    Shape {
        /// The shape of the block.
        found: String,
        /// The shape of the cache.
        expected: String,
    },
    /// A block that was stored with other scales.
    #[error(
        "the block was stored with other scales (fingerprint {found:016x}, this cache has {expected:016x})"
    )]
    Fingerprint {
        /// The fingerprint of the block.
        found: u64,
        /// The fingerprint of the cache.
        expected: u64,
    },
    /// A cache of latents where one of keys and values is needed.
    #[error("the cache holds latents (MLA); keys and values (MHA) are needed")]
    NotMha,
    /// A cache of keys and values where one of latents is needed.
    #[error("the cache holds keys and values (MHA); latents (MLA) are needed")]
    NotMla,
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
