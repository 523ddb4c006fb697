//! Conversions against their definition in float64, and every instruction set against the portable one.

mod fp8_oracle;

use fp8_oracle as oracle;
use gaudi_numerics::Generation;
use gaudi_numerics::fp8::{
    Dequantizer, Encoder, Fnuz, Format, Fp8Error, InfNan, Isa, Layout, Quantizer, Rounding, amax_bf16,
    amax_f32, bf16_from_f32, bf16_from_f32_slice_with,
};
use half::bf16;

fn all_bf16() -> Vec<bf16> {
    (0..=0xFFFF).map(bf16::from_bits).collect()
}

#[test]
fn every_code_of_every_format_decodes_to_its_value_and_back() {
    for format in oracle::formats() {
        let decoder = Dequantizer::unscaled(format);
        for code in 0..=255u8 {
            let (want, got) = (oracle::decode(format, code), f32::from_bits(format.decode_bits(code)));
            assert_eq!(got.is_nan(), want.is_nan(), "{format:?} {code:#04x}");
            assert_eq!(format.is_nan(code), want.is_nan());
            if want.is_nan() {
                assert_eq!(got.to_bits(), 0x7FFF_FFFF);
                assert_eq!(decoder.dequant_one_bf16(code).to_bits(), 0x7FFF);
                continue;
            }
            assert_eq!(f64::from(got).to_bits(), want.to_bits(), "{format:?} {code:#04x}");
            assert_eq!(decoder.dequant_one_bf16(code).to_f64().to_bits(), want.to_bits());
            if want.is_finite() {
                for encoder in oracle::encoders(format) {
                    assert_eq!(encoder.encode(got), code, "{encoder:?} of {got}");
                }
            }
        }
        assert_eq!(f64::from(format.max_value()), oracle::decode(format, format.max_code()));
    }
}

#[test]
fn every_bf16_encodes_as_the_nearest_value_in_every_format() {
    let values = all_bf16();
    let mut codes = vec![0; values.len()];
    for format in
        oracle::formats().filter(|format| format.bias % 4 == 3 || format.bias < 2 || format.bias > 61)
    {
        for encoder in oracle::encoders(format) {
            let want: Vec<_> = values.iter().map(|x| oracle::encode(encoder, x.to_f32())).collect();
            for isa in Isa::available() {
                encoder.encode_bf16_with(isa, &values, &mut codes).unwrap();
                assert_eq!(codes, want, "{encoder:?} on {isa}");
            }
        }
    }
}

#[test]
fn quant_rounds_the_scale_the_product_and_the_code() {
    let values = all_bf16();
    let mut codes = vec![0; values.len()];
    let formats = [
        Format::kv_cache(Generation::Gaudi2),
        Format::kv_cache(Generation::Gaudi3),
        Format::E5M2,
        Format { layout: Layout::E4M3, bias: 15, inf_nan: InfNan::None },
        Format { layout: Layout::E5M2, bias: 15, inf_nan: InfNan::Minimal },
    ];
    let scales = [1.0, 2.5, 9.795_918, 18.285_715, 0.1, 1.0 / 3.0, 47.7, 1e-3, 3e4, 1e30, 1e-30, 2e-39, 3e38];
    for (format, scale) in formats.into_iter().flat_map(|format| scales.map(|scale| (format, scale))) {
        for encoder in oracle::encoders(format) {
            let quantizer = Quantizer::new(encoder, scale).unwrap();
            let scale = bf16::from_f32(scale).to_f32();
            let want: Vec<_> = values
                .iter()
                .map(|x| {
                    // NaN loses its sign in the product's rounding to bfloat16.
                    let product = oracle::round_bf16(x.to_f32() * scale);
                    oracle::encode(encoder, product.to_f32())
                })
                .collect();
            // All inputs at once reach the tables of large arrays, a few at a time do not.
            for isa in Isa::available() {
                quantizer.quant_bf16_with(isa, &values, &mut codes).unwrap();
                assert_eq!(codes, want, "{quantizer:?} on {isa}");
                for (values, codes) in values.chunks(4099).zip(codes.chunks_mut(4099)) {
                    quantizer.quant_bf16_with(isa, values, codes).unwrap();
                }
                assert_eq!(codes, want, "{quantizer:?} on {isa}, in parts");
            }
        }
    }
}

