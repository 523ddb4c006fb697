//! Parts of a tensor.

use std::mem::offset_of;

use habana_sys::{
    synSliceAxisParams, synSliceAxisParamsV2, synSliceParams, synSliceParamsNDims, synSliceParamsV2,
};

use super::operands::{ND, input, output, require, require_dtype, require_sizes};
use super::operation::{Checked, Limits, Operation, Refusal, Running};
use super::params::Params;
use super::shape::{Walk, dense_strides};

/// `slice` and `slice_axis`: every `step`th index of a dimension, from a start to before an end.
#[derive(Debug, Clone, Copy)]
pub(super) enum Slice {
    /// A part of any dimensions.
    Any,
    /// A part of one dimension, with step 1.
    Axis,
}

/// What is taken of one dimension.
#[derive(Debug, Clone, Copy)]
struct Taken {
    start: usize,
    end: usize,
    step: usize,
}

impl Slice {
    /// What is taken of each dimension, within the tensor.
    fn taken(self, sizes: &[usize], params: &[u8]) -> Result<Vec<Taken>, Refusal> {
        let mut taken: Vec<Taken> =
            sizes.iter().map(|size| Taken { start: 0, end: *size, step: 1 }).collect();
        match self {
            Self::Any => of_dimensions(&mut taken, params)?,
            Self::Axis => of_axis(&mut taken, params)?,
        }
        for (dim, (taken, size)) in taken.iter().zip(sizes).enumerate() {
            require(taken.start < taken.end && taken.end <= *size && taken.step > 0, || {
                format!("{taken:?} of dimension {dim}, which has size {size}")
            })?;
        }
        Ok(taken)
    }
}

/// Each entry names its dimension. One of zeros alone changes nothing: the list is longer than needed.
fn of_dimensions(taken: &mut [Taken], params: &[u8]) -> Result<(), Refusal> {
    let sizes =
        [size_of::<synSliceParams>(), size_of::<synSliceParamsNDims>(), size_of::<synSliceParamsV2>()];
    let params = Params::new(params, &sizes)?;
    let rank = taken.len();
    let is_v2 = params.len() == sizes[2];
    let [axes, starts, ends, steps] = if params.len() == sizes[0] {
        require(rank <= 5, || format!("parameters of 5 dimensions for a tensor of {rank}"))?;
        [
            offset_of!(synSliceParams, axes),
            offset_of!(synSliceParams, starts),
            offset_of!(synSliceParams, ends),
            offset_of!(synSliceParams, steps),
        ]
    } else if is_v2 {
        [
            offset_of!(synSliceParamsV2, axes),
            offset_of!(synSliceParamsV2, starts),
            offset_of!(synSliceParamsV2, ends),
            offset_of!(synSliceParamsV2, steps),
        ]
    } else {
        [
            offset_of!(synSliceParamsNDims, axes),
            offset_of!(synSliceParamsNDims, starts),
            offset_of!(synSliceParamsNDims, ends),
            offset_of!(synSliceParamsNDims, steps),
        ]
    };
    let number = |list: usize, entry: usize| {
        if is_v2 { params.size64(list + 8 * entry) } else { params.size32(list + 4 * entry) }
    };
    for entry in 0..rank {
        let axis = params.axis(axes + 4 * entry, rank)?;
        let (start, end, step) = (number(starts, entry), number(ends, entry), number(steps, entry));
        if (axis, start, end) != (0, 0, 0) {
            taken[axis] = Taken { start, end, step };
        }
    }
    Ok(())
}

fn of_axis(taken: &mut [Taken], params: &[u8]) -> Result<(), Refusal> {
    let (short, long) = (size_of::<synSliceAxisParams>(), size_of::<synSliceAxisParamsV2>());
    let params = Params::new(params, &[short, long])?;
    let axis = params.axis(0, taken.len())?;
    let (start, end) = if params.len() == short {
        (
            params.size32(offset_of!(synSliceAxisParams, begin)),
            params.size32(offset_of!(synSliceAxisParams, end)),
        )
    } else {
        (
            params.size64(offset_of!(synSliceAxisParamsV2, begin)),
            params.size64(offset_of!(synSliceAxisParamsV2, end)),
        )
    };
    taken[axis] = Taken { start, end, step: 1 };
    Ok(())
}

impl Operation for Slice {
    fn limits(&self) -> Limits {
        Limits { inputs: 2, outputs: 1, rank: ND }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        let (from, to) = (node.input(0)?, node.output(0)?);
        node.shape_input(1)?;
        require_dtype(to, from.dtype)?;
        let taken = self.taken(&from.sizes, node.params)?;
        let sizes: Vec<usize> =
            taken.iter().map(|taken| (taken.end - taken.start).div_ceil(taken.step)).collect();
        require_sizes(to, &sizes)
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let (from, to) = (input(node.inputs, 0)?, output(node.outputs, 0)?);
        let taken = self.taken(&from.spec.sizes, node.params)?;
        let dense = dense_strides(&from.spec.sizes);
        let first = taken.iter().zip(&dense).map(|(taken, stride)| taken.start * stride).sum();
        // A step beyond the dimension is never gone.
        let strides =
            taken.iter().zip(&dense).map(|(taken, stride)| [taken.step.saturating_mul(*stride)]).collect();
        let walk = Walk::strided(&to.spec.sizes, strides, [first]);
        walk.copy_bytes(from.spec.dtype.bytes(), from.bytes()?, to.bytes()?);
        Ok(())
    }
}
