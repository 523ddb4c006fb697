//! What only a device can tell, asked of one.
//!
//! Each question is a graph or two, with operands that give other bytes for each answer that is thought possible. An
//! answer names the one that fits, and is compared with what the emulation computes. Recipes are compiled anew each time:
//! whether the compiler takes a graph is part of the answer. `docs/on-device.md` lists the questions.

mod bench;
mod broadcast;
mod completion;
mod convert_pairs;
mod dynamic;
mod functions;
mod mixed_product;
mod movers;
mod nan;
mod operand_range;
mod overflow;
mod product_rounding;
mod products;
mod scale_shapes;

use std::fmt::Debug;

use super::error::HpuError;
use crate::Generation;

pub(super) use bench::Bench;

/// What the compiler says to a graph that it does not take.
const REFUSED: &str = "refused by the compiler";

/// What was seen is none of the answers that were thought possible.
const UNKNOWN: &str = "none of those known";

/// A device's answer to one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeAnswer {
    /// The question's name.
    pub name: &'static str,
    /// The question.
    pub question: &'static str,
    /// Which of the answers thought possible fits what was seen, or that none does, or that it could not be asked.
    pub answer: String,
    /// What was seen, or the call that failed.
    pub observed: String,
    /// The answer of the emulation of this generation.
    pub expected_by_emulation: &'static str,
}

impl ProbeAnswer {
    /// Whether the emulation does what the device does.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.answer == self.expected_by_emulation
    }
}

/// A question.
struct Question {
    name: &'static str,
    text: &'static str,
    /// What the emulation of a generation answers.
    expected: fn(Generation) -> &'static str,
    ask: fn(&mut Bench<'_>) -> Result<Finding, HpuError>,
}

/// What came of a question.
struct Finding {
    answer: String,
    observed: String,
}

impl Finding {
    /// The first of the answers that what was seen fits. Where none does, what the nearest one would have been is said.
    fn of<T: PartialEq + Debug>(seen: &[T], answers: &[(&str, Vec<T>)], observed: String) -> Self {
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

/// How many elements differ, and all where there are not as many.
fn distance<T: PartialEq>(seen: &[T], wanted: &[T]) -> usize {
    if seen.len() != wanted.len() {
        return wanted.len().max(1);
    }
    seen.iter().zip(wanted).filter(|(seen, wanted)| seen != wanted).count()
}

const QUESTIONS: [&[Question]; 13] = [
    &operand_range::QUESTIONS,
    &overflow::QUESTIONS,
    &product_rounding::QUESTIONS,
    &scale_shapes::QUESTIONS,
    &movers::QUESTIONS,
    &mixed_product::QUESTIONS,
    &dynamic::QUESTIONS,
    &products::QUESTIONS,
    &broadcast::QUESTIONS,
    &functions::QUESTIONS,
    &nan::QUESTIONS,
    &convert_pairs::QUESTIONS,
    &completion::QUESTIONS,
];

/// Asks everything.
pub(super) fn answers(bench: &mut Bench<'_>) -> Vec<ProbeAnswer> {
    QUESTIONS.iter().copied().flatten().map(|question| answer(bench, question)).collect()
}

fn answer(bench: &mut Bench<'_>, question: &Question) -> ProbeAnswer {
    let asked = (question.ask)(bench);
    // What could not be given back belongs to this question, and not to the next.
    let released = bench.api.report();
    let finding = asked.and_then(|finding| released.map(|()| finding)).unwrap_or_else(|error| {
        let answer = if is_refusal(&error) { REFUSED } else { "not answered" };
        Finding { answer: answer.to_owned(), observed: error.to_string() }
    });
    ProbeAnswer {
        name: question.name,
        question: question.text,
        answer: finding.answer,
        observed: finding.observed,
        expected_by_emulation: (question.expected)(bench.generation),
    }
}

/// Whether a graph could not be made into a recipe, and not for want of memory.
fn is_refusal(error: &HpuError) -> bool {
    use habana_sys::synStatus;
    let HpuError::Call(failure) = error else { return false };
    matches!(
        failure.function,
        "synNodeCreateWithId"
            | "synNodeSetDeterministic"
            | "synGraphCompile"
            | "synTensorSetGeometry"
            | "synTensorSetDeviceDataType"
            | "synTensorSetQuantizationData"
            | "synTensorSetHostPtr"
    ) && !matches!(
        failure.status,
        synStatus::synOutOfHostMemory
            | synStatus::synOutOfDeviceMemory
            | synStatus::synDeviceReset
            | synStatus::synUninitialized
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn questions_have_names_of_their_own() {
        let names: Vec<_> = QUESTIONS.iter().copied().flatten().map(|question| question.name).collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        for question in QUESTIONS.iter().copied().flatten() {
            assert!(question.text.ends_with('?'), "{}", question.text);
        }
    }

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

    /// Asserts that no two answers would look alike.
    pub(super) fn assert_told_apart<T: PartialEq + Debug>(answers: &[(&str, Vec<T>)]) {
        for (number, (name, seen)) in answers.iter().enumerate() {
            assert!(!seen.is_empty());
            for (other, also_seen) in &answers[..number] {
                assert!(seen != also_seen, "{name} looks like {other}");
            }
        }
    }
}
