//! Weight and activation scales, multiplied element by element.

use half::{bf16, f16};
use safetensors::Dtype;

/// The type that a scale has after it was multiplied by `factor`: its own where that holds every product, else float32.
/// `None` where neither will do: the type is no scale's, or an exponent is to be multiplied by what is no power of two.
pub(super) fn dtype_after(dtype: Dtype, factor: f64) -> Option<Dtype> {
    let is_power_of_two = factor == 2.0 || factor == 0.5;
    match dtype {
        Dtype::F64 | Dtype::F32 => Some(dtype),
        // bfloat16 has the exponents of float32.
        Dtype::BF16 => Some(if is_power_of_two { dtype } else { Dtype::F32 }),
        // Half of a denormal float16 may not be one.
        Dtype::F16 => Some(if factor == 2.0 { dtype } else { Dtype::F32 }),
        Dtype::F8_E8M0 => is_power_of_two.then_some(dtype),
        _ => None,
    }
}

/// Multiplies unaligned little-endian scales, from `bytes` of type `from` to `out` of type `to`, each product rounded
/// once. The result is the first number that was finite and is not any more.
pub(super) fn multiply(
    bytes: &[u8],
    from: Dtype,
    to: Dtype,
    factor: f64,
    out: &mut Vec<u8>,
) -> Result<(), f64> {
    out.clear();
    let widths = (from.bitsize() / 8, to.bitsize() / 8);
    for element in bytes.chunks_exact(widths.0.max(1)) {
        let x = read(from, element);
        write(to, x * factor, x.is_finite(), out).ok_or(x)?;
    }
    Ok(())
}

fn read(dtype: Dtype, bytes: &[u8]) -> f64 {
    match (dtype, bytes) {
        (Dtype::F64, &[a, b, c, d, e, f, g, h]) => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
        (Dtype::F32, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
        (Dtype::BF16, &[a, b]) => bf16::from_le_bytes([a, b]).to_f64(),
        (Dtype::F16, &[a, b]) => f16::from_le_bytes([a, b]).to_f64(),
        (Dtype::F8_E8M0, &[0xFF]) => f64::NAN,
        (Dtype::F8_E8M0, &[code]) => (f64::from(code) - 127.0).exp2(),
        _ => f64::NAN,
    }
}

/// Appends a number; `None` where it must be finite and the type has no such number.
fn write(dtype: Dtype, x: f64, must_be_finite: bool, out: &mut Vec<u8>) -> Option<()> {
    let is_finite = match dtype {
        Dtype::F64 => {
            out.extend(x.to_le_bytes());
            x.is_finite()
        }
        Dtype::BF16 => {
            out.extend(bf16::from_f64(x).to_le_bytes());
            bf16::from_f64(x).is_finite()
        }
        Dtype::F16 => {
            out.extend(f16::from_f64(x).to_le_bytes());
            f16::from_f64(x).is_finite()
        }
        Dtype::F8_E8M0 => {
            let exponent = x.log2() + 127.0;
            let fits = (0.0..255.0).contains(&exponent);
            out.push(if fits { exponent as u8 } else { 0xFF });
            fits
        }
        _ => {
            out.extend((x as f32).to_le_bytes());
            (x as f32).is_finite()
        }
    };
    (is_finite || !must_be_finite).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(bytes: &[u8], from: Dtype, factor: f64) -> Result<Vec<u8>, f64> {
        let mut out = Vec::new();
        multiply(bytes, from, dtype_after(from, factor).unwrap(), factor, &mut out).map(|()| out)
    }

    #[test]
    fn doubling_keeps_the_type_and_is_exact() {
        // 0x3C23 is bfloat16 for 0.00994873; one exponent more is 0x3CA3.
        assert_eq!(run(&[0x23, 0x3C], Dtype::BF16, 2.0), Ok(vec![0xA3, 0x3C]));
        assert_eq!(run(&[0x01, 0x00], Dtype::F16, 2.0), Ok(vec![0x02, 0x00]));
        assert_eq!(run(&0.1f32.to_le_bytes(), Dtype::F32, 2.0), Ok(0.2f32.to_le_bytes().to_vec()));
        assert_eq!(run(&[127, 0xFF, 0], Dtype::F8_E8M0, 2.0), Ok(vec![128, 0xFF, 1]));
    }

    #[test]
    fn what_the_type_cannot_hold_becomes_float32() {
        assert_eq!(run(&[0x01, 0x00], Dtype::F16, 0.5), Ok(2f32.powi(-25).to_le_bytes().to_vec()));
        // 1.0 * 28/15
        assert_eq!(run(&[0x80, 0x3F], Dtype::BF16, 28.0 / 15.0), Ok(1.866_666_7f32.to_le_bytes().to_vec()));
        assert_eq!(dtype_after(Dtype::F8_E8M0, 28.0 / 15.0), None);
        assert_eq!(dtype_after(Dtype::I32, 2.0), None);
    }

    #[test]
    fn what_leaves_the_range_is_said() {
        assert_eq!(run(&[0xFF, 0x7B], Dtype::F16, 2.0), Err(65504.0));
        assert_eq!(run(&[254], Dtype::F8_E8M0, 2.0), Err(127f64.exp2()));
        assert!(run(&[0], Dtype::F8_E8M0, 0.5).is_err());
        assert_eq!(run(&[0xC0, 0x7F], Dtype::BF16, 2.0), Ok(vec![0xC0, 0x7F]));
    }
}
