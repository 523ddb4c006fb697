//! Recipes in files.
//!
//! A file is a magic number, the version of this layout, the length of the plan in bytes, the plan (postcard), and a
//! hash (XXH3) of everything before it; numbers are little-endian.

use std::path::Path;

use habana_sys::synStatus;
use xxhash_rust::xxh3::xxh3_64;

use super::executable::Recipe;
use super::plan::Plan;
use crate::config::Config;
use crate::log;
use crate::outcome::Outcome;

const MAGIC: [u8; 8] = *b"SYNEMURC";
/// Counts up whenever a plan changes.
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 20;
const HASH_BYTES: usize = 8;

impl Recipe {
    /// Writes it to a file, which is replaced. `synFail` where that cannot be written.
    pub(crate) fn write(&self, path: &Path) -> Outcome {
        let failed = |error: &dyn std::fmt::Display| {
            log::refusal(synStatus::synFail, format_args!("recipe file {}: {error}", path.display()))
        };
        let plan = postcard::to_allocvec(&self.to_plan()).map_err(|error| failed(&error))?;
        let mut bytes = Vec::with_capacity(HEADER_BYTES + plan.len() + HASH_BYTES);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((plan.len() as u64).to_le_bytes());
        bytes.extend(plan);
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        std::fs::write(path, bytes).map_err(|error| failed(&error))
    }

    /// Reads one. `synFail` where there is none, `synWrongParamsFile` where it is damaged or of another version,
    /// `synDeviceTypeMismatch` where it is for another device than the emulated one.
    pub(crate) fn read(config: &Config, path: &Path) -> Outcome<Self> {
        let bytes = std::fs::read(path).map_err(|error| {
            log::refusal(synStatus::synFail, format_args!("recipe file {}: {error}", path.display()))
        })?;
        let plan = parse(&bytes).map_err(|reason| {
            log::refusal(
                synStatus::synWrongParamsFile,
                format_args!("recipe file {}: {reason}", path.display()),
            )
        })?;
        if plan.device_type() != config.device_type() {
            let reason = format_args!("recipe file {} is for another device", path.display());
            return Err(log::refusal(synStatus::synDeviceTypeMismatch, reason));
        }
        Self::new(config, plan)
    }
}

fn parse(bytes: &[u8]) -> Result<Plan, String> {
    let (content, hash) = bytes.split_last_chunk::<HASH_BYTES>().ok_or("too short")?;
    let (magic, rest) = content.split_first_chunk::<8>().ok_or("too short")?;
    let (version, rest) = rest.split_first_chunk::<4>().ok_or("too short")?;
    let (length, plan) = rest.split_first_chunk::<8>().ok_or("too short")?;
    if *magic != MAGIC {
        return Err("not a recipe".to_owned());
    }
    if u32::from_le_bytes(*version) != VERSION {
        return Err(format!("version {} instead of {VERSION}", u32::from_le_bytes(*version)));
    }
    if u64::from_le_bytes(*length) != plan.len() as u64 || xxh3_64(content) != u64::from_le_bytes(*hash) {
        return Err("damaged".to_owned());
    }
    let (plan, rest) = postcard::take_from_bytes(plan).map_err(|error| error.to_string())?;
    if rest.is_empty() { Ok(plan) } else { Err("damaged".to_owned()) }
}
