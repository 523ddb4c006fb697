//! Encoding slices of float32 and bfloat16 to FP8 codes.

use half::bf16;

use super::encoder::Encoder;
use super::error::{Fp8Error, same_length};
use super::kernels;
use super::kernels::encode::Encode;
use super::kernels::plan::EncodePlan;
use crate::simd::{Isa, WorkEverywhere};

impl Encoder {
    /// Converts float32 values, each as [`encode`](Self::encode) does.
    ///
    /// # Errors
    /// The slices differ in length.
    pub fn encode_f32(self, values: &[f32], codes: &mut [u8]) -> Result<(), Fp8Error> {
        self.encode_f32_with(Isa::active(), values, codes)
    }

    /// [`encode_f32`](Self::encode_f32) on a given instruction set; one that this machine lacks means portable code.
    ///
    /// # Errors
    /// The slices differ in length.
    pub fn encode_f32_with(self, isa: Isa, values: &[f32], codes: &mut [u8]) -> Result<(), Fp8Error> {
        self.encode_slice(isa, values, codes)
    }

    /// Converts bfloat16 values. They are exact in float32, so each becomes what [`encode`](Self::encode) gives.
    ///
    /// # Errors
    /// The slices differ in length.
    pub fn encode_bf16(self, values: &[bf16], codes: &mut [u8]) -> Result<(), Fp8Error> {
        self.encode_bf16_with(Isa::active(), values, codes)
    }

    /// [`encode_bf16`](Self::encode_bf16) on a given instruction set; one that this machine lacks means portable code.
    ///
    /// # Errors
    /// The slices differ in length.
    pub fn encode_bf16_with(self, isa: Isa, values: &[bf16], codes: &mut [u8]) -> Result<(), Fp8Error> {
        self.encode_slice(isa, values, codes)
    }

    fn encode_slice<'a, T>(self, isa: Isa, values: &'a [T], codes: &'a mut [u8]) -> Result<(), Fp8Error>
    where
        T: 'static,
        for<'p> Encode<'p, T>: WorkEverywhere<()>,
    {
        same_length(values.len(), codes.len())?;
        let plan = EncodePlan::new(self);
        kernels::run(isa, plan.vectorizes, Encode { plan: &plan, values, codes });
        Ok(())
    }
}
