//! Model folders with one file of any bytes, opened and inspected. Errors are fine; panics and lost memory are found.

use std::fs;
use std::path::Path;

use gaudi_kv::Generation;
use gaudi_kv::checkpoint::ModelFolder;
use gaudi_kv::scales::{Options, inspect};
use tempfile::TempDir;

/// A model of two layers with grouped queries and an FP8 cache.
const CONFIG: &str = r#"{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 2,
    "num_attention_heads": 8, "num_key_value_heads": 4, "hidden_size": 128, "quantization_config":
    {"quant_method": "compressed-tensors", "kv_cache_scheme": {"num_bits": 8, "type": "float", "strategy": "tensor"}}}"#;

/// The k_scale of its first layer.
const HEADER: &str =
    r#"{"model.layers.0.self_attn.k_scale": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}"#;

/// A model folder that is made once and changed for each input.
pub struct Folder(TempDir);

impl Folder {
    /// A folder of a model that can be read.
    pub fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("a temporary folder"));
        let mut shard = (HEADER.len() as u64).to_le_bytes().to_vec();
        shard.extend(HEADER.as_bytes());
        shard.extend(0.05f32.to_le_bytes());
        folder.write("config.json", CONFIG.as_bytes());
        folder.write("model.safetensors", &shard);
        assert!(folder.read().is_some(), "the folder without a change cannot be read");
        folder
    }

    /// Replaces a file.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path().join(name), bytes).expect("a file that can be written");
    }

    /// The folder's path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Opens and inspects it for both generations; `None` where it is refused.
    pub fn read(&self) -> Option<()> {
        let model = ModelFolder::open(self.path()).ok()?;
        for generation in [Generation::Gaudi2, Generation::Gaudi3] {
            inspect(&model, &Options::new(generation), &|_| ()).ok()?;
        }
        Some(())
    }
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}
