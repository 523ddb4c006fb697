//! Questions to a device, and findings.

use std::fmt::Debug;

use super::session::ProbeSession;
use crate::Generation;
use crate::device::hpu::error::HpuError;

/// The answer where the compiler does not take a graph.
pub(super) const REFUSED: &str = "refused by the compiler";

/// The answer where what was seen is none of those that were thought possible.
const UNKNOWN: &str = "none of those known";

/// A question to a device, and the answer of the emulation.
pub(super) struct Question {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    /// The answer of the emulation of a generation.
    pub(super) expected: fn(Generation) -> &'static str,
    pub(super) ask: fn(&mut ProbeSession<'_>) -> Result<Finding, HpuError>,
}

/// The answer that fits what was seen, and what was seen.
pub(super) struct Finding {
    pub(super) answer: String,
    pub(super) observed: String,
}

impl Finding {
    /// Takes the first of the answers that what was seen fits. Where none does, the finding says what the nearest one
    /// would have been.
    pub(super) fn of<T: PartialEq + Debug>(seen: &[T], answers: &[(&str, Vec<T>)], observed: String) -> Self {
        let Some((answer, wanted)) = answers.iter().min_by_key(|(_, wanted)| distance(seen, wanted)) else {
            return Self { answer: UNKNOWN.to_owned(), observed };
        };
        if distance(seen, wanted) == 0 {
            return Self { answer: (*answer).to_owned(), observed };
        }
        let first = seen.iter().zip(wanted).enumerate().find(|(_, (seen, wanted))| seen != wanted);
        let first = first.map_or_else(String::new, |(at, (seen, wanted))| {
            format!(", the first is number {at}, {seen:#x?} and not {wanted:#x?}")
        });
        let (different, all) = (distance(seen, wanted), wanted.len());
        let observed = format!("{observed}; from \"{answer}\" {different} of {all} differ{first}");
        Self { answer: UNKNOWN.to_owned(), observed }
    }
}

/// The answer that fits what the emulation computes.
pub(super) fn answer_of<T: PartialEq>(
    emulated: &[T],
    answers: impl IntoIterator<Item = (&'static str, Vec<T>)>,
) -> &'static str {
    let fitting = answers.into_iter().find(|(_, wanted)| wanted == emulated);
    fitting.map_or(UNKNOWN, |(answer, _)| answer)
}

/// How many elements differ from those that are wanted: all where there are more or fewer.
fn distance<T: PartialEq>(seen: &[T], wanted: &[T]) -> usize {
    if seen.len() != wanted.len() {
        return wanted.len().max(1);
    }
    seen.iter().zip(wanted).filter(|(seen, wanted)| seen != wanted).count()
}

/// Asserts that no two answers would look alike.
#[cfg(test)]
pub(super) fn assert_told_apart<T: PartialEq + Debug>(answers: &[(&str, Vec<T>)]) {
    for (number, (name, seen)) in answers.iter().enumerate() {
        assert!(!seen.is_empty());
        for (other, also_seen) in &answers[..number] {
            assert!(seen != also_seen, "{name} looks like {other}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_no_answer_is_compared_with_the_nearest() {
        let answers = [("far", vec![9u8, 9, 9]), ("near", vec![0, 0x78, 2])];
        let finding = |seen: &[u8]| Finding::of(seen, &answers, "bytes".to_owned());
        let (fitting, other) = (finding(&[0, 0x78, 2]), finding(&[0, 0x77, 2]));
        assert_eq!((fitting.answer.as_str(), fitting.observed.as_str()), ("near", "bytes"));
        assert_eq!(other.answer, UNKNOWN);
        let said = "bytes; from \"near\" 1 of 3 differ, the first is number 1, 0x77 and not 0x78";
        assert_eq!(other.observed, said);
        assert_eq!(finding(&[0]).answer, UNKNOWN);
    }
}
