//! Holds what an inspection says against what a model's `expect` says. Every key of it is one thing that must hold:
//!
//! | key | what holds |
//! | --- | --- |
//! | `scheme` | the declared cache: `fp8`, `none`, `unsupported` (an error says so), `warn` (something is said), `any` (no crash). The cache type is `auto` then, else `fp8` |
//! | `place` | `T`: the scales are taken, none is unused. `N`: no warning of an unused one, and the text's own are taken |
//! | `reported` | this text is somewhere in the inspection |
//! | `layers`, `kv`, `q`, `sliding`, `mla` | the model's layers with a cache, their heads, those with a sliding window |
//! | `taken` | how many layers, drafts too, have a k that is loaded |
//! | `findings`, `silent` | codes that there must be, that there must not be |
//! | `fine` | neither errors nor warnings |
//! | `converts` | the model converts to either device, and this text is in what is said of it |

use std::path::Path;

use gaudi_kv::Generation;
use gaudi_kv::checkpoint::ModelFolder;
use gaudi_kv::convert::{ConvertOptions, convert};
use gaudi_kv::scales::{CacheDtypeRequest, Options, SkipLayer, inspect};
use serde_json::Value;

/// Everything that does not hold for a folder, on either device.
pub fn failures(folder: &Path, expect: &Value) -> Vec<String> {
    let mut failures: Vec<String> = Vec::new();
    for device in [Generation::Gaudi2, Generation::Gaudi3] {
        let comparison = Comparison { folder, expect, device };
        for failure in comparison.failures() {
            if !failures.contains(&failure) {
                failures.push(failure);
            }
        }
    }
    failures
}

struct Comparison<'a> {
    folder: &'a Path,
    expect: &'a Value,
    device: Generation,
}

