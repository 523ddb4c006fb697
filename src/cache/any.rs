//! A cache whose kind, MHA or MLA, is known at run time only.

use super::blocks::Planes;
use super::error::CacheError;
use super::geometry::CacheGeometry;
use super::mha::MhaCache;
use super::mla::MlaCache;
use super::paged::Paged;
use crate::Generation;
use crate::device::Plane;

/// A cache of keys and values, or one of latents. What both do with whole blocks is in
/// [`BlockCache`](super::BlockCache).
#[derive(Debug)]
pub enum AnyCache<P> {
    /// Keys and values in planes of their own: MHA, GQA and MQA.
    Mha(MhaCache<P>),
    /// One latent for keys and values: MLA.
    Mla(MlaCache<P>),
}

impl<P: Plane> AnyCache<P> {
    /// The cache's blocks, and how they are stored.
    #[must_use]
    pub fn geometry(&self) -> CacheGeometry {
        match self {
            Self::Mha(cache) => cache.geometry(),
            Self::Mla(cache) => cache.geometry(),
        }
    }

    /// The cache of keys and values.
    ///
    /// # Errors
    /// It is a cache of latents.
    pub const fn mha(&self) -> Result<&MhaCache<P>, CacheError> {
        match self {
            Self::Mha(cache) => Ok(cache),
            Self::Mla(_) => Err(CacheError::NotMha),
        }
    }

    /// The cache of keys and values, to write to.
    ///
    /// # Errors
    /// It is a cache of latents.
    pub const fn mha_mut(&mut self) -> Result<&mut MhaCache<P>, CacheError> {
        match self {
            Self::Mha(cache) => Ok(cache),
            Self::Mla(_) => Err(CacheError::NotMha),
        }
    }

    /// The cache of latents.
    ///
    /// # Errors
    /// It is a cache of keys and values.
    pub const fn mla(&self) -> Result<&MlaCache<P>, CacheError> {
        match self {
            Self::Mla(cache) => Ok(cache),
            Self::Mha(_) => Err(CacheError::NotMla),
        }
    }

    /// The cache of latents, to write to.
    ///
    /// # Errors
    /// It is a cache of keys and values.
    pub const fn mla_mut(&mut self) -> Result<&mut MlaCache<P>, CacheError> {
        match self {
            Self::Mla(cache) => Ok(cache),
            Self::Mha(_) => Err(CacheError::NotMla),
        }
    }
}

impl<P> From<MhaCache<P>> for AnyCache<P> {
    fn from(cache: MhaCache<P>) -> Self {
        Self::Mha(cache)
    }
}

impl<P> From<MlaCache<P>> for AnyCache<P> {
    fn from(cache: MlaCache<P>) -> Self {
        Self::Mla(cache)
    }
}

impl<P: Plane> Planes<P> for AnyCache<P> {
    fn generation(&self) -> Generation {
        match self {
            Self::Mha(cache) => cache.generation(),
            Self::Mla(cache) => cache.generation(),
        }
    }

    fn planes(&self) -> Vec<&Paged<P>> {
        match self {
            Self::Mha(cache) => cache.planes(),
            Self::Mla(cache) => cache.planes(),
        }
    }

    fn planes_mut(&mut self) -> Vec<&mut Paged<P>> {
        match self {
            Self::Mha(cache) => cache.planes_mut(),
            Self::Mla(cache) => cache.planes_mut(),
        }
    }

    fn row_parts(&self) -> Vec<usize> {
        match self {
            Self::Mha(cache) => cache.row_parts(),
            Self::Mla(cache) => cache.row_parts(),
        }
    }
}
