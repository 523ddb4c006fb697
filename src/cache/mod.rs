//! Paged KV caches: keys and values of MHA and GQA, the one latent of MLA, with the scales that they are stored with.
//!
//! A cache is built with its scales and keeps them: writing and reading cannot use different ones, and a model that is
//! loaded anew gets a new cache. Every slot and block id is checked before anything is written.

mod any;
mod blocks;
mod error;
mod geometry;
mod latent;
mod paged;
mod plane_scale;
mod separate;
mod transfer;

pub use any::AnyCache;
pub use blocks::BlockCache;
pub use error::CacheError;
pub use geometry::CacheGeometry;
pub use latent::MlaCache;
pub use separate::MhaCache;
pub use transfer::{BlockImage, PlaneImage};

pub(crate) use latent::push_joined;
pub(crate) use paged::{Paged, check_block};
pub(crate) use plane_scale::{check_scales, is_usable};
