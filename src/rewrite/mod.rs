//! Writing a changed copy of a model folder: what [`convert`](crate::convert) and [`calibrate`](mod@crate::calibrate)
//! have in common.
//!
//! A result grows in a hidden work folder beside its destination and appears under its name in one step.
//! `destination` has the rules for where that may be, `result_folder` carries files, links and modes over, `shard_layout`
//! lays weight files out anew, and configs are changed as text. What changes, and why, is decided above.

mod copy;
mod destination;
mod edits;
mod error;
mod folder_entries;
pub(crate) mod json_text;
mod result_folder;
mod shard_layout;
mod work_folder;

pub(crate) use copy::{BLOCK_BYTES, PIECE_BYTES, copy_file, copy_range};
pub(crate) use destination::Destination;
pub(crate) use edits::{Edits, IndexEdit};
pub use error::RewriteError;
pub(crate) use folder_entries::{Entry, Identity, Kind, list};
pub(crate) use result_folder::ResultFolder;
pub(crate) use shard_layout::{Fate, Segment, ShardLayout};
pub(crate) use work_folder::WorkFolder;
