//! How long a conversion takes: re-ranging of a slice on one core, against memory and against PyTorch, and the program on a
//! shard of 1 GiB in the page cache against `cp`.
//!
//! PyTorch is measured where the Python that `GAUDI_KV_PYTHON` names has `torch`. The data lies in `target/bench-data`.

#![allow(clippy::unwrap_used, reason = "setup that fails should stop the run")]

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gaudi_kv::fp8::Rerange;
use serde_json::{Map, json};

const SLICE_BYTES: usize = 64 << 20;
const SHARD_WEIGHTS: usize = 16;
const WEIGHT_BYTES: usize = 64 << 20;
const RUNS: usize = 9;

fn data_folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"), PathBuf::from);
    target.join("bench-data").join("convert")
}

/// The median of several runs, after one that warms up.
fn median(mut run: impl FnMut() -> Duration) -> Duration {
    run();
    let mut times: Vec<Duration> = (0..RUNS).map(|_| run()).collect();
    times.sort();
    times[RUNS / 2]
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Codes of every kind but NaN.
fn codes(count: usize) -> Vec<u8> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let code = (state >> 24) as u8;
        if code & 0x7F == 0x7F { code ^ 1 } else { code }
    };
    (0..count).map(|_| next()).collect()
}

fn slice() {
    let mut buffer = codes(SLICE_BYTES);
    let rerange = Rerange::halve_for_gaudi2();
    let ours = median(|| {
        timed(|| {
            std::hint::black_box(rerange.apply(&mut buffer));
        })
    });
    let rate = SLICE_BYTES as f64 / ours.as_secs_f64() / 1e9;
    println!("re-range {SLICE_BYTES} bytes in place, one core: {ours:?}, {rate:.2} GB/s");
    let script = format!(
        "import torch, time\ntorch.set_num_threads(1)\n\
         w = torch.randint(0, 127, ({SLICE_BYTES},), dtype=torch.uint8).view(torch.float8_e4m3fn)\nt = []\n\
         for _ in range(6):\n s = time.perf_counter(); (w.float() * 0.5).to(torch.float8_e4m3fn); t.append(time.perf_counter() - s)\n\
         print(torch.__version__, sorted(t[1:])[2])"
    );
    let python = std::env::var("GAUDI_KV_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    match Command::new(&python).args(["-c", &script]).output() {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            let (version, seconds) = text.trim().split_once(' ').unwrap();
            let theirs = Duration::from_secs_f64(seconds.parse().unwrap());
            let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
            println!(
                "(w.float() * 0.5).to(float8_e4m3fn), torch {version}, one thread: {theirs:?}, {ratio:.0} times as long"
            );
        }
        _ => println!("torch: not measured, {python} has none"),
    }
}

fn write_source(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let (mut header, mut at) = (Map::new(), 0);
    let mut add = |name: String, dtype: &str, shape: Vec<usize>, bytes: usize| {
        header.insert(name, json!({"dtype": dtype, "shape": shape, "data_offsets": [at, at + bytes]}));
        at += bytes;
    };
    for layer in 0..SHARD_WEIGHTS {
        add(format!("model.layers.{layer}.self_attn.k_scale"), "F32", vec![1], 4);
        add(format!("model.layers.{layer}.mlp.up_proj.weight_scale"), "F32", vec![1], 4);
    }
    for layer in 0..SHARD_WEIGHTS {
        add(
            format!("model.layers.{layer}.mlp.up_proj.weight"),
            "F8_E4M3",
            vec![8192, WEIGHT_BYTES / 8192],
            WEIGHT_BYTES,
        );
    }
    let header = serde_json::to_vec(&header).unwrap();
    let mut file = File::create(folder.join("model.safetensors")).unwrap();
    file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
    file.write_all(&header).unwrap();
    file.write_all(&0.0625f32.to_le_bytes().repeat(2 * SHARD_WEIGHTS)).unwrap();
    let weight = codes(WEIGHT_BYTES);
    for _ in 0..SHARD_WEIGHTS {
        file.write_all(&weight).unwrap();
    }
    file.sync_all().unwrap();
    let config = json!({"num_hidden_layers": SHARD_WEIGHTS, "quantization_config": {"quant_method": "fp8"}});
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
}

/// Turn by turn, so that what else the machine does meets both.
fn program() {
    let folder = data_folder();
    let (source, result) = (folder.join("src"), folder.join("result"));
    if !source.join("config.json").exists() {
        write_source(&source);
    }
    let _ = fs::read(source.join("model.safetensors")).unwrap();
    let run = |command: &mut Command| {
        let _ = fs::remove_dir_all(&result);
        timed(|| assert!(command.stdout(Stdio::null()).status().unwrap().success()))
    };
    let cp = || run(Command::new("cp").arg("-r").args([&source, &result]));
    let convert = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gaudi-kv"));
        run(command.arg("convert").args([&source, &result]).args(["--to", "gaudi2"]).args(options))
    };
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..RUNS {
        times[0].push(cp());
        times[1].push(convert(&[]));
    }
    for _ in 0..3 {
        times[2].push(convert(&["--sync"]));
    }
    let _ = fs::remove_dir_all(&result);
    let [cp, convert, synced] = times.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    });
    let ratio = convert.as_secs_f64() / cp.as_secs_f64();
    println!(
        "a shard of 1 GiB in the page cache: cp {cp:?}, convert {convert:?} ({ratio:.2} times), with --sync {synced:?}"
    );
}

fn main() {
    slice();
    program();
}
