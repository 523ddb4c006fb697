//! From a graph to the plan of a recipe.

use habana_sys::synStatus;

use super::builder::Graph;
use super::order::Order;
use super::overlap;
use super::tensor::Tensor;
use super::workspace::{self, Resident};
use crate::generation::{alignment_bytes, device_type};
use crate::log;
use crate::outcome::Outcome;
use crate::recipe::plan::{Place, Plan, PlanSection, PlanTensor, Step};

impl Graph {
    /// The plan of the whole graph. `synFail` where it makes no sense as a whole.
    pub(crate) fn compile(&self, name: &str) -> Outcome<Plan> {
        if self.nodes.is_empty() {
            return Err(log::refusal(synStatus::synFail, "the graph has no nodes"));
        }
        let order = Order::new(self)?;
        overlap::check(self, &order)?;
        let lives = self.lives(&order);
        let used: Vec<_> = (0..self.tensors.len()).filter(|&tensor| lives[tensor].is_some()).collect();
        for &tensor in &used {
            self.check_whole(tensor)?;
        }
        let sections: Vec<_> =
            (0..self.sections.len()).map(|section| self.plan_section(section, &used)).collect();
        let (places, workspace_bytes) = self.places(&used, &lives, &sections, order.nodes.len())?;
        let tensors: Vec<_> =
            used.iter().zip(places).map(|(&tensor, place)| self.plan_tensor(tensor, place)).collect();
        let position = |tensor: &Option<usize>| {
            tensor.and_then(|tensor| used.binary_search(&tensor).ok()).map(|at| at as u32)
        };
        let step = |&node: &usize| {
            let node = &self.nodes[node];
            Step {
                guid: node.guid.clone(),
                name: node.name.clone(),
                params: node.params.clone(),
                inputs: node.inputs.iter().map(position).collect(),
                outputs: node.outputs.iter().map(position).collect(),
            }
        };
        Ok(Plan {
            name: name.to_owned(),
            device_type: device_type(self.generation).0,
            is_inference: self.attributes.is_inference,
            is_quantized: self.attributes.is_quantized,
            workspace_bytes,
            launched: Plan::launched_of(&tensors),
            tensors,
            sections,
            steps: order.nodes.iter().map(step).collect(),
        })
    }

    /// By tensor: the first and the last step that use it; `None` where none does.
    fn lives(&self, order: &Order) -> Vec<Option<(usize, usize)>> {
        let mut lives: Vec<Option<(usize, usize)>> = vec![None; self.tensors.len()];
        for (step, &node) in order.nodes.iter().enumerate() {
            let node = &self.nodes[node];
            for &tensor in node.inputs.iter().chain(&node.outputs).flatten() {
                let life = lives[tensor].get_or_insert((step, step));
                life.1 = step;
            }
        }
        lives
    }

    fn is_produced(&self, tensor: usize) -> bool {
        self.nodes.iter().any(|node| node.outputs.contains(&Some(tensor)))
    }

    fn check_whole(&self, index: usize) -> Outcome {
        let tensor = &self.tensors[index];
        let is_persistent = self.is_persistent(tensor);
        if !self.is_produced(index) && !is_persistent && tensor.host.is_none() && !tensor.is_shape() {
            let reason = format_args!("`{}` is read, and nothing writes it", tensor.name);
            return Err(log::refusal(synStatus::synFail, reason));
        }
        if tensor.is_external && !(is_persistent && self.is_produced(index)) {
            let reason = format_args!("`{}` is external, but not a persistent output", tensor.name);
            return Err(log::refusal(synStatus::synFail, reason));
        }
        let is_dynamic = tensor.min_sizes.as_ref().is_some_and(|min| *min != tensor.sizes);
        if is_dynamic && !is_persistent && !tensor.is_shape() {
            let reason = format_args!("`{}`: dynamic tensors inside a graph are not emulated", tensor.name);
            return Err(log::refusal(synStatus::synUnsupported, reason));
        }
        Ok(())
    }

