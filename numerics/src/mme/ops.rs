//! What the products need of an instruction set.

use super::decode::Decoder;

/// Operations of the products, which tokens have. They inline into work that is compiled for the token.
///
/// A panel is four float vectors wide. Its exponents are bytes, one vector of them: byte `4 * i + j` belongs to lane
/// `i` of float vector `j`.
pub(super) trait ProductOps: Copy {
    /// Float lanes.
    const LANES: usize;
    /// Rows of A that share a load of B.
    const ROWS: usize;
    /// `LANES` float32.
    type F: Copy;
    /// `LANES` int32.
    type I: Copy;
    /// `4 * LANES` bytes.
    type B: Copy;
    /// `LANES / 2` float64.
    type D: Copy;

    /// Four copies of the bytes of `word` in each lane.
    fn splat_bytes(self, word: u32) -> Self::B;
    /// Bytes from memory, `4 * LANES` of them.
    fn load_bytes(self, from: &[u8]) -> Self::B;
    /// Sums of signed bytes, saturating.
    fn add_saturating(self, a: Self::B, b: Self::B) -> Self::B;
    /// The larger signed bytes.
    fn max_bytes(self, a: Self::B, b: Self::B) -> Self::B;
    /// Which bytes of `a` are less than those of `b`, signed: bit `LANES * j + i` for lane `i` of vector `j`.
    fn less_bytes(self, a: Self::B, b: Self::B) -> u64;
    /// Byte `j` of every lane plus 128 in the exponent field of a float, the rest zero.
    fn exponent_field(self, bytes: Self::B, j: usize) -> Self::I;

    /// One float in each lane.
    fn splat(self, x: f32) -> Self::F;
    /// Floats from memory, `LANES` of them.
    fn load(self, from: &[f32]) -> Self::F;
    /// Floats to memory.
    fn store(self, x: Self::F, to: &mut [f32]);
    /// Product.
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    /// `a * b + c`, rounded once where the instructions allow it.
    fn mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// Toward zero to int32; anything for what does not fit.
    fn truncate(self, x: Self::F) -> Self::I;
    /// Converts to float32, toward zero, magnitudes below 2^31.
    fn to_float_toward_zero(self, x: Self::I) -> Self::F;
    /// The bits of a float.
    fn bits(self, x: Self::F) -> Self::I;
    /// The float of these bits.
    fn float(self, x: Self::I) -> Self::F;

    /// One integer in each lane.
    fn splat_int(self, x: i32) -> Self::I;
    /// Sum, wrapping.
    fn add(self, a: Self::I, b: Self::I) -> Self::I;
    /// Difference, wrapping.
    fn sub(self, a: Self::I, b: Self::I) -> Self::I;
    /// Bitwise and.
    fn and(self, a: Self::I, b: Self::I) -> Self::I;
    /// The larger.
    fn max(self, a: Self::I, b: Self::I) -> Self::I;
    /// Which lanes of `a` are less than those of `b`.
    fn less(self, a: Self::I, b: Self::I) -> u64;
    /// Which lanes are equal.
    fn equal(self, a: Self::I, b: Self::I) -> u64;

    /// One double in each lane.
    fn splat_double(self, x: f64) -> Self::D;
    /// Floats to doubles, the lower half of the lanes first.
    fn widen(self, x: Self::F) -> [Self::D; 2];
    /// Integers to doubles, the lower half of the lanes first.
    fn widen_int(self, x: Self::I) -> [Self::D; 2];
    /// Product.
    fn mul_double(self, a: Self::D, b: Self::D) -> Self::D;
    /// Sum.
    fn add_double(self, a: Self::D, b: Self::D) -> Self::D;
    /// Toward zero to an integral double.
    fn truncate_double(self, x: Self::D) -> Self::D;
    /// `a + b` rounded once, to the nearest even float32.
    fn add_narrow(self, a: [Self::D; 2], b: [Self::D; 2]) -> Self::F;

    /// Decodes one row of FP8 codes, `4 * LANES` of them, and reports the columns with a code that needs the scalar
    /// path.
    #[inline(always)]
    fn spread_fp8(self, decoder: &Decoder, codes: &[u8], values: &mut [f32], exps: &mut [u8]) -> u64 {
        decoder.spread_fp8(Self::LANES, codes, values, exps)
    }

    /// Decodes one row of bfloat16 bit patterns, `4 * LANES` of them, and reports the columns with one that needs the scalar
    /// path.
    #[inline(always)]
    fn spread_bf16(self, decoder: &Decoder, codes: &[u16], values: &mut [f32], exps: &mut [u8]) -> u64 {
        decoder.spread_bf16(Self::LANES, codes, values, exps)
    }

    /// Turns rows of bytes into columns: `tile[k * 4 * LANES + n] = rows[n][k]` for the `depth` first elements of at
    /// most `4 * LANES` rows.
    #[inline(always)]
    fn transpose_bytes(self, rows: &[&[u8]], depth: usize, tile: &mut [u8]) {
        transpose(rows, depth, 4 * Self::LANES, tile);
    }

    /// Turns rows of 16-bit elements into columns, as [`transpose_bytes`](Self::transpose_bytes) does bytes.
    #[inline(always)]
    fn transpose_words(self, rows: &[&[u16]], depth: usize, tile: &mut [u16]) {
        transpose(rows, depth, 4 * Self::LANES, tile);
    }
}

/// `tile[k * width + n] = rows[n][k]` for `k` below `depth`.
#[inline(always)]
pub(super) fn transpose<T: Copy>(rows: &[&[T]], depth: usize, width: usize, tile: &mut [T]) {
    for (n, row) in rows.iter().enumerate() {
        for (to, from) in tile[n..].iter_mut().step_by(width).zip(&row[..depth]) {
            *to = *from;
        }
    }
}
