//! Methods of operation sets that are nothing but intrinsics.

/// Writes methods of a token that are expressions of intrinsics on registers.
macro_rules! register_ops {
    ($($(#[$doc:meta])* $name:ident$(<const $n:ident: u32>)?($($arg:ident: $ty:ty),*) -> $out:ty = $value:expr;)*) => {
        $($(#[$doc])*
        #[inline(always)]
        fn $name$(<const $n: u32>)?(self, $($arg: $ty),*) -> $out {
            // SAFETY: `self` is a token, which exists only where detection found the instructions; they touch registers
            // only.
            unsafe { $value }
        })*
    };
}
pub(crate) use register_ops;
