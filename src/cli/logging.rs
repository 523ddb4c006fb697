//! Where the library's spans and events go.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

/// Sends log lines to stderr: warnings, or as `-v` and `-q` say, or as `RUST_LOG` says.
pub(super) fn start(verbose: u8, quiet: u8) {
    let level = match (verbose, quiet) {
        (0, 0) => "warn",
        (0, 1) => "error",
        (0, _) => "off",
        (1, _) => "info",
        (2, _) => "debug",
        (_, _) => "trace",
    };
    let filter =
        EnvFilter::builder().with_default_directive(tracing::level_filters::LevelFilter::WARN.into());
    let filter = match std::env::var(EnvFilter::DEFAULT_ENV) {
        Ok(directives) if !directives.is_empty() => filter.parse_lossy(directives),
        _ => EnvFilter::new(format!("gaudi_kv={level}")),
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .with_span_events(FmtSpan::CLOSE)
        .init();
}
