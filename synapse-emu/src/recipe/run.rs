use std::sync::Arc;

use habana_sys::synStatus;

use super::{Place, Recipe, Step};
use crate::Outcome;
use crate::card::{Locked, Recording, Region};
use crate::log;
use crate::node::{Input, Machine, Operation, Output, Spec};

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

    /// Runs all steps. `synFail` from the first that cannot be computed; what comes after it is not run.
    pub(crate) fn run(&self) -> Outcome {
        let result = (0..).zip(&self.recipe.plan.steps).zip(&self.recipe.operations).try_for_each(
            |((index, step), operation)| {
                self.run_step(step, &**operation)?;
                let signals = self.signals.iter().filter(|(at, _)| *at == index);
                signals.for_each(|(_, recording)| recording.pass(None));
                Ok(())
            },
        );
        if let Err(status) = result {
            self.signals.iter().for_each(|(_, recording)| recording.pass(Some(status)));
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
        let refuse = |reason: &str| {
            let reason = format_args!("{} `{}`: {reason}", step.guid, step.name);
            Err(log::refusal(synStatus::synFail, reason))
        };
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
        let read = sources.iter().filter_map(|source| match source {
            Source::Memory(region) => Some(*region),
            _ => None,
        });
        let mut locked = Locked::new(read.chain(targets.iter().copied()).collect::<Vec<_>>());
        for (index, source) in sources.iter_mut().enumerate() {
            if in_place == Some(index) {
                *source = Source::FirstOutput;
            } else if let Source::Memory(region) = *source
                && targets.iter().any(|target| target.overlaps(region))
            {
                let Some((views, _)) = locked.views(&[region], &[]) else {
                    return refuse("memory is not locked");
                };
                *source = Source::Copied(views.concat());
            }
        }
        let read: Vec<_> = sources
            .iter()
            .filter_map(|source| match source {
                Source::Memory(region) => Some(*region),
                _ => None,
            })
            .collect();
        let Some((reads, writes)) = locked.views(&read, &targets) else { return refuse("outputs overlap") };
        let (mut reads, mut writes) = (reads.into_iter(), writes.into_iter());
        let inputs: Vec<_> = step
            .inputs
            .iter()
            .zip(&sources)
            .map(|(tensor, source)| {
                let data = match source {
                    Source::Absent => return None,
                    Source::Memory(_) => reads.next()?,
                    Source::Bytes(bytes) => bytes,
                    Source::Copied(bytes) => bytes,
                    Source::FirstOutput => &[],
                };
                tensor.map(|tensor| Input { spec: self.spec(tensor), data })
            })
            .collect();
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
        operation.run(&self.machine, &inputs, &mut outputs, &step.params).or_else(|reason| refuse(&reason))
    }
}

impl Drop for Launch {
    /// Whoever waits for a tensor that was never computed hears of it; what was signalled before stays as it was.
    fn drop(&mut self) {
        self.signals.iter().for_each(|(_, recording)| recording.pass(Some(synStatus::synFail)));
    }
}
