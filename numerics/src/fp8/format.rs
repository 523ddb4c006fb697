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
///
/// The fields may be set freely and every conversion is defined for any bias; [`Format::on`] makes only what a device
/// takes.
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
    /// OCP `e4m3fn`, which checkpoints store: bias 7, up to 448, NaN at `0x7F`.
    pub const E4M3FN: Self = Self { layout: Layout::E4M3, bias: 7, inf_nan: InfNan::Minimal };

    /// The default e5m2 format of both generations: bias 15, [`InfNan::Full`], up to 57344.
    pub const E5M2: Self = Self { layout: Layout::E5M2, bias: 15, inf_nan: InfNan::Full };

    /// The code of the largest finite value.
    #[must_use]
    pub const fn max_code(self) -> u8 {
        match (self.inf_nan, self.layout) {
            (InfNan::Full, Layout::E4M3) => 0x77,
            (InfNan::Full, Layout::E5M2) => 0x7B,
            (InfNan::None, _) => 0x7F,
            (InfNan::Minimal, _) => 0x7E,
        }
    }

    /// The largest finite value.
    #[must_use]
    pub const fn max_value(self) -> f32 {
        f32::from_bits(self.decode_bits(self.max_code()))
    }

    /// Whether `code` stands for NaN.
    #[must_use]
    pub const fn is_nan(self, code: u8) -> bool {
        self.decode_bits(code) == NAN_BITS
    }

    /// The float32 bit pattern of one code, exactly. NaN is always `0x7FFF_FFFF`, as the converters write it: its sign
    /// is lost. Negative zero and denormals are kept. (Beyond the biases of any device, a value below float32's range
    /// is rounded to nearest even.)
    #[must_use]
    pub const fn decode_bits(self, code: u8) -> u32 {
        let man_bits = self.layout.mantissa_bits();
        let exp_ones = (1u32 << (7 - man_bits)) - 1;
        let sign = (code as u32 >> 7) << 31;
        let exp = (code as u32 >> man_bits) & exp_ones;
        let man = code as u32 & ((1 << man_bits) - 1);
        match self.inf_nan {
            InfNan::Full if exp == exp_ones => {
                return if man == 0 { sign | 0x7F80_0000 } else { NAN_BITS };
            }
            InfNan::Minimal if code & 0x7F == 0x7F => return NAN_BITS,
            _ => {}
        }
        let (significand, exp) = if exp == 0 { (man, 1) } else { (man | 1 << man_bits, exp) };
        // value = significand * 2^(exp - bias - man_bits); float64 holds every such power of two and product.
        let power = 1023 + exp as u64 - self.bias as u64 - man_bits as u64;
        let value = significand as f64 * f64::from_bits(power << 52);
        sign | (value as f32).to_bits()
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

/// The NaN that every converter writes.
pub(super) const NAN_BITS: u32 = 0x7FFF_FFFF;
/// Positive infinity; larger magnitudes are NaN.
pub(super) const INF_BITS: u32 = 0x7F80_0000;
