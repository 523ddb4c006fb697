//! The slot mapping of a cache's write or read.

use std::borrow::Cow;

use gaudi_kv::cache::CacheError;
use half::bf16;
use pyo3::prelude::*;

use crate::array::{Array, Element};
use crate::error::Failure;
use crate::indices::indices;
use crate::memory_lease::{Lease, Operands, View};

/// What engines write for a row that is padding.
const PADDING: i64 = -1;

/// Slots in an int64 array of the caller, or copied from another type.
#[derive(Debug)]
pub(crate) enum Slots {
    View(View<i64>),
    Copied(Vec<i64>),
}

impl Slots {
    /// Resolves a slot mapping of one dimension, and says how many slots it has.
    pub(crate) fn of(object: &Bound<'_, PyAny>, operands: &mut Operands) -> PyResult<(Self, usize)> {
        const WHAT: &str = "slot_mapping";
        let (slots, shape) = match Array::of(WHAT, object) {
            Ok(array) if array.element == Element::I64 => {
                (Self::View(operands.read::<i64>(&array)?), array.shape)
            }
            _ => {
                let (slots, shape) = indices(WHAT, object)?;
                (Self::Copied(slots), shape)
            }
        };
        match shape[..] {
            [len] => Ok((slots, len)),
            _ => {
                Err(Failure::Shape(format!("{WHAT} has the shape {shape:?}; one dimension is needed")).into())
            }
        }
    }

    /// All slots.
    pub(crate) fn all<'a>(&'a self, lease: &'a Lease) -> &'a [i64] {
        match self {
            Self::View(view) => lease.slice(*view),
            Self::Copied(slots) => slots,
        }
    }

    /// The slots that are not padding.
    pub(crate) fn kept<'a>(&'a self, lease: &'a Lease) -> Kept<'a> {
        let all = self.all(lease);
        if !all.contains(&PADDING) {
            return Kept { slots: Cow::Borrowed(all), numbers: None };
        }
        let numbers: Vec<usize> = (0..all.len()).filter(|number| all[*number] != PADDING).collect();
        Kept { slots: numbers.iter().map(|number| all[*number]).collect(), numbers: Some(numbers) }
    }
}

/// The slots of a mapping that are not padding.
#[derive(Debug)]
pub(crate) struct Kept<'a> {
    pub(crate) slots: Cow<'a, [i64]>,
    /// Their places in the mapping; `None` for all.
    numbers: Option<Vec<usize>>,
}

impl Kept<'_> {
    /// The rows that belong to them, of `row` elements each.
    pub(crate) fn rows<'v>(&self, values: &'v [bf16], row: usize) -> Cow<'v, [bf16]> {
        match &self.numbers {
            None => Cow::Borrowed(values),
            Some(numbers) => {
                numbers.iter().flat_map(|number| &values[number * row..][..row]).copied().collect()
            }
        }
    }

    /// An error with the index that the slot has in the caller's mapping.
    pub(crate) fn blame(&self, error: CacheError) -> CacheError {
        match (error, &self.numbers) {
            (CacheError::Slot { slot, index, last }, Some(numbers)) => {
                CacheError::Slot { slot, index: numbers.get(index).copied().unwrap_or(index), last }
            }
            (error, _) => error,
        }
    }
}
