//! The tokens: one type an instruction set, each the proof that this machine has it.

use super::work::Work;

/// Portable Rust, which every machine runs.
#[derive(Debug, Clone, Copy)]
pub struct Portable;

impl Portable {
    /// Runs work as it is compiled for the target.
    #[inline(always)]
    pub fn vectorize<W: Work<Self, R>, R>(self, work: W) -> R {
        work.run(self)
    }
}

/// Makes a token from the one list of features that is both looked for and compiled for.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! token {
    ($(#[$doc:meta])* $name:ident, $is_detected:ident, [$($feature:tt),*]) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name(());

        impl $name {
            /// The token, if this machine has the instructions.
            #[must_use]
            #[inline]
            pub fn new() -> Option<Self> {
                // Conversions ask before each call, and a detection looks at many features.
                static IS_DETECTED: std::sync::LazyLock<bool> =
                    std::sync::LazyLock::new(|| $(std::arch::$is_detected!($feature))&&*);
                (*IS_DETECTED).then_some(Self(()))
            }

            /// Runs work compiled with the instructions enabled.
            #[inline(always)]
            #[allow(unsafe_code)]
            pub fn vectorize<W: Work<Self, R>, R>(self, work: W) -> R {
                $(#[target_feature(enable = $feature)])*
                fn enabled<W: Work<$name, R>, R>(token: $name, work: W) -> R {
                    work.run(token)
                }
                // SAFETY: `enabled` needs the features of this token, which exists only where `new`, from the same list,
                // found this machine to have every one of them.
                unsafe { enabled(self, work) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
token! {
    /// x86-64 AVX2 with FMA, F16C and POPCNT.
    Avx2, is_x86_feature_detected, ["avx2", "fma", "f16c", "popcnt"]
}

#[cfg(target_arch = "x86_64")]
token! {
    /// x86-64 AVX-512 F, BW, DQ, VL and VBMI, with everything that [`Avx2`] stands for.
    Avx512, is_x86_feature_detected,
    ["avx2", "fma", "f16c", "popcnt", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi"]
}

#[cfg(target_arch = "x86_64")]
token! {
    /// x86-64 AVX512-BF16, products of bfloat16 pairs, with everything that [`Avx512`] stands for.
    Avx512Bf16, is_x86_feature_detected,
    ["avx2", "fma", "f16c", "popcnt", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi", "avx512bf16"]
}

#[cfg(target_arch = "x86_64")]
impl Avx512Bf16 {
    /// The token without the products of bfloat16 pairs.
    #[must_use]
    #[inline]
    pub const fn without_bf16(self) -> Avx512 {
        Avx512(())
    }
}

#[cfg(target_arch = "aarch64")]
token! {
    /// AArch64 NEON.
    Neon, is_aarch64_feature_detected, ["neon"]
}
