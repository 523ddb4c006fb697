//! Every instruction set gives the portable one's bits on any input, length and alignment; and it can be chosen.
#![allow(clippy::unwrap_used, reason = "a failure here is the test failing")]

mod fp8_oracle;

use fp8_oracle::{LAYOUTS, MODES};
use gaudi_numerics::Generation;
use gaudi_numerics::fp8::{
    Dequantizer, Encoder, Format, Isa, Quantizer, Rerange, Rounding, bf16_from_f32_slice_with,
    scan_codes_with,
};
use half::bf16;
use proptest::prelude::*;

fn format() -> impl Strategy<Value = Format> {
    (0..2usize, 0..64u8, 0..3usize).prop_map(|(layout, bias, mode)| Format {
        layout: LAYOUTS[layout],
        bias,
        inf_nan: MODES[mode],
    })
}

fn encoder() -> impl Strategy<Value = Encoder> {
    (format(), any::<bool>(), any::<bool>()).prop_map(|(format, nearest, clip)| Encoder {
        format,
        rounding: if nearest { Rounding::NearestEven } else { Rounding::TowardZero },
        clip,
    })
}

fn scale() -> impl Strategy<Value = f32> {
    prop_oneof![0.001f32..1000.0, (-100i32..100).prop_map(|e| 2f32.powi(e)), Just(1e-38), Just(3e38)]
}

