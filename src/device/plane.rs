//! Cache planes: what is common to those of all devices.

/// How a cache stores its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StorageDtype {
    /// The device's e4m3, with scales.
    Fp8,
    /// bfloat16.
    Bf16,
    /// float32; values are still bfloat16 values, as they come.
    F32,
}

impl StorageDtype {
    /// The size of an element.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Fp8 => 1,
            Self::Bf16 => 2,
            Self::F32 => 4,
        }
    }

    /// `fp8`, `bf16` or `f32`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fp8 => "fp8",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
        }
    }
}

/// A plane: `[num_blocks + 1, block_size_tokens, heads, dim]`, row-major. The block behind the last is the pad block;
/// memory that an engine laid out may have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PlaneLayout {
    /// Blocks that hold tokens; the pad block comes on top.
    pub num_blocks: usize,
    /// Whether there is a pad block.
    pub has_pad_block: bool,
    /// Tokens of a block.
    pub block_size_tokens: usize,
    /// Heads of a token.
    pub heads: usize,
    /// Elements of a head.
    pub dim: usize,
    /// How elements are stored.
    pub dtype: StorageDtype,
}

impl PlaneLayout {
    /// All blocks, the pad block included.
    #[must_use]
    pub const fn blocks(&self) -> usize {
        self.num_blocks + self.has_pad_block as usize
    }

    /// The id behind the last block that holds tokens: of the pad block, which takes the writes of padding rows, where
    /// there is one.
    #[must_use]
    pub const fn pad_block(&self) -> usize {
        self.num_blocks
    }

    /// The slot behind the last one that holds a token: the pad block's first, where there is one.
    #[must_use]
    pub const fn pad_slot(&self) -> usize {
        self.num_blocks * self.block_size_tokens
    }

    /// Slots of the plane, those of the pad block included.
    #[must_use]
    pub const fn slots(&self) -> usize {
        self.blocks() * self.block_size_tokens
    }

    /// Elements of a token.
    #[must_use]
    pub const fn row(&self) -> usize {
        self.heads * self.dim
    }

    /// Bytes of the plane; `None` where they do not fit an address.
    #[must_use]
    pub fn bytes(&self) -> Option<usize> {
        let blocks = self.num_blocks.checked_add(usize::from(self.has_pad_block))?;
        [self.block_size_tokens, self.heads, self.dim, self.dtype.bytes()]
            .iter()
            .try_fold(blocks, |product, factor| product.checked_mul(*factor))
    }

    /// Bytes of a block.
    #[must_use]
    pub const fn block_bytes(&self) -> usize {
        self.block_size_tokens * self.row() * self.dtype.bytes()
    }
}

/// The memory of a cache plane on a device.
pub trait Plane: Send + Sync {
    /// What lies where in it.
    fn layout(&self) -> &PlaneLayout;
}
