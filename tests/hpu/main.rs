//! Caches and attention through SynapseAI, over `synapse-emu`, against the emulated device in its exact mode: the same
//! bits, whatever the library does.
//!
//! A process holds one device, and the emulator takes its settings once, so each scenario runs in a process of its own:
//! [`process`] starts this program again for one test.

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
#[cfg(feature = "cli")]
#[allow(dead_code, reason = "shared with another test")]
#[path = "../models/names.rs"]
mod models;
#[allow(dead_code, reason = "shared with another test")]
#[path = "../caches/numbers.rs"]
mod numbers;

mod any_device;
mod bits;
mod faults;
mod holding;
mod planes;
mod probe;
mod process;
mod program;
mod recipes;
mod small;
mod variants;
