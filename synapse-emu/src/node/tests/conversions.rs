//! Casts, and conversions to and from FP8.

use gaudi_numerics::Generation;
use gaudi_numerics::fp8::{Dequantizer, Encoder, Quantizer};
use half::bf16;
use safetensors::SafeTensors;

use super::{GAUDI2, GAUDI3, Tensor, machine, node, one, status, words};
use crate::node::spec::DataType::{self, Bf16, F32, Fp8_143, Fp8_152, I8, I16, I32, U8, U16};

/// The parameters of a cast: rounding, seed, saturation.
fn cast_params(rounding: u32, saturation: u32) -> Vec<u8> {
    words(&[rounding, 0, saturation])
}

/// A node of one input and output on a machine, the FP8 tensor of a bias.
fn convert(
    generation: Generation,
    guid: &str,
    mut input: Tensor,
    dtype: DataType,
    bias: u32,
    params: &[u8],
) -> Tensor {
    input.spec.exp_bias = bias;
    let mut out = Tensor::zeros(dtype, &input.spec.sizes);
    out.spec.exp_bias = bias;
    let result = node(&machine(generation), guid, &[Some(&input)], vec![Some(out)], params);
    result.unwrap_or_else(|failure| panic!("{guid}: {failure:?}")).remove(0).unwrap()
}

/// The vectors of a generation whose format its tensors have: each kind, e4m3 or not, bias, rounding and clip.
fn for_each_vector(
    generation: Generation,
    file: &SafeTensors<'_>,
    mut visit: impl FnMut(&str, DataType, u32, &[&str], &[u8]),
) {
    for name in file.names() {
        let parts: Vec<&str> = name.split('.').collect();
        let [kind @ ("dec" | "enc" | "encbf16"), layout, mode, bias, rest @ ..] = &parts[..] else {
            continue;
        };
        let dtype = if *layout == "e4m3" { Fp8_143 } else { Fp8_152 };
        let bias: u32 = bias.strip_prefix("bias").unwrap().parse().unwrap();
        let expected = if generation == GAUDI3 && dtype == Fp8_143 { "mode2" } else { "mode0" };
        let is_device = match (generation, dtype) {
            (GAUDI2, Fp8_143) => [3, 7, 11, 15].contains(&bias),
            (GAUDI2, _) => (1..=30).contains(&bias),
            _ => bias <= 63,
        };
        if *mode == expected && is_device {
            visit(kind, dtype, bias, rest, file.tensor(name).unwrap().data());
        }
    }
}

#[test]
fn conversions_are_those_of_the_golden_vectors() {
    for (generation, name) in [(GAUDI2, "gaudi2"), (GAUDI3, "gaudi3")] {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/golden");
        let data = std::fs::read(format!("{folder}/{name}.safetensors")).unwrap();
        let file = SafeTensors::deserialize(&data).unwrap();
        let stimulus: Vec<f32> = file
            .tensor("stim")
            .unwrap()
            .data()
            .as_chunks()
            .0
            .iter()
            .map(|v| f32::from_le_bytes(*v))
            .collect();
        let stimulus = Tensor::f32(&[stimulus.len()], &stimulus);
        let every: Vec<u16> = (0..=u16::MAX).collect();
        let every = Tensor::new(Bf16, &[256, 256], &every);
        let codes: Vec<u8> = (0..=255).collect();
        let mut seen = [0; 3];
        for_each_vector(generation, &file, |kind, dtype, bias, rest, expected| {
            let fp8 = if dtype == Fp8_143 { "hf8" } else { "f8" };
            if kind == "dec" {
                seen[0] += 1;
                let codes = Tensor::new(dtype, &[256], &codes);
                for guid in [format!("cast_{fp8}_to_f32"), "convert_from_fp8_f32".to_owned()] {
                    let out = convert(generation, &guid, codes.clone(), F32, bias, &[]);
                    assert_eq!(out.bytes(), expected, "{guid} bias {bias}");
                }
                return;
            }
            let (source, input) =
                if kind == "enc" { ("f32", stimulus.clone()) } else { ("bf16", every.clone()) };
            seen[if kind == "enc" { 1 } else { 2 }] += 1;
            let rounding = if rest[0] == "rz" { 4 } else { 0 };
            let clips = rest[1] == "clip";
            let guid = format!("cast_{source}_to_{fp8}");
            let params = cast_params(rounding, u32::from(clips));
            let out = convert(generation, &guid, input.clone(), dtype, bias, &params);
            assert_eq!(out.bytes(), expected, "{guid} bias {bias} {rest:?}");
            if clips {
                let guid = format!("convert_to_fp8_{source}");
                let out = convert(generation, &guid, input, dtype, bias, &words(&[rounding]));
                assert_eq!(out.bytes(), expected, "{guid} bias {bias} {rest:?}");
            } else if rounding == 0 {
                let out = convert(generation, &guid, input, dtype, bias, &[]);
                assert_eq!(out.bytes(), expected, "{guid} without parameters");
            }
        });
        assert!(seen.iter().all(|seen| *seen > 0), "{name}: {seen:?}");
    }
}

