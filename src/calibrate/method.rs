//! Ways to choose a scale.

use serde::Serialize;

use super::CalibrateError;
use super::arithmetic::{Arithmetic, Loss};
use super::histogram::Histogram;

/// How a scale is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// The largest magnitude becomes the largest FP8 value: nothing saturates.
    Amax,
    /// The magnitude that a given share of the values does not exceed becomes the largest FP8 value.
    Percentile,
    /// The least squared error of what is read back from the cache.
    Mse,
}

impl Method {
    /// Every method.
    pub const ALL: [Self; 3] = [Self::Amax, Self::Percentile, Self::Mse];

    /// The name on the command line and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Amax => "amax",
            Self::Percentile => "percentile",
            Self::Mse => "mse",
        }
    }
}

/// The method and its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Settings {
    /// The method whose scales are written.
    pub method: Method,
    /// For [`Method::Percentile`]: above 0, up to 100.
    pub percentile: f64,
    /// Multiplies what any method finds; at least 1.
    pub margin: f32,
}

impl Settings {
    pub(super) fn check(&self) -> Result<(), CalibrateError> {
        if !(self.percentile > 0.0 && self.percentile <= 100.0) {
            let value = self.percentile.to_string();
            return Err(CalibrateError::Setting { name: "percentile", value, allowed: "above 0, up to 100" });
        }
        if !(self.margin >= 1.0 && self.margin <= MOST_MARGIN) {
            let value = self.margin.to_string();
            return Err(CalibrateError::Setting { name: "margin", value, allowed: "1 to 1000" });
        }
        Ok(())
    }
}

/// Far beyond any use; what is larger is a slip of the pen.
const MOST_MARGIN: f32 = 1000.0;

/// What one method comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    /// The checkpoint's scale.
    pub scale: f32,
    /// What it does; `None` where only the amax is known.
    #[serde(flatten)]
    pub loss: Option<Loss>,
    /// The loss of each operand that shares the scale, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartLoss>,
}

/// What a scale does to one of the operands that share it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PartLoss {
    /// `kv_c` or `k_pe`.
    pub name: &'static str,
    /// Its values.
    pub elements: u64,
    /// What the scale does to them.
    #[serde(flatten)]
    pub loss: Loss,
}

/// What every method comes to. `None` where a method finds no scale that the device can apply.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choices {
    /// [`Method::Amax`].
    pub amax: Option<Choice>,
    /// [`Method::Percentile`].
    pub percentile: Option<Choice>,
    /// [`Method::Mse`].
    pub mse: Option<Choice>,
}

impl Choices {
    /// The choice of a method.
    #[must_use]
    pub const fn of(&self, method: Method) -> Option<&Choice> {
        match method {
            Method::Amax => self.amax.as_ref(),
            Method::Percentile => self.percentile.as_ref(),
            Method::Mse => self.mse.as_ref(),
        }
    }

    /// From all values, and those of each operand where several share the scale.
    pub(super) fn measured(
        parts: &[(&'static str, &Histogram)],
        all: &Histogram,
        arithmetic: &Arithmetic,
        settings: &Settings,
    ) -> Self {
        let range = arithmetic.adjustment.fp8_max_quant as f32;
        let choose = |method| {
            let scale = match method {
                Method::Amax => all.amax() / range,
                Method::Percentile => all.percentile(settings.percentile) / range,
                Method::Mse => arithmetic.least_squares(all)?,
            };
            let scale = scale * settings.margin;
            let part = |(name, values): &(&'static str, &Histogram)| {
                let loss = arithmetic.loss(scale, values)?;
                Some(PartLoss { name, elements: values.elements(), loss })
            };
            let parts = if parts.len() > 1 { parts.iter().filter_map(part).collect() } else { Vec::new() };
            Some(Choice { scale, loss: Some(arithmetic.loss(scale, all)?), parts })
        };
        Self { amax: choose(Method::Amax), percentile: choose(Method::Percentile), mse: choose(Method::Mse) }
    }

    /// From an amax alone.
    pub(super) fn of_amax(amax: f32, arithmetic: &Arithmetic, settings: &Settings) -> Self {
        let scale = amax / arithmetic.adjustment.fp8_max_quant as f32 * settings.margin;
        let is_usable = arithmetic.loss(scale, &Histogram::default()).is_some();
        let choice = Choice { scale, loss: None, parts: Vec::new() };
        Self { amax: is_usable.then_some(choice), percentile: None, mse: None }
    }
}
