//! Caches and attention against two oracles that share no code with them.
//!
//! - [`model`] follows the rules of the `attention` module one number at a time: the exact mode must give its bits.
//! - [`float64`] is attention in float64, with a bound on what the roundings of a path may add: every mode must stay
//!   within it.
//!
//! Scales differ from 1 and from each other throughout, so that one that is left out, doubled or taken for another
//! shows.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod cases;
mod float64;
mod latents;
mod model;
mod numbers;

mod agreement;
mod bits;
mod errors;
mod lent;
mod prepared;
mod public_bugs;
mod scaleless;
mod shapes;
mod storage;
mod threads;
mod transfer;
