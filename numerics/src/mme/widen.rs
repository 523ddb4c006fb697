//! Elements as float32 bit patterns.

use super::matrix::{Elements, Matrix};

/// The float32 bit patterns of elements.
pub(super) fn widen(elements: Elements<'_>) -> Vec<u32> {
    match elements {
        Elements::Fp8(codes, format) => {
            let table = format.decode_table();
            codes.iter().map(|code| table[*code as usize]).collect()
        }
        Elements::Bf16(values) => values.iter().map(|value| u32::from(value.to_bits()) << 16).collect(),
    }
}

/// The float32 bit patterns of each row of a matrix.
pub(super) fn widen_rows(matrix: &Matrix<'_>) -> Vec<Vec<u32>> {
    let rows = (0..matrix.rows()).map(|row| row * matrix.stride()..row * matrix.stride() + matrix.cols());
    rows.map(|range| {
        widen(match matrix.elements() {
            Elements::Fp8(codes, format) => Elements::Fp8(&codes[range], format),
            Elements::Bf16(values) => Elements::Bf16(&values[range]),
        })
    })
    .collect()
}
