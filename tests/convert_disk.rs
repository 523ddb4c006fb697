//! `gaudi-kv convert` and `calibrate` on a full disk: a small file system in memory, mounted for one process alone.
//!
//! Needs the right to mount in a namespace of its own; where that is missing, the tests are reported as ignored.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use safetensors::Dtype;
use safetensors::tensor::TensorView;

/// What the script ends with where it may not mount.
const UNAVAILABLE: i32 = 77;

/// Mounts 3 MiB, writes to it and lists what is left; then makes room and writes again.
const SCRIPT: &str = r#"
disk="$1"; shift
mount -t tmpfs -o size=3m none "$disk" 2>/dev/null || exit 77
"$0" "$@"; echo "code $?"
echo "left: $(ls -A "$disk")"
mount -o remount,size=16m "$disk" || exit 1
"$0" "$@" > /dev/null; echo "code $?"
echo "left: $(ls -A "$disk")"
"#;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let is_ignored = args.list && !may_mount();
    let tests = [
        Trial::ignorable_test("convert_on_a_full_disk_is_a_clear_error_that_leaves_nothing", convert),
        Trial::ignorable_test("calibrate_on_a_full_disk_is_a_clear_error_that_leaves_nothing", calibrate),
    ];
    libtest_mimic::run(&args, tests.map(|test| test.with_ignored_flag(is_ignored)).into()).exit_code()
}

fn unshared(script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    command
}

fn may_mount() -> bool {
    let script = r#"mount -t tmpfs -o size=1m none "$0""#;
    let folder = tempfile::tempdir().unwrap();
    unshared(script).arg(folder.path()).output().is_ok_and(|output| output.status.success())
}

fn write_model(folder: &Path) {
    fs::create_dir(folder).unwrap();
    let codes = vec![0x38; 1 << 20];
    for i in 0..6 {
        let views = [
            (format!("w{i}.weight"), TensorView::new(Dtype::F8_E4M3, vec![1 << 20], &codes).unwrap()),
            (format!("w{i}.weight_scale"), TensorView::new(Dtype::F32, vec![1], &[0, 0, 128, 63]).unwrap()),
        ];
        let bytes = safetensors::serialize(views, None).unwrap();
        fs::write(folder.join(format!("model-{i}.safetensors")), bytes).unwrap();
    }
    let config = r#"{"num_hidden_layers": 1, "quantization_config": {"quant_method": "fp8"}}"#;
    fs::write(folder.join("config.json"), config).unwrap();
}

fn convert() -> Result<Completion, Failed> {
    let folder = tempfile::tempdir()?;
    let (source, disk) = (folder.path().join("src"), folder.path().join("disk"));
    write_model(&source);
    full_disk(
        &disk,
        &[
            OsStr::new("convert"),
            source.as_ref(),
            disk.join("dst").as_ref(),
            "--to".as_ref(),
            "gaudi2".as_ref(),
        ],
    )
}

fn calibrate() -> Result<Completion, Failed> {
    let folder = tempfile::tempdir()?;
    let (source, disk) = (folder.path().join("src"), folder.path().join("disk"));
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    fs::create_dir(&source)?;
    for name in ["config.json", "model.safetensors"] {
        fs::copy(data.join("tiny-gqa").join(name), source.join(name))?;
    }
    fs::write(source.join("original.pth"), vec![1; 4 << 20])?;
    let activations = data.join("activations-tiny-gqa.safetensors");
    let [from, on, to] = ["--activations", "--device=gaudi2", "--out"].map(OsStr::new);
    full_disk(
        &disk,
        &[
            OsStr::new("calibrate"),
            source.as_ref(),
            from,
            activations.as_ref(),
            on,
            to,
            disk.join("dst").as_ref(),
        ],
    )
}

/// Runs the program twice, with a folder `disk` that is to hold `dst`.
fn full_disk(disk: &Path, arguments: &[&OsStr]) -> Result<Completion, Failed> {
    fs::create_dir(disk)?;
    let mut command = unshared(SCRIPT);
    let output = command.arg(env!("CARGO_BIN_EXE_gaudi-kv")).arg(disk).args(arguments).output();
    let Output { status, stdout, stderr } = match output {
        Ok(output) => output,
        Err(error) => return Ok(Completion::ignored_with(format!("no unshare: {error}"))),
    };
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    if status.code() == Some(UNAVAILABLE) || stderr.contains("unshare") {
        return Ok(Completion::ignored_with("no right to mount"));
    }
    if stdout != "code 2\nleft: \ncode 0\nleft: dst\n" {
        return Err(format!("{stdout}{stderr}").into());
    }
    for words in ["no room left", "No space left on device", "what was written is removed"] {
        if !stderr.contains(words) {
            return Err(format!("no {words:?} in: {stderr}").into());
        }
    }
    Ok(Completion::Completed)
}
