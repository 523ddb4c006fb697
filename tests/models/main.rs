//! Model folders: what is read from them, decided, computed, and written into new ones. What is about one command of the
//! program is in the folder of its name.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[cfg(feature = "cli")]
mod calibrate;
#[cfg(feature = "cli")]
mod check;
mod configurations;
#[cfg(feature = "cli")]
mod convert;
mod folders;
mod hostile;
#[cfg(feature = "cli")]
mod inspect;
#[cfg(feature = "cli")]
mod names;
#[cfg(feature = "cli")]
mod report;
