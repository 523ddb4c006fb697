//! What does not keep a rule yet. The list can only shrink: an entry that is no longer true fails like a new offence.

use std::collections::BTreeSet;

const KNOWN: &str = include_str!("../exceptions.txt");

/// Compares what breaks a rule with the list, both ways.
pub fn check(rule: &str, broken: BTreeSet<String>) {
    let prefix = format!("{rule} ");
    let known: BTreeSet<_> =
        KNOWN.lines().filter_map(|line| line.strip_prefix(&prefix)).map(String::from).collect();
    let new: Vec<_> = broken.difference(&known).map(|what| format!("{prefix}{what}")).collect();
    let gone: Vec<_> = known.difference(&broken).map(|what| format!("{prefix}{what}")).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "not in tests/architecture/exceptions.txt:\n{}\nno longer true, to be removed from it:\n{}",
        new.join("\n"),
        gone.join("\n")
    );
}
