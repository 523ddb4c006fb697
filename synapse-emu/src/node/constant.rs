//! Tensors that are made of one value.

use half::bf16;

use super::operands::{KERNEL_RANK, ND, output, require, require_dtype, require_no_params};
use super::operation::{Checked, Limits, Operation, Refusal, Running};
use super::params::Params;
use super::real::Real;
use super::spec::DataType;

/// `constant_<dtype>`: the parameter in every element.
pub(super) struct Constant {
    dtype: DataType,
}

impl Constant {
    pub(super) fn new(dtype: DataType) -> Option<Self> {
        use DataType::{Bf16, F32, I8, I16, I32, U8, U16, U32};
        matches!(dtype, F32 | Bf16 | I32 | U32 | I16 | U16 | I8 | U8).then_some(Self { dtype })
    }

    /// The bytes of an element: a float for the float types, else the low bytes of an integer.
    fn element(&self, params: &[u8]) -> Result<[u8; 4], Refusal> {
        use habana_sys::{ns_ConstantKernel_Params as Short, ns_ConstantKernel_Params_v2 as Long};
        let params = Params::new(params, &[size_of::<Short>(), size_of::<Long>()])?;
        Ok(match self.dtype {
            DataType::Bf16 => {
                let [low, high] = bf16::narrow(params.f32(0)).to_le_bytes();
                [low, high, 0, 0]
            }
            _ => params.u32(0).to_le_bytes(),
        })
    }
}

impl Operation for Constant {
    fn limits(&self) -> Limits {
        Limits { inputs: 1, outputs: 1, rank: KERNEL_RANK }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        node.shape_input(0)?;
        require_dtype(node.output(0)?, self.dtype)?;
        self.element(node.params).map(|_| ())
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let element = self.element(node.params)?;
        let size = self.dtype.bytes();
        let bytes = output(node.outputs, 0)?.bytes()?;
        bytes.chunks_exact_mut(size).for_each(|to| to.copy_from_slice(&element[..size]));
        Ok(())
    }
}

/// `memset`: zeros.
pub(super) struct Memset;

impl Operation for Memset {
    fn limits(&self) -> Limits {
        Limits { inputs: 1, outputs: 1, rank: ND }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        node.shape_input(0)?;
        require_no_params(node.params)?;
        require(node.optional_output(0).is_some(), || "no output".to_owned())
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        output(node.outputs, 0)?.bytes()?.fill(0);
        Ok(())
    }
}
