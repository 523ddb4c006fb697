//! `gaudi-kv convert` on a full disk: a small file system in memory, mounted for one process alone.
//!
//! Needs the right to mount in a namespace of its own; where that is missing, the test is reported as ignored.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use safetensors::Dtype;
use safetensors::tensor::TensorView;

/// What the script ends with where it may not mount.
const UNAVAILABLE: i32 = 77;

/// Mounts 3 MiB, converts to it and lists what is left; then makes room and converts again.
const SCRIPT: &str = r#"
mount -t tmpfs -o size=3m none "$2" 2>/dev/null || exit 77
"$0" convert "$1" "$2/dst" --to gaudi2 --json; echo "code $?"
echo "left: $(ls -A "$2")"
mount -o remount,size=16m "$2" || exit 1
"$0" convert "$1" "$2/dst" --to gaudi2 --json > /dev/null; echo "code $?"
echo "left: $(ls -A "$2")"
"#;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let is_ignored = args.list && !may_mount();
    let test = Trial::ignorable_test("a_full_disk_is_a_clear_error_that_leaves_nothing", full_disk);
    libtest_mimic::run(&args, vec![test.with_ignored_flag(is_ignored)]).exit_code()
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

fn full_disk() -> Result<Completion, Failed> {
    let folder = tempfile::tempdir()?;
    let (source, disk) = (folder.path().join("src"), folder.path().join("disk"));
    write_model(&source);
    fs::create_dir(&disk)?;
    let mut command = unshared(SCRIPT);
    let output = command.arg(env!("CARGO_BIN_EXE_gaudi-kv")).args([&source, &disk]).output();
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
