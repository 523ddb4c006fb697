//! What the generations differ in about FP8: each fact once, read off [`Generation`].

use super::error::Fp8Error;
use super::format::{Format, InfNan, Layout};
use crate::generation::Generation;

const fn biases<const N: usize>(first: u8) -> [u8; N] {
    let mut biases = [0; N];
    let mut i = 0;
    while i < N {
        biases[i] = first + i as u8;
        i += 1;
    }
    biases
}

/// Gaudi2 has four biases of e4m3.
const GAUDI2_E4M3: [u8; 4] = [3, 7, 11, 15];
/// Gaudi2 writes e5m2 with these biases.
const GAUDI2_E5M2: [u8; 30] = biases(1);
/// Gaudi2's matrix engine reads e5m2 with this bias alone: the vendor's generator of its descriptors refuses any other.
const GAUDI2_E5M2_OPERAND: [u8; 1] = [15];
/// Gaudi3 has six bits for a bias.
const GAUDI3: [u8; 64] = biases(0);

impl Generation {
    /// The exponent biases of a layout that the device's converters take, in order, and the same in words.
    const fn fp8_biases(self, layout: Layout) -> (&'static [u8], &'static str) {
        match (self, layout) {
            (Self::Gaudi2, Layout::E4M3) => (&GAUDI2_E4M3, "3, 7, 11 and 15"),
            (Self::Gaudi2, Layout::E5M2) => (&GAUDI2_E5M2, "1 to 30"),
            (Self::Gaudi3, _) => (&GAUDI3, "0 to 63"),
        }
    }

    /// The exponent biases of a layout with which the matrix engine reads operands, in order.
    const fn operand_biases(self, layout: Layout) -> &'static [u8] {
        match (self, layout) {
            (Self::Gaudi2, Layout::E5M2) => &GAUDI2_E5M2_OPERAND,
            _ => self.fp8_biases(layout).0,
        }
    }

    /// The exponent biases that stand for a dequantization scale of an e4m3 tensor, in order: a bias stands for
    /// `2^(7 - bias)`. The smallest one has the largest scale.
    pub(super) const fn scale_biases(self) -> &'static [u8] {
        self.fp8_biases(Layout::E4M3).0
    }

    /// Whether the device has an Inf/NaN mode.
    const fn has_mode(self, mode: InfNan) -> bool {
        matches!((self, mode), (Self::Gaudi2, InfNan::Full) | (Self::Gaudi3, _))
    }

    /// The Inf/NaN mode that the device's casts have after reset.
    const fn cast_mode(self) -> InfNan {
        match self {
            Self::Gaudi2 => InfNan::Full,
            Self::Gaudi3 => InfNan::Minimal,
        }
    }

    /// Whether the matrix engine multiplies e4m3 by e5m2.
    pub(crate) const fn multiplies_two_layouts(self) -> bool {
        matches!(self, Self::Gaudi3)
    }
}

const fn contains(biases: &[u8], bias: u8) -> bool {
    let mut i = 0;
    while i < biases.len() {
        if biases[i] == bias {
            return true;
        }
        i += 1;
    }
    false
}

impl Format {
    /// A format that the converters of `generation` take.
    ///
    /// Gaudi2 has Inf/NaN mode [`InfNan::Full`] only, e4m3 with bias 3, 7, 11 or 15 and e5m2 with bias 1 to 30.
    /// Gaudi3 has six bits for the bias, so 0 to 63, and every mode.
    ///
    /// # Errors
    /// The device has no such bias or mode.
    pub const fn on(
        generation: Generation,
        layout: Layout,
        bias: u8,
        inf_nan: InfNan,
    ) -> Result<Self, Fp8Error> {
        let (biases, allowed) = generation.fp8_biases(layout);
        if !contains(biases, bias) {
            return Err(Fp8Error::Bias { generation, layout, bias, allowed });
        }
        if !generation.has_mode(inf_nan) {
            return Err(Fp8Error::Mode { generation, mode: inf_nan });
        }
        Ok(Self { layout, bias, inf_nan })
    }

    /// Whether the matrix engine of `generation` reads operands of this format: those that [`on`](Self::on) makes, but e5m2
    /// on Gaudi2 with bias 15 only.
    #[must_use]
    pub const fn is_operand_of(self, generation: Generation) -> bool {
        contains(generation.operand_biases(self.layout), self.bias) && generation.has_mode(self.inf_nan)
    }

    /// The e4m3 format of a KV cache on `generation`: bias 7 in the mode its casts have after reset, [`InfNan::Full`]
    /// (240) on Gaudi2 and [`InfNan::Minimal`] (448) on Gaudi3.
    #[must_use]
    pub const fn kv_cache(generation: Generation) -> Self {
        Self { layout: Layout::E4M3, bias: 7, inf_nan: generation.cast_mode() }
    }
}
