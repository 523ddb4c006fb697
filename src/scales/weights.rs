//! Reading all FP8 weights for what they say about the range that they were quantized to.

use std::os::unix::fs::FileExt;

use rayon::prelude::*;
use safetensors::Dtype;
use serde::Serialize;
use tracing::info_span;

use crate::checkpoint::{CheckpointError, FindingCode, Findings, Flavor, ModelFolder, Shard, TensorEntry};
use crate::fp8::{CodeScan, scan_codes};

/// A buffer that stays in a core's own cache, so that the scan costs little beside the read.
const BLOCK_BYTES: usize = 256 << 10;
/// A piece of work; large tensors are split so that all cores share them.
const PIECE_BYTES: usize = 8 << 20;
/// How many tensors a message names.
const NAMED_TENSORS: usize = 5;

/// What the FP8 weights hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WeightScan {
    /// FP8 tensors read.
    pub tensors: usize,
    /// Their size.
    pub bytes: u64,
    /// e4m3 codes above `0x77`, sign ignored.
    pub codes_above_0x77: u64,
    /// NaN codes.
    pub nan_codes: u64,
    /// The tensors that hold any of them, most first.
    pub offending: Vec<OffendingTensor>,
}

/// An FP8 tensor with codes that are worth naming.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OffendingTensor {
    /// The tensor.
    pub tensor: String,
    /// Its file.
    pub file: String,
    /// e4m3 codes above `0x77`, NaN codes included.
    pub codes_above_0x77: u64,
    /// NaN codes.
    pub nan_codes: u64,
}

/// The bytes that a scan will read.
#[must_use]
pub fn fp8_weight_bytes(folder: &ModelFolder) -> u64 {
    fp8_tensors(folder).map(|(_, tensor)| (tensor.end - tensor.start) as u64).sum()
}

fn fp8_tensors(folder: &ModelFolder) -> impl Iterator<Item = (&Shard, &TensorEntry)> {
    folder.shards().iter().flat_map(|shard| shard.tensors().iter().map(move |tensor| (shard, tensor))).filter(
        |(_, t)| matches!(t.dtype, Dtype::F8_E4M3 | Dtype::F8_E5M2 | Dtype::F8_E4M3FNUZ | Dtype::F8_E5M2FNUZ),
    )
}

