//! Every conversion in the golden vectors, bit for bit, on every instruction set of this machine.
//!
//! The vectors are read from the folder that `GAUDI_KV_GOLDEN` names, else from `tests/data/golden` of the repository. Tensors are found
//! by their names; a name that says nothing to this file fails, so that no vector goes unchecked.
#![allow(clippy::unwrap_used, reason = "a failure here is the test failing")]

use std::path::PathBuf;

use gaudi_numerics::fp8::{
    Dequantizer, Encoder, Format, InfNan, Isa, Layout, Rounding, bf16_from_f32_slice_with,
};
use half::bf16;
use safetensors::{Dtype, SafeTensors};

fn folder() -> PathBuf {
    match std::env::var_os("GAUDI_KV_GOLDEN") {
        Some(folder) if !folder.is_empty() => folder.into(),
        _ => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/golden")),
    }
}

/// What a tensor's name says.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Name {
    Decode(Format),
    EncodeF32(Encoder),
    EncodeBf16(Encoder),
    RoundBf16,
    /// Inputs, looked up by the tensors that need them.
    Input,
    /// Dot products, which the matrix engine's tests compare.
    Dot,
}

fn parse(name: &str) -> Option<Name> {
    let parts: Vec<_> = name.split('.').collect();
    Some(match parts[..] {
        ["stim"] | ["f32_to_bf16", "in"] => Name::Input,
        ["f32_to_bf16", "out"] => Name::RoundBf16,
        ["dot", ..] => Name::Dot,
        ["dec", layout, mode, bias] => Name::Decode(format(layout, mode, bias)?),
        [kind @ ("enc" | "encbf16"), layout, mode, bias, rounding, clip] => {
            let rounding = match rounding {
                "rne" => Rounding::NearestEven,
                "rz" => Rounding::TowardZero,
                _ => return None,
            };
            let clip = match clip {
                "clip" => true,
                "noclip" => false,
                _ => return None,
            };
            let encoder = Encoder { format: format(layout, mode, bias)?, rounding, clip };
            if kind == "enc" { Name::EncodeF32(encoder) } else { Name::EncodeBf16(encoder) }
        }
        _ => return None,
    })
}

fn format(layout: &str, mode: &str, bias: &str) -> Option<Format> {
    Some(Format {
        layout: match layout {
            "e4m3" => Layout::E4M3,
            "e5m2" => Layout::E5M2,
            _ => return None,
        },
        inf_nan: match mode {
            "mode0" => InfNan::Full,
            "mode1" => InfNan::None,
            "mode2" => InfNan::Minimal,
            _ => return None,
        },
        bias: bias.strip_prefix("bias")?.parse().ok().filter(|bias| *bias <= 63)?,
    })
}

fn words(file: &SafeTensors<'_>, name: &str, dtype: &[Dtype]) -> Vec<u32> {
    let view = file.tensor(name).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(dtype.contains(&view.dtype()), "{name} has type {:?}", view.dtype());
    match view.dtype() {
        Dtype::U8 => view.data().iter().map(|byte| u32::from(*byte)).collect(),
        Dtype::U16 => {
            view.data().as_chunks::<2>().0.iter().map(|b| u32::from(u16::from_le_bytes(*b))).collect()
        }
        _ => view.data().as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect(),
    }
}

/// Fails on the first difference and returns how many values were equal.
fn compare(what: &str, inputs: &[u32], got: &[u32], want: &[u32]) -> usize {
    assert_eq!(got.len(), want.len(), "{what}: number of values");
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        assert_eq!(got, want, "{what}: input {:#x} gives {got:#x}, not {want:#x}", inputs[i]);
    }
    want.len()
}

