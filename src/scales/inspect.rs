//! The whole inspection: read names, decide, apply, and say what came of it.

use std::collections::{BTreeMap, BTreeSet};

use tracing::{debug, info_span};

use super::adjustment::ScaleAdjustment;
use super::collect::{Collected, LayerSources};
use super::conventions::note_modelopt;
use super::heads::fits;
use super::inspection::{
    CacheDtype, Inspection, LayerReport, LayerScale, ModelReport, Origin, QuantizationReport,
    TensorParallelReport,
};
use super::layer_sizes::LayerSizes;
use super::policy::{Policy, Scales};
use super::resolve::Resolver;
use super::weights::verify_weights;
use super::{CacheDtypeRequest, InspectError, Options, SkipLayer};
use crate::checkpoint::{
    Attention, CacheLayer, FindingCode, Findings, Flavor, KvScheme, ModelFolder, QuantConfig, Refusal,
    list_names,
};

/// Inspects a model: its KV scales, what they become on a device, why, and what is wrong.
///
/// `progress` is told of the bytes read as weights are scanned, from several threads; nothing is scanned unless
/// [`Options::verify_weights`] is set.
///
/// # Errors
/// A scale tensor or a file that is needed cannot be read, or the options do not fit the model. What is wrong with the
/// model itself is in [`Inspection::findings`], not here.
pub fn inspect(
    folder: &ModelFolder,
    options: &Options,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Inspection, InspectError> {
    let span = info_span!("decide", device = %options.device).entered();
    check_tensor_parallel(folder, options)?;
    let mut findings = folder.findings().clone();
    let quant = folder.quant_config();
    let cache_dtype = resolve_cache_dtype(folder, options.kv_cache_dtype, &mut findings);
    // A cache that is not FP8 has nothing that an adjustment could clip.
    let mut discarded = Findings::default();
    let adjustment_findings = if cache_dtype == CacheDtype::Fp8 { &mut findings } else { &mut discarded };
    let adjustment =
        ScaleAdjustment::decide(quant.flavor, options.device, options.scale_adjustment, adjustment_findings);
    debug!(enabled = adjustment.enabled, reason = %adjustment.reason, "scale adjustment");
    let tensor_parallel = options.tensor_parallel.unwrap_or_default();
    // Nor does what is wrong with a scale file matter to it.
    let sidecar_findings = if cache_dtype == CacheDtype::Fp8 { &mut findings } else { &mut discarded };
    let collected = Collected::gather(folder, tensor_parallel, sidecar_findings)?;
    collected.note_passed_over(&mut findings);
    let policy = Policy {
        resolver: Resolver { folder, adjustment: &adjustment, is_strict: options.strict },
        mla_scale: options.mla_scale,
        q_missing: options.q_missing,
        tensor_parallel,
    };
    let (layers, unused) = if cache_dtype == CacheDtype::Fp8 {
        let skipped = skipped_layers(folder, &options.skip_layers, &mut findings);
        report_zero_points(folder, &policy, &collected, &skipped, &mut findings);
        let layers = fp8_layers(folder, &policy, &collected, &skipped, &mut findings)?;
        (layers, unused_tensors(folder, &collected, &mut findings))
    } else {
        note_scales_not_used(&collected, &mut findings);
        let plain = |layer| report(layer, CacheDtype::Bf16, Scales::default());
        (folder.layers().cached.iter().map(plain).collect(), Vec::new())
    };
    drop(span);
    let weights =
        if options.verify_weights { Some(verify_weights(folder, &mut findings, progress)?) } else { None };
    Ok(Inspection {
        model: model_report(folder),
        quantization: quantization_report(quant),
        device: options.device,
        kv_cache_dtype: cache_dtype,
        scale_adjustment: adjustment,
        tensor_parallel: options.tensor_parallel.map(|t| TensorParallelReport { size: t.size, rank: t.rank }),
        layers,
        unused,
        weights,
        findings,
    })
}

fn check_tensor_parallel(folder: &ModelFolder, options: &Options) -> Result<(), InspectError> {
    let Some(tensor_parallel) = options.tensor_parallel else { return Ok(()) };
    let (size, rank) = (tensor_parallel.size, tensor_parallel.rank);
    if size == 0 || rank >= size {
        return Err(InspectError::Rank { size, rank });
    }
    match folder.layers().cached.iter().find(|layer| !fits(layer, tensor_parallel)) {
        Some(layer) => {
            Err(InspectError::TensorParallel { size, layer: layer.index, num_kv_heads: layer.num_kv_heads })
        }
        None => Ok(()),
    }
}

/// `auto` follows the scheme that the config declares; an explicit type wins.
fn resolve_cache_dtype(
    folder: &ModelFolder,
    requested: CacheDtypeRequest,
    findings: &mut Findings,
) -> CacheDtype {
    let scheme = &folder.quant_config().kv_scheme;
    if let (KvScheme::Unsupported(name), CacheDtypeRequest::Auto | CacheDtypeRequest::Fp8) =
        (scheme, requested)
    {
        let source = folder.quant_config().source.as_deref().unwrap_or("the config");
        let message = format!("{source} declares a KV cache of {name}; this backend has FP8 e4m3 and bf16");
        findings.error(FindingCode::KvSchemeUnsupported, None, message);
    }
    match (requested, scheme) {
        (CacheDtypeRequest::Fp8, _) | (CacheDtypeRequest::Auto, KvScheme::Fp8(_)) => CacheDtype::Fp8,
        (CacheDtypeRequest::Bf16, _)
        | (CacheDtypeRequest::Auto, KvScheme::None | KvScheme::Unsupported(_)) => CacheDtype::Bf16,
    }
}

/// The layers that keep a bf16 cache because they were asked to.
fn skipped_layers(folder: &ModelFolder, skip: &[SkipLayer], findings: &mut Findings) -> BTreeSet<usize> {
    let mut skipped = BTreeSet::new();
    for entry in skip {
        let matching: Vec<usize> = match entry {
            SkipLayer::Index(index) => {
                folder.layers().get(*index).map(|layer| layer.index).into_iter().collect()
            }
            SkipLayer::SlidingWindow => folder
                .layers()
                .cached
                .iter()
                .filter(|layer| layer.is_sliding)
                .map(|layer| layer.index)
                .collect(),
        };
        if matching.is_empty() {
            let message = match entry {
                SkipLayer::Index(index) => {
                    format!("layer {index} was asked to be skipped, but has no KV cache")
                }
                SkipLayer::SlidingWindow => "no layer of this model has a sliding window".to_owned(),
            };
            findings.warn(FindingCode::SkipLayerUnknown, None, message);
        }
        for index in matching {
            match folder.layers().get(index).and_then(|layer| layer.owner) {
                Some(owner) if matches!(entry, SkipLayer::Index(_)) => {
                    let message = format!(
                        "layer {index} reads the cache of layer {owner} and has the type of that; skip layer {owner}"
                    );
                    findings.warn(FindingCode::SkipLayerUnknown, Some(index), message);
                }
                _ => {
                    skipped.insert(index);
                }
            }
        }
    }
    skipped
}

fn fp8_layers(
    folder: &ModelFolder,
    policy: &Policy<'_>,
    collected: &Collected,
    skipped: &BTreeSet<usize>,
    findings: &mut Findings,
) -> Result<Vec<LayerReport>, InspectError> {
    let none = LayerSources::default();
    let mut reports: BTreeMap<usize, LayerReport> = BTreeMap::new();
    let mut has_per_head = false;
    // Owners come before the layers that read their caches.
    for layer in &folder.layers().cached {
        let owner = layer.owner.and_then(|owner| reports.get(&owner));
        // A layer that reads a bf16 cache reads it as bf16, whether it or the owner was asked to skip.
        let is_skipped = match owner {
            Some(owner) => owner.kv_cache_dtype == CacheDtype::Bf16,
            None => skipped.contains(&layer.index),
        };
        let sources = collected.layers.get(&layer.index).unwrap_or(&none);
        let made = if is_skipped {
            let names: Vec<&str> = sources.names().collect();
            let message = format!(
                "layer {}: its cache stays bf16; scales not used: {}",
                layer.index,
                list_names(&names)
            );
            findings.note(FindingCode::LayerSkipped, Some(layer.index), message);
            report(layer, CacheDtype::Bf16, Scales::default())
        } else if let Some(owner) = owner {
            inherited(layer, owner)
        } else {
            let scales = policy.apply(layer, sources, findings)?;
            has_per_head |= scales.has_per_head;
            report(layer, CacheDtype::Fp8, scales)
        };
        reports.insert(layer.index, made);
    }
    let quant = folder.quant_config();
    let is_autoround = quant.provider.as_deref() == Some("auto-round");
    if has_per_head && is_autoround && quant.flavor == Some(Flavor::E4m3fnuz) {
        let message =
            "AutoRound's per-head scales are divided by 448 although the flavor says 240".to_owned();
        findings.warn(FindingCode::PerHeadRange, None, message);
    }
    let reports: Vec<LayerReport> = reports.into_values().collect();
    note_modelopt(quant, &reports, findings);
    Ok(reports)
}

fn report(layer: &CacheLayer, kv_cache_dtype: CacheDtype, scales: Scales) -> LayerReport {
    LayerReport {
        layer: layer.index,
        attention: layer.attention,
        draft: layer.is_draft,
        kv_cache_dtype,
        cache_owner: layer.owner,
        sizes: LayerSizes::of(layer),
        k: scales.k,
        v: scales.v,
        q: scales.q,
        prob: scales.prob,
    }
}

/// The owner's scales, as the layer that reads its cache sees them.
fn inherited(layer: &CacheLayer, owner: &LayerReport) -> LayerReport {
    let cache_scale = |scale: &Option<LayerScale>| {
        scale.clone().map(|scale| LayerScale { origin: Origin::Inherited, ..scale })
    };
    // A query that is quantized as it comes is this layer's own, and so is a default.
    let other_scale = |scale: &Option<LayerScale>| {
        scale.clone().map(|scale| match scale.origin {
            Origin::Dynamic | Origin::Defaulted => scale,
            _ => LayerScale { origin: Origin::Inherited, ..scale },
        })
    };
    LayerReport {
        layer: layer.index,
        attention: layer.attention,
        draft: layer.is_draft,
        kv_cache_dtype: owner.kv_cache_dtype,
        cache_owner: layer.owner,
        sizes: LayerSizes::of(layer),
        k: cache_scale(&owner.k),
        v: cache_scale(&owner.v),
        q: other_scale(&owner.q),
        prob: other_scale(&owner.prob),
    }
}

/// The KV-scale tensors that no layer takes, each with a warning that says why.
fn unused_tensors(folder: &ModelFolder, collected: &Collected, findings: &mut Findings) -> Vec<String> {
    let plan = folder.layers();
    let mut unused = Vec::new();
    let mut add = |name: &str, layer: Option<usize>, why: &str, findings: &mut Findings| {
        findings.warn(FindingCode::ScaleUnused, layer, format!("{name} is taken by no layer: {why}"));
        unused.push(name.to_owned());
    };
    for (index, sources) in &collected.layers {
        let why = match plan.get(*index) {
            Some(layer) => match layer.owner {
                Some(owner) => format!("layer {index} reads the cache of layer {owner}, whose scales count"),
                None => continue,
            },
            None if *index < plan.model_layers => format!("layer {index} has no KV cache"),
            None => {
                format!("the model has {} layers and {} draft layers", plan.model_layers, plan.draft_layers)
            }
        };
        let layer = (*index < plan.model_layers + plan.draft_layers).then_some(*index);
        for name in sources.names() {
            add(name, layer, &why, findings);
        }
    }
    for (name, draft) in &collected.undeclared_drafts {
        let why = format!("the config declares {} draft layers, this is number {draft}", plan.draft_layers);
        add(name, None, &why, findings);
    }
    for (name, refusal) in &collected.refused {
        add(name, None, refusal_reason(*refusal), findings);
    }
    unused.sort();
    unused
}

const fn refusal_reason(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::CrossedLetters => "the projection's letter and the scale's letter contradict each other",
        Refusal::Ambiguous => "it is one scale for query, key and value together",
        Refusal::Int8 => "it is the scale of an int8 cache",
        Refusal::Nvfp4 => "it is the scale of an NVFP4 cache",
        Refusal::Projection => "it is the scale of a projection's output, which is not what the cache holds",
        Refusal::Amax => "it is what ModelOpt measured, and no scale before the model is exported",
        Refusal::UnknownPlace => "no attention layer of a text decoder is known under this name",
    }
}

