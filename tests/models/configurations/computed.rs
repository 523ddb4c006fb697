//! `check` and `calibrate` on activations of the shapes that Hugging Face Transformers computes with.
//!
//! The shapes are those of the cases with small sizes; a layer that is read with others refuses the file.

use std::path::Path;

use gaudi_kv::Generation;
use gaudi_kv::calibrate::{Method, Request, Settings, Source, calibrate};
use gaudi_kv::check::check;
use gaudi_kv::checkpoint::{ModelFolder, Strategy};
use gaudi_kv::device::emulated::{Emulated, Mode};
use gaudi_kv::scales::{CacheDtypeRequest, Options, inspect};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::Value;

use super::transformers::{expected, is_exception};
use super::{cases, open};

const TOKENS: usize = 3;

/// Its sliding layers have 8 KV heads whatever the config says, and the small case has 12 query heads.
const HEADS_DO_NOT_DIVIDE: &str = "mimo_v2_flash";

/// Tensors of bfloat16, by name.
#[derive(Default)]
struct Tensors(Vec<(String, Vec<usize>, Vec<u8>)>);

impl Tensors {
    /// Adds a tensor whose values lie between -1 and 1.
    fn add(&mut self, name: String, shape: &[usize]) {
        let count: usize = shape.iter().product();
        let value = |at: usize| half::bf16::from_f32(((at * 37 + 11) % 101) as f32 / 50.0 - 1.0);
        let bytes = (0..count).flat_map(|at| value(at).to_le_bytes()).collect();
        self.0.push((name, shape.to_vec(), bytes));
    }

    fn write(&self, path: &Path) {
        let views = self.0.iter().map(|(name, shape, bytes)| {
            (name.as_str(), TensorView::new(Dtype::BF16, shape.clone(), bytes).unwrap())
        });
        std::fs::write(path, safetensors::serialize(views, None).unwrap()).unwrap();
    }
}

/// The activations and the weights of a layer, after the shapes that are right.
fn add_layer(layer: u64, right: &Value, activations: &mut Tensors, weights: &mut Tensors) {
    let size = |key: &str| right[key].as_u64().unwrap() as usize;
    let (heads, head_dim, v_head_dim) = (size("num_heads"), size("head_dim"), size("v_head_dim"));
    let owns = right.get("cache_owner").is_none();
    let mut add =
        |operand: &str, shape: &[usize]| activations.add(format!("layers.{layer}.{operand}"), shape);
    let module = format!("model.layers.{layer}.self_attn");
    if right["attention"] == "mla" {
        let (rank, rope) = (size("kv_lora_rank"), size("qk_rope_head_dim"));
        let nope = head_dim - rope;
        add("q_nope", &[TOKENS, heads, nope]);
        add("q_pe", &[TOKENS, heads, rope]);
        add("kv_c", &[TOKENS, rank]);
        add("k_pe", &[TOKENS, rope]);
        weights.add(format!("{module}.kv_b_proj.weight"), &[heads * (nope + v_head_dim), rank]);
        return;
    }
    add("q", &[TOKENS, heads, head_dim]);
    if owns {
        add("k", &[TOKENS, size("num_kv_heads"), head_dim]);
        add("v", &[TOKENS, size("num_kv_heads"), v_head_dim]);
    }
    weights.add(format!("{module}.o_proj.weight"), &[1, 1]);
}

/// Runs a case; the reason where it is not computed as it should be.
fn run(case: &Value) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let (mut activations, mut weights) = (Tensors::default(), Tensors::default());
    let layers = expected(case);
    for (layer, right) in &layers {
        add_layer(*layer, right, &mut activations, &mut weights);
    }
    drop(open(folder.path(), &case["config"])?);
    weights.write(&folder.path().join("model.safetensors"));
    let file = folder.path().join("activations");
    activations.write(&file);
    let model = ModelFolder::open(folder.path()).map_err(|e| e.to_string())?;
    let options = Options { kv_cache_dtype: CacheDtypeRequest::Fp8, ..Options::new(Generation::Gaudi2) };
    let inspection = inspect(&model, &options, &|_| ()).map_err(|e| e.to_string())?;
    let device = Emulated::new(Generation::Gaudi2, Mode::Fast);
    let checked =
        check(&model, &inspection, &device, Some(&file), &mut |_| ()).map_err(|e| format!("check: {e}"))?;
    if checked.layers.len() != layers.len() {
        let reasons: Vec<&str> = checked.skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
        return Err(format!("check ran {} of {} layers: {reasons:?}", checked.layers.len(), layers.len()));
    }
    let settings = Settings { method: Method::Amax, percentile: 99.99, margin: 1.0 };
    let request = Request { device: Generation::Gaudi2, strategy: Strategy::Tensor, settings };
    let calibration = calibrate(&model, Source::Activations(&file), &request, &|_| ())
        .map_err(|e| format!("calibrate: {e}"))?;
    let owners = layers.values().filter(|right| right.get("cache_owner").is_none()).count();
    if calibration.layers.len() != owners {
        return Err(format!("calibrate measured {} of {owners} layers", calibration.layers.len()));
    }
    Ok(())
}

#[test]
fn activations_of_the_right_shapes_are_computed() {
    let (mut run_cases, mut wrong) = (0, Vec::new());
    for case in cases("layers.jsonl") {
        let (name, variant) = (case["model_type"].as_str().unwrap(), case["variant"].as_str().unwrap());
        let layers = expected(&case);
        let is_whole = |right: &&Value| right.get("num_heads").is_some() && right.get("head_dim").is_some();
        if variant != "small"
            || name == HEADS_DO_NOT_DIVIDE
            || is_exception(name, variant)
            || layers.is_empty()
            || !layers.values().all(is_whole)
        {
            continue;
        }
        run_cases += 1;
        if let Err(reason) = run(&case) {
            wrong.push(format!("{name}: {reason}"));
        }
    }
    assert!(run_cases > 200, "{run_cases}");
    assert!(wrong.is_empty(), "{} of {run_cases}:\n{}", wrong.len(), wrong.join("\n"));
}