    fn plan_section(&self, index: usize, used: &[usize]) -> PlanSection {
        let section = &self.sections[index];
        let members = || {
            let tensors = used.iter().map(|&tensor| &self.tensors[tensor]);
            tensors.filter_map(move |tensor| {
                tensor.section.filter(|&(other, _)| other == index).map(|(_, offset)| (tensor, offset))
            })
        };
        // The overlap check has seen that these ends can be addressed.
        let bytes =
            members().map(|(tensor, offset)| offset.saturating_add(tensor.bytes())).max().unwrap_or(0);
        let mut data = Vec::new();
        if section.is_const {
            data.resize(usize::try_from(bytes).unwrap_or(0), 0);
            for (tensor, offset) in members() {
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                if let Some(host) = &tensor.host
                    && let Some(target) =
                        data.get_mut(start..).and_then(|rest| rest.get_mut(..host.bytes.len()))
                {
                    target.copy_from_slice(&host.bytes);
                }
            }
        }
        PlanSection {
            bytes,
            group: section.group,
            is_const: section.is_const,
            is_persistent: section.is_persistent,
            data,
        }
    }

    /// Where the used tensors lie, and how large the workspace is.
    fn places(
        &self,
        used: &[usize],
        lives: &[Option<(usize, usize)>],
        sections: &[PlanSection],
        steps: usize,
    ) -> Outcome<(Vec<Place>, u64)> {
        // Sections that nobody gives an address live in the workspace from the first step to the last.
        let mut residents: Vec<_> = sections
            .iter()
            .map(|section| {
                let bytes = if section.is_persistent || section.is_const { 0 } else { section.bytes };
                Resident { bytes, first: 0, last: steps }
            })
            .collect();
        let mut resident_of = Vec::with_capacity(used.len());
        for &index in used {
            let tensor = &self.tensors[index];
            let is_alone = tensor.section.is_none() && tensor.host.is_none() && !tensor.is_shape();
            resident_of.push(is_alone.then_some(residents.len()));
            if let (true, Some((first, last))) = (is_alone, lives[index]) {
                residents.push(Resident { bytes: tensor.bytes(), first, last });
            }
        }
        let (kept, placed): (Vec<_>, Vec<_>) =
            residents.iter().enumerate().filter(|(_, resident)| resident.bytes > 0).unzip();
        let placed: Vec<_> = placed.into_iter().cloned().collect();
        let (offsets, total) = workspace::place(&placed, alignment_bytes(self.generation))
            .ok_or_else(|| log::refusal(synStatus::synFail, "the workspace is too large"))?;
        let offset_of =
            |resident: usize| kept.binary_search(&resident).map_or(0, |position: usize| offsets[position]);
        let place = |(&index, resident): (&usize, &Option<usize>)| {
            let tensor = &self.tensors[index];
            match (tensor.section, resident) {
                (_, Some(resident)) => Place::Workspace { offset: offset_of(*resident) },
                (Some((section, offset)), None) if sections[section].is_persistent => {
                    Place::Persistent { section: section as u32, offset }
                }
                (Some((section, offset)), None) if tensor.host.is_none() => {
                    Place::Workspace { offset: offset_of(section).saturating_add(offset) }
                }
                _ => constant_or_shape(tensor),
            }
        };
        Ok((used.iter().zip(&resident_of).map(place).collect(), total))
    }

    fn plan_tensor(&self, index: usize, place: Place) -> PlanTensor {
        let tensor = &self.tensors[index];
        PlanTensor {
            name: tensor.name.clone(),
            kind: tensor.kind.0,
            dtype: tensor.dtype.0,
            sizes: tensor.sizes.clone(),
            min_sizes: tensor.min_sizes.clone().unwrap_or_else(|| tensor.sizes.clone()),
            exp_bias: tensor.spec().map_or(0, |spec| spec.exp_bias),
            place,
            is_input: !self.is_produced(index),
            is_external: tensor.is_external,
        }
    }
}

fn constant_or_shape(tensor: &Tensor) -> Place {
    tensor.host.as_ref().map_or(Place::Shape, |host| Place::Constant(host.bytes.to_vec()))
}
