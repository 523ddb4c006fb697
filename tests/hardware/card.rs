//! The card, which one process at a time has: it is taken once in each, as releasing and taking it again is reported to
//! spoil results on some systems.

use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use gaudi_kv::device::hpu::{Hpu, HpuOptions, RecipeFolder};

/// Set in a process that was started for one test.
const OWN: &str = "GAUDI_KV_TEST_OWN_PROCESS";

static CARD: Mutex<()> = Mutex::new(());

/// Runs a program that takes the card, while no other has it.
pub fn run(command: &mut Command) -> Output {
    let _card = CARD.lock().unwrap_or_else(PoisonError::into_inner);
    command.output().unwrap()
}

/// Runs the body of the test `name` in a process of its own, with the card. What it printed is printed.
pub fn with_card(name: &str, body: impl FnOnce(&Hpu)) {
    if std::env::var_os(OWN).is_some() {
        let options = HpuOptions { recipe_cache: RecipeFolder::Nowhere, ..HpuOptions::default() };
        let device = Hpu::open(&options).unwrap_or_else(|error| panic!("there is no card to test: {error}"));
        return body(&device);
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = run(command.args(["--exact", name, "--ignored", "--nocapture"]).env(OWN, name));
    let (out, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name}:\n{out}\n{said}");
    assert!(out.contains("1 passed"), "{name} is no test:\n{out}");
    print!("{out}");
}
