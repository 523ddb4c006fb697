//! The plan of a recipe: a compiled graph as it is kept in a file.

use habana_sys::{synDataType, synDeviceType};
use serde::{Deserialize, Serialize};

use crate::node::spec::{DataType, Spec};
use crate::sizes::covers;

/// Everything that a launch needs to know: a compiled graph.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) name: String,
    pub(crate) device_type: u32,
    pub(crate) is_inference: bool,
    pub(crate) is_quantized: bool,
    pub(crate) workspace_bytes: u64,
    /// Every tensor that a step uses.
    pub(crate) tensors: Vec<PlanTensor>,
    /// The tensors that a launch gives addresses for, as indices, in order of creation.
    pub(crate) launched: Vec<u32>,
    pub(crate) sections: Vec<PlanSection>,
    /// In the order in which they run.
    pub(crate) steps: Vec<Step>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PlanTensor {
    pub(crate) name: String,
    pub(crate) kind: u32,
    pub(crate) dtype: u32,
    /// The largest, fastest-changing dimension first.
    pub(crate) sizes: Vec<u64>,
    /// The smallest; the largest where it is not dynamic.
    pub(crate) min_sizes: Vec<u64>,
    pub(crate) exp_bias: u32,
    pub(crate) place: Place,
    /// Whether no step writes it.
    pub(crate) is_input: bool,
    pub(crate) is_external: bool,
}

/// Where a tensor lies.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Place {
    /// In memory whose address a launch gives.
    Persistent {
        section: u32,
        offset: u64,
    },
    Workspace {
        offset: u64,
    },
    /// In the recipe.
    Constant(Vec<u8>),
    /// Nowhere: it has no elements.
    Shape,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PlanSection {
    pub(crate) bytes: u64,
    pub(crate) group: u64,
    pub(crate) is_const: bool,
    pub(crate) is_persistent: bool,
    /// What the memory of a const section must hold.
    pub(crate) data: Vec<u8>,
}

/// A node, as it runs. Tensors are indices; `None` where the node leaves one out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) guid: String,
    pub(crate) name: String,
    pub(crate) params: Vec<u8>,
    pub(crate) inputs: Vec<Option<u32>>,
    pub(crate) outputs: Vec<Option<u32>>,
}

impl Plan {
    /// Which of `tensors` get an address at launch.
    pub(crate) fn launched_of(tensors: &[PlanTensor]) -> Vec<u32> {
        let is_launched = |tensor: &PlanTensor| matches!(tensor.place, Place::Persistent { .. });
        (0_u32..).zip(tensors).filter(|(_, tensor)| is_launched(tensor)).map(|(index, _)| index).collect()
    }

    pub(crate) fn device_type(&self) -> synDeviceType {
        synDeviceType(self.device_type)
    }

    /// Whether all of it holds together, for plans that come from a file.
    pub(super) fn is_whole(&self) -> bool {
        let in_range = |index: &u32| (*index as usize) < self.tensors.len();
        let steps_fit =
            self.steps.iter().all(|step| step.inputs.iter().chain(&step.outputs).flatten().all(in_range));
        let tensors_fit = self.tensors.iter().all(|tensor| {
            let Some(bytes) = tensor.bytes() else { return false };
            let end = |offset: u64| offset.checked_add(bytes);
            covers(&tensor.sizes, &tensor.min_sizes)
                && match &tensor.place {
                    Place::Persistent { section, offset } => {
                        let section = self.sections.get(*section as usize);
                        section.is_some_and(|section| end(*offset).is_some_and(|end| end <= section.bytes))
                    }
                    Place::Workspace { offset } => {
                        end(*offset).is_some_and(|end| end <= self.workspace_bytes)
                    }
                    Place::Constant(data) => data.len() as u64 == bytes,
                    Place::Shape => true,
                }
        });
        steps_fit && tensors_fit && self.launched == Self::launched_of(&self.tensors)
    }
}

impl PlanTensor {
    /// As nodes see it with these sizes. `None` for a type that does not exist, or sizes beyond what can be addressed.
    pub(crate) fn spec(&self, sizes: &[u64]) -> Option<Spec> {
        let dtype = match DataType::of(synDataType(self.dtype)) {
            Some(dtype) => dtype,
            None if matches!(self.place, Place::Shape) => DataType::U32,
            None => return None,
        };
        let sizes: Vec<_> = sizes.iter().map(|&size| usize::try_from(size).ok()).collect::<Option<_>>()?;
        Some(Spec { dtype, sizes, exp_bias: self.exp_bias })
    }

    /// What it takes in memory at most.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let dtype = self.spec(&self.sizes)?.dtype;
        let product =
            self.sizes.iter().try_fold(dtype.bytes() as u64, |product, &size| product.checked_mul(size))?;
        (product <= isize::MAX as u64).then_some(product)
    }
}
