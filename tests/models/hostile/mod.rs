//! Model folders damaged at random: opening and inspecting them gives a result or an error that names a file, never a
//! panic.

mod folders;
mod mutation;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use gaudi_kv::Generation;
use gaudi_kv::checkpoint::{ModelFolder, TensorParallel};
use gaudi_kv::scales::{CacheDtypeRequest, InspectError, MlaScale, Options, SkipLayer, inspect};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use mutation::{Mutation, mutations};

fn options(choice: u8) -> Options {
    Options {
        kv_cache_dtype: if choice & 1 == 0 { CacheDtypeRequest::Auto } else { CacheDtypeRequest::Fp8 },
        mla_scale: if choice & 2 == 0 { MlaScale::KOnly } else { MlaScale::MaxKv },
        tensor_parallel: (choice & 4 != 0).then_some(TensorParallel { size: 2, rank: 1 }),
        skip_layers: if choice & 8 == 0 {
            Vec::new()
        } else {
            vec![SkipLayer::Index(1), SkipLayer::SlidingWindow]
        },
        verify_weights: choice & 16 != 0,
        strict: choice & 32 != 0,
        ..Options::new(if choice & 64 == 0 { Generation::Gaudi2 } else { Generation::Gaudi3 })
    }
}

fn open_and_inspect(folder: &Path, options: &Options) -> Result<(), String> {
    let model = ModelFolder::open(folder).map_err(|e| e.to_string())?;
    match inspect(&model, options, &|_| ()) {
        Ok(inspection) => {
            let json = serde_json::to_string(&inspection).map_err(|e| format!("not printable: {e}"))?;
            assert!(json.starts_with('{'));
            Ok(())
        }
        Err(InspectError::Checkpoint(error)) => Err(error.to_string()),
        // The options do not fit the damaged model: nothing to name.
        Err(_) => Ok(()),
    }
}

fn check(base: usize, choice: u8, mutations: &[Mutation]) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().map_err(|e| TestCaseError::fail(e.to_string()))?;
    let mut files = folders::all()[base % folders::all().len()].clone();
    for mutation in mutations {
        mutation.apply(&mut files);
    }
    for (name, content) in &files {
        std::fs::write(folder.path().join(name), content).map_err(|e| TestCaseError::fail(e.to_string()))?;
    }
    let result = catch_unwind(AssertUnwindSafe(|| open_and_inspect(folder.path(), &options(choice))));
    match result {
        Err(_) => Err(TestCaseError::fail("it panicked")),
        Ok(Ok(())) => Ok(()),
        Ok(Err(message)) => {
            let path = folder.path().display().to_string();
            prop_assert!(message.contains(&path), "the error names no file: {message}");
            Ok(())
        }
    }
}

fn run(cases: u32) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let strategy = (any::<usize>(), any::<u8>(), prop::collection::vec(mutations(), 1..5));
    let result = TestRunner::new(config).run(&strategy, |(base, choice, list)| check(base, choice, &list));
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn undamaged_folders_are_fine() {
    for (base, files) in folders::all().iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let model = ModelFolder::open(folder.path()).unwrap();
        let inspection = inspect(&model, &Options::new(Generation::Gaudi2), &|_| ()).unwrap();
        assert!(inspection.findings.errors.is_empty(), "folder {base}: {:?}", inspection.findings.errors);
        assert!(inspection.layers.iter().any(|layer| layer.k.is_some()), "folder {base} has no scale");
    }
}

#[test]
fn mutated_folders_never_panic() {
    run(2_000);
}

#[test]
#[ignore = "nightly-sized: 100,000 mutated folders, about 5 minutes"]
fn mutated_folders_never_panic_nightly() {
    run(100_000);
}
