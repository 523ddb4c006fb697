//! Tensors that are made of one value.

use half::bf16;

use super::dtype::Real;
use super::operands::{KERNEL_RANK, ND, Operands, output, require, require_dtype, require_no_params};
use super::params::Params;
use super::{DataType, Input, Machine, Operation, Output, Refusal, Spec};

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
    fn check(
        &self,
        _: &Machine,
        inputs: &[Option<&Spec>],
        outputs: &[Option<&Spec>],
        params: &[u8],
    ) -> Result<(), Refusal> {
        let operands = Operands::new(inputs, outputs, [1, 1], KERNEL_RANK)?;
        operands.shape_input(0)?;
        require_dtype(operands.output(0)?, self.dtype)?;
        self.element(params).map(|_| ())
    }

    fn run(
        &self,
        _: &Machine,
        _: &[Option<Input<'_>>],
        outputs: &mut [Option<Output<'_>>],
        params: &[u8],
    ) -> Result<(), String> {
        let element = self.element(params).map_err(|refusal| refusal.reason)?;
        let size = self.dtype.bytes();
        let bytes = output(outputs, 0)?.bytes()?;
        bytes.chunks_exact_mut(size).for_each(|to| to.copy_from_slice(&element[..size]));
        Ok(())
    }
}

/// `memset`: zeros.
pub(super) struct Memset;

impl Operation for Memset {
    fn check(
        &self,
        _: &Machine,
        inputs: &[Option<&Spec>],
        outputs: &[Option<&Spec>],
        params: &[u8],
    ) -> Result<(), Refusal> {
        let operands = Operands::new(inputs, outputs, [1, 1], ND)?;
        operands.shape_input(0)?;
        require_no_params(params)?;
        require(operands.optional_output(0).is_some(), || "no output".to_owned())
    }

    fn run(
        &self,
        _: &Machine,
        _: &[Option<Input<'_>>],
        outputs: &mut [Option<Output<'_>>],
        _: &[u8],
    ) -> Result<(), String> {
        output(outputs, 0)?.bytes()?.fill(0);
        Ok(())
    }
}
