//! Parameters of nodes, which come as bytes.

use super::operands::require;
use super::operation::Refusal;

/// The bytes of a parameter struct. Each later version of a struct extends the one before, so the version is known by
/// the size, and what an earlier one lacks reads as zero.
#[derive(Clone, Copy)]
pub(super) struct Params<'a>(&'a [u8]);

impl<'a> Params<'a> {
    /// Bytes of one of the `sizes` that are known.
    pub(super) fn new(bytes: &'a [u8], sizes: &[usize]) -> Result<Self, Refusal> {
        require(sizes.contains(&bytes.len()), || {
            format!("{} bytes of parameters where {sizes:?} are known", bytes.len())
        })?;
        Ok(Self(bytes))
    }

    /// How many bytes there are.
    pub(super) const fn len(self) -> usize {
        self.0.len()
    }

    fn at<const N: usize>(self, offset: usize) -> [u8; N] {
        self.0.get(offset..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
    }

    pub(super) fn bool(self, offset: usize) -> bool {
        self.at::<1>(offset) != [0]
    }

    pub(super) fn i32(self, offset: usize) -> i32 {
        i32::from_le_bytes(self.at(offset))
    }

    pub(super) fn u32(self, offset: usize) -> u32 {
        u32::from_le_bytes(self.at(offset))
    }

    pub(super) fn f32(self, offset: usize) -> f32 {
        f32::from_le_bytes(self.at(offset))
    }

    /// A size or offset of 32 bits.
    pub(super) fn size32(self, offset: usize) -> usize {
        self.u32(offset) as usize
    }

    /// A size or offset of 64 bits. One that no tensor reaches stays beyond all of them.
    pub(super) fn size64(self, offset: usize) -> usize {
        usize::try_from(u64::from_le_bytes(self.at(offset))).unwrap_or(usize::MAX)
    }

    /// An axis of a tensor of `rank` dimensions, counted from the fastest-changing one.
    pub(super) fn axis(self, offset: usize, rank: usize) -> Result<usize, Refusal> {
        let axis = self.u32(offset);
        usize::try_from(axis)
            .ok()
            .filter(|axis| *axis < rank)
            .ok_or_else(|| Refusal::rejected(format!("axis {axis} of {rank} dimensions")))
    }
}
