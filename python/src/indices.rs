//! Integers as Python gives them: int32 and int64 arrays, or sequences.

use pyo3::prelude::*;

use crate::array::{Array, Element};
use crate::error::Failure;
use crate::memory_lease::{Lease, Operands};

/// Copies integers, and says their shape. A sequence has one dimension.
pub(crate) fn indices(what: &'static str, object: &Bound<'_, PyAny>) -> PyResult<(Vec<i64>, Vec<usize>)> {
    let py = object.py();
    if object.getattr_opt("shape")?.is_none() {
        let list: Vec<i64> = object.extract().map_err(|error| {
            Failure::Dtype(format!("{what} is neither an array nor a sequence of integers: {error}"))
        })?;
        let len = list.len();
        return Ok((list, vec![len]));
    }
    let array = Array::of(what, object)?;
    let mut operands = Operands::default();
    let values = match array.element {
        Element::I32 => {
            let view = operands.read::<i32>(&array)?;
            let widen = |lease: Lease| lease.slice(view).iter().map(|value| i64::from(*value)).collect();
            py.detach(|| operands.lease().map(widen))?
        }
        Element::I64 => {
            let view = operands.read::<i64>(&array)?;
            py.detach(|| operands.lease().map(|lease| lease.slice(view).to_vec()))?
        }
        other => {
            let message = format!("{what} is {}; int32 or int64 is needed", other.name());
            return Err(Failure::Dtype(message).into());
        }
    };
    Ok((values, array.shape))
}

/// Copies integers of one dimension, of which none may be negative.
pub(crate) fn sizes(what: &'static str, object: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let (values, shape) = indices(what, object)?;
    if shape.len() != 1 {
        return Err(Failure::Shape(format!("{what} has the shape {shape:?}; one dimension is needed")).into());
    }
    let sizes = values.iter().enumerate().map(|(index, value)| {
        let message = || format!("{what}[{index}] is {value}; it must not be negative");
        usize::try_from(*value).map_err(|_| Failure::Shape(message()))
    });
    Ok(sizes.collect::<Result<_, _>>()?)
}
