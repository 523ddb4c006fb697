//! The sequences of a step, checked and prepared once for all layers.

use kv::attention::{Batch, DecodeBatch};

use crate::cache::gaudi_kv_cache;
use crate::failure::Failure;
use crate::last_error::{barrier, quiet_barrier};
use crate::pointer;
use crate::status::gaudi_kv_status;

/// The sequences of a step. Several threads may use one that is prepared; one thread at a time may prepare it.
#[derive(Debug, Default)]
pub struct gaudi_kv_batch {
    query_start_loc: Vec<usize>,
    seq_lens: Vec<usize>,
    block_table: Vec<i32>,
    /// For caches like the one that it was prepared for; not prepared where that is none.
    pub(crate) decode: DecodeBatch,
}

impl gaudi_kv_batch {
    pub(crate) fn view(&self) -> Batch<'_> {
        Batch {
            query_start_loc: &self.query_start_loc,
            seq_lens: &self.seq_lens,
            block_table: &self.block_table,
        }
    }

    /// Query tokens of all sequences.
    pub(crate) fn tokens(&self) -> usize {
        self.query_start_loc.last().copied().unwrap_or(0)
    }

    /// Takes the sequences of a step, in the memory that is there.
    fn take(
        &mut self,
        query_start_loc: &[i32],
        seq_lens: &[i32],
        block_table: &[i32],
        cache: Option<&gaudi_kv_cache>,
    ) -> Result<(), Failure> {
        set("query_start_loc", query_start_loc, &mut self.query_start_loc)?;
        set("seq_lens", seq_lens, &mut self.seq_lens)?;
        self.block_table.clear();
        self.block_table.extend_from_slice(block_table);
        let view = Batch {
            query_start_loc: &self.query_start_loc,
            seq_lens: &self.seq_lens,
            block_table: &self.block_table,
        };
        let tokens = self.query_start_loc.last().copied().unwrap_or(0);
        match cache {
            Some(cache) => Ok(self.decode.prepare(&view, tokens, cache.geometry)?),
            None => {
                self.decode = DecodeBatch::new();
                Ok(view.check(tokens)?)
            }
        }
    }

    /// No sequences, no cache.
    fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Copies sizes, none of which may be negative.
fn set(what: &str, from: &[i32], to: &mut Vec<usize>) -> Result<(), Failure> {
    to.clear();
    for (index, value) in from.iter().enumerate() {
        let size = usize::try_from(*value);
        to.push(
            size.map_err(|_| Failure::shape(format!("{what}[{index}] is {value}; it must not be negative")))?,
        );
    }
    Ok(())
}

/// An empty batch, to be prepared for each step. To be freed with `gaudi_kv_batch_free`.
///
/// # Safety
/// `out` is null or points to a pointer, which is set; to null where the call fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_batch_create(out: *mut *mut gaudi_kv_batch) -> gaudi_kv_status {
    // SAFETY: the caller promises that `out` is null or can be written.
    barrier(|| unsafe { pointer::hand_out(out, || Ok(gaudi_kv_batch::default())) })
}

/// Takes the sequences of a step, in place of those of the last. Sequence `i` has the query tokens
/// `query_start_loc[i]` to `query_start_loc[i + 1]`, the last ones of its `seq_lens[i]` tokens, which lie in the
/// blocks of row `i` of the block table, in order. `query_start_loc` is `[num_sequences + 1]` and begins with 0,
/// `seq_lens` `[num_sequences]`, `block_table` `[num_sequences, max_blocks]`; it may be null, with `max_blocks` 0,
/// where nothing is read from a cache. Entries that no token needs may hold anything. All is copied.
///
/// With a `cache`, the batch serves the decode of every layer whose cache has as many blocks of the same size. Without
/// one (null), it serves prefills, whose block table is then checked by each call.
///
/// Returns `GAUDI_KV_INVALID_SHAPE` where the batch contradicts itself, has too few blocks, or a block is outside the
/// cache. The batch is empty then: of all calls that are refused, this one alone changes what it was given, so that no
/// step runs with the sequences of the last.
///
/// # Safety
/// `batch` is null or a batch that no other call uses. `cache` is null or a cache. The arrays point to as many numbers
/// as is said, which nobody changes during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_batch_prepare(
    batch: *mut gaudi_kv_batch,
    cache: *const gaudi_kv_cache,
    query_start_loc: *const i32,
    seq_lens: *const i32,
    num_sequences: usize,
    block_table: *const i32,
    max_blocks: usize,
) -> gaudi_kv_status {
    barrier(|| {
        // SAFETY: the caller promises a batch that no other call uses, a live cache or null, and as many numbers
        // behind each pointer as is said, which nobody changes.
        let (batch, query_start_loc, seq_lens, block_table, cache) = unsafe {
            (
                pointer::handle_mut("the batch", batch)?,
                pointer::slice("query_start_loc", query_start_loc, num_sequences.saturating_add(1))?,
                pointer::slice("seq_lens", seq_lens, num_sequences)?,
                pointer::slice("block_table", block_table, num_sequences.saturating_mul(max_blocks))?,
                cache.as_ref(),
            )
        };
        let taken = batch.take(query_start_loc, seq_lens, block_table, cache);
        if taken.is_err() {
            batch.clear();
        }
        taken
    })
}

/// Frees a batch; null is none.
///
/// # Safety
/// `batch` is null or a batch that has not been freed, and no other call uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_batch_free(batch: *mut gaudi_kv_batch) {
    // SAFETY: the caller promises that the batch is null or not freed, and that no other call uses it.
    quiet_barrier(|| unsafe { pointer::free(batch) });
}
