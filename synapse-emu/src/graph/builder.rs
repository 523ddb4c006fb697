//! A graph that is being built.

use gaudi_numerics::Generation;
use habana_sys::{synGraphAttribute, synStatus, synTensorType};

use super::node::Node;
use super::section::Section;
use super::tensor::Tensor;
use crate::log;
use crate::outcome::Outcome;

/// What is set for a whole graph.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attributes {
    pub(crate) is_inference: bool,
    pub(crate) is_quantized: bool,
    pub(crate) backoff_factor: f64,
}

/// A graph that is being built.
#[derive(Clone)]
pub(crate) struct Graph {
    pub(crate) generation: Generation,
    pub(crate) attributes: Attributes,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) sections: Vec<Section>,
    pub(crate) nodes: Vec<Node>,
}

impl Graph {
    pub(crate) fn new(generation: Generation) -> Self {
        Self {
            generation,
            attributes: Attributes { is_inference: false, is_quantized: false, backoff_factor: 1.0 },
            tensors: Vec::new(),
            sections: Vec::new(),
            nodes: Vec::new(),
        }
    }

    /// Sets an attribute: an integer, or a real number for the backoff factor. `synFail` after the first node.
    pub(crate) fn set_attribute(&mut self, attribute: synGraphAttribute, integer: u64, real: f64) -> Outcome {
        if !self.nodes.is_empty() {
            return Err(log::refusal(synStatus::synFail, "attributes are set before the first node"));
        }
        match attribute {
            synGraphAttribute::GRAPH_ATTRIBUTE_INFERENCE => self.attributes.is_inference = integer != 0,
            synGraphAttribute::GRAPH_ATTRIBUTE_QUANTIZATION => self.attributes.is_quantized = integer != 0,
            synGraphAttribute::GRAPH_ATTRIBUTE_BACKOFF_FACTOR => self.attributes.backoff_factor = real,
            _ => return Err(synStatus::synInvalidArgument),
        }
        Ok(())
    }

    /// Adds a tensor. Where the name is taken, `synNameIsAlreadyUsed` and the handle that has it.
    pub(crate) fn add_tensor(
        &mut self,
        handle: u64,
        kind: synTensorType,
        name: &str,
    ) -> Result<usize, (synStatus, Option<u64>)> {
        if kind.0 >= synTensorType::TENSOR_TYPE_MAX.0 {
            return Err((synStatus::synInvalidArgument, None));
        }
        let taken = self.tensors.iter().find(|tensor| !name.is_empty() && tensor.name == name);
        if let Some(taken) = taken {
            let status =
                log::refusal(synStatus::synNameIsAlreadyUsed, format_args!("two tensors named `{name}`"));
            return Err((status, Some(taken.handle)));
        }
        self.tensors.push(Tensor::new(handle, kind, name));
        Ok(self.tensors.len() - 1)
    }

    pub(crate) fn add_section(&mut self, handle: u64) -> usize {
        self.sections.push(Section::new(handle));
        self.sections.len() - 1
    }

    /// Puts a tensor into a section of the same graph.
    pub(crate) fn assign(&mut self, tensor: usize, section: usize, offset: u64) -> Outcome {
        let section_used = self.sections.get_mut(section).ok_or(synStatus::synInvalidArgument)?;
        let tensor = self.tensors.get_mut(tensor).ok_or(synStatus::synInvalidArgument)?;
        tensor.unlocked()?.section = Some((section, offset));
        section_used.is_used = true;
        Ok(())
    }

    /// Whether a tensor's section is given an address at launch.
    pub(crate) fn is_persistent(&self, tensor: &Tensor) -> bool {
        self.section_of(tensor).is_some_and(|section| section.is_persistent)
    }

    pub(crate) fn is_in_const_section(&self, tensor: &Tensor) -> bool {
        self.section_of(tensor).is_some_and(|section| section.is_const)
    }

    fn section_of(&self, tensor: &Tensor) -> Option<&Section> {
        tensor.section.and_then(|(index, _)| self.sections.get(index))
    }
}
