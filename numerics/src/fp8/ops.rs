//! What the conversions need of an instruction set.

use super::lines::Line;

/// Operations of the conversions, which tokens have. They inline into work that is compiled for the token; memory is reached
/// through slices only.
///
/// `V` holds 32-bit lanes, float or integer, and `B` bytes. Four `V` and one `B` hold equally many elements: a group.
pub(super) trait ConvertOps: Copy {
    type V: Copy;
    type B: Copy;
    /// A table of 128 bytes, ready for `lookup`.
    type Table: Copy;
    /// Elements of a group, and bytes of a register: 16, 32 or 64.
    const GROUP: usize;

    fn splat(self, bits: u32) -> Self::V;
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// Signed.
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    /// Signed.
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    fn shr<const N: u32>(self, a: Self::V) -> Self::V;
    /// Each lane shifted right by the same lane of `counts`.
    fn shr_by(self, a: Self::V, counts: Self::V) -> Self::V;
    /// `yes` where `a > b` as signed integers, else `no`.
    fn if_above(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V;
    /// Float product.
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// Rounds to bfloat16, nearest even, in the high half; the low half is left over. Not for NaN.
    #[inline(always)]
    fn round_bf16(self, a: Self::V) -> Self::V {
        let odd = self.and(self.shr::<16>(a), self.splat(1));
        self.add(self.add(a, self.splat(0x7FFF)), odd)
    }
    /// Float to integer, nearest even.
    fn to_int_nearest(self, a: Self::V) -> Self::V;
    /// Float to integer, toward zero.
    fn to_int_truncated(self, a: Self::V) -> Self::V;

    /// A group of float32.
    fn load_f32(self, values: &[f32]) -> [Self::V; 4];
    /// A group of bfloat16 widened to float32, in an order that `pack_bf16` undoes.
    fn load_bf16(self, words: &[u16]) -> [Self::V; 4];
    /// The low bytes of lanes that are in the order of `load_f32` and below 256.
    fn pack_f32(self, lanes: [Self::V; 4]) -> Self::B;
    /// The low bytes of lanes that are in the order of `load_bf16` and below 256.
    fn pack_bf16(self, lanes: [Self::V; 4]) -> Self::B;
    /// The high halves of lanes that are in the order of `load_f32`, as words.
    fn pack_high_halves(self, lanes: [Self::V; 4]) -> [Self::B; 2];

    /// The low and the high bytes of a group of words, in order.
    fn load_split(self, words: &[u16]) -> [Self::B; 2];

    fn splat_byte(self, byte: u8) -> Self::B;
    fn load(self, bytes: &[u8]) -> Self::B;
    fn and_bytes(self, a: Self::B, b: Self::B) -> Self::B;
    fn or_bytes(self, a: Self::B, b: Self::B) -> Self::B;
    /// Unsigned, 0 where `b` is larger.
    fn sub_bytes(self, a: Self::B, b: Self::B) -> Self::B;
    /// Unsigned.
    fn max_bytes(self, a: Self::B, b: Self::B) -> Self::B;
    /// `yes` where `a > b` as unsigned bytes, both below 128, else `no`.
    fn if_bytes_above(self, a: Self::B, b: Self::B, yes: Self::B, no: Self::B) -> Self::B;
    /// How many bytes of `a` exceed the one of `b`, both below 128.
    fn count_above(self, a: Self::B, b: Self::B) -> u32;
    fn table(self, bytes: &[u8; 128]) -> Self::Table;
    /// The table's byte for each index below 128.
    fn lookup(self, table: Self::Table, indices: Self::B) -> Self::B;
    /// Words of a group from their low and high bytes, in order.
    fn zip(self, low: Self::B, high: Self::B) -> [Self::B; 2];
    /// Words as the high halves of 32-bit lanes, in order.
    fn widen_words(self, words: Self::B) -> [Self::V; 2];
    fn as_bytes(self, lanes: Self::V) -> Self::B;

    /// Writes the first `GROUP` bytes of a slice of at least as many.
    fn store(self, to: &mut [u8], bytes: Self::B);
    /// Writes `GROUP` bytes of a line at a multiple of `GROUP`, around the cache where there is such an instruction.
    fn stream(self, to: &mut Line, at: usize, bytes: Self::B);
    /// Orders streamed stores before later ones.
    fn fence(self);
}

/// Operations on bytes that quantization by tables of binades needs too.
#[cfg(target_arch = "x86_64")]
pub(super) trait BinadeOps: ConvertOps {
    /// Wrapping.
    fn add_bytes(self, a: Self::B, b: Self::B) -> Self::B;
    /// Unsigned.
    fn min_bytes(self, a: Self::B, b: Self::B) -> Self::B;
    /// `yes` where `a == b`, else `no`.
    fn if_bytes_equal(self, a: Self::B, b: Self::B, yes: Self::B, no: Self::B) -> Self::B;
    /// Asks for words that will be read soon.
    fn prefetch(self, words: &[u16]);
    /// The exponent fields of bfloat16 values, given as low and high bytes.
    fn exponents(self, low: Self::B, high: Self::B) -> Self::B;
}