impl Comparison<'_> {
    fn failures(&self) -> Vec<String> {
        let inspection = match self.inspect(Vec::new()) {
            Ok(inspection) => inspection,
            Err(error) => return vec![format!("refused: {error}")],
        };
        let mut failures = Vec::new();
        for (key, right) in self.expect.as_object().unwrap() {
            let outcome = match key.as_str() {
                "scheme" => scheme(&inspection, right.as_str().unwrap()),
                "place" => place(&inspection, right.as_str().unwrap()),
                "reported" => reported(&inspection, right.as_str().unwrap()),
                "layers" => layers(&inspection, right),
                "kv" => self.kv_heads(&inspection, right),
                "q" => self.query_heads(&inspection, right),
                "sliding" => self.sliding(right),
                "mla" => is_mla(&inspection, right.as_bool().unwrap()),
                "taken" => taken(&inspection, right.as_u64().unwrap()),
                "findings" => has_codes(&inspection, right),
                "silent" => lacks_codes(&inspection, right),
                "num_heads" | "num_kv_heads" => of_layers(&inspection, key, right),
                "softmax_scale" => softmax_scale(&inspection, right),
                "fine" => is_fine(&inspection),
                "converts" => self.converts(right.as_str().unwrap()),
                "why" => Ok(()),
                other => Err(format!("no comparison for {other:?}")),
            };
            failures.extend(outcome.err());
        }
        failures
    }

    fn inspect(&self, skip_layers: Vec<SkipLayer>) -> Result<Value, String> {
        let kv_cache_dtype = match self.expect.get("scheme") {
            Some(_) => CacheDtypeRequest::Auto,
            None => CacheDtypeRequest::Fp8,
        };
        let options = Options { kv_cache_dtype, skip_layers, ..Options::new(self.device) };
        let model = ModelFolder::open(self.folder).map_err(|e| e.to_string())?;
        let inspection = inspect(&model, &options, &|_| {}).map_err(|e| e.to_string())?;
        Ok(serde_json::to_value(&inspection).unwrap())
    }

    /// A scale has one number a KV head, so a per-head scale shows how many a layer has.
    fn kv_heads(&self, inspection: &Value, right: &Value) -> Result<(), String> {
        if self.is_latent() || right.as_object().is_none_or(serde_json::Map::is_empty) {
            return Ok(());
        }
        for layer in own_layers(inspection) {
            let Some(heads) = right.get(layer["layer"].to_string()) else { continue };
            for role in ["k", "v"] {
                let scale = &layer[role];
                let found = scale["dequant"].as_array().map_or(1, Vec::len);
                if scale["origin"] != "loaded" || *heads != found {
                    let number = &layer["layer"];
                    return Err(format!(
                        "layer {number} {role}: {} {found}, right is {heads}",
                        scale["origin"]
                    ));
                }
            }
        }
        self.of_first_layer(inspection, "num_kv_heads", right)
    }

    fn query_heads(&self, inspection: &Value, right: &Value) -> Result<(), String> {
        if self.is_latent() { Ok(()) } else { self.of_first_layer(inspection, "num_heads", right) }
    }

    fn of_first_layer(&self, inspection: &Value, key: &str, right: &Value) -> Result<(), String> {
        let Some(first) = self.expect["layers"].get(0) else { return Ok(()) };
        let (found, right) = (&inspection["model"][key], &right[first.to_string()]);
        if found == right { Ok(()) } else { Err(format!("{key} {found}, right is {right}")) }
    }

    fn converts(&self, text: &str) -> Result<(), String> {
        let parent = tempfile::tempdir().unwrap();
        let options = ConvertOptions::new(self.device);
        let outcome = convert(self.folder, &parent.path().join("converted"), &options, &|_| {});
        let said = serde_json::to_string(&outcome.map_err(|error| error.to_string())?).unwrap();
        // What a device reads as it is is not looked at.
        if self.device == Generation::Gaudi3 || said.contains(text) {
            Ok(())
        } else {
            Err(format!("converted, and {text} is nowhere in {said}"))
        }
    }

    fn is_latent(&self) -> bool {
        self.expect["mla"] == true
    }

    /// The layers that are skipped with the sliding windows are those that have one.
    fn sliding(&self, right: &Value) -> Result<(), String> {
        if right.is_null() {
            return Ok(());
        }
        let inspection = self.inspect(vec![SkipLayer::SlidingWindow])?;
        let is_sliding = |layer: &&Value| layer["kv_cache_dtype"] == "bf16";
        let found: Vec<&Value> =
            own_layers(&inspection).filter(is_sliding).map(|layer| &layer["layer"]).collect();
        same("sliding layers", &found, right)
    }
}

fn own_layers(inspection: &Value) -> impl Iterator<Item = &Value> {
    inspection["layers"].as_array().unwrap().iter().filter(|layer| layer["draft"] == false)
}

fn same(what: &str, found: &[&Value], right: &Value) -> Result<(), String> {
    if right.as_array().is_some_and(|right| found.iter().copied().eq(right)) {
        Ok(())
    } else {
        Err(format!("{what} {}, right is {right}", serde_json::to_string(found).unwrap()))
    }
}

fn layers(inspection: &Value, right: &Value) -> Result<(), String> {
    let found: Vec<&Value> = own_layers(inspection).map(|layer| &layer["layer"]).collect();
    same("layers", &found, right)
}

fn is_mla(inspection: &Value, right: bool) -> Result<(), String> {
    match own_layers(inspection).find(|layer| (layer["attention"] == "mla") != right) {
        Some(layer) => Err(format!("layer {} is {}", layer["layer"], layer["attention"])),
        None => Ok(()),
    }
}

fn scheme(inspection: &Value, right: &str) -> Result<(), String> {
    let scheme = &inspection["quantization"]["kv_cache_scheme"];
    let cache = &inspection["kv_cache_dtype"];
    let codes = codes(inspection, &["errors", "warnings"]);
    let said = |code: &str| codes.iter().any(|found| found == code);
    let holds = match right {
        "fp8" => scheme == "fp8" && cache == "fp8",
        "none" => scheme.is_null() && cache == "bf16",
        "unsupported" => said("kv-scheme-unsupported") || said("kv-scheme-contradiction"),
        "warn" => !codes.is_empty(),
        "any" => true,
        other => return Err(format!("no scheme {other:?}")),
    };
    if holds { Ok(()) } else { Err(format!("scheme {scheme}, cache {cache}, {codes:?}; right is {right}")) }
}

