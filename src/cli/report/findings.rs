//! What is wrong and what is worth knowing, by code.

use gaudi_kv::checkpoint::{Finding, Findings};
use maud::{Markup, html};

use super::page::{Tone, folded};
use crate::cli::display::{by_code, counted, layers_concerned, printable};

/// Errors, then warnings, then notes.
pub(super) fn section(findings: &Findings) -> Markup {
    html! {
        section {
            h2 { "Findings" }
            @if findings.errors.is_empty() && findings.warnings.is_empty() {
                p { "No errors and no warnings." }
            }
            (group("Errors", Tone::Bad, &findings.errors))
            (group("Warnings", Tone::Caution, &findings.warnings))
            (group("Notes", Tone::Neutral, &findings.notes))
        }
    }
}

/// "1 error, 2 warnings, 3 notes".
pub(super) fn counts(findings: &Findings) -> String {
    [
        counted(findings.errors.len(), "error"),
        counted(findings.warnings.len(), "warning"),
        counted(findings.notes.len(), "note"),
    ]
    .join(", ")
}

fn group(heading: &str, tone: Tone, list: &[Finding]) -> Markup {
    html! {
        @if !list.is_empty() {
            h3 { (heading) }
            @for (code, same) in by_code(list) {
                article class={ "finding " (tone.class()) } {
                    h4 {
                        span class="sign" aria-hidden="true" { (tone.sign()) }
                        code { (code) }
                        @if let Some(layers) = layers_concerned(&same) { span class="where" { (layers) } }
                    }
                    p { (code.meaning()) }
                    p class="remedy" { strong { "What to do: " } (code.remedy()) }
                    (folded(same.len(), "message", &messages(&same)))
                }
            }
        }
    }
}

fn messages(same: &[&Finding]) -> Markup {
    html! {
        ul class="messages" {
            @for finding in same { li { (printable(&finding.message)) } }
        }
    }
}