/// Compares one tensor on one instruction set.
fn check(file: &SafeTensors<'_>, name: &str, kind: Name, isa: Isa) -> usize {
    let what = format!("{name} on {isa}");
    let widen = |codes: Vec<u8>| codes.into_iter().map(u32::from).collect::<Vec<_>>();
    match kind {
        Name::Input | Name::Dot => 0,
        Name::Decode(format) => {
            let want = words(file, name, &[Dtype::U32]);
            let codes: Vec<u8> = (0..=255).collect();
            let inputs: Vec<u32> = (0..256).collect();
            let mut values = vec![0f32; 256];
            let decoder = Dequantizer::unscaled(format);
            decoder.dequant_f32_with(isa, &codes, &mut values).unwrap();
            let got: Vec<_> = values.iter().map(|value| value.to_bits()).collect();
            let mut compared = compare(&what, &inputs, &got, &want);
            // Every value is exact in bfloat16, where NaN is 0x7FFF: the upper half of the same pattern.
            let mut values = vec![bf16::ZERO; 256];
            decoder.dequant_bf16_with(isa, &codes, &mut values).unwrap();
            let got: Vec<_> = values.iter().map(|value| u32::from(value.to_bits())).collect();
            let upper: Vec<_> = want.iter().map(|bits| bits >> 16).collect();
            compared += compare(&what, &inputs, &got, &upper);
            compared + compare(&what, &inputs, &format.decode_table(), &want)
        }
        Name::EncodeF32(encoder) => {
            let want = words(file, name, &[Dtype::U8]);
            let inputs = words(file, "stim", &[Dtype::F32]);
            let values: Vec<_> = inputs.iter().map(|bits| f32::from_bits(*bits)).collect();
            let mut codes = vec![0; values.len()];
            encoder.encode_f32_with(isa, &values, &mut codes).unwrap();
            compare(&what, &inputs, &widen(codes), &want)
        }
        Name::EncodeBf16(encoder) => {
            let want = words(file, name, &[Dtype::U8]);
            let inputs: Vec<u32> = (0..=0xFFFF).collect();
            let values: Vec<_> = (0..=0xFFFF).map(bf16::from_bits).collect();
            let mut codes = vec![0; values.len()];
            encoder.encode_bf16_with(isa, &values, &mut codes).unwrap();
            compare(&what, &inputs, &widen(codes), &want)
        }
        Name::RoundBf16 => {
            let want = words(file, name, &[Dtype::U16]);
            let inputs = words(file, "f32_to_bf16.in", &[Dtype::U32, Dtype::F32]);
            let values: Vec<_> = inputs.iter().map(|bits| f32::from_bits(*bits)).collect();
            let mut rounded = vec![bf16::ZERO; values.len()];
            bf16_from_f32_slice_with(isa, &values, &mut rounded).unwrap();
            let got: Vec<_> = rounded.iter().map(|value| u32::from(value.to_bits())).collect();
            compare(&what, &inputs, &got, &want)
        }
    }
}

#[test]
fn golden_fp8_conversions() {
    let folder = folder();
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "safetensors"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no safetensors files in {}", folder.display());
    for isa in [Isa::Scalar, Isa::Avx2, Isa::Avx512, Isa::Neon] {
        if !isa.is_available() {
            println!("skipped {isa}: this machine does not have it");
        }
    }
    let mut total = 0;
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        for isa in Isa::available() {
            let (mut tensors, mut compared) = (0, 0);
            for name in file.names() {
                let kind = parse(name).unwrap_or_else(|| panic!("{}: what is {name}?", path.display()));
                let values = check(&file, name, kind, isa);
                tensors += usize::from(values > 0);
                compared += values;
            }
            println!("{} on {isa}: {tensors} tensors, compared {compared} values", path.display());
            total += compared;
        }
    }
    assert!(total > 0, "nothing was compared");
    println!("compared {total} values");
}

#[test]
fn golden_names_that_say_nothing_are_refused() {
    for name in [
        "enc.e4m3.mode3.bias7.rne.clip",
        "enc.e4m3.mode2.bias64.rne.clip",
        "enc.e4m3.mode2.bias7.rna.clip",
        "enc.e4m3.mode2.bias7.rne",
        "encf16.e4m3.mode2.bias7.rne.clip",
        "dec.e3m4.mode0.bias7",
        "dec.e4m3.mode0.7",
        "stim2",
        "",
    ] {
        assert_eq!(parse(name), None, "{name}");
    }
}
