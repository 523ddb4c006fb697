//! The scales of each layer, from the largest magnitudes that INC measured.

use std::collections::BTreeMap;
use std::path::Path;

use super::calibration::{LayerCalibration, ScaleCalibration};
use super::choose::{Chosen, ScaleChooser};
use super::error::CalibrateError;
use super::measure::foreign_layer;
use super::method::{Choices, Method};
use crate::checkpoint::{
    Attention, CacheLayer, LayerPlan, Role, SidecarNumber, Strategy, narrow, read_inc_measurements,
};

/// INC's module of a latent cache.
const LATENT: &str = "latent_cache_k";

/// The largest magnitude of each role of a layer, and what was passed over, in words.
type Largest = (BTreeMap<(usize, Role), f32>, Vec<String>);

impl ScaleChooser<'_> {
    /// Chooses each layer's scales from INC's measurements, a file or all of a folder.
    pub(super) fn by_inc(&self, path: &Path, strategy: Strategy) -> Result<Chosen, CalibrateError> {
        if self.settings.method != Method::Amax {
            return Err(CalibrateError::AmaxOnly(self.settings.method));
        }
        if strategy == Strategy::AttnHead {
            let reason = "INC measures all heads of a layer together".to_owned();
            return Err(CalibrateError::PerHead(reason));
        }
        let plan = self.folder.layers();
        let (largest, mut notes) = read_largest(path, plan)?;
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
            let module = self.modules.module(layer.index)?.to_owned();
            let (layer, attention) = (layer.index, layer.attention);
            layers.push(LayerCalibration { layer, attention, module, tokens: None, scales });
        }
        let wanted = |layer: &CacheLayer| match layer.attention {
            Attention::Mha => "k_cache and v_cache".to_owned(),
            Attention::Mla => LATENT.to_owned(),
        };
        self.check_missing(path, &missing, wanted, &mut notes)?;
        Ok((layers, notes))
    }
}

/// The scales that a layer has, with their names.
fn roles(layer: &CacheLayer) -> &'static [(Role, &'static str)] {
    match layer.attention {
        Attention::Mha => &[(Role::K, "k"), (Role::V, "v")],
        Attention::Mla => &[(Role::K, "k")],
    }
}

/// Reads the measurements. INC measured each rank's heads; the largest of all serves.
fn read_largest(path: &Path, plan: &LayerPlan) -> Result<Largest, CalibrateError> {
    let mut largest: BTreeMap<(usize, Role), f32> = BTreeMap::new();
    let mut notes = Vec::new();
    for found in read_inc_measurements(path)? {
        let SidecarNumber::Amax(amax) = found.number else { continue };
        let amax = narrow(amax);
        if !(amax.is_finite() && amax >= 0.0) {
            let reason = format!("the largest magnitude is {amax}");
            return Err(CalibrateError::NoScale { layer: found.layer, what: found.name, reason });
        }
        let passed_over = match plan.get(found.layer) {
            None => return Err(foreign_layer(path, &found.name, found.layer, plan)),
            Some(CacheLayer { owner: Some(owner), .. }) => {
                format!("the layer reads the cache of layer {owner}")
            }
            // What an MLA layer expands is cached by none, whatever modules it has for it.
            Some(CacheLayer { attention: Attention::Mla, .. }) if !found.name.ends_with(LATENT) => {
                format!("the layer caches what {LATENT} sees")
            }
            Some(_) => {
                let known = largest.entry((found.layer, found.role)).or_default();
                *known = known.max(amax);
                continue;
            }
        };
        notes.push(format!("{} is passed over: {passed_over}", found.name));
    }
    Ok((largest, notes))
}