#[test]
fn quant_of_f32_multiplies_in_f32() {
    let quantizer = Quantizer::kv_cache(Generation::Gaudi3, 1.1).unwrap();
    let values: Vec<f32> =
        (0..1u32 << 20).map(|i| f32::from_bits(i.wrapping_mul(4099).wrapping_add(i << 12))).collect();
    let want: Vec<_> = values
        .iter()
        .map(|x| oracle::encode(quantizer.encoder(), if x.is_nan() { *x } else { x * 1.1 }))
        .collect();
    let mut codes = vec![0; values.len()];
    for isa in Isa::available() {
        quantizer.quant_f32_with(isa, &values, &mut codes).unwrap();
        assert!(codes == want, "{isa}");
    }
    // The path through bfloat16 makes ties: 11.375 * 1.1 is just above 12.5, half way between 12 and 13, and 12.5 in
    // bfloat16; 14.0625 * 1.1 = 15.47 is 15.5 in bfloat16, half way between 15 and 16.
    let both = |x: f32| (quantizer.quant_one_f32(x), quantizer.quant_one_bf16(bf16::from_f32(x)));
    assert_eq!(both(11.375), (0x55, 0x54));
    assert_eq!(both(14.0625), (0x57, 0x58));
}

#[test]
fn dequant_multiplies_in_the_type_of_the_output() {
    let codes: Vec<u8> = (0..=255).collect();
    for format in oracle::formats().filter(|format| [0, 3, 7, 15, 63].contains(&format.bias)) {
        for scale in [1.0, 0.102_083_33, 0.054_687_5, 1.0 / 3.0, 1e-38, 2e-39, 1e38] {
            let dequantizer = Dequantizer::new(format, scale).unwrap();
            let factor = f64::from(bf16::from_f32(scale).to_f32());
            for isa in Isa::available() {
                let (mut words, mut floats) = (vec![bf16::ZERO; 256], vec![0f32; 256]);
                dequantizer.dequant_bf16_with(isa, &codes, &mut words).unwrap();
                dequantizer.dequant_f32_with(isa, &codes, &mut floats).unwrap();
                for code in &codes {
                    let (word, float) = (words[usize::from(*code)], floats[usize::from(*code)]);
                    let value = oracle::decode(format, *code);
                    if value.is_nan() {
                        assert_eq!((word.to_bits(), float.to_bits()), (0x7FFF, 0x7FFF_FFFF));
                        continue;
                    }
                    // Float64 holds both products exactly, so each is rounded once.
                    let product = oracle::round_bf16((value * factor) as f32);
                    assert_eq!(word.to_bits(), product.to_bits(), "{format:?} {scale} {code:#04x} {isa}");
                    let product = (value * f64::from(scale)) as f32;
                    assert_eq!(float.to_bits(), product.to_bits(), "{format:?} {scale} {code:#04x} {isa}");
                }
            }
        }
    }
}

#[test]
fn rounding_to_bf16_is_to_nearest_even() {
    let edges =
        [0u32, 1, 0x7F_FFFF, 0x80_0000, 0x3F80_8000, 0x3F81_8000, 0x7F7F_8000, 0x7F7F_7FFF, 0x7F80_0000];
    let spread = (0..1u32 << 18).map(|i| i.wrapping_mul(0x9E37_79B9));
    let values: Vec<f32> = edges
        .into_iter()
        .flat_map(|bits| (0..5).map(move |step| bits.wrapping_add(step).wrapping_sub(2)))
        .flat_map(|bits| [bits, bits | 1 << 31])
        .chain(spread)
        .map(f32::from_bits)
        .collect();
    let mut rounded = vec![bf16::ZERO; values.len()];
    for isa in Isa::available() {
        bf16_from_f32_slice_with(isa, &values, &mut rounded).unwrap();
        for (value, rounded) in values.iter().zip(&rounded) {
            let want = if value.is_nan() { bf16::from_bits(0x7FFF) } else { bf16::from_f32(*value) };
            assert_eq!(rounded.to_bits(), want.to_bits(), "{:#x} on {isa}", value.to_bits());
            assert_eq!(bf16_from_f32(*value).to_bits(), want.to_bits());
        }
    }
}

