//! The test set for people with a card. It is ignored unless it is asked for, and fails where there is no card:
//!
//! ```sh
//! cargo test --test hardware -- --ignored --nocapture
//! ```
//!
//! Every recipe is run and compared with the emulated device in its exact mode, every fixture is checked, and every
//! question of the probe is asked. What only moves or converts elements must be the same bits. Attention must stay
//! within the bound on its roundings, as the device's exponential function may differ from the emulation's in its last bits;
//! how many bits differ is printed.

#![cfg(feature = "hpu")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[allow(dead_code, reason = "shared with another test")]
#[path = "../caches/cases.rs"]
mod cases;
#[allow(dead_code, reason = "shared with another test")]
#[path = "../caches/float64.rs"]
mod float64;
#[allow(dead_code, reason = "shared with another test")]
#[path = "../caches/latents.rs"]
mod latents;
#[allow(dead_code, reason = "shared with another test")]
#[path = "../caches/model.rs"]
mod model;
#[allow(dead_code, reason = "shared with another test")]
#[path = "../caches/numbers.rs"]
mod numbers;
#[path = "../hpu/variants.rs"]
mod variants;

mod attention;
mod card;
mod planes;
mod program;
