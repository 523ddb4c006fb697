//! From a recipe and addresses to a launch.

use std::sync::Arc;

use habana_sys::synStatus;

use super::executable::Recipe;
use super::plan::{Place, PlanTensor};
use super::run::Launch;
use crate::card::Card;
use crate::config::Config;
use crate::generation::alignment_bytes;
use crate::lock::lock;
use crate::log;
use crate::memory::device::DeviceMemory;
use crate::memory::region::Region;
use crate::node::spec::Spec;
use crate::outcome::Outcome;
use crate::sizes::{MAX_DIMS, covers};

/// What a launch says about a tensor.
#[derive(Debug, Clone)]
pub(crate) struct LaunchInfo {
    pub(crate) id: u64,
    pub(crate) address: u64,
    pub(crate) sizes: [u64; MAX_DIMS],
}

fn refuse<T>(status: synStatus, tensor: &PlanTensor, what: &str) -> Outcome<T> {
    Err(log::refusal(status, format_args!("launch: tensor `{}`: {what}", tensor.name)))
}

impl Recipe {
    /// A launch with all its memory found.
    ///
    /// `synFailedSectionValidation` where a tensor has no address or lies elsewhere than its section,
    /// `synInvalidArgument` where an address is not aligned or not allocated, or a size is wrong, and
    /// `synDeviceTypeMismatch` on a card of another generation.
    pub(crate) fn bind(
        self: &Arc<Self>,
        config: &Config,
        card: &Card,
        infos: &[LaunchInfo],
        workspace: u64,
    ) -> Outcome<Launch> {
        if self.generation != card.generation() {
            return Err(log::refusal(
                synStatus::synDeviceTypeMismatch,
                "launch: a recipe for another device",
            ));
        }
        let mut given: Vec<Option<&LaunchInfo>> = vec![None; self.plan.launched.len()];
        for info in infos {
            let (position, tensor) = self.by_id(info.id).ok_or_else(|| {
                log::refusal(synStatus::synInvalidArgument, format_args!("launch: id {:#x}", info.id))
            })?;
            if info.address == 0 {
                return refuse(synStatus::synFailedSectionValidation, tensor, "no address");
            }
            check_sizes(tensor, &info.sizes)?;
            given[position] = Some(info);
        }
        let memory = lock(&card.memory);
        let mut regions: Vec<Option<Region>> = vec![None; self.plan.tensors.len()];
        let mut bases = vec![None; self.plan.sections.len()];
        let mut sizes: Vec<Option<Vec<u64>>> = vec![None; self.plan.tensors.len()];
        for (&index, info) in self.plan.launched.iter().zip(given) {
            let index = index as usize;
            let tensor = &self.plan.tensors[index];
            let Place::Persistent { section, offset } = tensor.place else { return Err(synStatus::synFail) };
            let Some(info) = info else {
                return refuse(synStatus::synFailedSectionValidation, tensor, "no address");
            };
            let base = info.address.checked_sub(offset);
            let known = bases[section as usize].get_or_insert(base);
            if *known != base {
                return refuse(synStatus::synFailedSectionValidation, tensor, "not where its section is");
            }
            let alignment = alignment_bytes(self.generation);
            if !base.is_some_and(|base| base.is_multiple_of(alignment)) {
                return refuse(synStatus::synInvalidArgument, tensor, "its section's address is not aligned");
            }
            let now = &info.sizes[..tensor.sizes.len()];
            if *now != tensor.sizes {
                sizes[index] = Some(now.to_vec());
            }
            let spec = tensor.spec(now).ok_or(synStatus::synInvalidArgument)?;
            regions[index] = Some(memory.resolve(info.address, spec.bytes())?);
        }
        self.place_workspace(&memory, workspace, &mut regions)?;
        drop(memory);
        let specs = self.changed_specs(config, &sizes)?;
        let machine = config.machine(self.generation, self.plan.is_inference, self.plan.is_quantized);
        Ok(Launch { recipe: Arc::clone(self), machine, regions, specs, signals: Vec::new() })
    }

    fn place_workspace(
        &self,
        memory: &DeviceMemory,
        address: u64,
        regions: &mut [Option<Region>],
    ) -> Outcome {
        if self.plan.workspace_bytes == 0 {
            return Ok(());
        }
        if address == 0 || !address.is_multiple_of(alignment_bytes(self.generation)) {
            return Err(log::refusal(synStatus::synInvalidArgument, "launch: no workspace, or not aligned"));
        }
        let whole = memory.resolve(address, self.plan.workspace_bytes)?;
        for ((tensor, spec), region) in self.plan.tensors.iter().zip(&self.specs).zip(regions) {
            if let Place::Workspace { offset } = tensor.place {
                let part = whole.part(offset, spec.bytes());
                *region = Some(part.ok_or(synStatus::synFail)?);
            }
        }
        Ok(())
    }

    /// The specs where a launch changes sizes; `synFailedDynamicPatching` where the nodes do not take them.
    fn changed_specs(&self, config: &Config, sizes: &[Option<Vec<u64>>]) -> Outcome<Option<Vec<Spec>>> {
        if sizes.iter().all(Option::is_none) {
            return Ok(None);
        }
        let mut specs = self.specs.clone();
        for ((spec, tensor), sizes) in specs.iter_mut().zip(&self.plan.tensors).zip(sizes) {
            if let Some(sizes) = sizes {
                *spec = tensor.spec(sizes).ok_or(synStatus::synFailedDynamicPatching)?;
            }
        }
        self.check_steps(config, &specs).map_err(|_| synStatus::synFailedDynamicPatching)?;
        Ok(Some(specs))
    }
}

fn check_sizes(tensor: &PlanTensor, sizes: &[u64; MAX_DIMS]) -> Outcome {
    let dims = tensor.sizes.len();
    // As on the device: a vector of n is launched as [n, 1].
    if dims == 1 && sizes[1] == 0 {
        return refuse(
            synStatus::synInvalidArgument,
            tensor,
            "a vector is launched with the sizes [n, 1], not [n, 0]",
        );
    }
    let now = &sizes[..dims];
    if !covers(&tensor.sizes, now) || !covers(now, &tensor.min_sizes) {
        return refuse(synStatus::synInvalidArgument, tensor, "sizes that it does not have");
    }
    Ok(())
}
