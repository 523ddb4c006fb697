//! Reads what an inspection says from its JSON, and computes what it ought to say.

use serde_json::Value;

/// The JSON object of an inspection.
#[derive(Debug, Clone, PartialEq)]
pub struct Report(pub Value);

/// One of a layer's scales. One number is a list of one; `is_per_head` tells them apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    pub checkpoint: Vec<f32>,
    pub quant: Vec<f32>,
    pub dequant: Vec<f32>,
    pub is_per_head: bool,
    pub origin: String,
    pub tensor: Option<String>,
}

fn numbers(value: &Value) -> Vec<f32> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items.iter().map(|x| x.as_f64().unwrap() as f32).collect(),
        number => vec![number.as_f64().unwrap() as f32],
    }
}

impl Report {
    fn layer(&self, layer: usize) -> &Value {
        let layers = self.0["layers"].as_array().unwrap();
        layers.iter().find(|l| l["layer"] == layer).unwrap_or_else(|| panic!("no layer {layer}: {}", self.0))
    }

    /// The numbers of the layers listed.
    pub fn layers(&self) -> Vec<usize> {
        let layers = self.0["layers"].as_array().unwrap();
        layers.iter().map(|l| l["layer"].as_u64().unwrap() as usize).collect()
    }

    /// A key of a layer.
    #[track_caller]
    pub fn of_layer(&self, layer: usize, key: &str) -> &Value {
        &self.layer(layer)[key]
    }

    /// A scale of a layer, which must not be null.
    #[track_caller]
    pub fn scale(&self, layer: usize, role: &str) -> Scale {
        let scale = &self.layer(layer)[role];
        assert!(scale.is_object(), "layer {layer} has no {role}: {}", self.0);
        Scale {
            checkpoint: numbers(&scale["checkpoint"]),
            quant: numbers(&scale["quant"]),
            dequant: numbers(&scale["dequant"]),
            is_per_head: scale["checkpoint"].is_array(),
            origin: scale["origin"].as_str().unwrap().to_owned(),
            tensor: scale["tensor"].as_str().map(ToOwned::to_owned),
        }
    }

    /// Asserts a per-tensor scale: origin, checkpoint value, quant and dequant, all to the bit.
    #[track_caller]
    pub fn assert_scale(&self, layer: usize, role: &str, origin: &str, s: f32, expected: (f32, f32)) {
        let scale = self.scale(layer, role);
        assert!(!scale.is_per_head, "layer {layer} {role}: {scale:?}");
        assert_eq!(scale.origin, origin, "layer {layer} {role}: {scale:?}");
        assert_eq!(
            (scale.checkpoint, scale.quant, scale.dequant),
            (vec![s], vec![expected.0], vec![expected.1]),
            "layer {layer} {role}"
        );
    }

    /// Asserts a per-head scale of this origin, to the bit. `expected` gives quant and dequant of a value.
    #[track_caller]
    pub fn assert_heads(
        &self,
        layer: usize,
        role: &str,
        origin: &str,
        s: &[f32],
        expected: fn(f32) -> (f32, f32),
    ) {
        let scale = self.scale(layer, role);
        assert!(scale.is_per_head, "layer {layer} {role}: {scale:?}");
        let (quant, dequant): (Vec<f32>, Vec<f32>) = s.iter().map(|s| expected(*s)).unzip();
        assert_eq!(
            (scale.origin.as_str(), scale.checkpoint, scale.quant, scale.dequant),
            (origin, s.to_vec(), quant, dequant),
            "layer {layer} {role}"
        );
    }

    /// Asserts that a scale is 1.0 by default, not adjusted.
    #[track_caller]
    pub fn assert_defaulted(&self, layer: usize, role: &str) {
        self.assert_scale(layer, role, "defaulted", 1.0, (1.0, 1.0));
        assert_eq!(self.scale(layer, role).tensor, None);
    }

    /// The codes of `notes`, `warnings` or `errors`, each with its layer, in order.
    pub fn codes(&self, weight: &str) -> Vec<(&str, Option<usize>)> {
        let findings = self.0[weight].as_array().unwrap();
        let layer = |finding: &Value| finding["layer"].as_u64().map(|l| l as usize);
        findings.iter().map(|f| (f["code"].as_str().unwrap(), layer(f))).collect()
    }

    /// The warnings' codes.
    pub fn warnings(&self) -> Vec<(&str, Option<usize>)> {
        self.codes("warnings")
    }

    /// The errors' codes.
    pub fn errors(&self) -> Vec<(&str, Option<usize>)> {
        self.codes("errors")
    }

    /// The notes' codes.
    pub fn notes(&self) -> Vec<(&str, Option<usize>)> {
        self.codes("notes")
    }

    /// The message of the first finding with a code.
    #[track_caller]
    pub fn message(&self, code: &str) -> &str {
        let all = ["notes", "warnings", "errors"].iter().flat_map(|w| self.0[w].as_array().unwrap());
        let found = all.into_iter().find(|f| f["code"] == code);
        found.unwrap_or_else(|| panic!("no {code}: {}", self.0))["message"].as_str().unwrap()
    }

    /// The tensors that no layer took.
    pub fn unused(&self) -> Vec<&str> {
        self.0["unused"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
    }

    /// Asserts that there are no warnings, no errors and no unused tensors.
    #[track_caller]
    pub fn assert_clean(&self) {
        assert_eq!((self.warnings(), self.errors(), self.unused()), (vec![], vec![], vec![]), "{}", self.0);
    }
}

/// `quant = deploy / (s * max)`, `dequant = 1 / quant`, each step in float32.
fn multipliers(s: f32, deploy: f32, max: f32) -> (f32, f32) {
    let quant = deploy / (s * max);
    (quant, 1.0 / quant)
}

/// On Gaudi2, adjusted from 448 to 240.
pub fn adjusted(s: f32) -> (f32, f32) {
    multipliers(s, 240.0, 448.0)
}

/// On Gaudi2, not adjusted.
pub fn plain_gaudi2(s: f32) -> (f32, f32) {
    multipliers(s, 240.0, 240.0)
}

/// On Gaudi3.
pub fn on_gaudi3(s: f32) -> (f32, f32) {
    multipliers(s, 448.0, 448.0)
}
