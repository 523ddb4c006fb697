//! The matrix engine in the machine's mode.

use bytemuck::Pod;
use gaudi_numerics::Mode;
use gaudi_numerics::fp8::Format;
use gaudi_numerics::mme::{Elements, Gemm, MmeError, Product};
use half::bf16;

use super::machine::Machine;
use super::operation::Input;
use super::spec::DataType;

/// Products, exact or with float accumulation.
pub(super) fn multiply(machine: &Machine, products: &mut [Product<'_>]) -> Result<(), MmeError> {
    let gemm = Gemm::new(machine.generation);
    match machine.mode {
        Mode::Exact => gemm.exact_batch(products),
        Mode::Fast => gemm.fast_batch(products),
    }
}

/// An operand's elements, as the matrix engine takes them.
#[derive(Debug, Clone, Copy)]
pub(super) struct OperandData<'a>(Elements<'a>);

impl<'a> OperandData<'a> {
    pub(super) fn new(machine: &Machine, input: &'a Input<'_>) -> Result<Self, String> {
        Ok(Self(match input.spec.dtype {
            DataType::Bf16 => Elements::Bf16(input.elements()?),
            _ => Elements::Fp8(input.bytes()?, input.spec.format(machine)?),
        }))
    }

    /// The elements from one on.
    pub(super) fn from(self, first: usize) -> Elements<'a> {
        match self.0 {
            Elements::Fp8(codes, format) => Elements::Fp8(&codes[first..], format),
            Elements::Bf16(values) => Elements::Bf16(&values[first..]),
        }
    }

    /// Every matrix of `rows` x `columns`, transposed.
    pub(super) fn transposed(self, rows: usize, columns: usize) -> Transposed {
        match self.0 {
            Elements::Fp8(codes, format) => Transposed::Fp8(transposed(codes, rows, columns), format),
            Elements::Bf16(values) => Transposed::Bf16(transposed(values, rows, columns)),
        }
    }
}

/// A transposed copy of an operand.
#[derive(Debug)]
pub(super) enum Transposed {
    Fp8(Vec<u8>, Format),
    Bf16(Vec<bf16>),
}

impl Transposed {
    pub(super) fn view(&self) -> OperandData<'_> {
        OperandData(match self {
            Self::Fp8(codes, format) => Elements::Fp8(codes, *format),
            Self::Bf16(values) => Elements::Bf16(values),
        })
    }
}

fn transposed<T: Pod>(values: &[T], rows: usize, columns: usize) -> Vec<T> {
    let mut turned = Vec::with_capacity(values.len());
    for matrix in values.chunks_exact(rows * columns) {
        for column in 0..columns {
            turned.extend((0..rows).map(|row| matrix[row * columns + column]));
        }
    }
    turned
}
