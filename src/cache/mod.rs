//! Paged KV caches: keys and values of MHA and GQA, the one latent of MLA, with the scales that they are stored with.
//!
//! A cache is built with its scales and keeps them: writing and reading cannot use different ones, and a model that is
//! loaded anew gets a new cache. Every slot and block id is checked before anything is written.

mod any;
mod blocks;
mod error;
mod geometry;
mod mha;
mod mla;
mod paged;
mod plane_scale;
mod transfer;

pub use any::AnyCache;
pub use blocks::BlockCache;
pub use error::CacheError;
pub use geometry::CacheGeometry;
pub use mha::MhaCache;
pub use mla::MlaCache;
pub use transfer::{BlockImage, PlaneImage};

pub(crate) use mla::push_joined;
pub(crate) use paged::{Paged, check_block};
pub(crate) use plane_scale::{check_scales, is_usable};
