//! The frame of every report: head, style, and the blocks that pages are made of.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::run::Run;
use crate::cli::display::printable;

const STYLE: &str = include_str!("style.css");
/// A page loads nothing and runs nothing, whatever a checkpoint's names say.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// How a page's verdict is drawn. The words carry it; colour and sign only repeat it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Caution,
    Bad,
    Neutral,
}

impl Tone {
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Caution => "caution",
            Self::Bad => "bad",
            Self::Neutral => "neutral",
        }
    }

    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Good => "✓",
            Self::Caution => "▲",
            Self::Bad => "✕",
            Self::Neutral => "i",
        }
    }
}

/// A whole page.
pub(super) fn page(title: &str, body: &Markup, run: &Run) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(CONTENT_SECURITY_POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "gaudi-kv " (env!("CARGO_PKG_VERSION")) };
                title { (printable(title)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main { (body) }
                footer {
                    h2 { "How to reproduce this" }
                    pre tabindex="0" { code { (printable(&run.command)) } }
                    p { "Written by gaudi-kv " (env!("CARGO_PKG_VERSION")) "." }
                }
            }
        }
    };
    page.into_string()
}

/// The verdict at the top.
pub(super) fn verdict(tone: Tone, words: &str, details: &str) -> Markup {
    html! {
        div class={ "verdict " (tone.class()) } {
            span class="sign" aria-hidden="true" { (tone.sign()) }
            div {
                p class="words" { (words) }
                p { (details) }
            }
        }
    }
}

/// Facts in pairs.
pub(super) fn facts(pairs: &[(&str, String)]) -> Markup {
    html! {
        dl class="facts" {
            @for (name, value) in pairs {
                div { dt { (name) } dd { (printable(value)) } }
            }
        }
    }
}

/// A table that scrolls sideways on its own where the page is narrow, reachable by keyboard.
pub(super) fn scrolling(label: &str, content: &Markup) -> Markup {
    html! { div class="scrolling" role="region" aria-label=(label) tabindex="0" { (content) } }
}

/// A list that is folded up beyond a handful.
pub(super) fn folded(count: usize, noun: &str, content: &Markup) -> Markup {
    const HANDFUL: usize = 5;
    html! {
        @if count > HANDFUL {
            details { summary { "Show all " (count) " " (noun) "s" } (content) }
        } @else {
            (content)
        }
    }
}
