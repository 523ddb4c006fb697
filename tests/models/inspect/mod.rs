//! Reading model folders and deciding on their scales, on small generated checkpoints and on the models in
//! `tests/data`. Tests are named after what they show; `I-..` and `S-..` number kinds of public bug
//! reports about KV scales, `P..` producers of checkpoints and `C..` shapes of configs; the test's name says which is meant.
//!
//! Expected numbers come from the formula in `report.rs` or are written out; none was read off the program.
//!
//! Kinds of reports that are about something else than reading and deciding, and are tested there or not yet:
//!
//! | entry | why it is not here |
//! | --- | --- |
//! | I-21 | a host copy of a scale beside the device's: the device layer |
//! | I-22 second half | values that saturate in the cache: cache writes |
//! | I-29 first half, I-34, I-35, I-36 | a kernel that leaves a scale out: attention |
//! | I-30 | calibration of the latent with its rope part |
//! | I-31 | tiles of `fp8_ds_mla`, a cache layout that Gaudi has not |
//! | I-37, S-10, S-14 second half | engine code paths: attention |
//! | I-38 second half | bytes of the cache: cache writes |
//! | I-42 | transfer between devices of other FP8 encodings |
//! | I-49, I-57, I-58, I-60 | block transfer, offload, prefix cache |
//! | I-50 first half | an engine's draft model beside the target; the checkpoint does not say whose cache it reads |
//! | I-51, I-62 | the engine's Python objects: the plugin |
//! | I-55, I-56 | scales computed at run time: calibration and cache |
//! | S-05 | block matmuls at scale 1.0: attention |
#![allow(clippy::excessive_precision, reason = "reference values have nine digits, as they were published")]

mod adjustment;
mod bad_configs;
mod bad_folders;
mod bad_json;
mod bad_safetensors;
mod builder;
mod cache_dtype;
mod command_line;
mod configs;
mod fixtures;
mod flavor;
mod layers;
mod mla;
mod names;
mod naming_reports;
mod other_names;
mod per_head;
mod prefixes;
mod producers;
mod program;
mod query_and_prob;
mod report;
mod shared_caches;
mod sidecars;
mod skipped_layers;
mod sources;
mod values;
mod weights;
