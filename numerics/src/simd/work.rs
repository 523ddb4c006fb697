//! What is compiled for an instruction set.

/// A computation over the registers of a token `T`.
///
/// Implementations mark [`run`](Self::run), and all that it calls on registers, `#[inline(always)]`: what is not inlined
/// into the token's `vectorize` is compiled without its instructions, which is correct and slow. A closure would not do,
/// because nothing makes the compiler inline one.
pub trait Work<T, R> {
    /// Computes.
    fn run(self, token: T) -> R;
}
