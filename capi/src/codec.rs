//! FP8 codecs: from float32 and bfloat16 to codes and back, with and without a scale.

use half::bf16;
use kv::Generation;
use kv::fp8::{Dequantizer, Encoder, Fnuz, Format, InfNan, Layout, Quantizer, Rounding};

use crate::failure::Failure;
use crate::inspect::{check_flags, choice};
use crate::last_error::{barrier, quiet_barrier};
use crate::pointer::{self, bytes_of, check_disjoint};
use crate::status::gaudi_kv_status;
use crate::structure::{self, Structure, field_end};

/// The layout, exponent bias and Inf/NaN mode that the options give.
pub const GAUDI_KV_FORMAT_CUSTOM: i32 = 1;
/// The e4m3 of a Gaudi2's KV cache: bias 7, up to 240, Inf and NaN from 0x78 on.
pub const GAUDI_KV_FORMAT_GAUDI2: i32 = 2;
/// The e4m3 of a Gaudi3's KV cache, and OCP e4m3fn, which checkpoints store: bias 7, up to 448, NaN at 0x7F.
pub const GAUDI_KV_FORMAT_GAUDI3: i32 = 3;
/// The default e5m2 of both generations: bias 15, up to 57344, with Inf and NaN.
pub const GAUDI_KV_FORMAT_E5M2: i32 = 4;
/// AMD's e4m3fnuz, for reading: bias 8, up to 240, NaN at 0x80.
pub const GAUDI_KV_FORMAT_E4M3_FNUZ: i32 = 5;
/// AMD's e5m2fnuz, for reading: bias 16, up to 57344, NaN at 0x80.
pub const GAUDI_KV_FORMAT_E5M2_FNUZ: i32 = 6;

/// Sign, 4 exponent bits, 3 mantissa bits.
pub const GAUDI_KV_LAYOUT_E4M3: i32 = 1;
/// Sign, 5 exponent bits, 2 mantissa bits.
pub const GAUDI_KV_LAYOUT_E5M2: i32 = 2;

/// An exponent field of ones is Inf with mantissa 0, else NaN. Gaudi2 always.
pub const GAUDI_KV_INF_NAN_FULL: i32 = 0;
/// Every code is finite.
pub const GAUDI_KV_INF_NAN_NONE: i32 = 1;
/// Only 0x7F and 0xFF are NaN, and there is no Inf. Gaudi3's casts.
pub const GAUDI_KV_INF_NAN_MINIMAL: i32 = 2;

/// To the nearer code, ties to the even one, denormals included.
pub const GAUDI_KV_ROUND_NEAREST_EVEN: i32 = 0;
/// To the code of smaller magnitude.
pub const GAUDI_KV_ROUND_TOWARD_ZERO: i32 = 1;

/// What overflows becomes what the format has for it, Inf or NaN, instead of the largest finite value.
pub const GAUDI_KV_CODEC_NO_CLIP: u32 = 1;

/// A conversion. Input; the fields up to `rounding` are required, and zeros are the defaults of the others.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct gaudi_kv_codec_options {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// One of `GAUDI_KV_FORMAT_*`.
    pub format: i32,
    /// One of `GAUDI_KV_ROUND_*`, for encoding.
    pub rounding: i32,
    /// Multiplies before encoding; 0 for no scale, else finite and positive also when rounded to bfloat16.
    pub quant: f32,
    /// Multiplies after decoding; 0 for no scale, else as above.
    pub dequant: f32,
    /// `GAUDI_KV_CODEC_*`, or-ed.
    pub flags: u32,
    /// The layout of `GAUDI_KV_FORMAT_CUSTOM`: one of `GAUDI_KV_LAYOUT_*`.
    pub layout: i32,
    /// The Inf/NaN mode of `GAUDI_KV_FORMAT_CUSTOM`: one of `GAUDI_KV_INF_NAN_*`.
    pub inf_nan: i32,
    /// The exponent bias of `GAUDI_KV_FORMAT_CUSTOM`, 0 to 63; an exponent field `e > 0` stands for `2^(e - bias)`.
    pub bias: u32,
}

// SAFETY: plain C data that begins with `struct_size`.
unsafe impl Structure for gaudi_kv_codec_options {
    const NAME: &'static str = "gaudi_kv_codec_options";
    const REQUIRED: usize = field_end!(gaudi_kv_codec_options, rounding);
    const WHOLE: usize = field_end!(gaudi_kv_codec_options, bias);
}

/// A conversion, made once for many arrays. It never changes; several threads may use it.
#[derive(Debug)]
pub struct gaudi_kv_codec {
    encode: Encode,
    decode: Dequantizer,
}

#[derive(Debug)]
enum Encode {
    Plain(Encoder),
    Scaled(Quantizer),
    /// An AMD type.
    ReadOnly,
}

