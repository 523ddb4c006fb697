//! KV scales from captured activations, or from INC's measurements, written into a copy of the model.
//!
//! [`calibrate`] measures and chooses, [`write`] makes the folder. `docs/calibrate.md` defines every number.

mod arithmetic;
mod config;
mod destination;
mod error;
mod histogram;
mod json_text;
mod measure;
mod method;
mod old_scales;
mod place;
mod range;
mod weight_files;
mod write;

pub use arithmetic::Loss;
pub use error::CalibrateError;
pub use method::{Choice, Choices, Method, PartLoss, Settings};
pub use range::Range;
pub use write::{Carry, WriteOptions, write};

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Serialize, Serializer};
use tracing::info_span;

use crate::Generation;
use crate::checkpoint::{
    Attention, CacheLayer, ModelFolder, Role, SidecarNumber, Strategy, list_layers, narrow,
    read_inc_measurements,
};
use arithmetic::Arithmetic;
use histogram::Histogram;
use measure::{LayerValues, activation_files, foreign_layer, measure};
use place::Places;

/// Where values come from: a file, or all files of a folder together.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Captured activations, safetensors: `layers.N.{k,v}` or `layers.N.{kv_c,k_pe}`.
    Activations(&'a Path),
    /// INC measurements, JSON: the largest magnitudes alone.
    IncMeasurements(&'a Path),
}

/// What to make scales for.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// The device.
    pub device: Generation,
    /// One scale for a layer's keys and one for its values, or one for each head.
    pub strategy: Strategy,
    /// How scales are chosen.
    pub settings: Settings,
}

