//! Comparisons.

use bytemuck::Pod;
use half::bf16;

use super::elementwise::{check_pair, walk_pair};
use super::operands::{KERNEL_RANK, input, output, require_dtype, require_no_params};
use super::operation::{Checked, Input, Limits, Operation, Refusal, Running};
use super::shape::Walk;
use super::spec::DataType;

/// A relation of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
}

/// `<relation>_fwd_<dtype>` of two tensors, sizes of 1 repeated: 1 where it holds and 0 elsewhere, as I8.
pub(super) struct Compare {
    relation: Relation,
    dtype: DataType,
}

impl Compare {
    pub(super) fn new(relation: Relation, dtype: DataType) -> Option<Self> {
        use DataType::{Bf16, F32, I8, I16, I32, U8, U16, U32};
        matches!(dtype, F32 | Bf16 | I32 | U32 | I16 | U16 | I8 | U8).then_some(Self { relation, dtype })
    }

    fn holds<T: Pod + PartialOrd>(
        &self,
        walk: &Walk<2>,
        [a, b]: [&Input<'_>; 2],
        out: &mut [i8],
    ) -> Result<(), String> {
        let (a, b) = (a.elements::<T>()?, b.elements::<T>()?);
        match self.relation {
            Relation::Less => walk.zip(a, b, out, |a: T, b: T| i8::from(a < b)),
            Relation::LessEqual => walk.zip(a, b, out, |a: T, b: T| i8::from(a <= b)),
            Relation::Greater => walk.zip(a, b, out, |a: T, b: T| i8::from(a > b)),
            Relation::GreaterEqual => walk.zip(a, b, out, |a: T, b: T| i8::from(a >= b)),
            Relation::Equal => walk.zip(a, b, out, |a: T, b: T| i8::from(a == b)),
        }
        Ok(())
    }
}

impl Operation for Compare {
    fn limits(&self) -> Limits {
        Limits { inputs: 2, outputs: 1, rank: KERNEL_RANK }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        require_no_params(node.params)?;
        check_pair(node, self.dtype)?;
        require_dtype(node.output(0)?, DataType::I8)
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let (a, b, out) = (input(node.inputs, 0)?, input(node.inputs, 1)?, output(node.outputs, 0)?);
        let walk = walk_pair(a.spec, b.spec, out.spec)?;
        let out = out.elements()?;
        match self.dtype {
            DataType::Bf16 => self.holds::<bf16>(&walk, [a, b], out),
            DataType::I32 => self.holds::<i32>(&walk, [a, b], out),
            DataType::U32 => self.holds::<u32>(&walk, [a, b], out),
            DataType::I16 => self.holds::<i16>(&walk, [a, b], out),
            DataType::U16 => self.holds::<u16>(&walk, [a, b], out),
            DataType::I8 => self.holds::<i8>(&walk, [a, b], out),
            DataType::U8 => self.holds::<u8>(&walk, [a, b], out),
            _ => self.holds::<f32>(&walk, [a, b], out),
        }
    }
}