impl gaudi_kv_codec_options {
    fn custom(&self) -> Result<Format, Failure> {
        let layouts = [(GAUDI_KV_LAYOUT_E4M3, Layout::E4M3), (GAUDI_KV_LAYOUT_E5M2, Layout::E5M2)];
        let modes = [
            (GAUDI_KV_INF_NAN_FULL, InfNan::Full),
            (GAUDI_KV_INF_NAN_NONE, InfNan::None),
            (GAUDI_KV_INF_NAN_MINIMAL, InfNan::Minimal),
        ];
        let (layout, inf_nan) =
            (choice("layout", self.layout, &layouts)?, choice("inf_nan", self.inf_nan, &modes)?);
        match u8::try_from(self.bias) {
            Ok(bias) if bias <= 63 => Ok(Format { layout, bias, inf_nan }),
            _ => Err(Failure::argument(format!("bias is {}; known are 0 to 63", self.bias))),
        }
    }

    fn format(&self) -> Result<Result<Format, Fnuz>, Failure> {
        Ok(match self.format {
            GAUDI_KV_FORMAT_CUSTOM => Ok(self.custom()?),
            GAUDI_KV_FORMAT_GAUDI2 => Ok(Format::kv_cache(Generation::Gaudi2)),
            GAUDI_KV_FORMAT_GAUDI3 => Ok(Format::kv_cache(Generation::Gaudi3)),
            GAUDI_KV_FORMAT_E5M2 => Ok(Format::E5M2),
            GAUDI_KV_FORMAT_E4M3_FNUZ => Err(Fnuz::E4M3),
            GAUDI_KV_FORMAT_E5M2_FNUZ => Err(Fnuz::E5M2),
            other => {
                return Err(Failure::argument(format!(
                    "format is {other}; known are GAUDI_KV_FORMAT_* (1 to 6)"
                )));
            }
        })
    }

    fn codec(&self) -> Result<gaudi_kv_codec, Failure> {
        check_flags(self.flags, GAUDI_KV_CODEC_NO_CLIP)?;
        let roundings = [
            (GAUDI_KV_ROUND_NEAREST_EVEN, Rounding::NearestEven),
            (GAUDI_KV_ROUND_TOWARD_ZERO, Rounding::TowardZero),
        ];
        let rounding = choice("rounding", self.rounding, &roundings)?;
        let clip = self.flags & GAUDI_KV_CODEC_NO_CLIP == 0;
        let has = |scale: f32| scale != 0.0;
        Ok(match self.format()? {
            Ok(format) => {
                let encoder = Encoder { format, rounding, clip };
                gaudi_kv_codec {
                    encode: match has(self.quant) {
                        true => Encode::Scaled(Quantizer::new(encoder, self.quant)?),
                        false => Encode::Plain(encoder),
                    },
                    decode: match has(self.dequant) {
                        true => Dequantizer::new(format, self.dequant)?,
                        false => Dequantizer::unscaled(format),
                    },
                }
            }
            Err(fnuz) => {
                // Nothing is encoded, but what is no factor is refused as it is for other formats.
                if has(self.quant) {
                    Dequantizer::from_fnuz(fnuz, self.quant)?;
                }
                let dequant = if has(self.dequant) { self.dequant } else { 1.0 };
                gaudi_kv_codec { encode: Encode::ReadOnly, decode: Dequantizer::from_fnuz(fnuz, dequant)? }
            }
        })
    }
}

/// A conversion to be used for any number of arrays. To be freed with `gaudi_kv_codec_free`.
///
/// Returns `GAUDI_KV_INVALID_ARGUMENT` for a format, layout, mode, bias or rounding that there is none of, and
/// `GAUDI_KV_INVALID_FACTOR` for a scale that is not finite and positive, in float32 or rounded to bfloat16.
///
/// # Safety
/// `options` is null or points to a structure of the size that it says. `out` is null or points to a pointer, which is
/// set; to null where the call fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_codec_create(
    options: *const gaudi_kv_codec_options,
    out: *mut *mut gaudi_kv_codec,
) -> gaudi_kv_status {
    let make = || {
        // SAFETY: the caller promises that `options` is null or a structure of the size that it says.
        unsafe { structure::read(options) }?.codec()
    };
    // SAFETY: the caller promises that `out` is null or can be written.
    barrier(|| unsafe { pointer::hand_out(out, make) })
}

fn read_only() -> Failure {
    Failure::unsupported("AMD's types are for reading; nothing is encoded to them")
}

