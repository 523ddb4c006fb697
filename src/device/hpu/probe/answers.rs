//! The answers of a device to all questions.

use habana_sys::synStatus;

use super::question::{Finding, Question, REFUSED};
use super::session::ProbeSession;
use super::{
    broadcast, completion, convert_pairs, dynamic, functions, mixed_product, movers, nan, operand_range,
    overflow, product_rounding, products, scale_shapes,
};
use crate::device::hpu::error::HpuError;

/// A device's answer to one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeAnswer {
    /// The question's name.
    pub name: &'static str,
    /// The text of the question.
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

/// All questions, by subject.
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

/// Asks all questions, in order.
pub(crate) fn ask_all(session: &mut ProbeSession<'_>) -> Vec<ProbeAnswer> {
    QUESTIONS.iter().copied().flatten().map(|question| answer(session, question)).collect()
}

fn answer(session: &mut ProbeSession<'_>, question: &Question) -> ProbeAnswer {
    let asked = (question.ask)(session);
    // What could not be given back belongs to this question, and not to the next.
    let released = session.api.report();
    let finding = asked.and_then(|finding| released.map(|()| finding)).unwrap_or_else(|error| {
        let answer = if is_refusal(&error) { REFUSED } else { "not answered" };
        Finding { answer: answer.to_owned(), observed: error.to_string() }
    });
    ProbeAnswer {
        name: question.name,
        question: question.text,
        answer: finding.answer,
        observed: finding.observed,
        expected_by_emulation: (question.expected)(session.generation),
    }
}

/// Whether a graph could not be made into a recipe, and not for want of memory.
fn is_refusal(error: &HpuError) -> bool {
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
}
