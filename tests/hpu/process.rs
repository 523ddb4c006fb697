//! Scenarios in processes of their own.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gaudi_kv::Generation;
use gaudi_kv::device::Device;
use gaudi_kv::device::hpu::{Hpu, HpuOptions, RecipeFolder};

/// Set in a process that was started for a scenario.
const SCENARIO: &str = "GAUDI_KV_TEST_SCENARIO";

/// A scenario that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(300);

/// The emulator, which cargo builds beside the tests.
pub fn library() -> PathBuf {
    let path = std::env::current_exe().unwrap().with_file_name("libSynapse.so");
    assert!(path.is_file(), "{} is missing", path.display());
    path
}

/// Whether this process is one for a scenario.
pub fn is_scenario() -> bool {
    std::env::var_os(SCENARIO).is_some()
}

/// This program again, for the one test `name`.
pub fn command(name: &str, variables: &[(&str, &str)]) -> Command {
    through(Command::new(std::env::current_exe().unwrap()), name, variables)
}

/// Arguments and environment of [`command`] on a program that runs this one.
pub fn through(mut command: Command, name: &str, variables: &[(&str, &str)]) -> Command {
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
    clear(&mut command).env(SCENARIO, name).envs(variables.iter().copied());
    command
}

/// Leaves out settings of the process that runs the tests.
pub fn clear(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("SYNAPSE_EMU_") || name == "HLS_MODULE_ID" || name == "GAUDI_KV_RECIPE_CACHE" {
            command.env_remove(name);
        }
    }
    command.env("GAUDI_KV_SYNAPSE", library())
}

/// Everything that a process says, taken as it comes: a full pipe would stop it.
fn taken(from: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        from.map(|mut from| from.read_to_end(&mut bytes).unwrap());
        bytes
    })
}

/// Waits for a process, which must not hang.
pub fn finish(mut child: Child, what: &str) -> Output {
    let (stdout, stderr) = (taken(child.stdout.take()), taken(child.stderr.take()));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("{what} hangs");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    Output { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
}

/// Runs a scenario once, and returns what it printed. A panic in it is one here.
pub fn run(name: &str, variables: &[(&str, &str)]) -> String {
    let mut command = command(name, variables);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let output = finish(child, name);
    let (out, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name} {variables:?}:\n{out}\n{said}");
    assert!(out.contains("1 passed"), "{name} is no test:\n{out}");
    out.into_owned()
}

/// Runs `body` in a process for each of the settings.
pub fn each(name: &str, settings: &[&[(&str, &str)]], body: impl FnOnce()) {
    if is_scenario() {
        return body();
    }
    for variables in settings {
        run(name, variables);
    }
}

/// Each generation, and e4m3 kernels in the compiler or not.
pub const MACHINES: [&[(&str, &str)]; 3] = [
    &[("SYNAPSE_EMU_DEVICE", "gaudi2")],
    &[("SYNAPSE_EMU_DEVICE", "gaudi3")],
    &[("SYNAPSE_EMU_DEVICE", "gaudi2"), ("SYNAPSE_EMU_HF8_KERNELS", "1")],
];

/// Options without recipes on disk, and with short patience.
pub fn options() -> HpuOptions {
    HpuOptions {
        recipe_cache: RecipeFolder::Nowhere,
        timeout: Duration::from_secs(10),
        ..HpuOptions::default()
    }
}

/// The device of a scenario.
pub fn open() -> Hpu {
    let hpu = Hpu::open(&options()).unwrap();
    let asked = std::env::var("SYNAPSE_EMU_DEVICE").unwrap_or_else(|_| Generation::Gaudi2.to_string());
    assert_eq!(hpu.generation().name(), asked);
    hpu
}
