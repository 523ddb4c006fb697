//! Running the program, and making activations and models for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::Value;
use tempfile::TempDir;

/// The base models, whose activations were captured.
pub const GQA: &str = "tiny-gqa";
pub const MLA: &str = "tiny-mla";
pub const DEVICES: [&str; 2] = ["gaudi2", "gaudi3"];

/// A tensor's name, shape and float32 values.
pub type Made = (String, Vec<usize>, Vec<f32>);
/// The type, shape and bytes of each tensor of a file.
pub type Tensors = BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>;

pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The captured activations of a model's base model.
pub fn activations(model: &str) -> PathBuf {
    data(&format!("activations-{}.safetensors", if model.contains("mla") { MLA } else { GQA }))
}

/// How a run of the program ended.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{self:?}");
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// Asserts an exit code, an empty stdout, and an error that has all of these in it.
    #[track_caller]
    pub fn assert_refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{self:?}");
        assert_eq!(self.stdout, "");
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is not in: {}", self.stderr);
        }
    }
}

pub fn run(command: &mut Command) -> Run {
    let output = command.env_remove("VLLM_SCALE_ADJUSTMENT").env_remove("RUST_LOG").output().unwrap();
    Run {
        code: output.status.code().unwrap_or_else(|| panic!("ended by a signal: {output:?}")),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub fn program(subcommand: &str, model: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gaudi-kv"));
    command.arg(subcommand).arg(model);
    command
}

/// A place for what a test writes.
pub struct Workshop {
    folder: TempDir,
}

impl Workshop {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where `calibrate` writes.
    pub fn out(&self) -> PathBuf {
        self.path("out")
    }

    /// Calibrates with the given source.
    pub fn calibrate_from(&self, model: &Path, source: &[&str], device: &str, options: &[&str]) -> Run {
        let mut command = program("calibrate", model);
        command.args(source).args(["--device", device, "--json", "--out"]).arg(self.out()).args(options);
        run(&mut command)
    }

    /// Calibrates with activations.
    pub fn calibrate(&self, model: &Path, activations: &Path, device: &str, options: &[&str]) -> Run {
        self.calibrate_from(model, &["--activations", activations.to_str().unwrap()], device, options)
    }

    /// Calibrates a fixture with the captured activations of its base model.
    #[track_caller]
    pub fn calibrate_fixture(&self, model: &str, device: &str, options: &[&str]) -> Value {
        self.calibrate(&data(model), &activations(model), device, options).json()
    }

    /// Whatever is in the folder, hidden names too.
    pub fn entries(&self) -> Vec<String> {
        names(self.folder.path())
    }

    /// A file of float32 activations.
    pub fn activations(&self, name: &str, made: &[Made]) -> PathBuf {
        let path = self.path(name);
        write(&path, made);
        path
    }

    /// A copy of a fixture with another config and other tensors.
    pub fn model(
        &self,
        fixture: &str,
        config: &dyn Fn(&mut Value),
        tensors: &dyn Fn(&mut Tensors),
    ) -> PathBuf {
        let target = self.path(&format!("model-{fixture}"));
        std::fs::create_dir(&target).unwrap();
        let mut value = json_file(&data(fixture).join("config.json"));
        config(&mut value);
        std::fs::write(target.join("config.json"), value.to_string()).unwrap();
        let mut changed = read(&data(fixture).join("model.safetensors"));
        tensors(&mut changed);
        write_tensors(&target.join("model.safetensors"), &changed);
        target
    }
}

/// The sorted names of a folder's entries.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub fn json_file(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

pub fn read(path: &Path) -> Tensors {
    let bytes = std::fs::read(path).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let entry = |(name, view): (&str, TensorView<'_>)| {
        (name.to_owned(), (view.dtype(), view.shape().to_vec(), view.data().to_vec()))
    };
    tensors.iter().map(entry).collect()
}

pub fn write_tensors(path: &Path, tensors: &Tensors) {
    let views = tensors
        .iter()
        .map(|(name, (dtype, shape, bytes))| (name, TensorView::new(*dtype, shape.clone(), bytes).unwrap()));
    std::fs::write(path, safetensors::serialize(views, None).unwrap()).unwrap();
}

pub fn write(path: &Path, made: &[Made]) {
    let tensors = made.iter().map(|(name, shape, values)| {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        (name.clone(), (Dtype::F32, shape.clone(), bytes))
    });
    write_tensors(path, &tensors.collect());
}

/// Keys and values of the three layers of the base GQA model, two tokens: `amplitude` once in each tensor, else a
/// thousandth of it.
pub fn gqa_activations(amplitude: f32) -> Vec<Made> {
    let mut values = vec![amplitude / 1000.0; 2 * 2 * 32];
    values[7] = -amplitude;
    (0..3)
        .flat_map(|l| ["k", "v"].map(|x| (format!("layers.{l}.{x}"), vec![2, 2, 32], values.clone())))
        .collect()
}

/// `gaudi-kv inspect --json --strict` of what was written: no error and no warning.
#[track_caller]
pub fn inspect_strictly(model: &Path, device: &str) -> Value {
    run(program("inspect", model).args(["--json", "--strict", "--device", device])).json()
}

/// The `check` key of `gaudi-kv check --json`.
#[track_caller]
pub fn check(model: &Path, activations: &Path, device: &str) -> Value {
    let mut command = program("check", model);
    command.args(["--json", "--device", device, "--activations"]).arg(activations);
    run(&mut command).json()["check"].clone()
}