/// Float32 bits: anything, near a code of some format or half way between two, and the ends of the range.
fn bits() -> impl Strategy<Value = u32> {
    let near = (format(), any::<u8>(), -2i32..=2, any::<bool>()).prop_map(|(format, code, step, half)| {
        let bits = format.decode_bits(code);
        let bits = if half { bits.wrapping_add(1 << (22 - format.layout.mantissa_bits())) } else { bits };
        bits.wrapping_add_signed(step)
    });
    let ends = prop::sample::select(vec![
        0,
        1,
        0x7F_FFFF,
        0x80_0000,
        0x7F7F_FFFF,
        0x7F80_0000,
        0x7F80_0001,
        0x7FC0_0000,
        0x7FFF_FFFF,
    ]);
    prop_oneof![any::<u32>(), near, (ends, any::<bool>()).prop_map(|(b, s)| b | u32::from(s) << 31)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn encoders_agree(encoder in encoder(), scale in scale(), bits in prop::collection::vec(bits(), 0..300),
                      from in 0..64usize, to in 0..64usize) {
        let values: Vec<f32> = std::iter::repeat_n(0, from).chain(bits).map(f32::from_bits).collect();
        let words: Vec<bf16> = values.iter().map(|v| bf16::from_bits((v.to_bits() >> 16) as u16)).collect();
        let (values, words) = (&values[from..], &words[from..]);
        let quantizer = Quantizer::new(encoder, scale).unwrap();
        let run = |isa: Isa| {
            let mut outputs = [(); 4].map(|()| vec![0xA5u8; to + values.len() + 64]);
            let range = to..to + values.len();
            let [a, b, c, d] = &mut outputs;
            encoder.encode_f32_with(isa, values, &mut a[range.clone()]).unwrap();
            encoder.encode_bf16_with(isa, words, &mut b[range.clone()]).unwrap();
            quantizer.quant_f32_with(isa, values, &mut c[range.clone()]).unwrap();
            quantizer.quant_bf16_with(isa, words, &mut d[range.clone()]).unwrap();
            let mut rounded = vec![bf16::ONE; to + values.len() + 64];
            bf16_from_f32_slice_with(isa, values, &mut rounded[range]).unwrap();
            (outputs, rounded.iter().map(|v| v.to_bits()).collect::<Vec<_>>())
        };
        let want = run(Isa::Scalar);
        for isa in Isa::available() {
            prop_assert_eq!(run(isa), want.clone(), "{}", isa);
        }
    }

    #[test]
    fn decoders_agree(format in format(), target in format(), scale in scale(),
                      codes in prop::collection::vec(any::<u8>(), 0..600), from in 0..64usize, to in 0..32usize) {
        let codes: Vec<u8> = std::iter::repeat_n(0, from).chain(codes).collect();
        let len = codes.len() - from;
        let dequantizer = Dequantizer::new(format, scale).unwrap();
        let rerange = Rerange::new(format, target, scale).unwrap();
        let run = |isa: Isa| {
            let range = to..to + len;
            let mut words = vec![bf16::ONE; to + len + 64];
            dequantizer.dequant_bf16_with(isa, &codes[from..], &mut words[range.clone()]).unwrap();
            let mut floats = vec![1f32; to + len + 64];
            dequantizer.dequant_f32_with(isa, &codes[from..], &mut floats[range]).unwrap();
            let mut new = codes.clone();
            let counts = rerange.apply_with(isa, &mut new[from..]);
            let words: Vec<_> = words.iter().map(|v| v.to_bits()).collect();
            let floats: Vec<_> = floats.iter().map(|v| v.to_bits()).collect();
            (words, floats, new, counts, scan_codes_with(isa, &codes[from..]))
        };
        let want = run(Isa::Scalar);
        prop_assert_eq!(want.3.exact + want.3.rounded + want.3.flushed + want.3.saturated + want.3.nan, len as u64);
        for isa in Isa::available() {
            prop_assert_eq!(run(isa), want.clone(), "{}", isa);
        }
    }
}

/// Large outputs are written around the cache, line by line, from wherever they start.
#[test]
fn large_arrays_agree_at_every_alignment() {
    let len = (8 << 20) + 777;
    let bits: Vec<u32> = (0..len as u32 + 64).map(|i| i.wrapping_mul(0x9E37_79B9) ^ i << 7).collect();
    let values: Vec<f32> = bits.iter().map(|bits| f32::from_bits(*bits)).collect();
    let words: Vec<bf16> = bits.iter().map(|bits| bf16::from_bits((bits >> 16) as u16)).collect();
    let codes: Vec<u8> = bits.iter().map(|bits| (bits >> 13) as u8).collect();
    let encoder = Encoder { clip: false, ..Encoder::kv_cache(Generation::Gaudi3) };
    let quantizer = Quantizer::new(encoder, 1.7).unwrap();
    let slow = Quantizer::new(Encoder { rounding: Rounding::TowardZero, ..encoder }, 1.7).unwrap();
    let dequantizer = Dequantizer::new(encoder.format, 0.3).unwrap();
    let run = |isa: Isa, at: usize| {
        let mut code = vec![0u8; len + 64];
        let (mut word, mut float) = (vec![bf16::ZERO; len + 64], vec![0f32; len + 64]);
        let (to, from) = (at..at + len, 63 - at..63 - at + len);
        let mut sums = Vec::new();
        let mut sum = |bytes: &mut dyn Iterator<Item = u64>| {
            sums.push(bytes.fold(0u64, |sum, x| sum.wrapping_mul(0x0100_0000_01B3).wrapping_add(x)));
        };
        quantizer.quant_bf16_with(isa, &words[from.clone()], &mut code[to.clone()]).unwrap();
        sum(&mut code.iter().map(|x| u64::from(*x)));
        slow.quant_bf16_with(isa, &words[from.clone()], &mut code[to.clone()]).unwrap();
        sum(&mut code.iter().map(|x| u64::from(*x)));
        quantizer.quant_f32_with(isa, &values[from.clone()], &mut code[to.clone()]).unwrap();
        sum(&mut code.iter().map(|x| u64::from(*x)));
        bf16_from_f32_slice_with(isa, &values[from.clone()], &mut word[to.clone()]).unwrap();
        sum(&mut word.iter().map(|x| u64::from(x.to_bits())));
        dequantizer.dequant_bf16_with(isa, &codes[from.clone()], &mut word[to.clone()]).unwrap();
        sum(&mut word.iter().map(|x| u64::from(x.to_bits())));
        dequantizer.dequant_f32_with(isa, &codes[from], &mut float[to]).unwrap();
        sum(&mut float.iter().map(|x| u64::from(x.to_bits())));
        sums
    };
    for at in [0, 1, 31, 63] {
        let want = run(Isa::Scalar, at);
        for isa in Isa::available() {
            assert_eq!(run(isa, at), want, "{isa} at {at}");
        }
    }
}

#[test]
#[ignore = "prints for dispatch_follows_the_environment, which runs it in processes of its own"]
fn print_active_isa() {
    println!("active={} from_env={:?}", Isa::active(), Isa::from_env());
}

#[test]
fn dispatch_follows_the_environment() {
    let active_under = |value: Option<&str>| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "print_active_isa", "--ignored", "--nocapture"]).env_remove(Isa::ENV);
        if let Some(value) = value {
            command.env(Isa::ENV, value);
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let best = *Isa::available().last().unwrap();
    assert!(active_under(None).contains(&format!("active={best} ")));
    assert!(active_under(Some("")).contains(&format!("active={best} ")));
    for isa in Isa::available() {
        assert!(active_under(Some(&isa.to_string())).contains(&format!("active={isa} ")), "{isa}");
    }
    let wrong = active_under(Some("sse9"));
    assert!(wrong.contains(&format!("active={best} ")) && wrong.contains("Unknown(\"sse9\")"), "{wrong}");
    if let Some(missing) = [Isa::Neon, Isa::Avx512].into_iter().find(|isa| !isa.is_available()) {
        let refused = active_under(Some(&missing.to_string()));
        assert!(refused.contains(&format!("active={best} ")) && refused.contains("Unavailable"), "{refused}");
    }
}
