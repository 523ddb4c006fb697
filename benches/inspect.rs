//! How long an inspection takes: the headers of a model as large as DeepSeek-R1, and the scan of FP8 weights against
//! plain reads of the same files.
//!
//! The data lies in `target/bench-data`, is made once, and stays for measuring the program on it.

#![allow(clippy::unwrap_used, reason = "setup that fails should stop the run")]

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gaudi_kv::Generation;
use gaudi_kv::checkpoint::ModelFolder;
use gaudi_kv::scales::{Options, inspect};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

const SHARDS: usize = 163;
const LAYERS: usize = 61;
const SCANNED_FILES: usize = 4;
const SCANNED_FILE_BYTES: usize = 256 << 20;

fn data_folder(name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"), PathBuf::from);
    target.join("bench-data").join(name)
}

/// A tensor's name, type and shape.
type Tensor = (String, &'static str, Vec<usize>);

/// The tensors of DeepSeek-R1: 3 dense layers, 58 with 256 experts, FP8 weights with block scales, and KV scales.
fn deepseek_tensors() -> Vec<Tensor> {
    let mut tensors: Vec<Tensor> = vec![
        ("model.embed_tokens.weight".to_owned(), "BF16", vec![129_280, 7168]),
        ("lm_head.weight".to_owned(), "BF16", vec![129_280, 7168]),
        ("model.norm.weight".to_owned(), "BF16", vec![7168]),
    ];
    for layer in 0..LAYERS {
        let base = format!("model.layers.{layer}");
        let mut fp8 = |name: &str, rows: usize, columns: usize| {
            tensors.push((format!("{base}.{name}.weight"), "F8_E4M3", vec![rows, columns]));
            let blocks = vec![rows.div_ceil(128), columns.div_ceil(128)];
            tensors.push((format!("{base}.{name}.weight_scale_inv"), "F32", blocks));
        };
        fp8("self_attn.q_a_proj", 1536, 7168);
        fp8("self_attn.q_b_proj", 24_576, 1536);
        fp8("self_attn.kv_a_proj_with_mqa", 576, 7168);
        fp8("self_attn.kv_b_proj", 32_768, 512);
        fp8("self_attn.o_proj", 7168, 16_384);
        let experts = if layer < 3 {
            vec!["mlp".to_owned()]
        } else {
            let numbered = (0..256).map(|expert| format!("mlp.experts.{expert}"));
            numbered.chain(["mlp.shared_experts".to_owned()]).collect()
        };
        let width = if layer < 3 { 18_432 } else { 2048 };
        for expert in experts {
            fp8(&format!("{expert}.gate_proj"), width, 7168);
            fp8(&format!("{expert}.up_proj"), width, 7168);
            fp8(&format!("{expert}.down_proj"), 7168, width);
        }
        if layer >= 3 {
            tensors.push((format!("{base}.mlp.gate.weight"), "BF16", vec![256, 7168]));
            tensors.push((format!("{base}.mlp.gate.e_score_correction_bias"), "F32", vec![256]));
        }
        for (norm, size) in [
            ("input_layernorm", 7168),
            ("post_attention_layernorm", 7168),
            ("self_attn.q_a_layernorm", 1536),
            ("self_attn.kv_a_layernorm", 512),
        ] {
            tensors.push((format!("{base}.{norm}.weight"), "BF16", vec![size]));
        }
        for scale in ["k_scale", "v_scale"] {
            tensors.push((format!("{base}.self_attn.{scale}"), "F32", vec![1]));
        }
    }
    tensors
}

/// Writes a shard whose data is a hole in the file, but for the scales: the file system gives zeros for free.
fn write_shard(path: &Path, tensors: &[Tensor]) {
    let mut header = Map::new();
    let mut scales = Vec::new();
    let mut at = 0;
    for (name, dtype, shape) in tensors {
        let bytes = shape.iter().product::<usize>()
            * match *dtype {
                "F8_E4M3" => 1,
                "BF16" => 2,
                _ => 4,
            };
        if name.ends_with("_scale") {
            scales.push(at);
        }
        header
            .insert(name.clone(), json!({"dtype": dtype, "shape": shape, "data_offsets": [at, at + bytes]}));
        at += bytes;
    }
    let header = serde_json::to_vec(&header).unwrap();
    let mut file = File::create(path).unwrap();
    file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
    file.write_all(&header).unwrap();
    file.set_len((8 + header.len() + at) as u64).unwrap();
    for scale in scales {
        std::os::unix::fs::FileExt::write_all_at(
            &file,
            &0.0625f32.to_le_bytes(),
            (8 + header.len() + scale) as u64,
        )
        .unwrap();
    }
}

fn deepseek_folder() -> PathBuf {
    let folder = data_folder("deepseek-r1-headers");
    if folder.join("complete").exists() {
        return folder;
    }
    fs::create_dir_all(&folder).unwrap();
    let tensors = deepseek_tensors();
    let mut weight_map = Map::new();
    for (number, part) in tensors.chunks(tensors.len().div_ceil(SHARDS)).enumerate() {
        let name = format!("model-{:05}-of-{SHARDS:06}.safetensors", number + 1);
        write_shard(&folder.join(&name), part);
        weight_map.extend(part.iter().map(|(tensor, ..)| (tensor.clone(), Value::from(name.clone()))));
    }
    let index = json!({"metadata": {"total_size": 0}, "weight_map": weight_map});
    fs::write(folder.join("model.safetensors.index.json"), serde_json::to_vec(&index).unwrap()).unwrap();
    let config = json!({
        "architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "num_hidden_layers": LAYERS,
        "num_attention_heads": 128, "num_key_value_heads": 128, "hidden_size": 7168, "kv_lora_rank": 512,
        "qk_rope_head_dim": 64, "num_nextn_predict_layers": 0,
        "quantization_config": {"quant_method": "fp8", "kv_cache_scheme": "static", "weight_block_size": [128, 128]},
    });
    fs::write(folder.join("config.json"), serde_json::to_vec(&config).unwrap()).unwrap();
    fs::write(folder.join("complete"), "").unwrap();
    folder
}

/// One GiB of FP8 weights in four files, with the code statistics of weights quantized to 448: one code in about
/// fifty lies above `0x77`.
fn scanned_folder() -> PathBuf {
    let folder = data_folder("fp8-weights");
    if folder.join("complete").exists() {
        return folder;
    }
    fs::create_dir_all(&folder).unwrap();
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    for number in 0..SCANNED_FILES {
        let name = format!("model.layers.{number}.mlp.up_proj.weight");
        let header = json!({name: {"dtype": "F8_E4M3", "shape": [SCANNED_FILE_BYTES / 4096, 4096],
            "data_offsets": [0, SCANNED_FILE_BYTES]}});
        let header = serde_json::to_vec(&header).unwrap();
        let mut content = Vec::with_capacity(8 + header.len() + SCANNED_FILE_BYTES);
        content.extend_from_slice(&(header.len() as u64).to_le_bytes());
        content.extend_from_slice(&header);
        while content.len() < 8 + header.len() + SCANNED_FILE_BYTES {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let random = (state >> 40) as u32;
            let code =
                if random.is_multiple_of(51) { 0x78 + (random >> 8) % 7 } else { (random >> 8) % 0x78 };
            content.push(code as u8 | ((random & 1) << 7) as u8);
        }
        fs::write(folder.join(format!("model-{number}.safetensors")), content).unwrap();
    }
    let config = json!({"num_hidden_layers": SCANNED_FILES, "num_attention_heads": 8, "hidden_size": 1024});
    fs::write(folder.join("config.json"), serde_json::to_vec(&config).unwrap()).unwrap();
    fs::write(folder.join("complete"), "").unwrap();
    folder
}

fn headers(c: &mut Criterion) {
    let folder = deepseek_folder();
    let mut group = c.benchmark_group("inspect");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    group.bench_function("deepseek-r1 headers", |b| {
        b.iter(|| {
            let model = ModelFolder::open(&folder).unwrap();
            black_box(inspect(&model, &Options::new(Generation::Gaudi2), &|_| ()).unwrap())
        });
    });
    group.finish();
}

/// Reads files in the pieces and from the threads that the scan uses, and does nothing with them.
fn read_all(paths: &[PathBuf]) -> u64 {
    const PIECE: u64 = 8 << 20;
    let pieces: Vec<(usize, u64)> = paths
        .iter()
        .enumerate()
        .flat_map(|(file, path)| {
            (0..fs::metadata(path).unwrap().len()).step_by(PIECE as usize).map(move |at| (file, at))
        })
        .collect();
    pieces
        .into_par_iter()
        .map_init(
            || vec![0u8; 256 << 10],
            |buffer, (file, at)| {
                let mut file = File::open(&paths[file]).unwrap();
                std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(at)).unwrap();
                let mut left = file.take(PIECE);
                let mut total = 0;
                loop {
                    match left.read(buffer).unwrap() {
                        0 => return total,
                        n => total += n as u64,
                    }
                }
            },
        )
        .sum()
}

fn verify_weights(c: &mut Criterion) {
    let folder = scanned_folder();
    let paths: Vec<_> = (0..SCANNED_FILES).map(|n| folder.join(format!("model-{n}.safetensors"))).collect();
    let mut group = c.benchmark_group("verify-weights");
    group.sample_size(10).measurement_time(Duration::from_secs(8));
    group.throughput(Throughput::Bytes((SCANNED_FILES * SCANNED_FILE_BYTES) as u64));
    group.bench_function(BenchmarkId::new("read", "1 GiB in the page cache"), |b| {
        b.iter(|| black_box(read_all(&paths)))
    });
    let options = Options { verify_weights: true, ..Options::new(Generation::Gaudi2) };
    group.bench_function(BenchmarkId::new("scan", "1 GiB in the page cache"), |b| {
        b.iter(|| {
            let model = ModelFolder::open(&folder).unwrap();
            black_box(inspect(&model, &options, &|_| ()).unwrap())
        });
    });
    group.finish();
}

criterion_group!(benches, headers, verify_weights);
criterion_main!(benches);
