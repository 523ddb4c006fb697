//! The vector kernels: what they are given, and which one runs.
//!
//! `scalar` is the portable twin of every kernel and runs the definitions themselves. `kernels` holds the algorithms,
//! written once over the registers that `simd` describes; `avx2`, `avx512` and `neon` are those registers and the entry
//! points compiled for them. `binades` is a faster way to quantize large arrays that AVX-512 alone takes, and `tables` the way
//! to it.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod binades;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod kernels;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod lines;
mod plan;
mod scalar;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod simd;
mod tables;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;

use half::bf16;
use half::slice::HalfFloatSliceExt;

use super::{CodeScan, Dequantizer, Isa, Quantizer};
pub(super) use plan::{CodeClass, EncodePlan, Recode, WordTable};
pub(super) use tables::{Pieces, QuantTables};

/// Runs a kernel of the best module that `isa` names and this machine has; everything else runs the scalar twin.
macro_rules! dispatch {
    ($isa:expr, $kernel:ident($($arg:expr),*), $scalar:expr) => {
        match $isa {
            #[cfg(target_arch = "x86_64")]
            isa @ Isa::Avx512 if isa.is_available() => {
                // SAFETY: this machine has just been found to have POPCNT and the AVX-512 features that the kernel is
                // compiled for.
                unsafe { avx512::$kernel($($arg),*) }
            }
            #[cfg(target_arch = "x86_64")]
            isa @ Isa::Avx2 if isa.is_available() => {
                // SAFETY: this machine has just been found to have AVX2 and POPCNT, which the kernel is compiled for.
                unsafe { avx2::$kernel($($arg),*) }
            }
            #[cfg(target_arch = "aarch64")]
            isa @ Isa::Neon if isa.is_available() => {
                // SAFETY: this machine has just been found to have NEON, which the kernel is compiled for.
                unsafe { neon::$kernel($($arg),*) }
            }
            _ => $scalar,
        }
    };
}

/// Codes of float32 values. Slices of equal length, as in every function here.
pub(super) fn encode_f32(isa: Isa, plan: &EncodePlan, values: &[f32], codes: &mut [u8]) {
    let isa = if plan.vectorizes { isa } else { Isa::Scalar };
    dispatch!(isa, encode_f32(plan, 1.0, values, codes), scalar::encode_f32(plan, values, codes))
}

/// Codes of bfloat16 values.
pub(super) fn encode_bf16(isa: Isa, plan: &EncodePlan, values: &[bf16], codes: &mut [u8]) {
    let isa = if plan.vectorizes { isa } else { Isa::Scalar };
    let words = values.reinterpret_cast();
    dispatch!(isa, encode_bf16(plan, words, codes), scalar::encode_bf16(plan, values, codes))
}

/// Codes of float32 values times the scale.
pub(super) fn quant_f32(isa: Isa, plan: &EncodePlan, q: &Quantizer, values: &[f32], codes: &mut [u8]) {
    let isa = if plan.vectorizes { isa } else { Isa::Scalar };
    dispatch!(isa, encode_f32(plan, q.scale(), values, codes), scalar::quant_f32(q, values, codes))
}

/// Codes of bfloat16 values times the scale.
pub(super) fn quant_bf16(isa: Isa, plan: &EncodePlan, q: &Quantizer, values: &[bf16], codes: &mut [u8]) {
    let isa = if plan.vectorizes { isa } else { Isa::Scalar };
    if let Some(tables) = QuantTables::new(isa, plan, q, values.len()) {
        let all = Pieces { first: 0, len: values.len(), stride: values.len() };
        return tables.quant_bf16(all, values, codes, &[]);
    }
    let words = values.reinterpret_cast();
    dispatch!(isa, quant_bf16(plan, q.scale_as_bf16(), words, codes), scalar::quant_bf16(q, values, codes))
}

/// bfloat16 values of codes, by table.
pub(super) fn dequant_bf16(isa: Isa, table: &WordTable, codes: &[u8], values: &mut [bf16]) {
    let isa = if table.symmetric { isa } else { Isa::Scalar };
    let words = values.reinterpret_cast_mut();
    dispatch!(isa, dequant_bf16(table, codes, words), scalar::dequant_bf16(table, codes, words))
}

/// float32 values of codes, widened from the table and times the scale.
pub(super) fn dequant_f32(isa: Isa, d: &Dequantizer, table: &WordTable, codes: &[u8], values: &mut [f32]) {
    let isa = if table.symmetric { isa } else { Isa::Scalar };
    dispatch!(isa, dequant_f32(table, d.scale(), codes, values), scalar::dequant_f32(d, codes, values))
}

/// bfloat16 roundings of float32 values.
pub(super) fn round_bf16(isa: Isa, values: &[f32], rounded: &mut [bf16]) {
    let words = rounded.reinterpret_cast_mut();
    dispatch!(isa, round_bf16(values, words), scalar::round_bf16(values, words))
}

/// Replaces each code and returns how many codes of each class there were, in the order of [`CodeClass`].
pub(super) fn recode(isa: Isa, recode: &Recode, codes: &mut [u8]) -> [u64; CodeClass::COUNT] {
    dispatch!(isa, recode(recode, codes), scalar::recode(recode, codes))
}

/// Counts the codes above `0x77` and the NaN codes of e4m3.
pub(super) fn scan(isa: Isa, codes: &[u8]) -> CodeScan {
    dispatch!(isa, scan(codes), scalar::scan(codes))
}
