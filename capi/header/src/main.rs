//! Writes `capi/include/gaudi_kv.h` anew from the sources of the C interface.
//!
//! `cargo run -p gaudi-kv-c-header -- [--check]`
//!
//! `--check` writes nothing and compares. It ends with 0 where all is well, 1 where `--check` found a difference, 2
//! where the header cannot be made.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

/// The files with declarations, in the order of the header.
const SOURCES: [&str; 15] = [
    "version",
    "status",
    "last_error",
    "device",
    "inspect",
    "scale",
    "cache",
    "rows",
    "block_image",
    "step_batch",
    "attention",
    "attend",
    "codec",
    "array_functions",
    "rerange",
];

fn main() -> ExitCode {
    let is_check = match env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [word] if word == "--check" => true,
        _ => {
            eprintln!("usage: c-header [--check]");
            return ExitCode::from(2);
        }
    };
    match run(is_check) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

/// Makes the header, and writes or compares it; false where it differs.
fn run(is_check: bool) -> Result<bool, String> {
    let package = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let config = cbindgen::Config::from_file(package.join("cbindgen.toml"))?;
    let builder = SOURCES.iter().fold(cbindgen::Builder::new().with_config(config), |builder, name| {
        builder.with_src(package.join("src").join(name).with_extension("rs"))
    });
    let bindings = builder.generate().map_err(|error| error.to_string())?;
    let mut made = Vec::new();
    bindings.write(&mut made);
    let path = package.join("include/gaudi_kv.h");
    let failed = |error| format!("{}: {error}", path.display());
    if !is_check {
        return fs::write(&path, made).map(|()| true).map_err(failed);
    }
    let kept = fs::read(&path).map_err(failed)?;
    if kept != made {
        let lines =
            |text: &[u8]| String::from_utf8_lossy(text).lines().map(ToOwned::to_owned).collect::<Vec<_>>();
        let (kept, made) = (lines(&kept), lines(&made));
        let same = kept.iter().zip(&made).take_while(|(kept, made)| kept == made).count();
        println!("{}: differs from line {} on", path.display(), same + 1);
        kept.get(same).into_iter().for_each(|line| println!("-{line}"));
        made.get(same).into_iter().for_each(|line| println!("+{line}"));
        return Ok(false);
    }
    Ok(true)
}
