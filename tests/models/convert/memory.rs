//! How much memory a conversion takes, whatever the size of the model.

use std::fs::{self, File};
use std::io::Write;
use std::time::Duration;

use serde_json::json;

use crate::convert::support::{Model, program};

const WEIGHT_BYTES: usize = 320 << 20;
const LIMIT_KIB: u64 = 128 << 10;

/// The shard is a hole, so that it costs nothing to make.
#[test]
fn the_resident_set_stays_small() {
    let folder = Model::gqa().write();
    let header = json!({
        "a.weight_scale": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
        "model.layers.0.self_attn.k_scale": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]},
        "a.weight": {"dtype": "F8_E4M3", "shape": [WEIGHT_BYTES], "data_offsets": [8, 8 + WEIGHT_BYTES]}});
    let header = header.to_string();
    let mut file = File::create(folder.path().join("src/big.safetensors")).unwrap();
    file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
    file.write_all(header.as_bytes()).unwrap();
    file.write_all(&[0, 0, 0, 63].repeat(2)).unwrap();
    file.set_len((8 + header.len() + 8 + WEIGHT_BYTES) as u64).unwrap();
    let mut command = program();
    command
        .arg("convert")
        .arg(folder.path().join("src"))
        .arg(folder.path().join("dst"))
        .args(["--to", "gaudi2"]);
    let mut run = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut peak_kib = 0;
    let status = loop {
        let text = fs::read_to_string(format!("/proc/{}/status", run.id())).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0);
        peak_kib = peak_kib.max(kib);
        if let Some(status) = run.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    assert!(status.success());
    assert!(peak_kib > 1024 && peak_kib < LIMIT_KIB, "{peak_kib} KiB");
}
