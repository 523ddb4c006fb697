//! Conversions of models for another FP8 range.

use std::path::PathBuf;

use gaudi_kv::convert::{ConvertOptions, Factor, WorkShare};
use pyo3::prelude::*;

use crate::device::generation;
use crate::dispatch::in_pool;
use crate::error::Failure;

/// What a conversion is asked for, by the names of the package's function.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Wish {
    to: String,
    factor: String,
    force: bool,
    sync: bool,
    /// The share, from 1, and how many there are.
    shards: Option<(usize, usize)>,
}

impl Wish {
    fn options(&self) -> Result<ConvertOptions, Failure> {
        Ok(ConvertOptions {
            factor: match self.factor.as_str() {
                "power-of-two" => Factor::PowerOfTwo,
                "exact" => Factor::Exact,
                other => {
                    let message = format!("factor {other:?}; power-of-two and exact are known");
                    return Err(Failure::Option(message));
                }
            },
            force: self.force,
            sync: self.sync,
            part: self.shards.map(|(index, count)| part(index, count)).transpose()?,
            ..ConvertOptions::new(generation(&self.to)?)
        })
    }
}

fn part(index: usize, count: usize) -> Result<WorkShare, Failure> {
    let message = || format!("shards is {index} of {count}; the first counts from 1 to the second");
    WorkShare::new(index, count).ok_or_else(|| Failure::Option(message()))
}

/// Converts a model, and gives the JSON text of what was done.
#[pyfunction]
#[pyo3(signature = (source, destination, options))]
pub(crate) fn convert(
    py: Python<'_>,
    source: PathBuf,
    destination: PathBuf,
    options: Wish,
) -> PyResult<String> {
    let options = options.options()?;
    in_pool(py, || {
        let conversion = gaudi_kv::convert::convert(&source, &destination, &options, &|_| {})?;
        Ok(serde_json::to_string(&conversion)?)
    })
}