#[test]
fn a_plain_cast_overflows_and_a_conversion_saturates() {
    let x = Tensor::bf16(&[4], &[500.0, -500.0, 240.0, f32::INFINITY]);
    let codes = |generation, guid: &str, params: &[u8]| {
        convert(generation, guid, x.clone(), Fp8_143, 7, params).bytes().to_vec()
    };
    assert_eq!(codes(GAUDI2, "cast_bf16_to_hf8", &[]), [0x78, 0xF8, 0x77, 0x78]);
    assert_eq!(codes(GAUDI3, "cast_bf16_to_hf8", &[]), [0x7F, 0xFF, 0x77, 0x7F]);
    assert_eq!(codes(GAUDI2, "cast_bf16_to_hf8", &cast_params(0, 1)), [0x77, 0xF7, 0x77, 0x77]);
    assert_eq!(codes(GAUDI2, "convert_to_fp8_bf16", &[]), [0x77, 0xF7, 0x77, 0x77]);
    assert_eq!(codes(GAUDI3, "convert_to_fp8_bf16", &words(&[0])), [0x7E, 0xFE, 0x77, 0x7E]);
}

#[test]
fn the_bfloat16_path_rounds_twice() {
    // 11.375 * 1.1 is 12.51, and 12.5 in bfloat16 (docs/numerics.md): 13 and 12 in e4m3.
    let out = |guid: &str, x: &Tensor, scale: f32| {
        one(guid, &[x, &Tensor::f32(&[1], &[scale])], (Fp8_143, &[1]), &[]).bytes()[0]
    };
    assert_eq!(out("convert_to_fp8_f32", &Tensor::f32(&[1], &[11.375]), 1.1), 0x55);
    assert_eq!(out("convert_to_fp8_bf16", &Tensor::bf16(&[1], &[11.375]), 1.1), 0x54);
}

#[test]
fn scales_lie_along_any_dimension() {
    // Rows of three, two of them, twice; every number is 1, so a code is that of its scale.
    let x = Tensor::bf16(&[3, 2, 2], &[1.0; 12]);
    let sizes: &[usize] = &[3, 2, 2];
    let to = |scale: &Tensor| {
        let codes = one("convert_to_fp8_bf16", &[&x, scale], (Fp8_143, sizes), &[]);
        let back = one("convert_from_fp8_f32", &[&codes], (F32, sizes), &[]).floats();
        // And the other way round.
        let ones = one("convert_to_fp8_bf16", &[&x], (Fp8_143, sizes), &[]);
        let from = one("convert_from_fp8_f32", &[&ones, scale], (F32, sizes), &[]).floats();
        let bf16 = one("convert_from_fp8_bf16", &[&ones, scale], (Bf16, sizes), &[]).floats();
        assert_eq!((&from, &bf16), (&back, &back));
        back
    };
    assert_eq!(to(&Tensor::f32(&[3], &[1.0, 2.0, 4.0])), [1.0, 2.0, 4.0].repeat(4));
    let rows = to(&Tensor::bf16(&[1, 2, 1], &[2.0, 3.0]));
    assert_eq!(rows, [2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0]);
    let planes = to(&Tensor::f32(&[1, 1, 2], &[0.5, 8.0]));
    assert_eq!(planes, [[0.5; 6], [8.0; 6]].concat());
    assert_eq!(to(&Tensor::f32(&[1], &[16.0])), [16.0; 12]);
}

