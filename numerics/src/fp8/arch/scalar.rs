//! The portable twin of every kernel: the definitions, one element at a time.

use half::bf16;

use super::super::{CodeScan, Dequantizer, Quantizer, bf16_from_f32};
use super::plan::{CodeClass, EncodePlan, Recode, WordTable};

pub(super) fn encode_f32(plan: &EncodePlan, values: &[f32], codes: &mut [u8]) {
    for (code, value) in codes.iter_mut().zip(values) {
        *code = plan.encoder.encode(*value);
    }
}

pub(super) fn encode_bf16(plan: &EncodePlan, values: &[bf16], codes: &mut [u8]) {
    for (code, value) in codes.iter_mut().zip(values) {
        *code = plan.encoder.encode_bits(u32::from(value.to_bits()) << 16);
    }
}

pub(super) fn quant_f32(quantizer: &Quantizer, values: &[f32], codes: &mut [u8]) {
    for (code, value) in codes.iter_mut().zip(values) {
        *code = quantizer.quant_one_f32(*value);
    }
}

pub(super) fn quant_bf16(quantizer: &Quantizer, values: &[bf16], codes: &mut [u8]) {
    for (code, value) in codes.iter_mut().zip(values) {
        *code = quantizer.quant_one_bf16(*value);
    }
}

pub(super) fn dequant_bf16(table: &WordTable, codes: &[u8], words: &mut [u16]) {
    for (word, code) in words.iter_mut().zip(codes) {
        *word = table.get(*code);
    }
}

pub(super) fn dequant_f32(dequantizer: &Dequantizer, codes: &[u8], values: &mut [f32]) {
    for (value, code) in values.iter_mut().zip(codes) {
        *value = dequantizer.dequant_one_f32(*code);
    }
}

pub(super) fn round_bf16(values: &[f32], words: &mut [u16]) {
    for (word, value) in words.iter_mut().zip(values) {
        *word = bf16_from_f32(*value).to_bits();
    }
}

pub(super) fn recode(recode: &Recode, codes: &mut [u8]) -> [u64; CodeClass::COUNT] {
    let mut counts = [0; CodeClass::COUNT];
    for code in codes {
        let magnitude = usize::from(*code & 0x7F);
        *code = recode.codes[magnitude] | (*code & 0x80);
        if let Some(count) = counts.get_mut(usize::from(recode.classes[magnitude])) {
            *count += 1;
        }
    }
    counts
}

pub(super) fn scan(codes: &[u8]) -> CodeScan {
    let mut found = CodeScan::default();
    for block in codes.chunks(4096) {
        // The maximum is what compilers vectorize; blocks that hold nothing, nearly all of them, end here.
        let max = block.iter().fold(0, |max, code| max.max(code & 0x7F));
        if max > 0x77 {
            found.above_gaudi2_max += block.iter().filter(|c| **c & 0x7F > 0x77).count() as u64;
            found.nan += block.iter().filter(|c| **c & 0x7F == 0x7F).count() as u64;
        }
    }
    found
}
