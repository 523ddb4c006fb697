//! Adding nodes to a graph, and what the compiler checks of them.

use habana_sys::synStatus;

use super::builder::Graph;
use super::node::{Node, NodeRequest};
use super::tensor::Tensor;
use crate::config::Config;
use crate::log;
use crate::node::machine::Machine;
use crate::node::operation::{Checked, Operation};
use crate::node::registry::find;
use crate::node::spec::Spec;
use crate::outcome::Outcome;
use crate::sizes::covers;

impl Graph {
    /// Adds a node that the compiler takes; its tensors do not change any more.
    pub(crate) fn add_node(&mut self, config: &Config, request: NodeRequest<'_>) -> Outcome<u64> {
        let NodeRequest { guid, name, params, inputs, outputs } = request;
        let operation = find(guid, &self.machine(config))
            .ok_or_else(|| log::refusal(synStatus::synFail, format_args!("no node has the guid `{guid}`")))?;
        for &index in inputs.iter().chain(&outputs).flatten() {
            self.check_described(self.tensor(index)?)?;
        }
        for &index in outputs.iter().flatten() {
            let tensor = self.tensor(index)?;
            let is_produced = self.nodes.iter().any(|node| node.outputs.contains(&Some(index)));
            let is_twice = outputs.iter().filter(|&&output| output == Some(index)).count() > 1;
            if is_produced || is_twice || tensor.host.is_some() {
                let reason =
                    format_args!("`{}` is written by more than one node, or is constant", tensor.name);
                return Err(log::refusal(synStatus::synFail, reason));
            }
        }
        self.check_operation(config, guid, &*operation, &inputs, &outputs, params)?;
        for &index in inputs.iter().chain(&outputs).flatten() {
            self.tensors[index].is_locked = true;
        }
        self.nodes.push(Node {
            guid: guid.to_owned(),
            name: name.to_owned(),
            operation,
            params: params.to_vec(),
            inputs,
            outputs,
            after: Vec::new(),
            is_deterministic: false,
        });
        Ok(self.nodes.len() as u64)
    }

    fn tensor(&self, index: usize) -> Outcome<&Tensor> {
        self.tensors.get(index).ok_or(synStatus::synInvalidArgument)
    }

    /// What a tensor must have before a node takes it.
    fn check_described(&self, tensor: &Tensor) -> Outcome {
        let refuse = |what: &str| {
            Err(log::refusal(synStatus::synInvalidArgument, format_args!("tensor `{}`: {what}", tensor.name)))
        };
        let Some(spec) = tensor.spec() else { return refuse("sizes or data type are missing, or too large") };
        let is_persistent = self.is_persistent(tensor);
        if is_persistent && tensor.name.is_empty() {
            return refuse("a persistent tensor needs a name");
        }
        if is_persistent && tensor.is_shape() {
            return refuse("a shape has no memory");
        }
        if tensor.min_sizes.as_ref().is_some_and(|min| !covers(&tensor.sizes, min)) {
            return refuse("the smallest sizes are not below the largest");
        }
        if let Some(host) = &tensor.host {
            if tensor.section.is_some() && !self.is_in_const_section(tensor) {
                return refuse("data of its own, but its section is not const");
            }
            if host.bytes.len() as u64 != spec.bytes() || host.dtype != tensor.dtype {
                return refuse("its data have another size or type");
            }
        } else if self.is_in_const_section(tensor) {
            return refuse("a const section, but no data");
        }
        Ok(())
    }

    fn check_operation(
        &self,
        config: &Config,
        guid: &str,
        operation: &dyn Operation,
        inputs: &[Option<usize>],
        outputs: &[Option<usize>],
        params: &[u8],
    ) -> Outcome {
        let specs = |list: &[Option<usize>]| -> Vec<Option<Spec>> {
            list.iter().map(|index| index.and_then(|index| self.tensors.get(index)?.spec())).collect()
        };
        let (inputs, outputs) = (specs(inputs), specs(outputs));
        let inputs: Vec<_> = inputs.iter().map(Option::as_ref).collect();
        let outputs: Vec<_> = outputs.iter().map(Option::as_ref).collect();
        Checked { machine: &self.machine(config), inputs: &inputs, outputs: &outputs, params }
            .check_by(operation)
            .map_err(|refusal| log::refusal(refusal.status, format_args!("{guid}: {}", refusal.reason)))
    }

    pub(crate) fn machine(&self, config: &Config) -> Machine {
        config.machine(self.generation, self.attributes.is_inference, self.attributes.is_quantized)
    }

    pub(crate) fn node_mut(&mut self, id: u64) -> Outcome<&mut Node> {
        let index = node_index(id)?;
        self.nodes.get_mut(index).ok_or(synStatus::synInvalidArgument)
    }

    /// Replaces the parameters of a node, if the compiler takes them.
    pub(crate) fn set_params(&mut self, config: &Config, id: u64, params: &[u8]) -> Outcome {
        let node = self.node_mut(id)?.clone();
        self.check_operation(config, &node.guid, &*node.operation, &node.inputs, &node.outputs, params)?;
        self.node_mut(id)?.params = params.to_vec();
        Ok(())
    }

    /// Every one of `blocked` comes after all of `blocking`.
    pub(crate) fn add_dependencies(&mut self, blocking: &[u64], blocked: &[u64]) -> Outcome {
        for &id in blocking.iter().chain(blocked) {
            self.node_mut(id)?;
        }
        let blocking: Vec<_> = blocking.iter().map(|&id| node_index(id)).collect::<Outcome<_>>()?;
        for &id in blocked {
            self.node_mut(id)?.after.extend(&blocking);
        }
        Ok(())
    }
}

fn node_index(id: u64) -> Outcome<usize> {
    let index = id.checked_sub(1).ok_or(synStatus::synInvalidArgument)?;
    usize::try_from(index).map_err(|_| synStatus::synInvalidArgument)
}
