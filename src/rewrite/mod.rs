//! Writing a changed copy of a model folder: what [`convert`](crate::convert) and [`calibrate`](mod@crate::calibrate)
//! have in common.
//!
//! A result grows in a hidden work folder beside its destination and appears under its name in one step.
//! `destination` has the rules for where that may be, `tree` carries files, links and modes over, `layout` lays
//! weight files out anew, and configs are changed as text. What changes, and why, is decided above.

mod copy;
mod destination;
mod edits;
mod entries;
mod error;
pub(crate) mod json_text;
mod layout;
mod tree;
mod work_folder;

pub(crate) use copy::{BLOCK_BYTES, PIECE_BYTES, copy_file, copy_range};
pub(crate) use destination::Destination;
pub(crate) use edits::{Edits, IndexEdit};
pub(crate) use entries::{Entry, Identity, Kind, list};
pub use error::RewriteError;
pub(crate) use layout::{Fate, Layout, Segment};
pub(crate) use tree::Tree;
pub(crate) use work_folder::WorkFolder;