/// A zero point matters where the scale beside it would: in a layer with an FP8 cache of its own, for a role that the
/// layer takes.
fn report_zero_points(
    folder: &ModelFolder,
    policy: &Policy<'_>,
    collected: &Collected,
    skipped: &BTreeSet<usize>,
    findings: &mut Findings,
) {
    for (name, index, role) in &collected.nonzero_zero_points {
        let Some(layer) = folder.layers().get(*index) else { continue };
        let is_taken = layer.attention == Attention::Mha || policy.mla_takes(*role);
        if is_taken && layer.owner.is_none() && !skipped.contains(index) {
            findings.error(FindingCode::ZeroPointNotZero, Some(*index), format!("{name} is not zero"));
        }
    }
}

fn note_scales_not_used(collected: &Collected, findings: &mut Findings) {
    let names = collected.scale_names();
    if !names.is_empty() {
        let message = format!("the cache is bf16, so no scale is applied; not used: {}", list_names(&names));
        findings.note(FindingCode::ScalesNotUsed, None, message);
    }
}

fn model_report(folder: &ModelFolder) -> ModelReport {
    let plan = folder.layers();
    let has = |kind: Attention| plan.cached.iter().any(|layer| layer.attention == kind);
    let attention = match (has(Attention::Mha), has(Attention::Mla)) {
        (true, true) => "mixed",
        (false, true) => "mla",
        (true, false) => "mha",
        (false, false) => "none",
    };
    ModelReport {
        path: folder.path().display().to_string(),
        architecture: folder.architecture().to_owned(),
        attention: attention.to_owned(),
        layers: plan.model_layers,
        draft_layers: plan.draft_layers,
        num_heads: plan.cached.first().map_or(0, |layer| layer.num_heads),
        num_kv_heads: plan.cached.first().map_or(0, |layer| layer.num_kv_heads),
    }
}

fn quantization_report(quant: &QuantConfig) -> QuantizationReport {
    QuantizationReport {
        method: quant.method.clone(),
        kv_cache_scheme: quant.kv_scheme.name().map(ToOwned::to_owned),
        strategy: match &quant.kv_scheme {
            KvScheme::Fp8(strategy) => Some(strategy.name().to_owned()),
            KvScheme::None | KvScheme::Unsupported(_) => None,
        },
        fp8_dtype_flavor: quant.flavor,
        source: quant.source.clone(),
    }
}
