//! From the scales that a checkpoint has to those that a layer runs with: one policy for MHA, one for MLA.

use super::collect::LayerSources;
use super::heads::{group_query_heads, reduce, slice_for_rank};
use super::inspection::{LayerScale, Origin};
use super::resolve::{RawScale, Resolved, Resolver};
use super::{MlaScale, QMissing};
use crate::checkpoint::{
    Attention, CacheLayer, CheckpointError, FindingCode, Findings, Role, TensorParallel,
};
use crate::{HeadScales, ScaleFactors};

/// The four scales of a layer; `None` for what it has not, or where an error says why.
#[derive(Debug, Clone, Default)]
pub(super) struct Scales {
    pub(super) k: Option<LayerScale>,
    pub(super) v: Option<LayerScale>,
    pub(super) q: Option<LayerScale>,
    pub(super) prob: Option<LayerScale>,
    pub(super) has_per_head: bool,
}

/// How scales become a layer's.
pub(super) struct Policy<'a> {
    pub(super) resolver: Resolver<'a>,
    pub(super) mla_scale: MlaScale,
    pub(super) q_missing: QMissing,
    pub(super) tensor_parallel: TensorParallel,
}

impl Policy<'_> {
    /// The scales of a layer that owns its FP8 cache.
    pub(super) fn apply(
        &self,
        layer: &CacheLayer,
        sources: &LayerSources,
        findings: &mut Findings,
    ) -> Result<Scales, CheckpointError> {
        let mut scales = match layer.attention {
            Attention::Mha => self.mha(layer, sources, findings)?,
            Attention::Mla => self.mla(layer, sources, findings)?,
        };
        let q = self.resolver.candidates(layer, Role::Q, sources.of(Role::Q), findings)?;
        scales.q = match q.agree(layer, Role::Q, findings) {
            Resolved::Found(raw) => {
                self.scale(layer, Role::Q, &raw, Origin::Loaded, &mut scales.has_per_head, findings)
            }
            Resolved::Missing if self.q_missing == QMissing::One => Some(defaulted()),
            Resolved::Missing => Some(dynamic()),
            Resolved::Invalid => None,
        };
        let prob = self.resolver.candidates(layer, Role::Prob, sources.of(Role::Prob), findings)?;
        scales.prob = match prob.agree(layer, Role::Prob, findings) {
            Resolved::Found(raw) => {
                self.scale(layer, Role::Prob, &raw, Origin::Loaded, &mut scales.has_per_head, findings)
            }
            Resolved::Missing => Some(defaulted()),
            Resolved::Invalid => None,
        };
        Ok(scales)
    }

    /// Whether an MLA layer takes scales of a role.
    pub(super) fn mla_takes(&self, role: Role) -> bool {
        role != Role::V || self.mla_scale == MlaScale::MaxKv
    }

    /// Key and value each have a scale; one that is missing is duplicated from the other.
    fn mha(
        &self,
        layer: &CacheLayer,
        sources: &LayerSources,
        findings: &mut Findings,
    ) -> Result<Scales, CheckpointError> {
        let both = self.resolver.candidates(layer, Role::Kv, sources.of(Role::Kv), findings)?;
        let mut read = |role| self.resolver.candidates(layer, role, sources.of(role), findings);
        let (k, v) = (read(Role::K)?, read(Role::V)?);
        let k = k.with(&both).agree(layer, Role::K, findings);
        let v = v.with(&both).agree(layer, Role::V, findings);
        let mut scales = Scales::default();
        let mut scale = |role, raw: &RawScale, origin, findings: &mut Findings| {
            self.scale(layer, role, raw, origin, &mut scales.has_per_head, findings)
        };
        let (k, v) = match (k, v) {
            (Resolved::Found(k), Resolved::Found(v)) => {
                // One tensor for both is loaded once and duplicated to the value.
                let is_shared = k.serves_both && v.serves_both;
                if is_shared {
                    note_duplicate(layer, Role::V, &k.name, findings);
                }
                let v_origin = if is_shared { Origin::Duplicated } else { Origin::Loaded };
                (scale(Role::K, &k, Origin::Loaded, findings), scale(Role::V, &v, v_origin, findings))
            }
            (Resolved::Found(k), Resolved::Missing) => {
                note_duplicate(layer, Role::V, &k.name, findings);
                let (from, to) = (Origin::Loaded, Origin::Duplicated);
                (scale(Role::K, &k, from, findings), scale(Role::V, &k, to, findings))
            }
            (Resolved::Missing, Resolved::Found(v)) => {
                note_duplicate(layer, Role::K, &v.name, findings);
                let (from, to) = (Origin::Loaded, Origin::Duplicated);
                (scale(Role::K, &v, to, findings), scale(Role::V, &v, from, findings))
            }
            (Resolved::Missing, Resolved::Missing) => {
                let message =
                    format!("layer {}: neither k_scale nor v_scale; 1.0 is used for both", layer.index);
                findings.warn(FindingCode::ScaleMissing, Some(layer.index), message);
                (Some(defaulted()), Some(defaulted()))
            }
            // A partner that cannot be used gives nothing to duplicate, and its error is reported already.
            (k, v) => {
                let mut own = |role, side| match side {
                    Resolved::Found(raw) => scale(role, &raw, Origin::Loaded, findings),
                    Resolved::Missing | Resolved::Invalid => None,
                };
                (own(Role::K, k), own(Role::V, v))
            }
        };
        (scales.k, scales.v) = (k, v);
        Ok(scales)
    }

    /// One latent has one scale: the key's, or the larger of both under `max-kv`.
    fn mla(
        &self,
        layer: &CacheLayer,
        sources: &LayerSources,
        findings: &mut Findings,
    ) -> Result<Scales, CheckpointError> {
        let both = self.resolver.candidates(layer, Role::Kv, sources.of(Role::Kv), findings)?;
        let k = self.resolver.candidates(layer, Role::K, sources.of(Role::K), findings)?;
        let k = k.with(&both).agree(layer, Role::K, findings);
        let mut scales = Scales::default();
        let v = match self.mla_scale {
            MlaScale::KOnly => {
                for source in sources.of(Role::V) {
                    let message = format!(
                        "layer {}: {} is not used: an MLA layer has one latent, and k_scale serves",
                        layer.index, source.name
                    );
                    findings.note(FindingCode::MlaVScaleIgnored, Some(layer.index), message);
                }
                Resolved::Missing
            }
            MlaScale::MaxKv => {
                let v = self.resolver.candidates(layer, Role::V, sources.of(Role::V), findings)?;
                v.agree(layer, Role::V, findings)
            }
        };
        let mut scale = |role, raw: &RawScale, origin, findings: &mut Findings| {
            self.scale(layer, role, raw, origin, &mut scales.has_per_head, findings)
        };
        let is_larger = |a: &RawScale, b: &RawScale| reduce(&a.value) > reduce(&b.value);
        let (k, v) = match (k, v) {
            (Resolved::Invalid, _) | (_, Resolved::Invalid) => (None, None),
            (Resolved::Missing, Resolved::Missing) => {
                let message = format!("layer {}: no k_scale; 1.0 is used for the latent", layer.index);
                findings.warn(FindingCode::ScaleMissing, Some(layer.index), message);
                (Some(defaulted()), (self.mla_scale == MlaScale::MaxKv).then(defaulted))
            }
            (Resolved::Found(k), Resolved::Found(v)) if !is_larger(&v, &k) => {
                let (from, to) = (Origin::Loaded, Origin::Duplicated);
                (scale(Role::K, &k, from, findings), scale(Role::V, &k, to, findings))
            }
            (Resolved::Found(k), Resolved::Missing) => {
                let v = (self.mla_scale == MlaScale::MaxKv)
                    .then(|| scale(Role::V, &k, Origin::Duplicated, findings))
                    .flatten();
                (scale(Role::K, &k, Origin::Loaded, findings), v)
            }
            (_, Resolved::Found(v)) => {
                let (from, to) = (Origin::Loaded, Origin::Duplicated);
                (scale(Role::K, &v, to, findings), scale(Role::V, &v, from, findings))
            }
        };
        (scales.k, scales.v) = (k, v);
        Ok(scales)
    }

    /// The raw value of this rank with its multipliers; `None`, with an error, where they leave float32.
    fn scale(
        &self,
        layer: &CacheLayer,
        role: Role,
        raw: &RawScale,
        origin: Origin,
        has_per_head: &mut bool,
        findings: &mut Findings,
    ) -> Option<LayerScale> {
        *has_per_head |= raw.value.is_per_head();
        let value = self.local_value(layer, role, raw, findings);
        let factors = ScaleFactors::try_from_scale(&value, |_, s| {
            // A head that was never calibrated runs with the default, as a layer would.
            let default = (s == 0.0).then_some(ScaleFactors::from_quant(1.0));
            default.or_else(|| self.resolver.adjustment.factors(s)).ok_or(s)
        });
        let factors = match factors {
            Ok(factors) => factors,
            Err(s) => {
                let message = format!(
                    "layer {}: the {role} scale {} is {s}; its multipliers are not finite and positive in float32",
                    layer.index, raw.name
                );
                // Duplicates share their tensor; one error is enough.
                if origin != Origin::Duplicated {
                    findings.error(FindingCode::ScaleRange, Some(layer.index), message);
                }
                return None;
            }
        };
        let (checkpoint, factors) = (Some(value), Some(factors));
        Some(LayerScale { checkpoint, factors, origin, tensor: Some(raw.name.clone()) })
    }

    fn local_value(
        &self,
        layer: &CacheLayer,
        role: Role,
        raw: &RawScale,
        findings: &mut Findings,
    ) -> HeadScales {
        if layer.attention == Attention::Mla && raw.value.is_per_head() {
            // The query heads of an MLA layer all share its one latent head, so they are one group.
            if role != Role::Q {
                let message = format!(
                    "layer {}: {} has {} heads; the largest serves the one latent",
                    layer.index,
                    raw.name,
                    raw.value.as_slice().len()
                );
                findings.warn(FindingCode::MlaPerHeadReduced, Some(layer.index), message);
            }
            return HeadScales::One(reduce(&raw.value));
        }
        if role == Role::Prob && raw.value.is_per_head() {
            // The probabilities of all heads are quantized together.
            let message = format!("layer {}: {} is per head; the largest serves all", layer.index, raw.name);
            findings.warn(FindingCode::ProbPerHeadReduced, Some(layer.index), message);
            return HeadScales::One(reduce(&raw.value));
        }
        let value =
            if role == Role::Q { group_query_heads(raw.value.clone(), layer) } else { raw.value.clone() };
        slice_for_rank(value, layer, self.tensor_parallel)
    }
}

fn note_duplicate(layer: &CacheLayer, role: Role, from: &str, findings: &mut Findings) {
    let message = format!("layer {}: the {role} scale is duplicated from {from}", layer.index);
    findings.note(FindingCode::ScaleDuplicated, Some(layer.index), message);
}

/// The scale of what has none: 1.0, which is never adjusted.
fn defaulted() -> LayerScale {
    LayerScale {
        checkpoint: Some(HeadScales::One(1.0)),
        factors: Some(ScaleFactors::ONE),
        origin: Origin::Defaulted,
        tensor: None,
    }
}

/// A scale that is computed from each token and head as it comes.
fn dynamic() -> LayerScale {
    LayerScale { checkpoint: None, factors: None, origin: Origin::Dynamic, tensor: None }
}
