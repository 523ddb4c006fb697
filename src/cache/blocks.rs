//! What every paged cache does with whole blocks: copy, swap, move between devices.

use xxhash_rust::xxh3::Xxh3;

use super::paged::check_block;
use super::{BlockImage, CacheError, Paged};
use crate::Generation;
use crate::device::{Device, Plane};

/// What a cache is made of. Outside this crate nothing implements it, so [`BlockCache`] is sealed.
pub trait Planes<P: Plane> {
    /// The generation whose arithmetic stored the cache.
    fn generation(&self) -> Generation;

    /// Its planes, all of one number of blocks.
    fn planes(&self) -> Vec<&Paged<P>>;

    /// Its planes, to change them.
    fn planes_mut(&mut self) -> Vec<&mut Paged<P>>;

    /// Sizes of a row's parts that the planes do not tell.
    fn row_parts(&self) -> Vec<usize> {
        Vec::new()
    }
}

/// Whole blocks of a paged cache.
pub trait BlockCache<P: Plane>: Planes<P> {
    /// Refuses a device of another generation: the same codes mean other values there.
    ///
    /// # Errors
    /// The device is of another generation.
    fn check_device<D: Device<Plane = P>>(&self, device: &D) -> Result<(), CacheError> {
        let (cache, device) = (self.generation(), device.generation());
        if cache == device { Ok(()) } else { Err(CacheError::OtherDevice { device, cache }) }
    }

    /// Copies whole blocks within the cache, `(from, to)` pairs in order.
    ///
    /// # Errors
    /// A block id is outside the cache, or the device is of another generation. Nothing is copied then.
    fn copy_blocks<D: Device<Plane = P>>(
        &mut self,
        device: &D,
        pairs: &[(i32, i32)],
    ) -> Result<(), CacheError> {
        self.check_device(device)?;
        let check = |block| self.check_block(block);
        let pairs = pairs.iter().map(|(from, to)| Ok((check(*from)?, check(*to)?)));
        let pairs = pairs.collect::<Result<Vec<_>, CacheError>>()?;
        for plane in self.planes_mut() {
            device.copy_blocks(&mut plane.plane, &pairs)?;
        }
        Ok(())
    }

    /// One block with all that its bytes mean: to swap it out, or to move it to another device.
    ///
    /// # Errors
    /// The block id is outside the cache, or the device is of another generation.
    fn export_block<D: Device<Plane = P>>(&self, device: &D, block: i32) -> Result<BlockImage, CacheError> {
        self.check_device(device)?;
        let block = self.check_block(block)?;
        let planes =
            self.planes().into_iter().map(|plane| plane.export(device, block)).collect::<Result<_, _>>()?;
        Ok(BlockImage { generation: self.generation(), fingerprint: self.fingerprint(), planes })
    }

    /// Takes a block that was exported from a cache like this one.
    ///
    /// # Errors
    /// The block id is outside the cache, or the block's generation, type, shape or scales are not this cache's.
    /// Nothing is written then.
    fn import_block<D: Device<Plane = P>>(
        &mut self,
        device: &D,
        block: i32,
        image: &BlockImage,
    ) -> Result<(), CacheError> {
        self.check_device(device)?;
        let block = self.check_block(block)?;
        self.check_image(image)?;
        for (plane, image) in self.planes_mut().into_iter().zip(&image.planes) {
            device.import_block(&mut plane.plane, block, &image.bytes)?;
        }
        Ok(())
    }

    /// Equal for two caches of one generation exactly where the same bytes mean the same values in both.
    #[must_use]
    fn fingerprint(&self) -> u64 {
        let mut hasher = Xxh3::new();
        hasher.update(self.generation().name().as_bytes());
        self.planes().iter().for_each(|plane| plane.hash_into(&mut hasher));
        self.row_parts().iter().for_each(|part| hasher.update(&(*part as u64).to_le_bytes()));
        hasher.digest()
    }

    /// Checks one block id; the pad block's is one.
    ///
    /// # Errors
    /// The id is outside the cache.
    fn check_block(&self, block: i32) -> Result<usize, CacheError> {
        let planes = self.planes();
        planes.first().map_or(Ok(0), |plane| check_block(plane.layout().blocks(), block))
    }

    /// Checks that a block's bytes mean here what they meant where it was exported.
    ///
    /// # Errors
    /// Its generation, type, shape or scales are not this cache's.
    fn check_image(&self, image: &BlockImage) -> Result<(), CacheError> {
        let (generation, planes) = (self.generation(), self.planes());
        if image.generation != generation {
            return Err(CacheError::Generation { found: image.generation, expected: generation });
        }
        if image.planes.len() != planes.len() {
            let count = |n: usize| format!("{n} planes");
            return Err(CacheError::Shape {
                found: count(image.planes.len()),
                expected: count(planes.len()),
            });
        }
        for (plane, image) in planes.iter().zip(&image.planes) {
            plane.check_image(image)?;
        }
        let expected = self.fingerprint();
        if image.fingerprint != expected {
            return Err(CacheError::Fingerprint { found: image.fingerprint, expected });
        }
        Ok(())
    }
}

impl<P: Plane, C: Planes<P>> BlockCache<P> for C {}