#[test]
fn scaled_conversions_are_those_of_the_library() {
    // Specials, and numbers on both sides of every rounding.
    let special = [0.0, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3e38, -1e-40];
    let numbers: Vec<f32> =
        special.into_iter().chain((0..2040u16).map(|i| (f32::from(i) - 1024.0) / 7.0)).collect();
    let codes: Vec<u8> = (0..=255).collect();
    for generation in Generation::ALL {
        let encoder = Encoder::kv_cache(generation);
        for scale in [0.3, 77.0, 1e-30, 1e30] {
            let quantizer = Quantizer::new(encoder, scale).unwrap();
            let scale_tensor = Tensor::f32(&[1], &[scale]);
            let run = |guid: &str, x: &Tensor, dtype| {
                let outputs = vec![Some(Tensor::zeros(dtype, &x.spec.sizes))];
                let inputs = [Some(x), Some(&scale_tensor)];
                node(&machine(generation), guid, &inputs, outputs, &[]).unwrap().remove(0).unwrap()
            };
            let mut expected = vec![0; numbers.len()];
            quantizer.quant_f32(&numbers, &mut expected).unwrap();
            let x = Tensor::f32(&[numbers.len()], &numbers);
            assert_eq!(run("convert_to_fp8_f32", &x, Fp8_143).bytes(), expected, "{generation} {scale}");
            let x = Tensor::bf16(&[numbers.len()], &numbers);
            quantizer.quant_bf16(&x.elements::<bf16>(), &mut expected).unwrap();
            assert_eq!(run("convert_to_fp8_bf16", &x, Fp8_143).bytes(), expected, "{generation} {scale}");

            let dequantizer = Dequantizer::new(encoder.format, scale).unwrap();
            let x = Tensor::hf8(&[256], &codes);
            let mut expected = vec![0.0; 256];
            dequantizer.dequant_f32(&codes, &mut expected).unwrap();
            let bits: Vec<u32> = expected.iter().map(|value| value.to_bits()).collect();
            assert_eq!(run("convert_from_fp8_f32", &x, F32).elements::<u32>(), bits, "{generation} {scale}");
            let mut expected = vec![bf16::ZERO; 256];
            dequantizer.dequant_bf16(&codes, &mut expected).unwrap();
            let bits: Vec<u16> = expected.iter().map(|value| value.to_bits()).collect();
            assert_eq!(
                run("convert_from_fp8_bf16", &x, Bf16).elements::<u16>(),
                bits,
                "{generation} {scale}"
            );
        }
    }
}

#[test]
fn any_number_is_a_scale() {
    let x = Tensor::f32(&[3], &[1.0, -2.0, 0.0]);
    let codes = |scale: f32| {
        one("convert_to_fp8_f32", &[&x, &Tensor::f32(&[1], &[scale])], (Fp8_143, &[3]), &[]).bytes().to_vec()
    };
    assert_eq!(codes(-1.0), [0xB8, 0x40, 0x80]);
    assert_eq!(codes(0.0), [0x00, 0x80, 0x00]);
    // Inf times 0 is NaN.
    assert_eq!(codes(f32::INFINITY), [0x77, 0xF7, 0x7F]);
}

#[test]
fn the_largest_magnitude_is_a_second_output() {
    let x = Tensor::bf16(&[4], &[1.0, -300.0, 2.0, 0.0]);
    let scale = Tensor::f32(&[1], &[0.5]);
    let outputs = vec![Some(Tensor::zeros(Fp8_143, &[4])), Some(Tensor::zeros(F32, &[1]))];
    let inputs = [Some(&x), Some(&scale)];
    let outputs = node(&machine(GAUDI2), "convert_to_fp8_bf16", &inputs, outputs, &[]).unwrap();
    assert_eq!(outputs[1].as_ref().unwrap().floats(), [300.0]);
    assert_eq!(outputs[0].as_ref().unwrap().bytes(), [0x30, 0xF1, 0x38, 0x00]);
}

#[test]
fn floats_become_integers_in_each_rounding() {
    let x = Tensor::f32(&[6], &[2.5, -2.5, 3.5, 1e20, -1e20, f32::NAN]);
    let cast = |rounding: u32| {
        one("cast_f32_to_i32", &[&x], (I32, &[6]), &words(&[rounding])).elements::<i32>()[..3].to_vec()
    };
    assert_eq!(cast(0), [2, -2, 4]);
    assert_eq!(cast(1), [2, -3, 3]);
    assert_eq!(cast(2), [3, -2, 4]);
    assert_eq!(cast(4), [2, -2, 3]);
    assert_eq!(cast(6), [3, -3, 4]);
    let all = one("cast_f32_to_i32", &[&x], (I32, &[6]), &[]).elements::<i32>();
    assert_eq!(all, [2, -2, 4, i32::MAX, i32::MIN, 0]);
    let small = one("cast_f32_to_u8", &[&x], (U8, &[6]), &[]).elements::<u8>();
    assert_eq!(small, [2, 0, 4, 255, 0, 0]);
}

