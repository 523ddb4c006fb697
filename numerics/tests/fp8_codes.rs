//! Re-ranging, scanning and aligning.

mod fp8_oracle;

use fp8_oracle as oracle;
use gaudi_numerics::Generation::{Gaudi2, Gaudi3};
use gaudi_numerics::fp8::{
    AlignedScale, CodeScan, Encoder, Format, Fp8Error, InfNan, Isa, Rerange, RerangeCounts, Rounding,
    align_dequant_scale, scan_codes, scan_codes_with,
};

fn all_codes() -> Vec<u8> {
    (0..=255).collect()
}

#[test]
fn halving_fits_gaudi2_and_says_what_it_lost() {
    for isa in Isa::available() {
        let mut codes = all_codes();
        let counts = Rerange::halve_for_gaudi2().apply_with(isa, &mut codes);
        // By hand, per sign. 0x10 (2^-5) and above only lower the exponent: 111 codes. Below 2^-5 the result is
        // denormal in steps of 2^-9: of 0x00 to 0x0F the 8 even ones are exact, 0x01 is a tie that goes to zero, and
        // 0x03 to 0x0F leave 7 odd ones to be rounded. 0x7F is NaN.
        assert_eq!(
            counts,
            RerangeCounts { exact: 2 * (111 + 8), rounded: 2 * 7, flushed: 2, saturated: 0, nan: 2 }
        );
        for (old, new) in [
            (0x00, 0x00),
            (0x80, 0x80),
            (0x01, 0x00),
            (0x81, 0x80),
            (0x02, 0x01),
            (0x03, 0x02),
            (0x05, 0x02),
            (0x07, 0x04),
            (0x08, 0x04),
            (0x0F, 0x08),
            (0x10, 0x08),
            (0x38, 0x30),
            (0x78, 0x70),
            (0x7E, 0x76),
            (0xFE, 0xF6),
            (0x7F, 0x7F),
            (0xFF, 0xFF),
        ] {
            assert_eq!(codes[old], new, "{old:#04x} on {isa}");
        }
        assert_eq!(scan_codes_with(isa, &codes), CodeScan { above_gaudi2_max: 2, nan: 2 });
    }
}

#[test]
fn doubling_undoes_halving_where_that_was_exact() {
    let mut codes = all_codes();
    Rerange::halve_for_gaudi2().apply(&mut codes);
    let counts = Rerange::double_from_gaudi2().apply(&mut codes);
    assert_eq!(counts.saturated + counts.rounded + counts.flushed, 0);
    for (code, back) in all_codes().into_iter().zip(codes) {
        if code & 0x7F >= 0x10 || code % 2 == 0 {
            assert_eq!(back, code);
        }
    }
    // 240 twice is 480, beyond 448; Gaudi2's Inf saturates; its NaN codes become the one NaN of e4m3fn.
    let mut codes = [0x77, 0xF7, 0x76, 0x70, 0x78, 0xF8, 0x79, 0xFE, 0x7F];
    let counts = Rerange::double_from_gaudi2().apply(&mut codes);
    assert_eq!(codes, [0x7E, 0xFE, 0x7E, 0x78, 0x7E, 0xFE, 0x7F, 0xFF, 0x7F]);
    assert_eq!(counts, RerangeCounts { exact: 2, rounded: 0, flushed: 0, saturated: 4, nan: 3 });
}

