//! Copying bytes of one file into another, in pieces, on all cores.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rayon::prelude::*;
use rustix::fs::copy_file_range;
use rustix::io::Errno;

use super::RewriteError;

/// What a thread reads, changes and writes at once. It stays in the core's own cache, and with one for each of 128
/// cores memory stays small.
pub(crate) const BLOCK_BYTES: usize = 256 << 10;
/// A piece of work; large tensors are split so that all cores share them.
pub(crate) const PIECE_BYTES: u64 = 8 << 20;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Copies a whole file, byte for byte.
pub(crate) fn copy_file(
    from: &File,
    from_path: &Path,
    bytes: u64,
    to: &File,
    to_path: &Path,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(), RewriteError> {
    let starts: Vec<u64> = (0..bytes).step_by(PIECE_BYTES as usize).collect();
    starts.into_par_iter().try_for_each(|start| {
        let end = bytes.min(start + PIECE_BYTES);
        copy_range(from, from_path, start..end, to, to_path, start)?;
        progress(end - start);
        Ok(())
    })
}

/// Copies bytes within the kernel where it can, else through a buffer.
pub(crate) fn copy_range(
    from: &File,
    from_path: &Path,
    range: Range<u64>,
    to: &File,
    to_path: &Path,
    at: u64,
) -> Result<(), RewriteError> {
    let (mut from_at, mut to_at) = (range.start, at);
    while from_at < range.end {
        let bytes = usize::try_from(range.end - from_at).unwrap_or(usize::MAX);
        match copy_file_range(from, Some(&mut from_at), to, Some(&mut to_at), bytes) {
            Ok(0) => return Err(RewriteError::Changed { path: from_path.to_owned() }),
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => {
                return copy_through_buffer(from, from_path, from_at..range.end, to, to_path, to_at);
            }
            Err(error) => return Err(RewriteError::io("write", to_path, error.into())),
        }
    }
    Ok(())
}

fn copy_through_buffer(
    from: &File,
    from_path: &Path,
    range: Range<u64>,
    to: &File,
    to_path: &Path,
    mut at: u64,
) -> Result<(), RewriteError> {
    BUFFER.with_borrow_mut(|block| {
        block.resize(BLOCK_BYTES, 0);
        for start in range.clone().step_by(BLOCK_BYTES) {
            let block = &mut block[..(range.end - start).min(BLOCK_BYTES as u64) as usize];
            from.read_exact_at(block, start).map_err(|e| match e.kind() {
                io::ErrorKind::UnexpectedEof => RewriteError::Changed { path: from_path.to_owned() },
                _ => RewriteError::io("read", from_path, e),
            })?;
            to.write_all_at(block, at).map_err(|e| RewriteError::io("write", to_path, e))?;
            at += block.len() as u64;
        }
        Ok(())
    })
}
