//! Writes `src/bindings.rs` and `src/functions.rs` anew.
//!
//! `cargo run -p habana-sys --features bindgen --bin generate -- [--check] [--out FOLDER]`
//!
//! The source is the header of this crate, or, where `HABANA_INCLUDE_DIR` names the folder with the vendor's
//! headers, those. `--check` writes nothing and compares. It ends with 0 where all is well, 1 where `--check` found
//! a difference, 2 where the bindings cannot be made, and 3 where that is for want of libclang.

mod bases;
mod header;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use header::Source;

/// The first lines of both files.
const NOTICE: &str =
    "// Made from the header by the program `generate` of this crate: change that, not this file.\n\n";

/// The arguments of the command line.
struct Arguments {
    check: bool,
    out: PathBuf,
}

fn main() -> ExitCode {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let arguments = match parse(env::args().skip(1), crate_folder) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}\nusage: generate [--check] [--out FOLDER]");
            return ExitCode::from(2);
        }
    };
    if let Err(reason) = clang_sys::load() {
        eprintln!("libclang is needed (package libclang-dev; LIBCLANG_PATH names its folder): {reason}");
        return ExitCode::from(3);
    }
    let source = match env::var_os("HABANA_INCLUDE_DIR") {
        Some(folder) if !folder.is_empty() => Source::Sdk(PathBuf::from(folder)),
        _ => Source::Own(crate_folder.join("include")),
    };
    match run(&source, &arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>, crate_folder: &Path) -> Result<Arguments, String> {
    let mut arguments = Arguments { check: false, out: crate_folder.join("src") };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--check" => arguments.check = true,
            "--out" => arguments.out = words.next().ok_or("--out needs a folder")?.into(),
            other => return Err(format!("{other}: no such option")),
        }
    }
    Ok(arguments)
}

/// Makes both files, and writes or compares them; false where one differs.
fn run(source: &Source, arguments: &Arguments) -> Result<bool, String> {
    let mut file = header::bindings(source)?;
    bases::flatten(&mut file)?;
    let functions = table::take_functions(&mut file)?;
    table::add_status_name(&mut file)?;
    let made = [("bindings.rs", file), ("functions.rs", functions)];
    let mut same = true;
    for (name, file) in made {
        let text = format!("{NOTICE}{}", prettyplease::unparse(&file));
        let path = arguments.out.join(name);
        if arguments.check {
            same &= compare(&path, &text)?;
        } else {
            fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(same)
}

/// Whether the file holds that text; prints the lines that differ where it does not.
fn compare(path: &Path, made: &str) -> Result<bool, String> {
    let kept = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if kept == made {
        return Ok(true);
    }
    let (kept, made): (Vec<_>, Vec<_>) = (kept.lines().collect(), made.lines().collect());
    let before = kept.iter().zip(&made).take_while(|(a, b)| a == b).count();
    let longest = kept.len().min(made.len()) - before;
    let after = kept.iter().rev().zip(made.iter().rev()).take(longest).take_while(|(a, b)| a == b).count();
    println!("{}: differs from line {} on", path.display(), before + 1);
    kept[before..kept.len() - after].iter().for_each(|line| println!("-{line}"));
    made[before..made.len() - after].iter().for_each(|line| println!("+{line}"));
    Ok(false)
}