/// Reads all FP8 weights on all cores and reports what they say about the flavor. `progress` is told of bytes read.
///
/// # Errors
/// A file cannot be read.
pub(super) fn verify_weights(
    folder: &ModelFolder,
    findings: &mut Findings,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<WeightScan, CheckpointError> {
    let _span = info_span!("scan").entered();
    let tensors: Vec<_> = fp8_tensors(folder).collect();
    let mut pieces = Vec::new();
    for (number, (_, tensor)) in tensors.iter().enumerate() {
        let starts = (tensor.start..tensor.end).step_by(PIECE_BYTES);
        pieces.extend(starts.map(|start| (number, start, tensor.end.min(start + PIECE_BYTES))));
    }
    let scans: Vec<(usize, CodeScan)> = pieces
        .into_par_iter()
        .map_init(
            || vec![0; BLOCK_BYTES],
            |buffer, (number, start, end)| {
                let (shard, tensor) = tensors[number];
                let found = scan_piece(shard, tensor.dtype, start, end, buffer)?;
                progress((end - start) as u64);
                Ok((number, found))
            },
        )
        .collect::<Result<_, CheckpointError>>()?;
    let mut totals = vec![CodeScan::default(); tensors.len()];
    for (number, scan) in scans {
        totals[number].above_gaudi2_max += scan.above_gaudi2_max;
        totals[number].nan += scan.nan;
    }
    let mut offending: Vec<OffendingTensor> = tensors
        .iter()
        .zip(&totals)
        .filter(|(_, scan)| scan.above_gaudi2_max > 0 || scan.nan > 0)
        .map(|((shard, tensor), scan)| OffendingTensor {
            tensor: tensor.name.clone(),
            file: shard.path().file_name().unwrap_or_default().to_string_lossy().into_owned(),
            codes_above_0x77: scan.above_gaudi2_max,
            nan_codes: scan.nan,
        })
        .collect();
    offending
        .sort_by(|a, b| b.codes_above_0x77.cmp(&a.codes_above_0x77).then_with(|| a.tensor.cmp(&b.tensor)));
    let scan = WeightScan {
        tensors: tensors.len(),
        bytes: tensors.iter().map(|(_, t)| (t.end - t.start) as u64).sum(),
        codes_above_0x77: totals.iter().map(|t| t.above_gaudi2_max).sum(),
        nan_codes: totals.iter().map(|t| t.nan).sum(),
        offending,
    };
    judge(folder, &tensors, &scan, findings);
    Ok(scan)
}

/// Reads with `pread` into a small buffer: mapping the pages would cost a fault each and count them as this process's
/// memory.
fn scan_piece(
    shard: &Shard,
    dtype: Dtype,
    start: usize,
    end: usize,
    buffer: &mut [u8],
) -> Result<CodeScan, CheckpointError> {
    let mut total = CodeScan::default();
    let mut at = start;
    while at < end {
        let bytes = BLOCK_BYTES.min(end - at);
        let block = &mut buffer[..bytes];
        shard.file().read_exact_at(block, at as u64).map_err(|e| CheckpointError::io(shard.path(), e))?;
        let found = match dtype {
            Dtype::F8_E4M3 => scan_codes(block),
            // The range question is e4m3's alone; the others only have their NaN codes looked for.
            Dtype::F8_E5M2 => CodeScan { above_gaudi2_max: 0, nan: count(block, |c| c & 0x7F > 0x7C) },
            _ => CodeScan { above_gaudi2_max: 0, nan: count(block, |c| c == 0x80) },
        };
        total.above_gaudi2_max += found.above_gaudi2_max;
        total.nan += found.nan;
        at += bytes;
    }
    Ok(total)
}

fn count(codes: &[u8], is_match: impl Fn(u8) -> bool) -> u64 {
    codes.iter().filter(|code| is_match(**code)).count() as u64
}

/// A label that the weights contradict is an error; weights that could be of either range never decide.
fn judge(
    folder: &ModelFolder,
    tensors: &[(&Shard, &TensorEntry)],
    scan: &WeightScan,
    findings: &mut Findings,
) {
    let flavor = folder.quant_config().flavor;
    let has_e4m3 = tensors.iter().any(|(_, t)| t.dtype == Dtype::F8_E4M3);
    if flavor == Some(Flavor::E4m3fnuz) && scan.codes_above_0x77 > 0 {
        let named = name_some(scan, |t| t.codes_above_0x77);
        let message = format!(
            "the flavor float8_e4m3fnuz promises values up to 240, but {} FP8 codes lie above 0x77: {named}",
            scan.codes_above_0x77
        );
        findings.error(FindingCode::FlavorContradictsWeights, None, message);
    }
    if scan.nan_codes > 0 {
        let message = format!("{} FP8 codes are NaN: {}", scan.nan_codes, name_some(scan, |t| t.nan_codes));
        findings.error(FindingCode::WeightsNan, None, message);
    }
    if flavor.is_none() && has_e4m3 && scan.codes_above_0x77 == 0 {
        let message = format!(
            "none of {} bytes of FP8 weights lies above 240 and no flavor is given: the range may be 240; 448 is assumed",
            scan.bytes
        );
        findings.warn(FindingCode::FlavorMissing, None, message);
    }
}

fn name_some(scan: &WeightScan, count: impl Fn(&OffendingTensor) -> u64) -> String {
    let mut offending: Vec<_> = scan.offending.iter().filter(|t| count(t) > 0).collect();
    offending.sort_by_key(|t| std::cmp::Reverse(count(t)));
    let named: Vec<_> = offending
        .iter()
        .take(NAMED_TENSORS)
        .map(|t| format!("{} in {} ({})", t.tensor, t.file, count(t)))
        .collect();
    let rest = offending.len().saturating_sub(NAMED_TENSORS);
    let rest = if rest > 0 { format!(" and {rest} more tensors") } else { String::new() };
    format!("{}{rest}", named.join(", "))
}
