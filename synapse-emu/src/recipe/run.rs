//! Launches.

use std::sync::Arc;

use habana_sys::synStatus;

use super::executable::Recipe;
use super::plan::{Place, Step};
use crate::log;
use crate::memory::region::{Locked, Region};
use crate::node::machine::Machine;
use crate::node::operation::{Input, Operation, Output, Running};
use crate::node::spec::Spec;
use crate::outcome::Outcome;
use crate::recording::Recording;

/// A recipe with its memory, ready to run.
pub(crate) struct Launch {
    pub(super) recipe: Arc<Recipe>,
    pub(super) machine: Machine,
    /// By tensor; `None` for those that have no device memory.
    pub(super) regions: Vec<Option<Region>>,
    /// Where sizes differ from the largest.
    pub(super) specs: Option<Vec<Spec>>,
    /// What is signalled after which step.
    pub(super) signals: Vec<(usize, Arc<Recording>)>,
}

/// Where an input's elements come from.
enum Source<'a> {
    Absent,
    Memory(&'a Region),
    /// From a constant, or none for a shape.
    Bytes(&'a [u8]),
    /// Read before the output overwrites it.
    Copied(Vec<u8>),
    /// What the first output holds.
    FirstOutput,
}

impl Launch {
    /// A recording, made by `record`, passes once this tensor is computed.
    pub(crate) fn signal(&mut self, tensor: u64, record: impl FnOnce() -> Arc<Recording>) -> Outcome {
        let step = self.recipe.producing_step(tensor).ok_or(synStatus::synInvalidArgument)?;
        self.signals.push((step, record()));
        Ok(())
    }

    /// Runs all steps, at a virtual time. `synFail` from the first that cannot be computed; what comes after it is not
    /// run.
    pub(crate) fn run(&self, now: u64) -> Outcome {
        let result = (0..).zip(&self.recipe.plan.steps).zip(&self.recipe.operations).try_for_each(
            |((index, step), operation)| {
                self.run_step(step, &**operation)?;
                let signals = self.signals.iter().filter(|(at, _)| *at == index);
                signals.for_each(|(_, recording)| recording.pass(now, None));
                Ok(())
            },
        );
        if let Err(status) = result {
            self.signals.iter().for_each(|(_, recording)| recording.pass(now, Some(status)));
        }
        result
    }

    fn spec(&self, tensor: u32) -> &Spec {
        let specs = self.specs.as_ref().unwrap_or(&self.recipe.specs);
        &specs[tensor as usize]
    }

    fn source(&self, tensor: Option<u32>) -> Source<'_> {
        let Some(index) = tensor.map(|tensor| tensor as usize) else { return Source::Absent };
        match (&self.regions[index], &self.recipe.plan.tensors[index].place) {
            (Some(region), _) => Source::Memory(region),
            (None, Place::Constant(data)) => Source::Bytes(data),
            (None, _) => Source::Bytes(&[]),
        }
    }

    fn run_step(&self, step: &Step, operation: &dyn Operation) -> Outcome {
        self.try_step(step, operation).map_err(|reason| {
            log::refusal(synStatus::synFail, format_args!("{} `{}`: {reason}", step.guid, step.name))
        })
    }

    fn try_step(&self, step: &Step, operation: &dyn Operation) -> Result<(), String> {
        let outputs: Vec<_> = step
            .outputs
            .iter()
            .map(|output| output.and_then(|tensor| Some((tensor, self.regions[tensor as usize].as_ref()?))))
            .collect();
        let targets: Vec<_> = outputs.iter().flatten().map(|(_, region)| *region).collect();
        let mut sources: Vec<_> = step.inputs.iter().map(|&input| self.source(input)).collect();
        let in_place = operation.in_place().filter(|&input| match (sources.get(input), outputs.first()) {
            (Some(Source::Memory(region)), Some(Some((_, first)))) => region.is_same(first),
            _ => false,
        });
        let mut locked = Locked::new(memory(&sources).chain(targets.iter().copied()).collect::<Vec<_>>());
        keep_overwritten(&mut sources, in_place, &targets, &mut locked)?;
        let read: Vec<_> = memory(&sources).collect();
        let (reads, writes) = locked.views(&read, &targets).ok_or("outputs overlap")?;
        let mut writes = writes.into_iter();
        let mut outputs: Vec<_> = outputs
            .iter()
            .enumerate()
            .map(|(index, output)| {
                let aliases = in_place.filter(|_| index == 0);
                output.and_then(|(tensor, _)| {
                    Some(Output { spec: self.spec(tensor), data: writes.next()?, aliases })
                })
            })
            .collect();
        let inputs = self.inputs(step, &sources, reads);
        let (machine, params) = (&self.machine, &step.params[..]);
        operation.run(Running { machine, inputs: &inputs, outputs: &mut outputs, params })
    }

    /// The operands of a step, with the bytes of those that lie in memory.
    fn inputs<'a>(
        &'a self,
        step: &Step,
        sources: &'a [Source<'_>],
        reads: Vec<&'a [u8]>,
    ) -> Vec<Option<Input<'a>>> {
        let mut reads = reads.into_iter();
        let input = |(tensor, source): (&Option<u32>, &'a Source<'_>)| {
            let data = match source {
                Source::Absent => return None,
                Source::Memory(_) => reads.next()?,
                Source::Bytes(bytes) => bytes,
                Source::Copied(bytes) => bytes,
                Source::FirstOutput => &[],
            };
            tensor.map(|tensor| Input { spec: self.spec(tensor), data })
        };
        step.inputs.iter().zip(sources).map(input).collect()
    }
}

/// The regions that inputs are read from.
fn memory<'a>(sources: &[Source<'a>]) -> impl Iterator<Item = &'a Region> {
    sources.iter().filter_map(|source| match source {
        Source::Memory(region) => Some(*region),
        _ => None,
    })
}

/// Copies inputs that outputs overwrite, and leaves out the one that is changed in place.
fn keep_overwritten<'a>(
    sources: &mut [Source<'a>],
    in_place: Option<usize>,
    targets: &[&'a Region],
    locked: &mut Locked<'a>,
) -> Result<(), String> {
    for (index, source) in sources.iter_mut().enumerate() {
        if in_place == Some(index) {
            *source = Source::FirstOutput;
        } else if let Source::Memory(region) = *source
            && targets.iter().any(|target| target.overlaps(region))
        {
            let (views, _) = locked.views(&[region], &[]).ok_or("memory is not locked")?;
            *source = Source::Copied(views.concat());
        }
    }
    Ok(())
}

impl Drop for Launch {
    /// Whoever waits for a tensor that was never computed hears of it; what was signalled before stays as it was.
    fn drop(&mut self) {
        self.signals.iter().for_each(|(_, recording)| recording.pass(0, Some(synStatus::synFail)));
    }
}
