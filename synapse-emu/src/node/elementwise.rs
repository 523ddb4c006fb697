//! Arithmetic on each element.

use half::bf16;

use super::operands::{KERNEL_RANK, input, output, require, require_dtype, require_no_params, require_sizes};
use super::operation::{Checked, Limits, Operation, Refusal, Running};
use super::real::{Real, with_real};
use super::shape::{Walk, broadcast_sizes};
use super::spec::{DataType, Spec};

/// An operation on two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Sub,
    Mult,
    Div,
    Max,
    Min,
}

/// `<operation>_fwd_<dtype>` of two tensors, sizes of 1 repeated. bfloat16 is computed in float32 and rounded once;
/// integers wrap around.
pub(super) struct Binary {
    operation: Arithmetic,
    dtype: DataType,
}

impl Binary {
    pub(super) fn new(operation: Arithmetic, dtype: DataType) -> Option<Self> {
        let exists = match dtype {
            DataType::F32 | DataType::Bf16 => true,
            DataType::I32 => operation != Arithmetic::Div,
            _ => false,
        };
        exists.then_some(Self { operation, dtype })
    }

    fn real<T: Real>(&self, walk: &Walk<2>, a: &[T], b: &[T], out: &mut [T]) {
        match self.operation {
            Arithmetic::Add => walk.zip(a, b, out, |a: T, b: T| T::narrow(a.widen() + b.widen())),
            Arithmetic::Sub => walk.zip(a, b, out, |a: T, b: T| T::narrow(a.widen() - b.widen())),
            Arithmetic::Mult => walk.zip(a, b, out, |a: T, b: T| T::narrow(a.widen() * b.widen())),
            Arithmetic::Div => walk.zip(a, b, out, |a: T, b: T| T::narrow(a.widen() / b.widen())),
            Arithmetic::Max => walk.zip(a, b, out, |a: T, b: T| T::narrow(a.widen().max(b.widen()))),
            Arithmetic::Min => walk.zip(a, b, out, |a: T, b: T| T::narrow(a.widen().min(b.widen()))),
        }
    }

    fn integer(&self, walk: &Walk<2>, a: &[i32], b: &[i32], out: &mut [i32]) -> Result<(), String> {
        match self.operation {
            Arithmetic::Add => walk.zip(a, b, out, i32::wrapping_add),
            Arithmetic::Sub => walk.zip(a, b, out, i32::wrapping_sub),
            Arithmetic::Mult => walk.zip(a, b, out, i32::wrapping_mul),
            Arithmetic::Max => walk.zip(a, b, out, Ord::max),
            Arithmetic::Min => walk.zip(a, b, out, Ord::min),
            Arithmetic::Div => return Err("integers are not divided".to_owned()),
        }
        Ok(())
    }
}

/// Checks two inputs of a type and an output with their common sizes.
pub(super) fn check_pair(node: &Checked<'_>, dtype: DataType) -> Result<(), Refusal> {
    let (a, b) = (node.input(0)?, node.input(1)?);
    require_dtype(a, dtype)?;
    require_dtype(b, dtype)?;
    let sizes = broadcast_sizes(&a.sizes, &b.sizes)
        .ok_or_else(|| Refusal::rejected(format!("{:?} and {:?} do not fit", a.sizes, b.sizes)))?;
    require_sizes(node.output(0)?, &sizes)
}

/// How two inputs are walked through for an output.
pub(super) fn walk_pair(a: &Spec, b: &Spec, out: &Spec) -> Result<Walk<2>, String> {
    Walk::broadcast(&out.sizes, [&a.sizes, &b.sizes]).ok_or_else(|| format!("{a:?} and {b:?} for {out:?}"))
}

impl Operation for Binary {
    fn limits(&self) -> Limits {
        Limits { inputs: 2, outputs: 1, rank: KERNEL_RANK }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        require_no_params(node.params)?;
        check_pair(node, self.dtype)?;
        require_dtype(node.output(0)?, self.dtype)
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let (a, b, out) = (input(node.inputs, 0)?, input(node.inputs, 1)?, output(node.outputs, 0)?);
        let walk = walk_pair(a.spec, b.spec, out.spec)?;
        match self.dtype {
            DataType::F32 => self.real::<f32>(&walk, a.elements()?, b.elements()?, out.elements()?),
            DataType::Bf16 => self.real::<bf16>(&walk, a.elements()?, b.elements()?, out.elements()?),
            _ => self.integer(&walk, a.elements()?, b.elements()?, out.elements()?)?,
        }
        Ok(())
    }
}

/// A function of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Abs,
    Exp,
    Neg,
    Tanh,
}

/// `<function>_fwd_<dtype>`. bfloat16 is computed in float32 and rounded once. The vendor specifies no exponential and
/// no hyperbolic tangent to the bit; these are portable ones.
pub(super) struct Unary {
    function: Function,
    dtype: DataType,
}

impl Unary {
    pub(super) fn new(function: Function, dtype: DataType) -> Option<Self> {
        matches!(dtype, DataType::F32 | DataType::Bf16).then_some(Self { function, dtype })
    }

    fn real<T: Real>(&self, x: &[T], out: &mut [T]) -> Result<(), String> {
        if x.len() != out.len() {
            return Err(format!("{} elements for {}", x.len(), out.len()));
        }
        let f = match self.function {
            Function::Abs => f32::abs,
            Function::Exp => libm::expf,
            Function::Neg => |x: f32| -x,
            Function::Tanh => libm::tanhf,
        };
        out.iter_mut().zip(x).for_each(|(out, x)| *out = T::narrow(f(x.widen())));
        Ok(())
    }
}

impl Operation for Unary {
    fn limits(&self) -> Limits {
        Limits { inputs: 1, outputs: 1, rank: KERNEL_RANK }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        require_no_params(node.params)?;
        let (x, out) = (node.input(0)?, node.output(0)?);
        require_dtype(x, self.dtype)?;
        require_dtype(out, self.dtype)?;
        require(x.sizes == out.sizes, || format!("{:?} for {:?}", x.sizes, out.sizes))
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let (x, out) = (input(node.inputs, 0)?, output(node.outputs, 0)?);
        with_real!(self.dtype, T => self.real::<T>(x.elements()?, out.elements()?))
    }
}
