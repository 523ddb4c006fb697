//! Writes small model folders.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gaudi_kv::Generation;
use gaudi_kv::checkpoint::ModelFolder;
use gaudi_kv::scales::{Options, inspect};
use half::{bf16, f16};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::inspect::report::Report;

/// The compressed-tensors scheme of a static, per-tensor FP8 cache.
pub fn tensor_scheme() -> Value {
    json!({"num_bits": 8, "type": "float", "strategy": "tensor", "symmetric": true, "dynamic": false})
}

/// A quantization config of compressed-tensors that declares an FP8 cache.
pub fn compressed_tensors() -> Value {
    json!({"quant_method": "compressed-tensors", "format": "float-quantized", "kv_cache_scheme": tensor_scheme(),
           "config_groups": {}, "ignore": ["lm_head"], "quantization_status": "compressed"})
}

#[derive(Debug, Clone)]
struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// A model folder to be.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    config: Value,
    shard: String,
    shards: BTreeMap<String, BTreeMap<String, Tensor>>,
    files: BTreeMap<String, Vec<u8>>,
}

impl Checkpoint {
    /// A model with the given config and one small weight.
    pub fn with_config(config: Value) -> Self {
        let new = Self {
            config,
            shard: "model.safetensors".to_owned(),
            shards: BTreeMap::new(),
            files: BTreeMap::new(),
        };
        new.floats("model.embed_tokens.weight", Dtype::BF16, &[2, 2], &[0.5, -1.0, 0.0, 2.0])
    }

    /// A Llama: 8 query heads, 4 KV heads of 16 elements, with an FP8 cache declared.
    pub fn gqa(layers: usize) -> Self {
        Self::with_config(json!({
            "architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": layers,
            "hidden_size": 128, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 16,
            "quantization_config": compressed_tensors()}))
    }

    /// A DeepSeek: one latent of 64 and 16 elements, 8 query heads, with an FP8 cache declared.
    pub fn mla(layers: usize) -> Self {
        Self::with_config(json!({
            "architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "num_hidden_layers": layers,
            "hidden_size": 128, "num_attention_heads": 8, "num_key_value_heads": 8, "kv_lora_rank": 64,
            "qk_rope_head_dim": 16, "qk_nope_head_dim": 16, "v_head_dim": 16,
            "quantization_config": compressed_tensors()}))
    }

    /// Sets a key of config.json; `null` removes it.
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        match value.into() {
            Value::Null => drop(self.config.as_object_mut().unwrap().remove(key)),
            value => self.config[key] = value,
        }
        self
    }

    /// Replaces the quantization config.
    pub fn quant(self, value: Value) -> Self {
        self.set("quantization_config", value)
    }

    /// Takes the quantization config away.
    pub fn no_quant(self) -> Self {
        self.set("quantization_config", Value::Null)
    }

    /// Sets a key of the quantization config.
    pub fn quant_key(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.config["quantization_config"][key] = value.into();
        self
    }

    /// The weight file that the next tensors go to.
    pub fn shard(mut self, name: &str) -> Self {
        name.clone_into(&mut self.shard);
        self.shards.entry(name.to_owned()).or_default();
        self
    }

    /// A scale as most exporters write it: float32 of shape `(1)`.
    pub fn scale(self, name: &str, value: f32) -> Self {
        self.raw(name, Dtype::F32, &[1], &value.to_le_bytes())
    }

    /// A tensor of floats.
    pub fn floats(self, name: &str, dtype: Dtype, shape: &[usize], values: &[f64]) -> Self {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|x| match dtype {
                Dtype::F64 => x.to_le_bytes().to_vec(),
                Dtype::F32 => (*x as f32).to_le_bytes().to_vec(),
                Dtype::BF16 => bf16::from_f64(*x).to_le_bytes().to_vec(),
                Dtype::F16 => f16::from_f64(*x).to_le_bytes().to_vec(),
                other => panic!("{other:?} holds no floats"),
            })
            .collect();
        self.raw(name, dtype, shape, &bytes)
    }

    /// A tensor as it is stored.
    pub fn raw(mut self, name: &str, dtype: Dtype, shape: &[usize], bytes: &[u8]) -> Self {
        let tensor = Tensor { dtype, shape: shape.to_vec(), bytes: bytes.to_vec() };
        self.shards.entry(self.shard.clone()).or_default().insert(name.to_owned(), tensor);
        self
    }

    /// Any other file.
    pub fn file(mut self, name: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.insert(name.to_owned(), content.into());
        self
    }

    /// A JSON file.
    pub fn json(self, name: &str, value: &Value) -> Self {
        self.file(name, value.to_string())
    }

    /// A shard index of all tensors.
    pub fn index(self) -> Self {
        let map: serde_json::Map<String, Value> = self
            .shards
            .iter()
            .flat_map(|(file, tensors)| tensors.keys().map(move |name| (name.clone(), json!(file))))
            .collect();
        self.json("model.safetensors.index.json", &json!({"metadata": {}, "weight_map": map}))
    }

    /// Writes the folder.
    pub fn write(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("config.json"), self.config.to_string()).unwrap();
        for (name, tensors) in &self.shards {
            let views = tensors
                .iter()
                .map(|(name, t)| (name, TensorView::new(t.dtype, t.shape.clone(), &t.bytes).unwrap()));
            let bytes = safetensors::serialize(views, None).unwrap();
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        for (name, content) in &self.files {
            fs::write(folder.path().join(name), content).unwrap();
        }
        folder
    }

    /// Writes the folder and inspects it.
    #[track_caller]
    pub fn inspect(&self, options: &Options) -> Report {
        inspect_folder(self.write().path(), options)
    }

    /// Inspects for Gaudi2, everything else at its default.
    #[track_caller]
    pub fn gaudi2(&self) -> Report {
        self.inspect(&Options::new(Generation::Gaudi2))
    }

    /// Inspects for Gaudi3, everything else at its default.
    #[track_caller]
    pub fn gaudi3(&self) -> Report {
        self.inspect(&Options::new(Generation::Gaudi3))
    }
}

/// Inspects a folder.
#[track_caller]
pub fn inspect_folder(path: &Path, options: &Options) -> Report {
    let folder = ModelFolder::open(path).unwrap();
    let inspection = inspect(&folder, options, &|_| {}).unwrap();
    Report(serde_json::from_str(&serde_json::to_string(&inspection).unwrap()).unwrap())
}

/// A safetensors file byte by byte: the header as it is given and the data behind it.
pub fn safetensors_file(header: &str, data: &[u8]) -> Vec<u8> {
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(data);
    file
}
