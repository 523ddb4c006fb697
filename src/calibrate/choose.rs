//! The scales of each layer, from what was measured for it.

use std::path::Path;

use rayon::prelude::*;

use super::arithmetic::Arithmetic;
use super::attention_modules::AttentionModules;
use super::calibration::{LayerCalibration, ScaleCalibration};
use super::error::CalibrateError;
use super::histogram::Histogram;
use super::measure::{LayerValues, activation_files, measure};
use super::method::{Choices, Settings};
use crate::checkpoint::{Attention, CacheLayer, ModelFolder, Strategy, list_layers};

/// Chooses a layer's scales from what was measured for it.
pub(super) struct ScaleChooser<'a> {
    pub(super) folder: &'a ModelFolder,
    pub(super) arithmetic: Arithmetic,
    pub(super) settings: Settings,
    pub(super) modules: AttentionModules,
}

/// The chosen scales of each layer, and what is worth knowing of the measurement.
pub(super) type Chosen = (Vec<LayerCalibration>, Vec<String>);

impl ScaleChooser<'_> {
    /// Counts the values of all files, then chooses each layer's scales.
    pub(super) fn by_activations(
        &self,
        path: &Path,
        strategy: Strategy,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Chosen, CalibrateError> {
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
        // The first error in the order of the layers counts, whichever is found first.
        let layers: Vec<_> = measured.into_par_iter().map(|values| self.layer(values)).collect();
        Ok((layers.into_iter().collect::<Result<_, _>>()?, notes))
    }

    /// The scales of a layer: of key and value, or of both parts of the latent together.
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
        let module = self.modules.module(layer.index)?.to_owned();
        let (layer, attention) = (layer.index, layer.attention);
        Ok(LayerCalibration { layer, attention, module, tokens: Some(values.tokens), scales })
    }

    /// The scale of an operand, of all heads or of one, whose values may be those of several parts.
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
    pub(super) fn chosen(
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

    /// Only a draft layer may be missing: what captures a model's activations rarely runs its drafts.
    pub(super) fn check_missing(
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
