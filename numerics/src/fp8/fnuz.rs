//! AMD's FP8 types, for reading.

use super::format::{Format, InfNan, Layout, NAN_BITS};

/// An FP8 type without infinities and without negative zero, whose only NaN is `0x80` (`float8_e4m3fnuz`,
/// `float8_e5m2fnuz`).
///
/// A safetensors dtype of this name means these codes. The flavor `float8_e4m3fnuz` in a quantization config does not:
/// it is a label for the range 240 of codes that decode as [`Format::E4M3FN`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fnuz {
    /// Exponent bias 8, up to 240.
    E4M3,
    /// Exponent bias 16, up to 57344.
    E5M2,
}

impl Fnuz {
    /// The float32 bit pattern of one code, exactly; `0x80` is `0x7FFF_FFFF`.
    #[must_use]
    pub const fn decode_bits(self, code: u8) -> u32 {
        if code == 0x80 {
            return NAN_BITS;
        }
        let (layout, bias) = match self {
            Self::E4M3 => (Layout::E4M3, 8),
            Self::E5M2 => (Layout::E5M2, 16),
        };
        Format { layout, bias, inf_nan: InfNan::None }.decode_bits(code)
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
