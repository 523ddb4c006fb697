//! Writes small models, runs the program, reads results.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::{Value, json};
use tempfile::TempDir;

#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

impl Tensor {
    pub fn f32(&self) -> Vec<f32> {
        assert_eq!(self.dtype, Dtype::F32);
        self.bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    /// Floats of any type.
    pub fn floats(&self) -> Vec<f64> {
        match self.dtype {
            Dtype::F32 => self.f32().into_iter().map(f64::from).collect(),
            Dtype::BF16 => {
                self.bytes.as_chunks().0.iter().map(|b| half::bf16::from_le_bytes(*b).to_f64()).collect()
            }
            Dtype::F16 => {
                self.bytes.as_chunks().0.iter().map(|b| half::f16::from_le_bytes(*b).to_f64()).collect()
            }
            Dtype::F64 => self.bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
            other => panic!("{other:?} holds no floats"),
        }
    }
}

/// A model folder to be.
#[derive(Debug, Clone)]
pub struct Model {
    pub config: Value,
    pub shards: BTreeMap<String, BTreeMap<String, Tensor>>,
    pub files: BTreeMap<String, Vec<u8>>,
    shard: String,
}

impl Model {
    /// A Llama of four layers with an FP8 cache declared, and one weight that is not FP8.
    pub fn gqa() -> Self {
        let scheme = json!({"num_bits": 8, "type": "float", "strategy": "tensor", "symmetric": true});
        let config = json!({
            "architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 4, "hidden_size": 128,
            "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 16,
            "quantization_config": {"quant_method": "compressed-tensors", "kv_cache_scheme": scheme}});
        let shard = "model.safetensors".to_owned();
        let new = Self { config, shards: BTreeMap::new(), files: BTreeMap::new(), shard };
        new.tensor("model.embed_tokens.weight", Dtype::BF16, &[2, 2], &[1, 2, 3, 4, 5, 6, 7, 8])
    }

    pub fn quant(mut self, value: Value) -> Self {
        self.config["quantization_config"] = value;
        self
    }

    pub fn shard(mut self, name: &str) -> Self {
        name.clone_into(&mut self.shard);
        self
    }

    pub fn tensor(mut self, name: &str, dtype: Dtype, shape: &[usize], bytes: &[u8]) -> Self {
        let tensor = Tensor { dtype, shape: shape.to_vec(), bytes: bytes.to_vec() };
        self.shards.entry(self.shard.clone()).or_default().insert(name.to_owned(), tensor);
        self
    }

    pub fn f32(self, name: &str, shape: &[usize], values: &[f32]) -> Self {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.tensor(name, Dtype::F32, shape, &bytes)
    }

    pub fn bf16(self, name: &str, shape: &[usize], values: &[f32]) -> Self {
        let bytes: Vec<u8> = values.iter().flat_map(|x| half::bf16::from_f32(*x).to_le_bytes()).collect();
        self.tensor(name, Dtype::BF16, shape, &bytes)
    }

    /// Every code but NaN, as an FP8 tensor `[2, 127]`.
    pub fn all_codes(self, name: &str) -> Self {
        self.tensor(name, Dtype::F8_E4M3, &[2, 127], &ALL_CODES)
    }

    pub fn file(mut self, name: &str, content: &str) -> Self {
        self.files.insert(name.to_owned(), content.as_bytes().to_vec());
        self
    }

    /// A shard index with the true total.
    pub fn index(self) -> Self {
        let entries = self
            .shards
            .iter()
            .flat_map(|(file, tensors)| tensors.keys().map(move |name| (name.clone(), json!(file))));
        let map: serde_json::Map<String, Value> = entries.collect();
        let total: usize = self.shards.values().flat_map(BTreeMap::values).map(|t| t.bytes.len()).sum();
        let index = json!({"metadata": {"total_size": total}, "weight_map": map});
        self.file("model.safetensors.index.json", &index.to_string())
    }

    /// Writes the folder `src` in a new folder.
    pub fn write(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        self.write_to(&folder.path().join("src"));
        folder
    }

    pub fn write_to(&self, path: &Path) {
        fs::create_dir_all(path).unwrap();
        fs::write(path.join("config.json"), serde_json::to_string_pretty(&self.config).unwrap()).unwrap();
        for (name, tensors) in &self.shards {
            let views = tensors
                .iter()
                .map(|(n, t)| (n, TensorView::new(t.dtype, t.shape.clone(), &t.bytes).unwrap()));
            let metadata = [("format".to_owned(), "pt".to_owned())].into();
            fs::write(path.join(name), safetensors::serialize(views, Some(metadata)).unwrap()).unwrap();
        }
        for (name, content) in &self.files {
            fs::write(path.join(name), content).unwrap();
        }
    }

    /// Writes, converts and reads the only weight file.
    #[track_caller]
    pub fn converted(&self, options: &[&str]) -> BTreeMap<String, Tensor> {
        let folder = self.write();
        convert(folder.path(), options).assert_code(0);
        read(&folder.path().join("dst/model.safetensors"))
    }
}

pub static ALL_CODES: [u8; 254] = {
    let mut codes = [0; 254];
    let mut i = 0;
    while i < 127 {
        codes[i] = i as u8;
        codes[i + 127] = i as u8 | 0x80;
        i += 1;
    }
    codes
};

/// The tensors of a weight file, through the public library.
pub fn read(path: &Path) -> BTreeMap<String, Tensor> {
    let bytes = fs::read(path).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let tensors = file.iter().map(|(name, view)| {
        let (dtype, shape, bytes) = (view.dtype(), view.shape().to_vec(), view.data().to_vec());
        (name.to_owned(), Tensor { dtype, shape, bytes })
    });
    tensors.collect()
}

pub fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gaudi-kv"));
    command.env_remove("RUST_LOG").env_remove("VLLM_SCALE_ADJUSTMENT").env("NO_COLOR", "1");
    command
}

/// What a run gave.
#[derive(Debug)]
pub struct Ran(Output);

impl Ran {
    pub fn of(command: &mut Command) -> Self {
        Self(command.output().unwrap())
    }

    #[track_caller]
    pub fn assert_code(&self, code: i32) -> &Self {
        assert_eq!(self.0.status.code(), Some(code), "{}\n{}", self.stdout(), self.stderr());
        self
    }

    #[track_caller]
    pub fn assert_says(&self, code: i32, words: &[&str]) -> &Self {
        self.assert_code(code);
        for word in words {
            assert!(
                self.stderr().contains(word) || self.stdout().contains(word),
                "no {word:?} in {}",
                self.stderr()
            );
        }
        self
    }

    pub fn stdout(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub fn stderr(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.0.stdout).unwrap()
    }
}

/// Converts `src` to `dst` in a folder, for Gaudi2 unless the options say otherwise.
pub fn convert(folder: &Path, options: &[&str]) -> Ran {
    let mut command = program();
    command.arg("convert").arg(folder.join("src")).arg(folder.join("dst")).arg("--json");
    if !options.contains(&"--to") {
        command.args(["--to", "gaudi2"]);
    }
    Ran::of(command.args(options))
}

/// Every file below a folder with its content, and every link with its text.
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_owned();
            if path.is_symlink() {
                found.insert(name, fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
            } else if path.is_dir() {
                open.push(path);
            } else {
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// The names in a folder.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
