//! Projections: a matrix product for each head.

use half::bf16;

use super::products::Products;
use crate::device::{DeviceError, ProjectKernel};
use crate::fp8::bf16_from_f32_slice;
use crate::mme::{Elements, Matrix, MatrixMut, Product, Right};

/// Accumulators that are kept at a time, where the rows can be cut.
const TILE: usize = 1 << 20;

/// [`Device::project`](crate::device::Device::project) in the mode of the device.
pub(super) fn project(
    products: &Products,
    kernel: &ProjectKernel<'_>,
    out: &mut [bf16],
) -> Result<(), DeviceError> {
    let (k, n) = (kernel.k, kernel.out_dim());
    let (row, out_row) = (kernel.heads * k, kernel.heads * n);
    let weights: Vec<Matrix<'_>> = kernel
        .weights
        .chunks_exact(n * k)
        .map(|weight| Matrix::new(Elements::Bf16(weight), n, k))
        .collect::<Result<_, _>>()?;
    let tile_rows = (TILE / out_row).max(1);
    let mut accumulators = vec![0.0; tile_rows.min(kernel.num_rows()) * out_row];
    for (values, out) in kernel.rows.chunks(tile_rows * row).zip(out.chunks_mut(tile_rows * out_row)) {
        let rows = values.len() / row;
        let accumulators = &mut accumulators[..rows * out_row];
        let mut of_heads = Vec::with_capacity(kernel.heads);
        for (head, (weight, out)) in weights.iter().zip(accumulators.chunks_exact_mut(rows * n)).enumerate() {
            of_heads.push(Product {
                a: Matrix::strided(Elements::Bf16(&values[head * k..]), rows, k, row)?,
                b: Right::NByK(std::slice::from_ref(weight)),
                out: MatrixMut::new(out, rows, n)?,
            });
        }
        products.multiply_all(&mut of_heads)?;
        for (number, from) in accumulators.chunks_exact(n).enumerate() {
            let (head, row) = (number / rows, number % rows);
            bf16_from_f32_slice(from, &mut out[(row * kernel.heads + head) * n..][..n])?;
        }
    }
    Ok(())
}
