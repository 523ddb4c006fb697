//! Recipes that can be launched.

use std::sync::{Arc, Mutex};

use gaudi_numerics::Generation;
use habana_sys::{synRecipeAttribute, synStatus};

use super::plan::{Plan, PlanSection, PlanTensor};
use crate::config::Config;
use crate::generation::of_device_type;
use crate::lock::lock;
use crate::log;
use crate::node::operation::{Checked, Operation};
use crate::node::registry::find;
use crate::node::spec::Spec;
use crate::outcome::Outcome;

/// Where the kind of a tensor is in its id.
const KIND_SHIFT: u32 = 56;

/// A recipe that can be launched.
pub(crate) struct Recipe {
    pub(crate) plan: Plan,
    pub(super) generation: Generation,
    /// By step.
    pub(super) operations: Vec<Arc<dyn Operation>>,
    /// By tensor, at its largest.
    pub(super) specs: Vec<Spec>,
    /// By section: the data of const sections, until they are cleared.
    section_data: Mutex<Vec<Option<Vec<u8>>>>,
}

impl Recipe {
    /// From a plan that was just compiled or read. `synWrongParamsFile` where it does not hold together.
    pub(crate) fn new(config: &Config, mut plan: Plan) -> Outcome<Self> {
        let broken = || log::refusal(synStatus::synWrongParamsFile, "the recipe does not hold together");
        let generation = of_device_type(plan.device_type()).ok_or_else(broken)?;
        if !plan.is_whole() {
            return Err(broken());
        }
        let specs: Vec<_> = plan
            .tensors
            .iter()
            .map(|tensor| tensor.spec(&tensor.sizes))
            .collect::<Option<_>>()
            .ok_or_else(broken)?;
        let machine = config.machine(generation, plan.is_inference, plan.is_quantized);
        let operations: Vec<_> = plan
            .steps
            .iter()
            .map(|step| find(&step.guid, &machine))
            .collect::<Option<_>>()
            .ok_or_else(broken)?;
        let section_data = plan
            .sections
            .iter_mut()
            .map(|section| section.is_const.then(|| std::mem::take(&mut section.data)))
            .collect();
        let recipe = Self { plan, generation, operations, specs, section_data: Mutex::new(section_data) };
        recipe.check_steps(config, &recipe.specs).map_err(|_| broken())?;
        Ok(recipe)
    }

    /// The compiler's check of every step with these sizes.
    pub(super) fn check_steps(&self, config: &Config, specs: &[Spec]) -> Outcome {
        let machine = config.machine(self.generation, self.plan.is_inference, self.plan.is_quantized);
        for (step, operation) in self.plan.steps.iter().zip(&self.operations) {
            let of = |list: &[Option<u32>]| -> Vec<Option<&Spec>> {
                list.iter().map(|index| index.and_then(|index| specs.get(index as usize))).collect()
            };
            let (inputs, outputs) = (of(&step.inputs), of(&step.outputs));
            let node =
                Checked { machine: &machine, inputs: &inputs, outputs: &outputs, params: &step.params };
            node.check_by(&**operation).map_err(|refusal| {
                log::refusal(refusal.status, format_args!("{}: {}", step.guid, refusal.reason))
            })?;
        }
        Ok(())
    }

    /// With the data of its const sections, as far as they were not cleared.
    pub(crate) fn to_plan(&self) -> Plan {
        let mut plan = self.plan.clone();
        for (section, data) in plan.sections.iter_mut().zip(lock(&self.section_data).iter()) {
            section.data = data.clone().unwrap_or_default();
        }
        plan
    }

    /// The tensors that a launch gives addresses for, with their ids.
    pub(crate) fn launched(&self) -> impl Iterator<Item = (u64, &PlanTensor)> {
        let tensors = self.plan.launched.iter().map(|&index| &self.plan.tensors[index as usize]);
        (0_u64..).zip(tensors).map(|(index, tensor)| (index | u64::from(tensor.kind) << KIND_SHIFT, tensor))
    }

    pub(crate) fn id_of(&self, name: &str) -> Option<u64> {
        self.launched().find(|(_, tensor)| tensor.name == name).map(|(id, _)| id)
    }

    /// The tensor of an id, and where it is among those launched.
    pub(crate) fn by_id(&self, id: u64) -> Option<(usize, &PlanTensor)> {
        let position = usize::try_from(id & ((1 << KIND_SHIFT) - 1)).ok()?;
        let (known, tensor) = self.launched().nth(position)?;
        (known == id).then_some((position, tensor))
    }

    /// The ids of external tensors in the order in which they are computed.
    pub(crate) fn external_ids(&self) -> Vec<u64> {
        let mut ids: Vec<_> = self
            .launched()
            .filter(|(_, tensor)| tensor.is_external)
            .filter_map(|(id, _)| Some((self.producing_step(id)?, id)))
            .collect();
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id).collect()
    }

    /// The step that writes a launched tensor.
    pub(super) fn producing_step(&self, id: u64) -> Option<usize> {
        let (position, _) = self.by_id(id)?;
        let index = *self.plan.launched.get(position)?;
        self.plan.steps.iter().position(|step| step.outputs.contains(&Some(index)))
    }

    pub(crate) fn attribute(&self, attribute: synRecipeAttribute) -> Outcome<u64> {
        let bytes_of = |wanted: fn(&PlanSection) -> bool| {
            self.plan.sections.iter().filter(|section| wanted(section)).map(|section| section.bytes).sum()
        };
        Ok(match attribute {
            synRecipeAttribute::RECIPE_ATTRIBUTE_WORKSPACE_SIZE => self.plan.workspace_bytes,
            synRecipeAttribute::RECIPE_ATTRIBUTE_NUM_PERSISTENT_TENSORS => self.plan.launched.len() as u64,
            // Programs of a recipe take no memory here.
            synRecipeAttribute::RECIPE_ATTRIBUTE_HOST_MEM_SIZE => 0,
            synRecipeAttribute::RECIPE_ATTRIBUTE_DEVICE_MEMORY_SIZE => 0,
            synRecipeAttribute::RECIPE_ATTRIBUTE_NUM_EXTERNAL_TENSORS => self.external_ids().len() as u64,
            synRecipeAttribute::RECIPE_ATTRIBUTE_PERSISTENT_TENSORS_SIZE => {
                bytes_of(|section| section.is_persistent)
            }
            synRecipeAttribute::RECIPE_ATTRIBUTE_CONST_SECTIONS_SIZE => bytes_of(|section| section.is_const),
            _ => return Err(synStatus::synInvalidArgument),
        })
    }

    /// The address of a const section's data, which stays until the recipe is destroyed or the section cleared.
    pub(crate) fn section_data(&self, section: u32) -> Outcome<*const u8> {
        let data = lock(&self.section_data);
        let data =
            data.get(section as usize).and_then(Option::as_ref).ok_or(synStatus::synInvalidArgument)?;
        Ok(data.as_ptr())
    }

    pub(crate) fn section(&self, section: u32) -> Outcome<&PlanSection> {
        self.plan.sections.get(section as usize).ok_or(synStatus::synInvalidArgument)
    }

    /// Frees the host's copy of a const section.
    pub(crate) fn clear_section(&self, section: u32) -> Outcome {
        let mut data = lock(&self.section_data);
        let data = data.get_mut(section as usize).filter(|data| data.is_some());
        *data.ok_or(synStatus::synInvalidArgument)? = None;
        Ok(())
    }
}