fn place(inspection: &Value, right: &str) -> Result<(), String> {
    let unused: Vec<String> = with_code(inspection, "warnings", "scale-unused");
    let keys = || inspection["layers"].as_array().unwrap().iter().map(|layer| &layer["k"]);
    match right {
        "T" if !keys().any(|k| k["origin"] == "loaded") => Err(format!("no scale is taken: {unused:?}")),
        // The scales of a tower are 0.02 in these folders, those of the text 0.01.
        "N" if keys().any(|k| (k["checkpoint"].as_f64().unwrap_or(0.01) - 0.01).abs() > 1e-6) => {
            Err("a tower's scale is taken".to_owned())
        }
        _ if unused.is_empty() => Ok(()),
        _ => Err(format!("warned of: {unused:?}")),
    }
}

fn reported(inspection: &Value, text: &str) -> Result<(), String> {
    if inspection.to_string().contains(text) { Ok(()) } else { Err(format!("{text} is nowhere")) }
}

fn taken(inspection: &Value, right: u64) -> Result<(), String> {
    let layers = inspection["layers"].as_array().unwrap();
    let found = layers.iter().filter(|layer| layer["k"]["origin"] == "loaded").count() as u64;
    if found == right { Ok(()) } else { Err(format!("{found} layers take a k_scale, right is {right}")) }
}

fn codes(inspection: &Value, weights: &[&str]) -> Vec<String> {
    let findings = weights.iter().flat_map(|weight| inspection[weight].as_array().unwrap());
    findings.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

fn with_code(inspection: &Value, weight: &str, code: &str) -> Vec<String> {
    let findings = inspection[weight].as_array().unwrap().iter();
    findings.filter(|finding| finding["code"] == code).map(|finding| finding["message"].to_string()).collect()
}

fn has_codes(inspection: &Value, right: &Value) -> Result<(), String> {
    let codes = codes(inspection, &["errors", "warnings", "notes"]);
    let missing = right.as_array().unwrap().iter().find(|code| !codes.iter().any(|found| **code == *found));
    missing.map_or(Ok(()), |code| Err(format!("no {code} in {codes:?}")))
}

fn lacks_codes(inspection: &Value, right: &Value) -> Result<(), String> {
    let codes = codes(inspection, &["errors", "warnings", "notes"]);
    let there = right.as_array().unwrap().iter().find(|code| codes.iter().any(|found| **code == *found));
    there.map_or(Ok(()), |code| Err(format!("{code} is said")))
}

fn is_fine(inspection: &Value) -> Result<(), String> {
    let found = [&inspection["errors"], &inspection["warnings"]];
    if found.iter().all(|findings| **findings == Value::Array(Vec::new())) {
        Ok(())
    } else {
        Err(format!("not fine: {} {}", found[0], found[1]))
    }
}

/// The softmax scale of every layer, where the right one is known, to three digits.
fn softmax_scale(inspection: &Value, right: &Value) -> Result<(), String> {
    let Some(right) = right.as_f64() else { return Ok(()) };
    for layer in inspection["layers"].as_array().unwrap() {
        let found = layer["softmax_scale"].as_f64();
        if found.is_none_or(|found| (found - right).abs() > 1e-3 * right) {
            return Err(format!("softmax scale {found:?}, right is {right}"));
        }
    }
    Ok(())
}

/// A number of each layer that is listed.
fn of_layers(inspection: &Value, key: &str, right: &Value) -> Result<(), String> {
    for layer in own_layers(inspection) {
        let number = layer["layer"].to_string();
        if layer[key] != right[&number] {
            return Err(format!("layer {number}: {key} {}, right is {}", layer[key], right[&number]));
        }
    }
    Ok(())
}
