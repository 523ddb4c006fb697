//! The scaled conversion of one number to an FP8 code: the definition.

use half::bf16;

use super::bf16::bf16_from_f32;
use super::encoder::Encoder;
use super::error::{Fp8Error, checked_scale};
use crate::generation::Generation;

/// Multiplies by one scale and converts to FP8, as the device's `convert_to_fp8` does.
///
/// The scale is a multiplier: 1 divided by the dequantization factor of a checkpoint. Its type follows the input's:
/// a bfloat16 input is multiplied by the scale rounded to bfloat16 and the product is rounded to bfloat16 before it is
/// rounded to FP8; a float32 input is multiplied in float32.
///
/// A NaN input becomes `0x7F`; from float32 its sign survives as in [`Encoder`]. A product that overflows its type is
/// an Inf to the encoder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantizer {
    encoder: Encoder,
    scale: f32,
    scale_bf16: bf16,
}

impl Quantizer {
    /// A conversion by `encoder` after a multiplication by `scale`.
    ///
    /// # Errors
    /// The scale is not finite and positive, in float32 or rounded to bfloat16.
    pub fn new(encoder: Encoder, scale: f32) -> Result<Self, Fp8Error> {
        Ok(Self { encoder, scale, scale_bf16: checked_scale(scale)? })
    }

    /// The conversion of a KV-cache write on `generation`: `fp8(bf16(x * bf16(q)))`, nearest even, saturating.
    ///
    /// # Errors
    /// The scale is not finite and positive, in float32 or rounded to bfloat16.
    pub fn kv_cache(generation: Generation, q: f32) -> Result<Self, Fp8Error> {
        Self::new(Encoder::kv_cache(generation), q)
    }

    /// The conversion after the multiplication.
    #[must_use]
    pub const fn encoder(&self) -> Encoder {
        self.encoder
    }

    /// The multiplier.
    #[must_use]
    pub const fn scale(&self) -> f32 {
        self.scale
    }

    /// `fp8(bf16(value * bf16(scale)))`.
    #[must_use]
    pub fn quant_one_bf16(&self, value: bf16) -> u8 {
        // bf16_from_f32 makes every NaN positive, which gives 0x7F in every mode.
        let product = bf16_from_f32(value.to_f32() * self.scale_bf16.to_f32());
        self.encoder.encode(product.to_f32())
    }

    /// `fp8(value * scale)`, the product in float32.
    #[must_use]
    pub fn quant_one_f32(&self, value: f32) -> u8 {
        // The sign of a NaN product is anybody's; the value's own sign is the one defined here.
        self.encoder.encode((value * self.scale).copysign(value))
    }

    /// The multiplier of a bfloat16 input.
    pub(super) fn scale_as_bf16(&self) -> f32 {
        self.scale_bf16.to_f32()
    }
}
