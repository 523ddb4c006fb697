//! Putting tensors together along a dimension, and taking them apart.

use super::operands::{ND, input, output, require, require_dtype};
use super::operation::{Checked, Limits, Operation, Refusal, Running};
use super::params::Params;
use super::shape::around;
use super::spec::Spec;

/// `concat` and `split` along an axis that is counted from the fastest-changing dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    /// The inputs are parts of the output.
    Concat,
    /// The outputs are parts of the input.
    Split,
}

fn axis(params: &[u8], rank: usize) -> Result<usize, Refusal> {
    Params::new(params, &[size_of::<habana_sys::synAxisParams>()])?.axis(0, rank)
}

/// Whether the parts are, along an axis, the whole.
fn check_parts(whole: &Spec, parts: &[Option<&Spec>], params: &[u8]) -> Result<(), Refusal> {
    let axis = axis(params, whole.sizes.len())?;
    let mut along = 0usize;
    for part in parts.iter().flatten() {
        require_dtype(part, whole.dtype)?;
        let fits = part.sizes.len() == whole.sizes.len()
            && (0..whole.sizes.len()).all(|dim| dim == axis || part.sizes[dim] == whole.sizes[dim]);
        require(fits, || format!("{:?} is no part of {:?} along {axis}", part.sizes, whole.sizes))?;
        along = along.saturating_add(part.sizes[axis]);
    }
    require(along == whole.sizes[axis], || {
        format!("the parts have {along} together along {axis}, the whole {}", whole.sizes[axis])
    })
}

impl Operation for Parts {
    fn limits(&self) -> Limits {
        let [inputs, outputs] = match self {
            Self::Concat => [usize::MAX, 1],
            Self::Split => [1, usize::MAX],
        };
        Limits { inputs, outputs, rank: ND }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        match self {
            Self::Concat => check_parts(node.output(0)?, node.inputs, node.params),
            Self::Split => check_parts(node.input(0)?, node.outputs, node.params),
        }
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        // The place of the next part in each row of the whole.
        let mut place = 0;
        match self {
            Self::Concat => {
                let whole = output(node.outputs, 0)?;
                let axis = axis(node.params, whole.spec.sizes.len())?;
                let row = row_bytes(whole.spec, axis);
                let rows = whole.bytes()?;
                for part in node.inputs.iter().flatten() {
                    let len = row_bytes(part.spec, axis);
                    for (to, from) in rows.chunks_exact_mut(row).zip(part.bytes()?.chunks_exact(len)) {
                        to[place..place + len].copy_from_slice(from);
                    }
                    place += len;
                }
            }
            Self::Split => {
                let whole = input(node.inputs, 0)?;
                let axis = axis(node.params, whole.spec.sizes.len())?;
                let row = row_bytes(whole.spec, axis);
                let rows = whole.bytes()?;
                for part in node.outputs.iter_mut().flatten() {
                    let len = row_bytes(part.spec, axis);
                    for (from, to) in rows.chunks_exact(row).zip(part.bytes()?.chunks_exact_mut(len)) {
                        to.copy_from_slice(&from[place..place + len]);
                    }
                    place += len;
                }
            }
        }
        Ok(())
    }
}

/// The bytes up to the next index of the dimension after the axis.
fn row_bytes(spec: &Spec, axis: usize) -> usize {
    let [inner, along, _] = around(&spec.sizes, axis);
    inner * along * spec.dtype.bytes()
}
