//! What an inspection is asked for, and the names of its options, which the program, C and Python share.

use std::fmt;
use std::str::FromStr;

use super::adjustment::{SCALE_ADJUSTMENT_ENV, parse_scale_adjustment};
use crate::Generation;
use crate::checkpoint::TensorParallel;

/// The cache type that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheDtypeRequest {
    /// What the checkpoint's config declares: FP8, or else bf16.
    #[default]
    Auto,
    /// bf16, whatever is declared.
    Bf16,
    /// FP8, whatever is declared.
    Fp8,
}

/// Which scale the one latent of an MLA layer takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MlaScale {
    /// `k_scale`; `v_scale` changes nothing.
    #[default]
    KOnly,
    /// The larger of `k_scale` and `v_scale`, as vllm-gaudi has it.
    MaxKv,
}

/// What a query without a scale is quantized with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QMissing {
    /// One scale for each token and head, from its own amax.
    #[default]
    Dynamic,
    /// 1.0, what vLLM ends up with.
    One,
}

/// A layer, or a kind of layer, whose cache stays bf16 although the model's is FP8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipLayer {
    /// The layer of that number.
    Index(usize),
    /// Every layer that attends to a sliding window.
    SlidingWindow,
}

/// What to inspect for.
#[derive(Debug, Clone)]
pub struct Options {
    /// The device's generation.
    pub device: Generation,
    /// The cache type.
    pub kv_cache_dtype: CacheDtypeRequest,
    /// The policy for MLA layers.
    pub mla_scale: MlaScale,
    /// The policy for queries without a scale.
    pub q_missing: QMissing,
    /// The rank whose part of per-head scales is wanted; `None` for all heads.
    pub tensor_parallel: Option<TensorParallel>,
    /// Layers whose cache stays bf16.
    pub skip_layers: Vec<SkipLayer>,
    /// The value of `VLLM_SCALE_ADJUSTMENT`, `None` where it is unset.
    pub scale_adjustment: Option<bool>,
    /// Read all FP8 weights and check the flavor against them.
    pub verify_weights: bool,
    /// Scales of zero are errors.
    pub strict: bool,
}

impl Options {
    /// Everything at its default, for a device.
    #[must_use]
    pub fn new(device: Generation) -> Self {
        Self {
            device,
            kv_cache_dtype: CacheDtypeRequest::default(),
            mla_scale: MlaScale::default(),
            q_missing: QMissing::default(),
            tensor_parallel: None,
            skip_layers: Vec::new(),
            scale_adjustment: None,
            verify_weights: false,
            strict: false,
        }
    }
}

/// What `VLLM_SCALE_ADJUSTMENT` of the environment asks for; `None` where it is unset.
#[must_use]
pub fn requested_scale_adjustment() -> Option<bool> {
    std::env::var_os(SCALE_ADJUSTMENT_ENV).map(|value| parse_scale_adjustment(&value.to_string_lossy()))
}

/// A text that is no value of an option.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not known; {known} are")]
pub struct OptionError {
    /// The text.
    pub found: String,
    /// The names that there are.
    pub known: &'static str,
}

impl FromStr for CacheDtypeRequest {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        match text {
            "auto" => Ok(Self::Auto),
            "bf16" | "bfloat16" => Ok(Self::Bf16),
            "fp8" | "fp8_e4m3" | "fp8_inc" => Ok(Self::Fp8),
            _ => Err(OptionError { found: text.to_owned(), known: "auto, bf16 and fp8" }),
        }
    }
}

impl fmt::Display for CacheDtypeRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Bf16 => "bf16",
            Self::Fp8 => "fp8",
        })
    }
}

impl FromStr for MlaScale {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        match text {
            "k-only" => Ok(Self::KOnly),
            "max-kv" => Ok(Self::MaxKv),
            _ => Err(OptionError { found: text.to_owned(), known: "k-only and max-kv" }),
        }
    }
}

impl fmt::Display for MlaScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KOnly => "k-only",
            Self::MaxKv => "max-kv",
        })
    }
}

impl FromStr for QMissing {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        match text {
            "dynamic" => Ok(Self::Dynamic),
            "one" => Ok(Self::One),
            _ => Err(OptionError { found: text.to_owned(), known: "dynamic and one" }),
        }
    }
}

impl fmt::Display for QMissing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dynamic => "dynamic",
            Self::One => "one",
        })
    }
}

impl FromStr for SkipLayer {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        match text {
            "sliding_window" => Ok(Self::SlidingWindow),
            number => number.parse().map(Self::Index).map_err(|_| OptionError {
                found: text.to_owned(),
                known: "layer numbers and sliding_window",
            }),
        }
    }
}

impl fmt::Display for SkipLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(layer) => layer.fmt(f),
            Self::SlidingWindow => f.write_str("sliding_window"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads each first name as the value, and writes the value as that name; the other names are read alike.
    fn round_trip<T: FromStr<Err = OptionError> + fmt::Display + PartialEq + fmt::Debug>(
        values: &[(T, &[&str])],
    ) {
        for (value, names) in values {
            assert_eq!(value.to_string(), names[0]);
            for name in *names {
                assert_eq!(name.parse::<T>().as_ref(), Ok(value), "{name}");
            }
        }
        for text in ["", "FP8", "-1", "k_only", "none"] {
            assert_eq!(text.parse::<T>().unwrap_err().found, text);
        }
    }

    #[test]
    fn options_read_what_they_write() {
        round_trip(&[
            (CacheDtypeRequest::Auto, &["auto"]),
            (CacheDtypeRequest::Bf16, &["bf16", "bfloat16"]),
            (CacheDtypeRequest::Fp8, &["fp8", "fp8_e4m3", "fp8_inc"]),
        ]);
        round_trip(&[(MlaScale::KOnly, &["k-only"]), (MlaScale::MaxKv, &["max-kv"])]);
        round_trip(&[(QMissing::Dynamic, &["dynamic"]), (QMissing::One, &["one"])]);
        round_trip(&[(SkipLayer::Index(12), &["12"]), (SkipLayer::SlidingWindow, &["sliding_window"])]);
    }
}
