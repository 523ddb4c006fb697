//! What an FP8 code means: layout, exponent bias and Inf/NaN mode.

/// How the eight bits are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Sign, 4 exponent bits, 3 mantissa bits (`hf8`, `syn_type_fp8_143`).
    E4M3,
    /// Sign, 5 exponent bits, 2 mantissa bits (`f8`, `syn_type_fp8_152`).
    E5M2,
}

impl Layout {
    /// The number of mantissa bits: 3 or 2.
    #[must_use]
    pub const fn mantissa_bits(self) -> u32 {
        match self {
            Self::E4M3 => 3,
            Self::E5M2 => 2,
        }
    }
}

/// Which codes are Inf or NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InfNan {
    /// Mode 0: an exponent field of ones is Inf with mantissa 0, else NaN. Gaudi2 always.
    Full,
    /// Mode 1: every code is finite.
    None,
    /// Mode 2: only `0x7F` and `0xFF` are NaN and there is no Inf (OCP `e4m3fn`). Gaudi3's casts.
    Minimal,
}

/// An FP8 format: layout, exponent bias and Inf/NaN mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Format {
    /// How the bits are split.
    pub layout: Layout,
    /// The exponent bias: an exponent field `e > 0` stands for `2^(e - bias)`.
    pub bias: u8,
    /// Which codes are Inf or NaN.
    pub inf_nan: InfNan,
}

impl Format {
    /// The float32 bit pattern of one code. NaN is always `0x7FFF_FFFF`, as the converters write it.
    #[must_use]
    pub const fn decode_bits(self, code: u8) -> u32 {
        let man_bits = self.layout.mantissa_bits();
        let exp_ones = (1u32 << (7 - man_bits)) - 1;
        let sign = (code as u32 >> 7) << 31;
        let exp = (code as u32 >> man_bits) & exp_ones;
        let man = code as u32 & ((1 << man_bits) - 1);
        match self.inf_nan {
            InfNan::Full if exp == exp_ones => {
                return if man == 0 { sign | 0x7F80_0000 } else { 0x7FFF_FFFF };
            }
            InfNan::Minimal if code & 0x7F == 0x7F => return 0x7FFF_FFFF,
            _ => {}
        }
        if exp == 0 && man == 0 {
            return sign;
        }
        // A denormal is normalised: its leading bit moves to the implicit place and lowers the exponent.
        let shift = if exp == 0 { man.leading_zeros() - (31 - man_bits) } else { 0 };
        let man = (man << shift) & ((1 << man_bits) - 1);
        let exp = (if exp == 0 { 1 } else { exp }) + 127 - self.bias as u32 - shift;
        sign | (exp << 23) | (man << (23 - man_bits))
    }

    /// [`decode_bits`](Self::decode_bits) of every code, in order.
    #[must_use]
    pub const fn decode_table(self) -> [u32; 256] {
        let mut table = [0; 256];
        let mut code = 0;
        while code < 256 {
            table[code] = self.decode_bits(code as u8);
            code += 1;
        }
        table
    }
}
