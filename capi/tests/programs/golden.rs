//! The golden vectors of the conversions, through the codecs of C.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use safetensors::SafeTensors;

use crate::compiler::{Program, data};

/// A line of the program's input for a tensor's name; `None` for what is no conversion of a codec.
fn line(name: &str, folder: &Path, output: &Path) -> Option<String> {
    let parts: Vec<_> = name.split('.').collect();
    let (operation, format, rounding, flags, input) = match parts[..] {
        ["dec", layout, mode, bias] => ("decode", [layout, mode, bias], 0, 0, "codes"),
        [kind @ ("enc" | "encbf16"), layout, mode, bias, rounding, clip] => {
            let (operation, input) =
                if kind == "enc" { ("encode_f32", "stim") } else { ("encode_bf16", "words") };
            let (rounding, flags) = (u32::from(rounding == "rz"), u32::from(clip == "noclip"));
            (operation, [layout, mode, bias], rounding, flags, input)
        }
        _ => return None,
    };
    let [layout, mode, bias] = format;
    let layout = if layout == "e4m3" { 1 } else { 2 };
    let (mode, bias) = (mode.strip_prefix("mode").unwrap(), bias.strip_prefix("bias").unwrap());
    let (input, output) = (folder.join(input), output.display());
    Some(format!("{operation} {layout} {mode} {bias} {rounding} {flags} {} {output}\n", input.display()))
}

pub fn all() {
    let program = Program::c("golden.c");
    let mut compared = 0;
    for generation in ["gaudi2", "gaudi3"] {
        let folder = tempfile::tempdir().unwrap();
        let file = fs::read(data("data/golden").join(generation).with_extension("safetensors")).unwrap();
        let file = SafeTensors::deserialize(&file).unwrap();
        let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
        write("stim", file.tensor("stim").unwrap().data());
        write("codes", &(0..=255).collect::<Vec<u8>>());
        write("words", &(0..=u16::MAX).flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
        let mut input = String::new();
        let mut expected = Vec::new();
        for name in file.names() {
            let output = folder.path().join(format!("{}.out", expected.len()));
            if let Some(line) = line(name, folder.path(), &output) {
                input.push_str(&line);
                expected.push((name, output));
            }
        }
        let mut run = program.command(&[]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        run.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = run.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{}\n", expected.len()));
        for (name, output) in &expected {
            assert!(fs::read(output).unwrap() == file.tensor(name).unwrap().data(), "{generation}: {name}");
        }
        compared += expected.len();
    }
    assert!(compared > 100, "{compared}");
}
