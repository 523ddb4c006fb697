//! A process that is killed at any moment leaves the destination absent or whole, and the next one goes on.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use safetensors::Dtype;

use crate::convert::support::{Model, contents, convert, names, program};

const KILLS: usize = 200;
const SHARDS: usize = 12;
const SHARD_BYTES: usize = 2 << 20;

fn model() -> Model {
    let shard = |model: Model, i: usize| {
        let codes: Vec<u8> = (0..SHARD_BYTES).map(|at| ((at * 31 + i * 7 + at / 251) % 0x7F) as u8).collect();
        model
            .shard(&format!("model-{i:02}.safetensors"))
            .tensor(&format!("w{i}.weight"), Dtype::F8_E4M3, &[SHARD_BYTES], &codes)
            .f32(&format!("w{i}.weight_scale"), &[1], &[0.5])
            .bf16(&format!("model.layers.{}.self_attn.{}_scale", i % 4, ["k", "v", "q"][i / 4]), &[1], &[0.5])
    };
    (0..SHARDS).fold(Model::gqa(), shard).index()
}

fn start(folder: &Path) -> Child {
    let mut command = program();
    command.arg("convert").arg(folder.join("src")).arg(folder.join("dst")).args(["--to", "gaudi2"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn assert_whole(dst: &Path, expected: &BTreeMap<PathBuf, Vec<u8>>) {
    // Compared without printing megabytes.
    assert!(contents(dst) == *expected, "the result is not whole: {:?}", names(dst));
}

#[test]
fn two_hundred_kills_at_random_points() {
    let folder = model().write();
    let (src, dst) = (folder.path().join("src"), folder.path().join("dst"));
    let source = contents(&src);
    let begun = Instant::now();
    convert(folder.path(), &[]).assert_code(0);
    // What other tests take of the machine changes, so the longest wait follows what the kills find.
    let mut longest = begun.elapsed();
    let expected = contents(&dst);
    fs::remove_dir_all(&dst).unwrap();
    let mut random = 0x9E37_79B9_7F4A_7C15u64;
    let (mut in_time, mut with_finished_shards, mut completed) = (0, 0, 0);
    for _ in 0..KILLS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let fraction = (random >> 33) as f64 / (1u64 << 31) as f64;
        let mut run = start(folder.path());
        std::thread::sleep(longest.mul_f64(fraction).min(Duration::from_millis(400)));
        run.kill().unwrap();
        let status = run.wait().unwrap();
        let tree = folder.path().join(".dst.gaudi-kv-partial/tree");
        let is_in_time = !status.success() && !dst.exists();
        in_time += usize::from(is_in_time);
        longest = longest.mul_f64(if is_in_time { 1.05 } else { 0.9 });
        with_finished_shards += usize::from(tree.exists() && contents(&tree).len() > 2);
        if dst.exists() {
            assert_whole(&dst, &expected);
            completed += 1;
            fs::remove_dir_all(&dst).unwrap();
            // A kill after the result had appeared may leave what the next run would remove.
            let _ = fs::remove_dir_all(folder.path().join(".dst.gaudi-kv-partial"));
        }
    }
    println!(
        "{in_time} of {KILLS} kills before the end, {with_finished_shards} with shards finished, {completed} results"
    );
    assert!(in_time >= KILLS / 4 && with_finished_shards >= KILLS / 20, "{in_time} {with_finished_shards}");
    let said = convert(folder.path(), &[]).assert_code(0).json();
    assert_eq!(said["outcome"], "converted");
    assert_whole(&dst, &expected);
    assert_eq!(names(folder.path()), ["dst", "src"]);
    assert!(contents(&src) == source, "the source has changed");
}

/// The second run converts only what the first one had not finished.
#[test]
fn a_second_run_picks_up_finished_shards() {
    let folder = model().write();
    convert(folder.path(), &["--shards", "1/2"]).assert_code(0);
    let work = folder.path().join(".dst.gaudi-kv-partial");
    // What a killed process of one share leaves is what a killed process leaves; only the count of shares differs.
    let settings = fs::read_to_string(work.join("settings.json")).unwrap();
    fs::write(work.join("settings.json"), settings.replace("\"part_count\":2", "\"part_count\":1")).unwrap();
    let finished = names(&work.join("tree")).len() as u64;
    assert!(finished > 4);
    fs::write(work.join("tree/left-over.json"), "{}").unwrap();
    // A finished shard whose source changed since is made again.
    let changed = folder.path().join("src").join(&names(&work.join("tree"))[3]);
    let bytes = fs::read(&changed).unwrap();
    fs::remove_file(&changed).unwrap();
    fs::write(&changed, bytes).unwrap();
    let said = convert(folder.path(), &[]).assert_code(0).json();
    let picked_up = said["files"]["picked_up"].as_u64().unwrap();
    assert!(picked_up + 2 >= finished && picked_up < finished, "{picked_up} of {finished}");
    let other = model().write();
    convert(other.path(), &[]).assert_code(0);
    assert_whole(&folder.path().join("dst"), &contents(&other.path().join("dst")));
}

/// Another conversion to the same name is refused while one runs, and a leftover of another one is not taken up.
#[test]
fn one_process_at_a_time_and_no_strange_leftovers() {
    let folder = model().write();
    convert(folder.path(), &["--shards", "1/2", "--factor", "exact"]).assert_code(0);
    let work = folder.path().join(".dst.gaudi-kv-partial");
    let lock = fs::File::options().append(true).open(work.join("lock")).unwrap();
    lock.lock().unwrap();
    convert(folder.path(), &[]).assert_says(2, &["another process"]);
    drop(lock);
    let said = convert(folder.path(), &[]).assert_code(0).json();
    assert_eq!(said["files"]["picked_up"], 0);
    let other = model().write();
    convert(other.path(), &[]).assert_code(0);
    assert_whole(&folder.path().join("dst"), &contents(&other.path().join("dst")));
}
