//! The C functions of `libSynapse.so`, called as a program calls them.
//!
//! The library has one state for a process, so each scenario runs in a process of its own: this program again, with the
//! scenario's name in a variable. A scenario of many runs gives the settings of each in the process.

#![allow(unsafe_code, reason = "calls of C functions")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod cards;
mod faults;
mod fixture;
mod graphs;
mod memory;
mod misuse;
mod recipes;
mod seeds;
mod settings;
mod streams;
mod syn;

use std::env;
use std::process::{Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};

use syn::Table;

/// Names the scenario to run in this process.
const VARIABLE: &str = "SYNAPSE_EMU_TEST_SCENARIO";
/// What no scenario takes.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Something to do with the library in a fresh process.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Set for the process.
    pub(crate) environment: &'static [(&'static str, &'static str)],
    /// What it must say on stderr.
    pub(crate) says: &'static [&'static str],
    pub(crate) run: fn(Table<'_>),
}

impl Scenario {
    pub(crate) const fn new(name: &'static str, run: fn(Table<'_>)) -> Self {
        Self { name, environment: &[], says: &[], run }
    }

    pub(crate) const fn with(mut self, environment: &'static [(&'static str, &'static str)]) -> Self {
        self.environment = environment;
        self
    }

    pub(crate) const fn saying(mut self, says: &'static [&'static str]) -> Self {
        self.says = says;
        self
    }

    /// Runs it in a process of its own.
    fn start(&self) -> Result<(), Failed> {
        let mut command = Command::new(env::current_exe()?);
        for (variable, _) in env::vars_os() {
            if variable.to_string_lossy().starts_with("SYNAPSE_EMU_") {
                command.env_remove(variable);
            }
        }
        command.env(VARIABLE, self.name).envs(self.environment.iter().copied());
        let errors = tempfile::NamedTempFile::new()?;
        let mut process = command.stderr(Stdio::from(errors.reopen()?)).spawn()?;
        let start = Instant::now();
        let status = loop {
            match process.try_wait()? {
                Some(status) => break status,
                None if start.elapsed() > TIMEOUT => {
                    process.kill()?;
                    process.wait()?;
                    return Err("it hangs".into());
                }
                None => sleep(Duration::from_millis(5)),
            }
        };
        let said = std::fs::read_to_string(errors.path())?;
        if !status.success() {
            return Err(format!("{status}\n{said}").into());
        }
        match self.says.iter().find(|words| !said.contains(**words)) {
            Some(missing) => Err(format!("`{missing}` is not in what it said:\n{said}").into()),
            None => Ok(()),
        }
    }
}

fn scenarios() -> impl Iterator<Item = &'static Scenario> {
    [
        cards::SCENARIOS,
        faults::SCENARIOS,
        graphs::SCENARIOS,
        memory::SCENARIOS,
        misuse::SCENARIOS,
        recipes::SCENARIOS,
        seeds::SCENARIOS,
        settings::SCENARIOS,
        streams::SCENARIOS,
    ]
    .into_iter()
    .flatten()
}

fn main() -> ExitCode {
    if let Some(name) = env::var_os(VARIABLE) {
        let scenario = scenarios().find(|scenario| name == scenario.name).unwrap();
        (scenario.run)(&syn::load());
        return ExitCode::SUCCESS;
    }
    let trials = scenarios().map(|scenario| Trial::test(scenario.name, || scenario.start())).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