#[test]
fn integers_become_floats_and_integers() {
    let x = Tensor::i32(&[4], &[1, -1, 300, 16_777_217]);
    assert_eq!(one("cast_i32_to_f32", &[&x], (F32, &[4]), &[]).floats(), [1.0, -1.0, 300.0, 16_777_216.0]);
    assert_eq!(one("cast_i32_to_bf16", &[&x], (Bf16, &[4]), &[]).floats()[..3], [1.0, -1.0, 300.0]);
    assert_eq!(one("cast_i32_to_i8", &[&x], (I8, &[4]), &[]).elements::<i8>(), [1, -1, 44, 1]);
    let clipped = one("cast_i32_to_u16", &[&x], (U16, &[4]), &cast_params(0, 1));
    assert_eq!(clipped.elements::<u16>(), [1, 0, 300, 65535]);
    let wide = one("cast_i8_to_i16", &[&Tensor::i8(&[2], &[-1, 100])], (I16, &[2]), &[]);
    assert_eq!(wide.elements::<i16>(), [-1, 100]);
}

#[test]
fn float32_becomes_bfloat16_in_two_roundings() {
    // 1 + 2^-8 is a tie, 1 + 2^-8 + 2^-9 is nearer to 1 + 2^-7.
    let x = Tensor::f32(&[3], &[1.0 + 2f32.powi(-8), -1.0 - 2f32.powi(-8) - 2f32.powi(-9), f32::NAN]);
    let near = one("cast_f32_to_bf16", &[&x], (Bf16, &[3]), &[]);
    assert_eq!(near.elements::<u16>(), [0x3F80, 0xBF81, 0x7FFF]);
    let cut = one("cast_f32_to_bf16", &[&x], (Bf16, &[3]), &words(&[4]));
    assert_eq!(cut.elements::<u16>(), [0x3F80, 0xBF80, 0x7FFF]);
    let back = one("cast_bf16_to_f32", &[&near], (F32, &[3]), &[]);
    assert_eq!(back.elements::<u32>()[..2], [0x3F80_0000, 0xBF81_0000]);
}

#[test]
fn what_is_not_emulated_is_refused() {
    let x = Tensor::bf16(&[2], &[1.0, 2.0]);
    for rounding in [1, 2, 3, 6, 8, 77] {
        for guid in ["cast_bf16_to_hf8", "convert_to_fp8_bf16"] {
            assert_eq!(status(guid, &[&x], (Fp8_143, &[2]), &words(&[rounding])), Ok(26), "{rounding}");
        }
    }
    assert_eq!(status("cast_bf16_to_hf8", &[&x], (Fp8_143, &[2]), &cast_params(0, 2)), Ok(26));
    assert_eq!(status("cast_bf16_to_i8", &[&x], (I8, &[2]), &words(&[3])), Ok(26));
    for guid in ["cast_hf8_to_i8", "cast_i8_to_hf8", "cast_hf8_to_f8", "cast_bf16_to_bf16", "cast_x_to_bf16"]
    {
        assert_eq!(status(guid, &[&x], (Bf16, &[2]), &[]), Ok(26), "{guid}");
    }
    // A bias that Gaudi2 does not have.
    let mut codes = Tensor::hf8(&[2], &[0x38, 0x40]);
    codes.spec.exp_bias = 8;
    assert_eq!(status("convert_from_fp8_bf16", &[&codes], (Bf16, &[2]), &[]), Ok(26));
    assert_eq!(status("cast_hf8_to_bf16", &[&codes], (Bf16, &[2]), &[]), Ok(26));
    // A scale that fits no dimension, and one of another type.
    let scale = Tensor::f32(&[3], &[1.0; 3]);
    assert_eq!(status("convert_to_fp8_bf16", &[&x, &scale], (Fp8_143, &[2]), &[]), Ok(26));
    let scale = Tensor::i32(&[1], &[1]);
    assert_eq!(status("convert_to_fp8_bf16", &[&x, &scale], (Fp8_143, &[2]), &[]), Ok(26));
}
