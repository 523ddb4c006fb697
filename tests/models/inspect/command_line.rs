//! The contract of the command line: exit codes, streams, names of options and the environment.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::inspect::builder::Checkpoint;
use crate::inspect::program::{Run, command, inspect, inspect_with_adjustment, run};

const K: &str = "model.layers.0.self_attn.k_scale";

fn fine() -> tempfile::TempDir {
    Checkpoint::gqa(1).scale(K, 0.0546875).write()
}

fn k_dequant(run: &Run) -> f32 {
    run.json()["layers"][0]["k"]["dequant"].as_f64().unwrap() as f32
}

#[test]
fn exit_code_0_without_errors_and_with_warnings() {
    let run = inspect(fine().path(), &["--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let run = inspect(Checkpoint::gqa(1).write().path(), &["--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(run.json()["warnings"][0]["code"], "scale-missing");
}

#[test]
fn exit_code_1_with_errors_and_the_object_all_the_same() {
    let folder = Checkpoint::gqa(1).scale(K, f32::NAN).write();
    let run = inspect(folder.path(), &["--json"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(run.json()["errors"][0]["code"], "scale-not-finite");
    assert_eq!(inspect(folder.path(), &[]).code, 1);
}

#[test]
fn exit_code_1_with_warnings_under_strict_and_never_for_notes() {
    assert_eq!(inspect(Checkpoint::gqa(1).write().path(), &["--strict"]).code, 1);
    // k duplicated to v is a note.
    let run = inspect(fine().path(), &["--strict", "--json"]);
    assert_eq!(run.json()["notes"][0]["code"], "scale-duplicated");
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn exit_code_2_for_bad_usage() {
    let folder = fine();
    for arguments in [
        &["--device", "gaudi1"][..],
        &["--device", "GAUDI2"],
        &["--kv-cache-dtype", "fp8_e5m2"],
        &["--kv-cache-dtype", "int8"],
        &["--kv-cache-dtype", "nvfp4"],
        &["--kv-cache-dtype", "fp8_ds_mla"],
        &["--kv-cache-dtype", ""],
        &["--mla-scale", "v-only"],
        &["--q-missing", "two"],
        &["--tp", "2"],
        &["--rank", "0"],
        &["--tp", "0", "--rank", "0"],
        &["--tp", "-1", "--rank", "0"],
        &["--tp", "x", "--rank", "0"],
        &["--tp", "99999999999", "--rank", "0"],
        &["--kv-cache-dtype-skip-layers", "first"],
        &["--kv-cache-dtype-skip-layers", "1,,2"],
        &["--kv-cache-dtype-skip-layers", "-1"],
        &["--no-such-option"],
        &["a second model"],
    ] {
        // `--device` may be given once only, so it is left to these arguments.
        let run = run(command().arg("inspect").arg(folder.path()).args(arguments));
        run.assert_refused(&["error"]);
    }
    run(&mut command()).assert_refused(&[]);
    run(command().arg("inspect")).assert_refused(&[]);
    run(command().arg("no-such-command")).assert_refused(&[]);
}

#[test]
fn a_rank_that_does_not_exist_is_bad_usage() {
    let folder = fine();
    for (tp, rank) in [("2", "2"), ("1", "1"), ("2", "4294967295")] {
        inspect(folder.path(), &["--tp", tp, "--rank", rank]).assert_refused(&["rank"]);
    }
    // 4 KV heads.
    inspect(folder.path(), &["--tp", "3", "--rank", "0"]).assert_refused(&["3", "4"]);
    assert_eq!(inspect(folder.path(), &["--tp", "8", "--rank", "7"]).code, 0);
}

#[test]
fn results_go_to_stdout_and_nothing_else_does() {
    let folder = fine();
    for (arguments, is_json) in [(&["--json"][..], true), (&[], false), (&["--json", "-vvv"], true)] {
        let run = inspect(folder.path(), arguments);
        assert!(!run.stdout.is_empty());
        assert!(!run.stdout.contains('\u{1b}'), "a pipe gets plain text");
        if is_json {
            assert!(run.json().is_object());
        }
    }
    let loud = inspect(folder.path(), &["--json", "-vvv"]);
    assert!(!loud.stderr.is_empty());
    assert_eq!(loud.stdout, inspect(folder.path(), &["--json"]).stdout);
}

#[test]
fn a_chosen_device_is_not_said_and_a_default_one_is() {
    let folder = fine();
    let run = run(command().arg("inspect").arg(folder.path()).arg("--json"));
    let device = run.json()["device"].as_str().unwrap().to_owned();
    assert!(run.stderr.contains(&device), "{run:?}");
    if !Path::new("/sys/bus/pci/drivers/habanalabs").exists() {
        assert_eq!(device, "gaudi2");
        assert!(run.stderr.contains("emulated"), "{run:?}");
    }
    assert_eq!(inspect(folder.path(), &["--json"]).stderr, "");
}

/// `-q` leaves errors only.
#[test]
fn quiet_does_not_say_the_device() {
    let run = run(command().args(["inspect", "--json", "-q"]).arg(fine().path()));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

/// The table says the decision, each layer's scales, and what is wrong.
#[test]
fn the_table_says_what_the_json_says() {
    let folder =
        Checkpoint::gqa(2).scale(K, 0.0546875).scale("model.layers.9.self_attn.k_scale", 0.5).write();
    let run = inspect(folder.path(), &[]);
    assert_eq!(run.code, 0, "{run:?}");
    for word in
        ["LlamaForCausalLM", "448 -> 240", "0.10208", "loaded", "scale-missing", "layers.9.self_attn.k_scale"]
    {
        assert!(run.stdout.contains(word), "{word}: {}", run.stdout);
    }
}

#[test]
fn other_names_of_cache_types_mean_the_same() {
    let folder = Checkpoint::gqa(1).no_quant().scale(K, 0.05).write();
    let dtype = |name: &str| {
        let run = inspect(folder.path(), &["--json", "--kv-cache-dtype", name]);
        assert_eq!(run.code, 0, "{run:?}");
        run.json()["kv_cache_dtype"].as_str().unwrap().to_owned()
    };
    for name in ["fp8", "fp8_e4m3", "fp8_inc"] {
        assert_eq!(dtype(name), "fp8", "{name}");
    }
    for name in ["bf16", "bfloat16", "auto"] {
        assert_eq!(dtype(name), "bf16", "{name}");
    }
}

#[test]
fn options_reach_the_decision() {
    let folder = Checkpoint::mla(2)
        .scale(K, 0.02)
        .scale("model.layers.0.self_attn.v_scale", 0.5)
        .scale("model.layers.1.self_attn.k_scale", 0.02)
        .write();
    let json = |arguments: &[&str]| inspect(folder.path(), &[&["--json"], arguments].concat()).json();
    assert_eq!(json(&["--mla-scale", "max-kv"])["layers"][0]["k"]["checkpoint"], 0.5);
    assert_eq!(json(&["--mla-scale", "k-only"])["layers"][0]["v"], Value::Null);
    assert_eq!(json(&["--q-missing", "one"])["layers"][0]["q"]["origin"], "defaulted");
    assert_eq!(json(&["--q-missing", "dynamic"])["layers"][0]["q"]["origin"], "dynamic");
    assert_eq!(json(&["--kv-cache-dtype-skip-layers", "0,1"])["layers"][1]["k"], Value::Null);
    assert_eq!(json(&["--kv-cache-dtype-skip-layers", "1"])["layers"][0]["k"]["origin"], "loaded");
    let windows = json(&["--kv-cache-dtype-skip-layers", "1,sliding_window"]);
    assert_eq!(windows["warnings"][0]["code"], "skip-layer-unknown");
    assert_eq!(windows["layers"][1]["k"], Value::Null);
}

#[test]
fn the_environment_is_read_as_vllm_gaudi_reads_it() {
    let folder = fine();
    let dequant = |value: &str| {
        let run = inspect_with_adjustment(folder.path(), value, &["--device", "gaudi2"]);
        assert_eq!(run.code, 0, "{run:?}");
        k_dequant(&run)
    };
    for value in ["true", "TRUE", "1", "t", "yes", "Y", "on"] {
        assert_eq!(dequant(value), 0.102_083_333, "{value:?}");
    }
    for value in ["false", "0", "no", "", "nonsense", " true", "2", "ön"] {
        assert_eq!(dequant(value), 0.054_687_496_3, "{value:?}");
    }
    assert_eq!(k_dequant(&inspect(folder.path(), &["--json"])), 0.102_083_333, "unset is automatic");
}

#[test]
fn an_environment_that_is_no_utf8_is_false() {
    use std::os::unix::ffi::OsStrExt;
    let folder = fine();
    let run = run(command()
        .args(["inspect", "--json", "--device", "gaudi2"])
        .arg(folder.path())
        .env("VLLM_SCALE_ADJUSTMENT", std::ffi::OsStr::from_bytes(b"tru\xFF")));
    assert_eq!(k_dequant(&run), 0.054_687_496_3);
}

/// Adjustment that is turned off where it was due is a warning, and `--strict` counts it.
#[test]
fn strict_counts_an_adjustment_that_is_turned_off() {
    let run = inspect_with_adjustment(fine().path(), "false", &["--device", "gaudi2", "--strict"]);
    assert_eq!(run.code, 1, "{run:?}");
    let run = inspect_with_adjustment(fine().path(), "false", &["--device", "gaudi3", "--strict"]);
    assert_eq!(run.code, 0, "{run:?}");
}

/// The keys of the object are a contract.
#[test]
fn the_json_object_has_the_promised_keys() {
    let object = inspect(fine().path(), &["--json"]).json();
    let has = |value: &Value, keys: &[&str]| {
        for key in keys {
            assert!(value.get(key).is_some(), "{key}: {value}");
        }
    };
    has(
        &object,
        &[
            "model",
            "quantization",
            "device",
            "kv_cache_dtype",
            "scale_adjustment",
            "layers",
            "unused",
            "notes",
            "warnings",
            "errors",
        ],
    );
    has(&object["model"], &["path", "architecture", "attention", "layers"]);
    has(&object["quantization"], &["method", "kv_cache_scheme", "strategy", "fp8_dtype_flavor"]);
    has(&object["scale_adjustment"], &["enabled", "fp8_max_quant", "fp8_max_deploy", "source", "reason"]);
    has(&object["layers"][0], &["layer", "attention", "k", "v", "q", "prob"]);
    has(&object["layers"][0]["k"], &["checkpoint", "quant", "dequant", "origin", "tensor"]);
    has(&object["notes"][0], &["code", "layer", "message"]);
}

/// Numbers are printed with enough digits to restore the float32.
#[test]
fn printed_numbers_restore_the_float32() {
    let mut bits: u32 = 0x3C00_0000;
    let mut model = Checkpoint::gqa(40);
    let mut expected = Vec::new();
    for layer in 0..40 {
        bits = bits.wrapping_add(0x0007_1D35);
        expected.push(f32::from_bits(bits));
        model = model.scale(&format!("model.layers.{layer}.self_attn.kv_scale"), f32::from_bits(bits));
    }
    let run = inspect(model.write().path(), &["--json"]);
    for (layer, s) in expected.iter().enumerate() {
        let k = &run.json()["layers"][layer]["k"];
        let restore = |key: &str| k[key].to_string().parse::<f32>().unwrap();
        let quant = 240.0 / (s * 448.0);
        assert_eq!((restore("checkpoint"), restore("quant"), restore("dequant")), (*s, quant, 1.0 / quant));
    }
}

#[test]
fn help_and_version_are_results() {
    for argument in ["--help", "--version"] {
        let run = run(command().arg(argument));
        assert_eq!(run.code, 0);
        assert!(run.stdout.contains("gaudi-kv") && run.stderr.is_empty());
    }
    let help = run(command().args(["inspect", "--help"])).stdout;
    for option in [
        "--device",
        "--kv-cache-dtype",
        "--mla-scale",
        "--tp",
        "--rank",
        "--verify-weights",
        "--strict",
        "--json",
        "--report",
        "--kv-cache-dtype-skip-layers",
        "--q-missing",
    ] {
        assert!(help.contains(option), "{option}");
    }
}

/// A reader that leaves early is no error.
#[test]
fn a_closed_pipe_is_no_error() {
    let folder = fine();
    let shell = "\"$1\" inspect \"$2\" --device gaudi2 --json | true; exit ${PIPESTATUS[0]}";
    let output = Command::new("bash")
        .args(["-c", shell, "bash", env!("CARGO_BIN_EXE_gaudi-kv")])
        .arg(folder.path())
        .output();
    assert_eq!(output.unwrap().status.code(), Some(0));
}

/// Results that cannot be written are no results.
#[test]
fn a_report_that_cannot_be_written_is_exit_code_2() {
    let folder = fine();
    let run = inspect(folder.path(), &["--report", "/nonexistent/folder/report.html"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("/nonexistent/folder/report.html"), "{run:?}");
}
