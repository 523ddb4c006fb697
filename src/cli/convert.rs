//! `gaudi-kv convert`.

use std::fmt::Write;

use gaudi_kv::checkpoint::Flavor;
use gaudi_kv::convert::{Conversion, Event, Outcome as Done, convert};
use indicatif::HumanBytes;

use super::convert_args::ConvertArguments;
use super::outcome::{CommandError, Outcome};
use super::output::{print_error, to_json, write_result};
use super::progress::byte_bar;
use super::style;

/// Converts a model and says what changed.
pub(super) fn run(arguments: &ConvertArguments, is_quiet: bool) -> Result<Outcome, CommandError> {
    let bar = byte_bar("converting", 0, is_quiet);
    let progress = |event| match event {
        Event::Total(bytes) => {
            bar.set_length(bytes);
            bar.reset();
        }
        Event::Bytes(bytes) => bar.inc(bytes),
    };
    let converted = convert(&arguments.source, &arguments.destination, &arguments.options(), &progress);
    bar.finish_and_clear();
    let conversion = match converted {
        Err(error) if error.is_the_models() => {
            print_error(&error);
            return Ok(Outcome::ModelHasErrors);
        }
        other => other?,
    };
    if !is_quiet {
        let (note, warning) = (style::NOTE, style::WARNING);
        for text in &conversion.notes {
            anstream::eprintln!("{}note:{} {text}", note.render(), note.render_reset());
        }
        for finding in &conversion.warnings {
            anstream::eprintln!("{}warning:{} {}", warning.render(), warning.render_reset(), finding.message);
        }
    }
    write_result(&if arguments.json { to_json(&conversion)? } else { render(arguments, &conversion) })?;
    Ok(Outcome::Fine)
}

fn render(arguments: &ConvertArguments, conversion: &Conversion) -> String {
    let (source, destination) = (arguments.source.display(), arguments.destination.display());
    let reason = conversion.reason.as_deref().unwrap_or_default();
    let mut out = match conversion.outcome {
        Done::NothingToDo => {
            return format!("{source} needs no conversion for {}: {reason}\n", conversion.to);
        }
        Done::PartDone => format!("{destination}: not complete yet: {reason}\n"),
        Done::Converted => format!("{destination}: {source} converted for {}\n", conversion.to),
    };
    let mut line = |name: &str, text: String| {
        // A string takes whatever is written to it.
        let _ = writeln!(out, "  {name:18}{text}");
    };
    let weights = &conversion.weights;
    if let Some(factor) = conversion.weight_factor.filter(|_| weights.tensors > 0) {
        line("FP8 weights", format!("{} tensors, {} codes, times {factor}", weights.tensors, weights.codes));
        let share =
            |count: u64| format!("{count} ({:.4} %)", count as f64 * 100.0 / weights.codes.max(1) as f64);
        line("  exact", share(weights.exact));
        line("  rounded", share(weights.rounded));
        line("  became zero", share(weights.flushed));
        line("  saturated", share(weights.saturated));
        line("weight scales", format!("{} divided by {factor}", conversion.weight_scales));
        line("activation scales", format!("{} divided by {factor}", conversion.activation_scales));
    }
    line("KV scales", format!("{} times {:.7}, as F32", conversion.kv_scales, conversion.kv_scale_factor));
    if let Some(flavor) = conversion.fp8_dtype_flavor.map(Flavor::name) {
        line("flavor", format!("{flavor}, in {}", conversion.labelled.join(" and ")));
    }
    let files = &conversion.files;
    line(
        "files",
        format!(
            "{} converted, {} edited, {} copied, {} links; {} of them by an earlier run",
            files.converted, files.edited, files.copied, files.links, files.picked_up
        ),
    );
    line("written", HumanBytes(conversion.bytes_written).to_string());
    out
}