/// The scales of a model, and what each choice would have done.
#[derive(Debug, Clone, Serialize)]
pub struct Calibration {
    /// The device.
    #[serde(serialize_with = "generation_name")]
    pub device: Generation,
    /// The range and its flavor.
    #[serde(flatten)]
    pub range: Range,
    /// `tensor` or `attn_head`.
    #[serde(serialize_with = "strategy_name")]
    pub strategy: Strategy,
    /// How scales were chosen.
    #[serde(flatten)]
    pub settings: Settings,
    /// The layers that own a cache.
    pub layers: Vec<LayerCalibration>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

fn generation_name<S: Serializer>(generation: &Generation, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(generation.name())
}

fn strategy_name<S: Serializer>(strategy: &Strategy, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(strategy.name())
}

/// The scales of one layer.
#[derive(Debug, Clone, Serialize)]
pub struct LayerCalibration {
    /// The layer's number.
    pub layer: usize,
    /// The kind of its cache.
    pub attention: Attention,
    /// Its attention module, under which the scales are written.
    pub module: String,
    /// Tokens measured; `None` for INC measurements.
    pub tokens: Option<u64>,
    /// Key and value, of all heads or of each in turn; one for a latent.
    pub scales: Vec<ScaleCalibration>,
}

/// One scale.
#[derive(Debug, Clone, Serialize)]
pub struct ScaleCalibration {
    /// `k` or `v`.
    pub role: &'static str,
    /// The KV head; `None` for all of them.
    pub head: Option<usize>,
    /// Values measured; `None` for INC measurements.
    pub elements: Option<u64>,
    /// Their largest magnitude.
    pub amax: f32,
    /// The scale that is written.
    pub scale: f32,
    /// What each method comes to.
    pub choices: Choices,
}

/// Measures the values of every layer's cache and chooses its scales. `progress` is told of the bytes read, from several
/// threads.
///
/// # Errors
/// The source cannot be read, does not fit the model or lacks a layer; values are missing, not finite, or all zero; or
/// the model's own labels contradict its weights.
pub fn calibrate(
    folder: &ModelFolder,
    source: Source<'_>,
    request: &Request,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Calibration, CalibrateError> {
    let _span = info_span!("calibrate", device = %request.device).entered();
    request.settings.check()?;
    if !folder.findings().errors.is_empty() {
        return Err(CalibrateError::Model(folder.findings().errors.clone()));
    }
    let has_latents = folder.layers().cached.iter().any(|layer| layer.attention == Attention::Mla);
    if request.strategy == Strategy::AttnHead && has_latents {
        return Err(CalibrateError::PerHead("an MLA layer has one latent for all heads".to_owned()));
    }
    let range = Range::decide(folder, request.device, progress)?;
    let arithmetic = Arithmetic { generation: request.device, adjustment: range.adjustment(request.device) };
    let maker = Maker { folder, arithmetic, settings: request.settings, places: Places::find(folder) };
    let (layers, notes) = match source {
        Source::Activations(path) => maker.from_activations(path, request.strategy, progress)?,
        Source::IncMeasurements(path) => maker.from_inc(path, request.strategy)?,
    };
    Ok(Calibration {
        device: request.device,
        range,
        strategy: request.strategy,
        settings: request.settings,
        layers,
        notes,
    })
}

/// The bytes that [`calibrate`] will read of its source.
///
/// # Errors
/// A file cannot be read.
pub fn source_bytes(source: Source<'_>) -> Result<u64, CalibrateError> {
    let Source::Activations(path) = source else { return Ok(0) };
    let size = |path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    Ok(activation_files(path)?.into_iter().map(size).sum())
}

/// Makes a layer's scales from what was measured.
struct Maker<'a> {
    folder: &'a ModelFolder,
    arithmetic: Arithmetic,
    settings: Settings,
    places: Places,
}

type Made = (Vec<LayerCalibration>, Vec<String>);

impl Maker<'_> {
    fn from_activations(
        &self,
        path: &Path,
        strategy: Strategy,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Made, CalibrateError> {
        let plan = self.folder.layers();
        let owners = plan.cached.iter().filter(|layer| layer.owner.is_none());
        let mut values = owners
            .map(|layer| LayerValues::new(self.folder, layer, strategy))
            .collect::<Result<Vec<_>, _>>()?;
        let mut notes = measure(&mut values, plan, &activation_files(path)?, progress)?;
        let wanted = |layer: &CacheLayer| match layer.attention {
            Attention::Mha => ["k", "v"].map(|operand| format!("layers.{}.{operand}", layer.index)),
            Attention::Mla => ["kv_c", "k_pe"].map(|operand| format!("layers.{}.{operand}", layer.index)),
        };
        let is_measured = |values: &&LayerValues<'_>| values.tokens > 0;
        let measured: Vec<&LayerValues<'_>> = values.iter().filter(is_measured).collect();
        let missing: Vec<&CacheLayer> =
            values.iter().filter(|values| values.tokens == 0).map(|values| values.layer).collect();
        self.check_missing(path, &missing, |layer| wanted(layer).join(" and "), &mut notes)?;
        let layers = measured.into_iter().map(|values| self.layer(values)).collect::<Result<Vec<_>, _>>()?;
        Ok((layers, notes))
    }

    fn layer(&self, values: &LayerValues<'_>) -> Result<LayerCalibration, CalibrateError> {
        let layer = values.layer;
        let [first, second] = values.operands();
        let mut scales = Vec::new();
        if layer.attention == Attention::Mla {
            let mut both = Histogram::default();
            let parts: Vec<(&str, &Histogram)> = [first, second]
                .into_iter()
                .flat_map(|operand| operand.heads.iter().map(move |values| (operand.name, values)))
                .collect();
            parts.iter().for_each(|(_, part)| both.merge(part));
            scales.push(self.scale(layer, ("k", "kv_c and k_pe", None), &parts, &both)?);
        } else {
            for operand in [first, second] {
                for (number, head) in operand.heads.iter().enumerate() {
                    let number = (operand.heads.len() > 1).then_some(number);
                    let name = (operand.name, operand.name, number);
                    scales.push(self.scale(layer, name, &[(operand.name, head)], head)?);
                }
            }
        }
        let module = self.places.module(layer.index)?.to_owned();
        let (layer, attention) = (layer.index, layer.attention);
        Ok(LayerCalibration { layer, attention, module, tokens: Some(values.tokens), scales })
    }

    fn scale(
        &self,
        layer: &CacheLayer,
        (role, operand, head): (&'static str, &str, Option<usize>),
        parts: &[(&'static str, &Histogram)],
        values: &Histogram,
    ) -> Result<ScaleCalibration, CalibrateError> {
        let amax = values.amax();
        let choices = Choices::measured(parts, values, &self.arithmetic, &self.settings);
        let what = match head {
            Some(head) => format!("{operand} of head {head}"),
            None => operand.to_owned(),
        };
        self.chosen(layer.index, what, amax, choices).map(|(scale, choices)| ScaleCalibration {
            role,
            head,
            elements: Some(values.elements()),
            amax,
            scale,
            choices,
        })
    }

    /// The choice of the method asked for, which must be there.
    fn chosen(
        &self,
        layer: usize,
        what: String,
        amax: f32,
        choices: Choices,
    ) -> Result<(f32, Choices), CalibrateError> {
        match choices.of(self.settings.method) {
            Some(choice) => Ok((choice.scale, choices)),
            None => {
                let reason = if amax == 0.0 {
                    "all values are zero".to_owned()
                } else {
                    let method = self.settings.method.name();
                    format!(
                        "the largest magnitude is {amax}; {method} gives no scale that the device can apply"
                    )
                };
                Err(CalibrateError::NoScale { layer, what, reason })
            }
        }
    }

    /// INC measured each rank's heads; the largest of all serves.
    fn from_inc(&self, path: &Path, strategy: Strategy) -> Result<Made, CalibrateError> {
        if self.settings.method != Method::Amax {
            return Err(CalibrateError::AmaxOnly(self.settings.method));
        }
        if strategy == Strategy::AttnHead {
            let reason = "INC measures all heads of a layer together".to_owned();
            return Err(CalibrateError::PerHead(reason));
        }
        let plan = self.folder.layers();
        let mut largest: BTreeMap<(usize, Role), f32> = BTreeMap::new();
        let mut notes = Vec::new();
        for found in read_inc_measurements(path)? {
            let SidecarNumber::Amax(amax) = found.number else { continue };
            let amax = narrow(amax);
            let fail =
                |reason| CalibrateError::NoScale { layer: found.layer, what: found.name.clone(), reason };
            if !(amax.is_finite() && amax >= 0.0) {
                return Err(fail(format!("the largest magnitude is {amax}")));
            }
            match plan.get(found.layer) {
                None => return Err(foreign_layer(path, &found.name, found.layer, plan)),
                Some(CacheLayer { owner: Some(owner), .. }) => {
                    notes.push(format!(
                        "{} is passed over: the layer reads the cache of layer {owner}",
                        found.name
                    ));
                }
                Some(_) => {
                    let known = largest.entry((found.layer, found.role)).or_default();
                    *known = known.max(amax);
                }
            }
        }
        let roles = |layer: &CacheLayer| match layer.attention {
            Attention::Mha => &[(Role::K, "k"), (Role::V, "v")][..],
            Attention::Mla => &[(Role::K, "k")][..],
        };
        let (mut layers, mut missing) = (Vec::new(), Vec::new());
        for layer in plan.cached.iter().filter(|layer| layer.owner.is_none()) {
            let found =
                roles(layer).iter().map(|(role, name)| Some((*name, *largest.get(&(layer.index, *role))?)));
            let Some(found) = found.collect::<Option<Vec<_>>>() else {
                missing.push(layer);
                continue;
            };
            let scales = found.into_iter().map(|(role, amax)| {
                let choices = Choices::of_amax(amax, &self.arithmetic, &self.settings);
                let (scale, choices) = self.chosen(layer.index, role.to_owned(), amax, choices)?;
                Ok(ScaleCalibration { role, head: None, elements: None, amax, scale, choices })
            });
            let scales = scales.collect::<Result<Vec<_>, CalibrateError>>()?;
            let module = self.places.module(layer.index)?.to_owned();
            let (layer, attention) = (layer.index, layer.attention);
            layers.push(LayerCalibration { layer, attention, module, tokens: None, scales });
        }
        let wanted = |layer: &CacheLayer| match layer.attention {
            Attention::Mha => "k_cache and v_cache".to_owned(),
            Attention::Mla => "latent_cache_k".to_owned(),
        };
        self.check_missing(path, &missing, wanted, &mut notes)?;
        Ok((layers, notes))
    }

    /// Only a draft layer may be missing: what captures a model's activations rarely runs its drafts.
    fn check_missing(
        &self,
        path: &Path,
        missing: &[&CacheLayer],
        wanted: impl Fn(&CacheLayer) -> String,
        notes: &mut Vec<String>,
    ) -> Result<(), CalibrateError> {
        let layers: Vec<usize> =
            missing.iter().filter(|layer| !layer.is_draft).map(|layer| layer.index).collect();
        if let Some(first) = missing.iter().find(|layer| !layer.is_draft) {
            return Err(CalibrateError::MissingLayers {
                path: path.to_owned(),
                layers,
                wanted: wanted(first),
            });
        }
        let drafts: Vec<usize> = missing.iter().map(|layer| layer.index).collect();
        if !drafts.is_empty() {
            let layers = list_layers(&drafts);
            notes.push(format!("nothing was measured for {layers} (draft), which will run with scale 1.0"));
        }
        Ok(())
    }
}