#[test]
fn amd_types_have_one_nan_and_their_own_bias() {
    for (fnuz, layout, bias, max) in
        [(Fnuz::E4M3, Layout::E4M3, 8, 240.0), (Fnuz::E5M2, Layout::E5M2, 16, 57344.0)]
    {
        let table = fnuz.decode_table();
        let codes: Vec<u8> = (0..=255).collect();
        let dequantizer = Dequantizer::from_fnuz(fnuz, 1.0).unwrap();
        for isa in Isa::available() {
            let (mut words, mut floats) = (vec![bf16::ZERO; 256], vec![0f32; 256]);
            dequantizer.dequant_bf16_with(isa, &codes, &mut words).unwrap();
            dequantizer.dequant_f32_with(isa, &codes, &mut floats).unwrap();
            for code in 0..256u32 {
                let i = code as usize;
                assert_eq!(floats[i].to_bits(), table[i]);
                assert_eq!(u32::from(words[i].to_bits()), table[i] >> 16);
                if code == 0x80 {
                    assert_eq!(table[i], 0x7FFF_FFFF);
                    continue;
                }
                let sign = if code > 0x80 { -1.0 } else { 1.0 };
                assert_eq!(
                    f64::from(floats[i]),
                    sign * oracle::ladder(layout, bias, code & 0x7F),
                    "{fnuz:?} {code:#x}"
                );
            }
        }
        assert_eq!(f32::from_bits(table[0x7F]), max);
    }
}

#[test]
fn amax_sees_every_sign_and_lets_nan_through() {
    let bf = |values: &[f32]| values.iter().map(|x| bf16::from_f32(*x)).collect::<Vec<_>>();
    assert_eq!(amax_bf16(&[]), bf16::ZERO);
    assert_eq!(amax_bf16(&bf(&[1.0, -3.5, 2.0])).to_f32(), 3.5);
    assert_eq!(amax_bf16(&bf(&[-0.0])).to_bits(), 0);
    assert_eq!(amax_bf16(&bf(&[1.0, f32::NEG_INFINITY])).to_f32(), f32::INFINITY);
    assert!(amax_bf16(&bf(&[f32::INFINITY, -f32::NAN, 1.0])).is_nan());
    assert_eq!(amax_f32(&[1.0, -3.5, 2.0]), 3.5);
    assert!(amax_f32(&[f32::INFINITY, -f32::NAN, 1.0]).is_nan());
}

#[test]
fn a_device_takes_its_own_formats_only() {
    use Generation::{Gaudi2, Gaudi3};
    for bias in 0..=255 {
        for layout in oracle::LAYOUTS {
            let gaudi2 = Format::on(Gaudi2, layout, bias, InfNan::Full);
            let takes = if layout == Layout::E4M3 {
                [3, 7, 11, 15].contains(&bias)
            } else {
                (1..=30).contains(&bias)
            };
            assert_eq!(gaudi2.is_ok(), takes, "{layout:?} {bias}");
            for inf_nan in oracle::MODES {
                let gaudi3 = Format::on(Gaudi3, layout, bias, inf_nan);
                assert_eq!(gaudi3.ok(), (bias < 64).then_some(Format { layout, bias, inf_nan }));
            }
        }
    }
    let error = Format::on(Gaudi2, Layout::E4M3, 7, InfNan::Minimal).unwrap_err();
    assert_eq!(error, Fp8Error::Mode { generation: Gaudi2, mode: InfNan::Minimal });
    assert_eq!(error.to_string(), "gaudi2 has no Inf/NaN mode Minimal; Gaudi2 always uses Full");
    let error = Format::on(Gaudi2, Layout::E4M3, 8, InfNan::Full).unwrap_err();
    assert_eq!(error.to_string(), "gaudi2 has no E4M3 format of exponent bias 8; it takes 3, 7, 11 and 15");
}

