//! Projections: a matrix product for each head.

use half::bf16;

use super::buckets;
use super::engine::bf16_bytes;
use super::error::HpuError;
use super::graph::project::project_graph;
use super::session::Session;
use crate::device::ProjectKernel;

/// Computes the bfloat16 matrix products of [`Device::project`](crate::device::Device::project) on the device.
pub(super) fn project(
    session: &mut Session<'_>,
    kernel: &ProjectKernel<'_>,
    out: &mut [bf16],
) -> Result<(), HpuError> {
    let (heads, k, n) = (kernel.heads, kernel.k, kernel.out_dim());
    let tile_rows = buckets::max_projected_rows(heads * n);
    let tiles = kernel.rows.chunks(tile_rows * heads * k).zip(out.chunks_mut(tile_rows * heads * n));
    for (values, out) in tiles {
        let rows = values.len() / (heads * k);
        let count = buckets::rounded(rows);
        // From `[rows, heads, k]` to `[heads, rows, k]`, zero where there is no row.
        let mut by_head = vec![bf16::ZERO; heads * count * k];
        for (row, values) in values.chunks_exact(heads * k).enumerate() {
            for (head, values) in values.chunks_exact(k).enumerate() {
                by_head[(head * count + row) * k..][..k].copy_from_slice(values);
            }
        }
        let compiled = session.recipes.get(&project_graph(heads, count, (n, k)))?;
        let weights = kernel.weights.iter().copied();
        let operands = [("rows", bf16_bytes(by_head)), ("weights", bf16_bytes(weights))];
        let products = session.engine.compute(&compiled, &operands)?;
        for (row, out) in out.chunks_exact_mut(heads * n).enumerate() {
            for (head, out) in out.chunks_exact_mut(n).enumerate() {
                out.copy_from_slice(&products[(head * count + row) * n..][..n]);
            }
        }
    }
    Ok(())
}
