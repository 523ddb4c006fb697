//! Faults on request: `SYNAPSE_EMU_FAULT`, and the log of calls that tells where they can be put.
//!
//! The variable holds faults separated by commas:
//!
//! | fault | what happens |
//! | --- | --- |
//! | `fail=FUNCTION:N` | the `N`-th call of a function returns `synFail` and does nothing |
//! | `fail-call=N` | so does the `N`-th call of any function after `synInitialize` |
//! | `out-of-memory=N` | the `N`-th allocation, on the device or the host, finds no memory |
//! | `lost-device=N` | from the `N`-th submission on (copy, fill or launch), its card answers `synDeviceReset` |
//! | `late-completion=TIME` | streams and events report work as done `TIME` before it is |
//! | `late-launch=TIME` | so for launches only: later copies of the stream run before the results are there |
//! | `late-upload=TIME` | so for copies to the device only: later launches run before the data are there |
//!
//! Numbers count from 1. Times are like `20ms`, or `never`, and pass on the virtual clock.

use std::fs::File;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use habana_sys::synStatus;

use crate::lock::lock;
use crate::outcome::Outcome;
use crate::variable::{BadVariable, Variables, time};

const VARIABLE: &str = "SYNAPSE_EMU_FAULT";
const TRACE: &str = "SYNAPSE_EMU_TRACE";
const ALLOWED: &str = "fail=FUNCTION:N, fail-call=N, out-of-memory=N, lost-device=N, late-completion=TIME, \
     late-launch=TIME, late-upload=TIME, separated by commas, with N from 1 and TIME like 20ms or never";

/// How long after its completion was reported each kind of work lands.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lateness {
    pub(crate) launch: Duration,
    pub(crate) upload: Duration,
    pub(crate) other: Duration,
}

/// Counts to the one time that something happens.
#[derive(Debug, Default)]
struct Countdown {
    /// 0: never.
    at: u64,
    seen: AtomicU64,
}

impl Countdown {
    /// How far this call is from the one asked for: the order is that of their numbers.
    fn count(&self) -> std::cmp::Ordering {
        if self.at == 0 {
            return std::cmp::Ordering::Less;
        }
        (self.seen.fetch_add(1, Ordering::Relaxed) + 1).cmp(&self.at)
    }
}

/// What is asked to go wrong.
#[derive(Default)]
pub(crate) struct Faults {
    functions: Vec<(String, Countdown)>,
    call: Countdown,
    allocation: Countdown,
    submission: Countdown,
    pub(crate) lateness: Lateness,
    trace: Option<Mutex<File>>,
}

impl Faults {
    pub(crate) fn read(variables: &Variables) -> Result<Self, BadVariable> {
        let mut faults = variables.parsed(VARIABLE, Self::default(), ALLOWED, Self::parse)?;
        if let Some(path) = variables.get(TRACE) {
            let file =
                File::options().create(true).append(true).open(&path).map_err(|error| BadVariable {
                    variable: TRACE,
                    value: path.to_string_lossy().into_owned(),
                    allowed: format!("a file that can be written ({error})"),
                })?;
            faults.trace = Some(Mutex::new(file));
        }
        Ok(faults)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut faults = Self::default();
        for fault in text.split(',').map(str::trim).filter(|fault| !fault.is_empty()) {
            let (kind, value) = fault.split_once('=')?;
            match kind {
                "fail" => {
                    let (function, at) = value.split_once(':')?;
                    if !function.starts_with("syn") {
                        return None;
                    }
                    faults.functions.push((function.to_owned(), countdown(at)?));
                }
                "fail-call" => faults.call = countdown(value)?,
                "out-of-memory" => faults.allocation = countdown(value)?,
                "lost-device" => faults.submission = countdown(value)?,
                "late-completion" => {
                    let time = time(value)?;
                    faults.lateness = Lateness { launch: time, upload: time, other: time };
                }
                "late-launch" => faults.lateness.launch = time(value)?,
                "late-upload" => faults.lateness.upload = time(value)?,
                _ => return None,
            }
        }
        Some(faults)
    }

    /// What is asked to happen to this call before it does anything.
    pub(crate) fn before(&self, function: &str) -> Outcome {
        let mut fails = function != "synInitialize" && self.call.count().is_eq();
        for (name, countdown) in &self.functions {
            fails |= name == function && countdown.count().is_eq();
        }
        if fails { Err(synStatus::synFail) } else { Ok(()) }
    }

    /// Whether this allocation finds memory.
    pub(crate) fn allows_allocation(&self) -> bool {
        !self.allocation.count().is_eq()
    }

    /// Whether this submission still finds its card.
    pub(crate) fn allows_submission(&self) -> bool {
        self.submission.count().is_lt()
    }

    /// Writes a line for a call that returned.
    pub(crate) fn trace(&self, function: &str, status: synStatus) {
        if let Some(file) = &self.trace {
            // A log that cannot be written must not change what the calls return.
            let _ = writeln!(lock(file), "{function} {}", status.0);
        }
    }
}

fn countdown(text: &str) -> Option<Countdown> {
    let at = text.parse().ok().filter(|&at| at > 0)?;
    Some(Countdown { at, seen: AtomicU64::new(0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read() {
        let faults = Faults::parse("fail=synLaunch:2, out-of-memory=3,late-launch=5us").unwrap();
        assert_eq!(faults.functions[0].0, "synLaunch");
        assert_eq!((faults.functions[0].1.at, faults.call.at, faults.allocation.at), (2, 0, 3));
        assert_eq!(faults.lateness.launch, Duration::from_micros(5));
        assert_eq!((faults.lateness.upload, faults.lateness.other), (Duration::ZERO, Duration::ZERO));
        assert_eq!(Faults::parse("late-completion=2s").unwrap().lateness.other, Duration::from_secs(2));
    }

    #[test]
    fn others_are_refused() {
        for text in [
            "nothing",
            "fail",
            "fail=2",
            "fail=synLaunch",
            "fail=synLaunch:0",
            "fail=launch:1",
            "fail-call=0",
            "fail-call=x",
            "late-launch=20",
            "late-launch=ms",
            "late-launch=1h",
            "lost-device=-1",
            "out-of-memory=1;fail-call=2",
        ] {
            assert!(Faults::parse(text).is_none(), "{text}");
        }
    }
}