#[test]
fn lengths_and_scales_are_checked() {
    let quantizer = Quantizer::kv_cache(Generation::Gaudi2, 1.0).unwrap();
    let dequantizer = Dequantizer::new(Format::E4M3FN, 1.0).unwrap();
    let encoder = Encoder::kv_cache(Generation::Gaudi2);
    let want = Err(Fp8Error::Length { input: 3, output: 2 });
    assert_eq!(quantizer.quant_bf16(&[bf16::ZERO; 3], &mut [0; 2]), want);
    assert_eq!(quantizer.quant_f32(&[0.0; 3], &mut [0; 2]), want);
    assert_eq!(encoder.encode_bf16(&[bf16::ZERO; 3], &mut [0; 2]), want);
    assert_eq!(encoder.encode_f32(&[0.0; 3], &mut [0; 2]), want);
    assert_eq!(dequantizer.dequant_bf16(&[0; 3], &mut [bf16::ZERO; 2]), want);
    assert_eq!(dequantizer.dequant_f32(&[0; 3], &mut [0.0; 2]), want);
    assert_eq!(bf16_from_f32_slice_with(Isa::Scalar, &[0.0; 3], &mut [bf16::ZERO; 2]), want);
    // The last two are fine in float32, but Inf and zero in bfloat16.
    for scale in [0.0, -1.0, f32::INFINITY, f32::NAN, f32::MAX, f32::from_bits(1)] {
        assert!(matches!(Quantizer::new(encoder, scale), Err(Fp8Error::Scale(_))), "{scale}");
        assert!(matches!(Dequantizer::new(Format::E4M3FN, scale), Err(Fp8Error::Scale(_))), "{scale}");
    }
}

#[test]
fn biases_of_no_device_are_defined_too() {
    for bias in [64, 100, 127, 140, 255] {
        for layout in oracle::LAYOUTS {
            let format = Format { layout, bias, inf_nan: InfNan::None };
            for code in 0..=255u8 {
                let want = oracle::decode(format, code) as f32;
                assert_eq!(format.decode_bits(code), want.to_bits(), "{format:?} {code:#x}");
            }
            let values: Vec<f32> = (0..1u32 << 16).map(|i| f32::from_bits(i << 16 | i)).collect();
            let encoder = Encoder { format, rounding: Rounding::NearestEven, clip: true };
            for isa in Isa::available() {
                let mut codes = vec![0; values.len()];
                encoder.encode_f32_with(isa, &values, &mut codes).unwrap();
                for (value, code) in values.iter().zip(&codes) {
                    assert_eq!(*code, oracle::encode(encoder, *value), "{encoder:?} of {value:e}");
                }
            }
        }
    }
}

/// Each head is converted as if it lay alone.
#[test]
fn heads_convert_as_if_they_lay_alone() {
    let values: Vec<bf16> = (0..60).map(|i| bf16::from_f32(i as f32 - 30.0)).collect();
    let heads = [0.5, 3.0, 7.5].map(|scale| Quantizer::kv_cache(Generation::Gaudi2, scale).unwrap());
    let mut codes = vec![0; 60];
    Quantizer::quant_heads_bf16(&heads, 5, &values, &mut codes).unwrap();
    for (at, (value, code)) in values.iter().zip(&codes).enumerate() {
        assert_eq!(*code, heads[at % 15 / 5].quant_one_bf16(*value), "element {at}");
    }
    let cut = Quantizer::quant_heads_bf16(&heads, 7, &values, &mut codes);
    assert_eq!(cut, Err(Fp8Error::Rows { len: 60, row: 21 }));
    assert!(Quantizer::quant_heads_bf16(&[], 5, &values, &mut codes).is_err());
}

/// Enough values that conversions by table pay: every bfloat16 in every head, pieces that are no whole registers, a last
/// block of rows that is not full, and scales (the second pair) for which there are no tables.
#[test]
fn long_runs_of_heads_convert_as_if_they_lay_alone() {
    let (dim, all) = (70, all_bf16());
    let rows = all.len().div_ceil(dim);
    for scales in [[0.37, 200.0, 1.0], [0.37, 1e-38, 1.0]] {
        let heads = scales.map(|scale| Quantizer::kv_cache(Generation::Gaudi3, scale).unwrap());
        let value = |at: usize| all[(at / (3 * dim) * dim + at % dim) % all.len()];
        let values: Vec<bf16> = (0..rows * 3 * dim).map(value).collect();
        let mut codes = vec![0; values.len()];
        Quantizer::quant_heads_bf16(&heads, dim, &values, &mut codes).unwrap();
        for (at, (value, code)) in values.iter().zip(&codes).enumerate() {
            let expected = heads[at % (3 * dim) / dim].quant_one_bf16(*value);
            assert_eq!(*code, expected, "element {at}, {value:e}, {scales:?}");
        }
    }
}