#[test]
fn any_factor_rounds_once_and_counts_by_value() {
    for (from, to, factor) in [
        (Format::E4M3FN, Format::kv_cache(Gaudi2), 240.0 / 448.0f32),
        (Format::E4M3FN, Format::kv_cache(Gaudi2), 1.0),
        (Format::kv_cache(Gaudi2), Format::E4M3FN, 448.0 / 240.0),
        (Format::E4M3FN, Format::E5M2, 1.3),
        (Format::E5M2, Format { inf_nan: InfNan::None, ..Format::E4M3FN }, 0.01),
        (Format::E4M3FN, Format::kv_cache(Gaudi2), 1e-6),
    ] {
        let encoder = Encoder { format: to, rounding: Rounding::NearestEven, clip: true };
        let mut want = RerangeCounts::default();
        let mut codes = all_codes();
        let new: Vec<u8> = codes
            .iter()
            .map(|code| {
                let value = oracle::decode(from, *code);
                if value.is_nan() {
                    want.nan += 1;
                    return 0x7F | code & 0x80;
                }
                let product = value as f32 * factor;
                let new = oracle::encode(encoder, product);
                let (back, product) = (oracle::decode(to, new), f64::from(product));
                let max = oracle::ladder(to.layout, to.bias, u32::from(to.max_code()));
                let next = oracle::ladder(to.layout, to.bias, u32::from(to.max_code()) + 1);
                let tie = (max + next) / 2.0;
                let beyond = product.abs() > tie || (product.abs() == tie && to.max_code() % 2 == 1);
                *(if beyond {
                    &mut want.saturated
                } else if back == product {
                    &mut want.exact
                } else if back == 0.0 {
                    &mut want.flushed
                } else {
                    &mut want.rounded
                }) += 1;
                new
            })
            .collect();
        let counts = Rerange::new(from, to, factor).unwrap().apply(&mut codes);
        assert_eq!((codes, counts), (new, want), "{from:?} {to:?} {factor}");
    }
    // The largest value of one range becomes exactly the largest of the other.
    let mut codes = [0x7E];
    let rerange = Rerange::new(Format::E4M3FN, Format::kv_cache(Gaudi2), 240.0 / 448.0).unwrap();
    assert_eq!(rerange.apply(&mut codes).exact, 1);
    assert_eq!(codes, [0x77]);
    assert!(matches!(
        Rerange::new(Format::E4M3FN, Format::E4M3FN, f32::NAN),
        Err(Fp8Error::Scale(factor)) if factor.is_nan()
    ));
}

#[test]
fn scan_finds_one_code_anywhere() {
    assert_eq!(scan_codes(&[]), CodeScan::default());
    let mut codes: Vec<u8> = (0..1500u32).map(|i| (i * 7 % 0x78) as u8 | (i as u8) << 7).collect();
    for isa in Isa::available() {
        assert_eq!(scan_codes_with(isa, &codes), CodeScan::default());
        for at in 0..codes.len() {
            let kept = codes[at];
            for (code, nan) in [(0x78, 0), (0xFE, 0), (0x7F, 1), (0xFF, 1)] {
                codes[at] = code;
                assert_eq!(scan_codes_with(isa, &codes), CodeScan { above_gaudi2_max: 1, nan }, "{isa} {at}");
                let (before, after) =
                    (scan_codes_with(isa, &codes[..at]), scan_codes_with(isa, &codes[at + 1..]));
                assert_eq!((before, after), Default::default());
            }
            codes[at] = kept;
        }
        let all: Vec<u8> = all_codes().repeat(9);
        assert_eq!(scan_codes_with(isa, &all), CodeScan { above_gaudi2_max: 9 * 16, nan: 9 * 2 });
    }
}

#[test]
fn scales_align_upward_to_what_the_device_folds() {
    let fine = |scale, bias| AlignedScale { scale, bias, clamped: false };
    for (generation, scale, want) in [
        (Gaudi2, 0.102_083, fine(1.0, 7)),
        (Gaudi2, 1.866_667, fine(16.0, 3)),
        (Gaudi2, 1.0, fine(1.0, 7)),
        (Gaudi2, 0.054_687_5, fine(0.0625, 11)),
        (Gaudi2, 0.003, fine(0.003_906_25, 15)),
        (Gaudi2, 1e-9, fine(0.003_906_25, 15)),
        (Gaudi2, 16.0, fine(16.0, 3)),
        (Gaudi2, 17.0, AlignedScale { scale: 16.0, bias: 3, clamped: true }),
        (Gaudi3, 0.054_687_5, fine(0.0625, 11)),
        (Gaudi3, 0.0625, fine(0.0625, 11)),
        (Gaudi3, 128.0, fine(128.0, 0)),
        (Gaudi3, 129.0, AlignedScale { scale: 128.0, bias: 0, clamped: true }),
        (Gaudi3, 1e-30, fine(2f32.powi(-56), 63)),
    ] {
        let aligned = align_dequant_scale(generation, scale).unwrap();
        assert_eq!(aligned, want, "{generation} {scale}");
        // The bias means the scale: every finite code times it.
        let (folded, plain) = (aligned.format(generation), Format::kv_cache(generation));
        for code in 0..=plain.max_code() {
            assert_eq!(oracle::decode(folded, code), oracle::decode(plain, code) * f64::from(aligned.scale));
        }
        assert!(Format::on(generation, folded.layout, folded.bias, folded.inf_nan).is_ok());
    }
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(matches!(align_dequant_scale(Gaudi2, scale), Err(Fp8Error::Scale(_))));
    }
}
