//! One scale of one layer: read from all its sources, validated, and agreed on.

use super::adjustment::ScaleAdjustment;
use super::collect::{Reading, Source};
use crate::HeadScales;
use crate::checkpoint::{
    Attention, CacheLayer, CheckpointError, FindingCode, Findings, ModelFolder, Role, SidecarNumber, narrow,
    read_scale, relative_precision,
};

/// A value that a source gives, already validated. An element of zero is a head that was never calibrated.
#[derive(Debug, Clone)]
pub(super) struct RawScale {
    pub(super) value: HeadScales,
    /// The tensor, or a sidecar's file and key.
    pub(super) name: String,
    /// It is one scale for key and value.
    pub(super) serves_both: bool,
    /// The relative error that it may have against another source of the same scale, and whether it was computed
    /// from something else than the scale itself.
    precision: f32,
    is_derived: bool,
}

/// What the sources of one scale come to.
#[derive(Debug, Clone)]
pub(super) enum Resolved {
    Found(RawScale),
    /// No source, or only sources that were never calibrated.
    Missing,
    /// Some source cannot be used; the error is among the findings.
    Invalid,
}

/// What reading depends on besides the source.
pub(super) struct Resolver<'a> {
    pub(super) folder: &'a ModelFolder,
    pub(super) adjustment: &'a ScaleAdjustment,
    pub(super) is_strict: bool,
}

/// Sources of one role after validation.
pub(super) struct Candidates {
    usable: Vec<RawScale>,
    has_invalid: bool,
}

impl Candidates {
    /// The candidates of a role, and after them those of another that serves it too.
    pub(super) fn with(&self, more: &Self) -> Self {
        let usable = self.usable.iter().chain(&more.usable).cloned().collect();
        Self { usable, has_invalid: self.has_invalid || more.has_invalid }
    }

    /// Takes the first and checks that the others agree.
    pub(super) fn agree(mut self, layer: &CacheLayer, role: Role, findings: &mut Findings) -> Resolved {
        if self.has_invalid {
            return Resolved::Invalid;
        }
        if self.usable.is_empty() {
            return Resolved::Missing;
        }
        let first = self.usable.remove(0);
        if let Some(other) = self.usable.iter().find(|other| !agrees(&first, other)) {
            findings.error(
                FindingCode::ScaleConflict,
                Some(layer.index),
                format!(
                    "layer {}: two sources disagree on the {role} scale: {} is {:?}, {} is {:?}",
                    layer.index,
                    first.name,
                    first.value.as_slice(),
                    other.name,
                    other.value.as_slice()
                ),
            );
            return Resolved::Invalid;
        }
        Resolved::Found(first)
    }
}

/// Equal numbers agree; so do two storage types of one number, and what was computed back from a reciprocal or an
/// amax, within their precision. One scale agrees with the same number for every head.
fn agrees(a: &RawScale, b: &RawScale) -> bool {
    let is_rounding = a.is_derived || b.is_derived || a.precision != b.precision;
    let tolerance = if is_rounding { a.precision.max(b.precision) } else { 0.0 };
    let heads = a.value.as_slice().len().max(b.value.as_slice().len());
    let at = |numbers: &[f32], head: usize| numbers.get(head).or(numbers.first()).copied();
    (0..heads).all(|head| match (at(a.value.as_slice(), head), at(b.value.as_slice(), head)) {
        (Some(x), Some(y)) => (x - y).abs() <= tolerance * x.abs(),
        _ => false,
    })
}

impl Resolver<'_> {
    /// Reads and validates the sources of one role.
    pub(super) fn candidates(
        &self,
        layer: &CacheLayer,
        role: Role,
        sources: &[Source],
        findings: &mut Findings,
    ) -> Result<Candidates, CheckpointError> {
        let mut candidates = Candidates { usable: Vec::new(), has_invalid: false };
        for source in sources {
            let raw = self.read(layer, role, source)?;
            match self.validate(layer, role, &raw, findings) {
                Verdict::Usable => candidates.usable.push(raw),
                Verdict::Uncalibrated => {}
                Verdict::Invalid => candidates.has_invalid = true,
            }
        }
        Ok(candidates)
    }

    fn read(&self, layer: &CacheLayer, role: Role, source: &Source) -> Result<RawScale, CheckpointError> {
        let (value, precision, is_derived) = match source.reading {
            Reading::Tensor { shard, tensor, format } => {
                let shard = &self.folder.shards()[shard];
                let tensor = &shard.tensors()[tensor];
                // Query heads that do not divide into the KV heads have no groups to take the largest of.
                let has_groups =
                    layer.attention == Attention::Mla || layer.num_heads.is_multiple_of(layer.num_kv_heads);
                let heads: &[usize] = match role {
                    Role::Q if has_groups => &[layer.num_heads, layer.num_kv_heads],
                    _ => &[layer.num_kv_heads],
                };
                let mut value = read_scale(shard, tensor, layer.index, heads)?;
                if format.is_reciprocal() {
                    // Zero and what is not finite stay what they are for validation to see.
                    let usable = value.as_mut_slice().iter_mut().filter(|x| x.is_finite() && **x != 0.0);
                    usable.for_each(|x| *x = 1.0 / *x);
                }
                (value, relative_precision(tensor.dtype), format.is_reciprocal())
            }
            Reading::Sidecar(SidecarNumber::Scale(s)) => {
                (HeadScales::One(narrow(s)), 4.0 * f32::EPSILON, false)
            }
            // An amax is what the largest code of the checkpoint's range stands for.
            Reading::Sidecar(SidecarNumber::Amax(amax)) => {
                let s = amax / f64::from(self.adjustment.fp8_max_quant);
                (HeadScales::One(narrow(s)), 4.0 * f32::EPSILON, true)
            }
        };
        let (name, serves_both) = (source.name.clone(), role == Role::Kv);
        Ok(RawScale { value, name, serves_both, precision, is_derived })
    }

    fn validate(&self, layer: &CacheLayer, role: Role, raw: &RawScale, findings: &mut Findings) -> Verdict {
        let index = layer.index;
        let describe = |head: usize, x: f32| {
            let head = if raw.value.is_per_head() { format!(", head {head}") } else { String::new() };
            format!("layer {index}: the {role} scale {} is {x}{head}", raw.name)
        };
        let find = |is_bad: &dyn Fn(f32) -> bool| {
            raw.value
                .as_slice()
                .iter()
                .enumerate()
                .find(|(_, x)| is_bad(**x))
                .map(|(head, x)| describe(head, *x))
        };
        if let Some(message) = find(&|x| !x.is_finite()) {
            findings.error(FindingCode::ScaleNotFinite, Some(index), message);
            return Verdict::Invalid;
        }
        if let Some(message) = find(&|x| x < 0.0) {
            findings.error(FindingCode::ScaleNegative, Some(index), message);
            return Verdict::Invalid;
        }
        if let Some(message) = find(&|x| x == 0.0) {
            let message = format!("{message}: it was never calibrated and is treated as missing");
            if self.is_strict {
                findings.error(FindingCode::ScaleZero, Some(index), message);
                return Verdict::Invalid;
            }
            findings.warn(FindingCode::ScaleZero, Some(index), message);
        }
        if let Some(message) = find(&|x| x != 0.0 && !(f32::powi(2.0, -24)..=1024.0).contains(&x)) {
            findings.warn(FindingCode::ScaleImplausible, Some(index), message);
        }
        if raw.value.as_slice().iter().all(|x| *x == 0.0) { Verdict::Uncalibrated } else { Verdict::Usable }
    }
}

enum Verdict {
    Usable,
    Uncalibrated,
    Invalid,
}
