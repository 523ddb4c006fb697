//! Buffers as cache lines, for stores that go around the cache.
#![allow(unsafe_code)]

/// One cache line.
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [u8; 64]);

/// Plain numbers: every bit pattern is a value, and there is no padding.
pub(super) trait Plain: Copy {
    const ZERO: Self;
}

impl Plain for u8 {
    const ZERO: Self = 0;
}
impl Plain for u16 {
    const ZERO: Self = 0;
}
impl Plain for f32 {
    const ZERO: Self = 0.0;
}

/// The bytes of a slice of numbers.
pub(super) fn bytes_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    let (pointer, len) = (values.as_mut_ptr().cast::<u8>(), size_of_val(values));
    // SAFETY: the pointer and length are those of `values`, borrowed for as long as the result; u8 has no alignment,
    // and `T: Plain` is fully initialized and takes any bytes.
    unsafe { std::slice::from_raw_parts_mut(pointer, len) }
}

/// The whole cache lines inside a slice, with what precedes and follows them.
pub(super) fn lines_mut<T: Plain>(values: &mut [T]) -> (&mut [T], &mut [Line], &mut [T]) {
    // SAFETY: `T: Plain` and `Line` are both initialized bytes without padding that take any bit pattern.
    unsafe { values.align_to_mut::<Line>() }
}
