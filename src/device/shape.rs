//! The sizes of a layer's attention.

/// The sizes of a layer with keys and values of their own: MHA, GQA or MQA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MhaShape {
    /// Query heads, a multiple of `num_kv_heads`. A cache does not look at it.
    pub num_heads: usize,
    /// Heads of keys and values.
    pub num_kv_heads: usize,
    /// Elements of a query and of a key head.
    pub head_dim: usize,
    /// Elements of a value head.
    pub v_head_dim: usize,
}

impl MhaShape {
    /// Elements of a token's query: all heads.
    #[must_use]
    pub const fn q_row(&self) -> usize {
        self.num_heads * self.head_dim
    }

    /// Elements of a token's key: all heads.
    #[must_use]
    pub const fn k_row(&self) -> usize {
        self.num_kv_heads * self.head_dim
    }

    /// Elements of a token's value: all heads.
    #[must_use]
    pub const fn v_row(&self) -> usize {
        self.num_kv_heads * self.v_head_dim
    }

    /// Elements of a token's result: all query heads.
    #[must_use]
    pub const fn out_row(&self) -> usize {
        self.num_heads * self.v_head_dim
    }

    /// Query heads that share a KV head.
    #[must_use]
    pub const fn group(&self) -> usize {
        self.num_heads / self.num_kv_heads
    }
}

/// The sizes of an MLA layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MlaShape {
    /// Query heads.
    pub num_heads: usize,
    /// Elements of a latent without its rope part.
    pub kv_lora_rank: usize,
    /// Elements of a query or key head without its rope part.
    pub qk_nope_head_dim: usize,
    /// Elements of the rope part.
    pub qk_rope_head_dim: usize,
    /// Elements of a value head.
    pub v_head_dim: usize,
}
