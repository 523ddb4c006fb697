//! `gaudi-kv devices --probe`.

use gaudi_kv::device::hpu::{Hpu, HpuOptions, ProbeAnswer, RecipeFolder};
use gaudi_kv::device::{Device, DeviceError};
use serde::Serialize;

use super::args::DevicesArguments;
use super::outcome::{CommandError, Outcome};
use super::output::{to_json, write_result};

/// An answer with what the emulation says to the question.
#[derive(Debug, Serialize)]
struct Answer {
    name: &'static str,
    question: &'static str,
    answer: String,
    observed: String,
    expected_by_emulation: &'static str,
    agrees: bool,
}

impl From<ProbeAnswer> for Answer {
    fn from(answer: ProbeAnswer) -> Self {
        let agrees = answer.agrees();
        let ProbeAnswer { name, question, answer, observed, expected_by_emulation } = answer;
        Self { name, question, answer, observed, expected_by_emulation, agrees }
    }
}

/// Asks the device every question. Whatever it answers is no error.
pub(super) fn run(arguments: &DevicesArguments) -> Result<Outcome, CommandError> {
    let device = Hpu::open(&HpuOptions {
        library: arguments.library.clone(),
        module_id: arguments.module,
        recipe_cache: RecipeFolder::Nowhere,
        ..HpuOptions::default()
    })
    .map_err(DeviceError::from)?;
    let answers: Vec<Answer> =
        device.probe().map_err(DeviceError::from)?.into_iter().map(Answer::from).collect();
    let text = if arguments.json { to_json(&answers)? } else { render(&device.description(), &answers) };
    write_result(&text)?;
    Ok(Outcome::Fine)
}

fn render(device: &str, answers: &[Answer]) -> String {
    let mut text = format!("{device}\n\n");
    for Answer { name, question, answer, observed, expected_by_emulation, agrees } in answers {
        text.push_str(&format!("{name}: {question}\n  answer    {answer}\n  observed  {observed}\n"));
        if !agrees {
            text.push_str(&format!("  DIFFERS   the emulation: {expected_by_emulation}\n"));
        }
    }
    let agreeing = answers.iter().filter(|answer| answer.agrees).count();
    text.push_str(&format!("\n{agreeing} of {} answers are those of the emulation\n", answers.len()));
    text
}
