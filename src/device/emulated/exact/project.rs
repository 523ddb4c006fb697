//! Exact projections: a matrix product for each head.

use half::bf16;

use super::workspace::Workspace;
use crate::device::{DeviceError, ProjectKernel};
use crate::fp8::bf16_from_f32_slice;
use crate::mme::{Elements, Gemm, Matrix, MatrixMut, MmeError, Product, Right, emptied};

/// Accumulators that are kept at a time, where the rows can be cut.
const TILE: usize = 1 << 20;

/// A matrix product for each head, as [`Device::project`](crate::device::Device::project) has it.
pub(super) fn project(
    gemm: Gemm,
    workspace: &mut Workspace,
    kernel: &ProjectKernel<'_>,
    out: &mut [bf16],
) -> Result<(), DeviceError> {
    let (row, out_row) = (kernel.heads * kernel.k, kernel.heads * kernel.out_dim());
    let tile_rows = (TILE / out_row).max(1);
    for (rows, out) in kernel.rows.chunks(tile_rows * row).zip(out.chunks_mut(tile_rows * out_row)) {
        project_tile(gemm, workspace, &ProjectKernel { rows, ..*kernel }, out)?;
    }
    Ok(())
}

fn project_tile(
    gemm: Gemm,
    workspace: &mut Workspace,
    kernel: &ProjectKernel<'_>,
    out: &mut [bf16],
) -> Result<(), DeviceError> {
    let (rows, heads, k, n) = (kernel.num_rows(), kernel.heads, kernel.k, kernel.out_dim());
    let accumulators = &mut workspace.accumulators;
    accumulators.resize(rows * heads * n, 0.0);
    let mut weights: Vec<Matrix<'_>> = std::mem::take(&mut workspace.lists.matrices);
    for weight in kernel.weights.chunks_exact(n * k) {
        weights.push(Matrix::new(Elements::Bf16(weight), n, k)?);
    }
    let mut of_heads: Vec<Product<'_>> = emptied(std::mem::take(&mut workspace.lists.products));
    for (head, (weight, out)) in weights.iter().zip(accumulators.chunks_exact_mut(rows * n)).enumerate() {
        of_heads.push(Product {
            a: Matrix::strided(Elements::Bf16(&kernel.rows[head * k..]), rows, k, heads * k)?,
            b: Right::NByK(std::slice::from_ref(weight)),
            out: MatrixMut::new(out, rows, n)?,
        });
    }
    let result: Result<(), MmeError> = gemm.exact_batch(&mut of_heads);
    workspace.lists.products = emptied(of_heads);
    workspace.lists.matrices = emptied(weights);
    result?;
    for (number, from) in accumulators.chunks_exact(n).enumerate() {
        let (head, row) = (number / rows, number % rows);
        bf16_from_f32_slice(from, &mut out[(row * heads + head) * n..][..n])?;
    }
    Ok(())
}
