//! Every float32 through the default encoders.
#![allow(clippy::unwrap_used, reason = "a failure here is the test failing")]

mod fp8_oracle;

use fp8_oracle::{ends, ladder};
use gaudi_numerics::Generation;
use gaudi_numerics::fp8::{Encoder, Format, Isa, Rounding};

const CHUNK: usize = 1 << 20;

/// Compares every float32 on one instruction set with a walk up the sorted thresholds between codes.
fn check_all(encoder: Encoder, isa: Isa) -> u64 {
    let format = encoder.format;
    let ends = ends(encoder);
    let top = u32::from(ends.max) + 1;
    // The largest magnitude that is still rounded to each code, in order: half way to the next, or just below.
    let last: Vec<f32> = (0..top)
        .map(|code| {
            let tie = (ladder(format.layout, format.bias, code)
                + ladder(format.layout, format.bias, code + 1))
                / 2.0;
            let exact = tie as f32;
            assert_eq!(f64::from(exact), tie);
            if code % 2 == 0 { exact } else { exact.next_down() }
        })
        .collect();
    let (mut values, mut want, mut got) = (vec![0f32; CHUNK], vec![0u8; CHUNK], vec![0u8; CHUNK]);
    let mut compared = 0;
    for sign in [0u32, 1 << 31] {
        let mut code = 0usize;
        for start in (0..1u32 << 31).step_by(CHUNK) {
            for (i, (value, want)) in values.iter_mut().zip(&mut want).enumerate() {
                let magnitude = f32::from_bits(start + i as u32);
                *value = f32::from_bits(magnitude.to_bits() | sign);
                while code < last.len() && magnitude > last[code] {
                    code += 1;
                }
                let signed = |code: u8| code | (sign >> 24) as u8;
                *want = if magnitude.is_nan() {
                    ends.nan[(sign >> 31) as usize]
                } else if magnitude.is_infinite() {
                    signed(ends.inf)
                } else if code == last.len() {
                    signed(ends.overflow)
                } else {
                    signed(code as u8)
                };
            }
            encoder.encode_f32_with(isa, &values, &mut got).unwrap();
            if got != want {
                let i = got.iter().zip(&want).position(|(got, want)| got != want).unwrap();
                let (bits, got, want) = (values[i].to_bits(), got[i], want[i]);
                panic!("{encoder:?} on {isa}: {bits:#010x} gives {got:#04x}, not {want:#04x}");
            }
            compared += CHUNK as u64;
        }
    }
    compared
}

#[test]
#[ignore = "takes minutes even in a release build: every float32 through six encoders on each instruction set"]
fn every_f32_through_the_default_encoders() {
    let formats = [Format::kv_cache(Generation::Gaudi2), Format::kv_cache(Generation::Gaudi3), Format::E5M2];
    for isa in Isa::available() {
        for format in formats {
            for clip in [true, false] {
                let start = std::time::Instant::now();
                let compared = check_all(Encoder { format, rounding: Rounding::NearestEven, clip }, isa);
                let seconds = start.elapsed().as_secs_f64();
                println!("{isa} {format:?} clip {clip}: compared {compared} values in {seconds:.1} s");
            }
        }
    }
}
