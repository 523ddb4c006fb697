//! The batch of a step: which tokens of which sequences are computed, and where their keys and values lie.

use std::sync::{Arc, Mutex, PoisonError};

use gaudi_kv::attention::{self, DecodeBatch};
use gaudi_kv::cache::CacheGeometry;
use pyo3::prelude::*;

use crate::error::Failure;
use crate::indices::{indices, sizes};

/// The sequences of a step, the same for all layers.
///
/// Sequence `i` has the query tokens `query_start_loc[i]` to `query_start_loc[i + 1]`, the last ones of its `seq_lens[i]`
/// tokens, which lie in the blocks `block_table[i]` of the caches, in order. `query_start_loc` is `[sequences + 1]`,
/// `seq_lens` `[sequences]`, `block_table` `[sequences, max_blocks]` (not needed where nothing is read from a cache).
/// Each is an int32 or int64 array, or a sequence of integers; all are copied, so that the next step may overwrite them.
/// Entries of the block table that no token needs may hold anything.
///
/// Raises `ShapeError` where they do not fit together, `DtypeError` where they are no integers.
#[pyclass(frozen, module = "gaudi_kv")]
#[derive(Debug)]
pub(crate) struct Batch {
    query_start_loc: Vec<usize>,
    seq_lens: Vec<usize>,
    block_table: Vec<i32>,
    /// Prepared for the caches that were decoded from; layers of a model have few kinds of them.
    prepared: Mutex<Vec<Prepared>>,
}

#[derive(Debug)]
struct Prepared {
    blocks: usize,
    block_size_tokens: usize,
    batch: Arc<DecodeBatch>,
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (query_start_loc, seq_lens, block_table = None))]
    fn new(
        query_start_loc: &Bound<'_, PyAny>,
        seq_lens: &Bound<'_, PyAny>,
        block_table: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (query_start_loc, seq_lens) =
            (sizes("query_start_loc", query_start_loc)?, sizes("seq_lens", seq_lens)?);
        let sequences = seq_lens.len();
        if query_start_loc.len() != sequences + 1 {
            return Err(Failure::Shape(format!(
                "query_start_loc has {} elements, {} are needed for {sequences} sequences",
                query_start_loc.len(),
                sequences + 1
            ))
            .into());
        }
        let block_table = match block_table {
            None => Vec::new(),
            Some(object) => {
                let (values, shape) = indices("block_table", object)?;
                if !matches!(shape[..], [rows, _] if rows == sequences) {
                    return Err(Failure::Shape(format!(
                        "block_table has the shape {shape:?}; [{sequences}, max_blocks] is needed"
                    ))
                    .into());
                }
                // An id that does not fit is none of a cache's; it matters only where it is used.
                values.into_iter().map(|id| i32::try_from(id).unwrap_or(-1)).collect()
            }
        };
        Ok(Self { query_start_loc, seq_lens, block_table, prepared: Mutex::default() })
    }

    /// The number of sequences.
    #[getter]
    fn num_sequences(&self) -> usize {
        self.seq_lens.len()
    }

    /// Query tokens of all sequences: the rows of queries and outputs.
    #[getter]
    fn num_tokens(&self) -> usize {
        self.query_start_loc.last().copied().unwrap_or(0)
    }
}

impl Batch {
    /// The library's view of it.
    pub(crate) fn view(&self) -> attention::Batch<'_> {
        attention::Batch {
            query_start_loc: &self.query_start_loc,
            seq_lens: &self.seq_lens,
            block_table: &self.block_table,
        }
    }

    /// Query tokens of all sequences.
    pub(crate) fn tokens(&self) -> usize {
        self.num_tokens()
    }

    /// Query tokens times the tokens that they are compared with, over all sequences.
    pub(crate) fn pairs(&self) -> usize {
        let tokens = self.query_start_loc.windows(2).map(|bounds| bounds[1].saturating_sub(bounds[0]));
        let pairs = tokens.zip(&self.seq_lens).map(|(tokens, len)| tokens.saturating_mul(*len));
        pairs.fold(0, usize::saturating_add)
    }

    /// The batch for caches of that many blocks of that size, prepared by the first layer that needs it.
    pub(crate) fn prepared(&self, geometry: CacheGeometry) -> Result<Arc<DecodeBatch>, Failure> {
        let (blocks, block_size_tokens) = (geometry.blocks(), geometry.block_size_tokens());
        let mut all = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |p: &&Prepared| p.blocks == blocks && p.block_size_tokens == block_size_tokens;
        if let Some(prepared) = all.iter().find(fits) {
            return Ok(Arc::clone(&prepared.batch));
        }
        let mut batch = DecodeBatch::new();
        batch.prepare(&self.view(), self.tokens(), geometry)?;
        let batch = Arc::new(batch);
        all.push(Prepared { blocks, block_size_tokens, batch: Arc::clone(&batch) });
        Ok(batch)
    }
}