/// Encodes `len` float32 values: `fp8(x * quant)`, the product in float32. Signs stay, also of what becomes zero;
/// denormal codes are produced. What lies beyond the largest finite value, Inf included, becomes that value unless the
/// codec does not clip. NaN becomes 0x7F, where only 0x7F and 0xFF are NaN with its sign.
///
/// Returns `GAUDI_KV_UNSUPPORTED` for AMD's formats, and `GAUDI_KV_INVALID_ARGUMENT` where the arrays overlap. Nothing
/// is written then.
///
/// # Safety
/// `codec` is null or a codec. `values` and `codes` point to `len` elements; null is for none. Nobody changes `values`
/// or uses `codes` during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_codec_encode_f32(
    codec: *const gaudi_kv_codec,
    values: *const f32,
    codes: *mut u8,
    len: usize,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live codec or null, `len` values that nobody changes and `len` codes that
        // nobody uses.
        let (codec, values, codes) = unsafe { operands(codec, ("values", values), ("codes", codes), len) }?;
        match &codec.encode {
            Encode::Plain(encoder) => Ok(encoder.encode_f32(values, codes)?),
            Encode::Scaled(quantizer) => Ok(quantizer.quant_f32(values, codes)?),
            Encode::ReadOnly => Err(read_only()),
        }
    })
}

/// Encodes `len` bfloat16 values, given as bits: `fp8(bf16(x * bf16(quant)))`. For the rest as
/// `gaudi_kv_codec_encode_f32`; NaN becomes 0x7F where there is a scale.
///
/// # Safety
/// As for `gaudi_kv_codec_encode_f32`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_codec_encode_bf16(
    codec: *const gaudi_kv_codec,
    values: *const u16,
    codes: *mut u8,
    len: usize,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live codec or null, `len` values that nobody changes and `len` codes that
        // nobody uses; bf16 is its bits, of which any are a value.
        let (codec, values, codes) =
            unsafe { operands(codec, ("values", values.cast::<bf16>()), ("codes", codes), len) }?;
        match &codec.encode {
            Encode::Plain(encoder) => Ok(encoder.encode_bf16(values, codes)?),
            Encode::Scaled(quantizer) => Ok(quantizer.quant_bf16(values, codes)?),
            Encode::ReadOnly => Err(read_only()),
        }
    })
}

/// Decodes `len` codes to float32: `value(code) * dequant` in float32, exact without a scale. NaN becomes the bits
/// 0x7FFFFFFF.
///
/// Returns `GAUDI_KV_INVALID_ARGUMENT` where the arrays overlap. Nothing is written then.
///
/// # Safety
/// `codec` is null or a codec. `codes` and `values` point to `len` elements; null is for none. Nobody changes `codes`
/// or uses `values` during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_codec_decode_f32(
    codec: *const gaudi_kv_codec,
    codes: *const u8,
    values: *mut f32,
    len: usize,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live codec or null, `len` codes that nobody changes and `len` values that
        // nobody uses.
        let (codec, codes, values) = unsafe { operands(codec, ("codes", codes), ("values", values), len) }?;
        Ok(codec.decode.dequant_f32(codes, values)?)
    })
}

/// Decodes `len` codes to bfloat16 bits: `bf16(value(code) * bf16(dequant))`, nearest even. NaN becomes 0x7FFF. For
/// the rest as `gaudi_kv_codec_decode_f32`.
///
/// # Safety
/// As for `gaudi_kv_codec_decode_f32`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_codec_decode_bf16(
    codec: *const gaudi_kv_codec,
    codes: *const u8,
    values: *mut u16,
    len: usize,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a live codec or null, `len` codes that nobody changes and `len` values that
        // nobody uses; bf16 is its bits, of which any are a value.
        let (codec, codes, values) =
            unsafe { operands(codec, ("codes", codes), ("values", values.cast::<bf16>()), len) }?;
        Ok(codec.decode.dequant_bf16(codes, values)?)
    })
}

/// Frees a codec; null is none.
///
/// # Safety
/// `codec` is null or a codec that has not been freed, and no other call uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_codec_free(codec: *mut gaudi_kv_codec) {
    // SAFETY: the caller promises that the codec is null or not freed, and that no other call uses it.
    quiet_barrier(|| unsafe { pointer::free(codec) });
}

/// The codec, what it reads and what it writes.
///
/// # Errors
/// A null pointer, an array that is not aligned, or arrays that overlap.
///
/// # Safety
/// `codec` is null or a codec. The arrays hold `len` elements, or are null for none; any bits are a value of theirs. While
/// the result lives nobody changes what is read, or uses what is written.
unsafe fn operands<'a, S, D>(
    codec: *const gaudi_kv_codec,
    (read_name, read): (&'static str, *const S),
    (written_name, written): (&'static str, *mut D),
    len: usize,
) -> Result<(&'a gaudi_kv_codec, &'a [S], &'a mut [D]), Failure> {
    check_disjoint(&[(written_name, bytes_of(written, len))], &[(read_name, bytes_of(read, len))])?;
    // SAFETY: the caller promises a live codec or null and arrays of `len` elements, and they do not overlap.
    unsafe {
        Ok((
            pointer::handle("the codec", codec)?,
            pointer::slice(read_name, read, len)?,
            pointer::slice_mut(written_name, written, len)?,
        ))
    }
}
