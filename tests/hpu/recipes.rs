//! Recipes in files: they spare the next process its compilations, and never cost it anything else.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use gaudi_kv::device::hpu::{Hpu, HpuOptions, RECIPE_CACHE_ENV, RecipeFolder};

use crate::process::{command, is_scenario, options, run};
use crate::small::{everything, expected};

const SCENARIO: &str = "recipes::scenario";

/// Everything, with recipes in the folder of the environment; says how they were come by.
#[test]
fn scenario() {
    if !is_scenario() {
        return;
    }
    let device = Hpu::open(&HpuOptions { recipe_cache: RecipeFolder::Default, ..options() }).unwrap();
    assert_eq!(everything(&device).unwrap(), expected(gaudi_kv::device::Device::generation(&device)));
    let statistics = device.recipe_statistics();
    println!("statistics: {} {}", statistics.compiled, statistics.from_disk);
}

/// Recipes compiled and read.
fn statistics(folder: &Path, variables: &[(&str, &str)]) -> (u64, u64) {
    let path = folder.to_string_lossy();
    let out = run(SCENARIO, &[variables, &[(RECIPE_CACHE_ENV, &*path)]].concat());
    let line = out.lines().find_map(|line| line.split_once("statistics: ")).unwrap().1;
    let numbers: Vec<u64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
    (numbers[0], numbers[1])
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn the_next_process_compiles_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("not/there/yet");
    let (compiled, from_disk) = statistics(&cache, &[]);
    assert!(compiled > 4 && from_disk == 0, "{compiled} {from_disk}");
    assert_eq!(files(&cache).len() as u64, compiled, "no file is left over: {:?}", files(&cache));
    assert_eq!(statistics(&cache, &[]), (0, compiled));
    // Another device type has recipes of its own.
    assert_eq!(statistics(&cache, &[("SYNAPSE_EMU_DEVICE", "gaudi3")]), (compiled, 0));
    assert_eq!(statistics(&cache, &[]), (0, compiled));
}

#[test]
fn damaged_files_are_compiled_anew_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (compiled, _) = statistics(folder.path(), &[]);
    let all = files(folder.path());
    let bytes = std::fs::read(&all[0]).unwrap();
    std::fs::write(&all[0], &bytes[..bytes.len() / 2]).unwrap();
    std::fs::write(&all[1], b"").unwrap();
    // Whole, but of another graph.
    std::fs::copy(&all[3], &all[2]).unwrap();
    assert_eq!(statistics(folder.path(), &[]), (3, compiled - 3));
    assert_eq!(statistics(folder.path(), &[]), (0, compiled));
    // A library that does not take them, and one that cannot write them: compiled, and no worse.
    let fault = |fault| statistics(folder.path(), &[("SYNAPSE_EMU_FAULT", fault)]);
    assert_eq!(fault("fail=synRecipeDeSerialize:2"), (1, compiled - 1));
    std::fs::remove_file(&all[0]).unwrap();
    assert_eq!(fault("fail=synRecipeSerialize:1"), (1, compiled - 1));
    assert_eq!(statistics(folder.path(), &[]), (1, compiled - 1));
}

#[test]
fn a_folder_that_cannot_be_written_costs_compilations_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, b"").unwrap();
    let (compiled, from_disk) = statistics(&file.join("below a file"), &[]);
    assert!(compiled > 4 && from_disk == 0);
}

#[test]
fn a_process_that_is_killed_while_it_writes_leaves_a_usable_cache() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_string_lossy().into_owned();
    let (compiled, _) = statistics(folder.path(), &[]);
    let mut killed = 0;
    for round in 0..40 {
        // Every file has to be written again.
        files(folder.path()).iter().for_each(|file| std::fs::remove_file(file).unwrap());
        let mut command = command(SCENARIO, &[(RECIPE_CACHE_ENV, &path)]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Once something is written, a little later each time.
        while files(folder.path()).is_empty() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_micros(150 * round));
        child.kill().unwrap();
        killed += u32::from(!child.wait().unwrap().success());
        if round % 8 == 0 {
            let (anew, kept) = statistics(folder.path(), &[]);
            assert_eq!(anew + kept, compiled);
            assert_eq!(statistics(folder.path(), &[]), (0, compiled));
        }
        // What can be read is whole: a file is taken, or it is not there.
        let whole =
            files(folder.path()).into_iter().filter(|file| file.extension().is_some_and(|e| e == "recipe"));
        assert!(whole.count() as u64 <= compiled);
    }
    assert!(killed > 10, "{killed} of 40 were killed in time");
}
