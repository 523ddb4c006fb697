//! Attention over a cached context with new tokens behind it: the context is read, and all are tensors.

use half::bf16;

use super::plane::Plane;
use super::problem::{AttentionProblem, KeysAndValues, PlanePair, SequenceSpan, TensorPair};
use super::workspace::AttentionWorkspace;
use super::{Device, DeviceError};
use crate::HeadScales;

/// Appends the rows at `slots`, read to bfloat16, and then the new ones.
fn append<D: Device>(
    device: &D,
    (plane, dequant): (&D::Plane, &HeadScales),
    slots: &[usize],
    new: &[bf16],
    rows: &mut Vec<bf16>,
) -> Result<(), DeviceError> {
    let first = rows.len();
    rows.resize(first + slots.len() * plane.layout().row(), bf16::ZERO);
    device.read(plane, slots, dequant, &mut rows[first..])?;
    rows.extend_from_slice(new);
    Ok(())
}

/// Attention over `context`, then `new`, by a device that has attention over tensors.
///
/// # Errors
/// The device failed.
pub(super) fn attend_joined<D: Device>(
    device: &D,
    problem: &AttentionProblem<'_, D::Plane>,
    context: &PlanePair<'_, D::Plane>,
    new: TensorPair<'_>,
    workspace: &mut AttentionWorkspace,
    out: &mut [f32],
) -> Result<(), DeviceError> {
    let (k_row, v_row) = (problem.shape.k_row(), problem.shape.v_row());
    let [mut keys, mut values] = std::mem::take(&mut workspace.joined);
    keys.clear();
    values.clear();
    let mut sequences = Vec::with_capacity(problem.sequences.len());
    for sequence in problem.sequences {
        sequences.push(SequenceSpan { first_row: keys.len() / k_row, ..*sequence });
        let slots = context.context_slots(sequence);
        let rows = sequence.first_row..sequence.first_row + sequence.tokens;
        let key = (context.key, &problem.key_factors.dequant);
        append(device, key, &slots, &new.k[rows.start * k_row..rows.end * k_row], &mut keys)?;
        let value = (context.value, &problem.value_factors.dequant);
        append(device, value, &slots, &new.v[rows.start * v_row..rows.end * v_row], &mut values)?;
    }
    let tensors = KeysAndValues::Tensors(TensorPair { k: &keys, v: &values });
    let result = device.attend(&problem.over(tensors, &sequences), workspace, out);
    workspace.joined = [keys, values];
    result
}
