//! Operands: what every check asks of them, and their elements when a node runs.

use bytemuck::Pod;
use habana_sys::synStatus;

use super::operation::{Checked, Input, Operation, Output, Refusal};
use super::spec::{DataType, Spec};

/// The most dimensions of a tensor.
pub(super) const ND: usize = 25;
/// The most dimensions that kernels and products take.
pub(super) const KERNEL_RANK: usize = 5;

impl Refusal {
    /// What the compiler answers to a node that it does not take.
    pub(super) fn rejected(reason: impl Into<String>) -> Self {
        Self { status: synStatus::synFail, reason: reason.into() }
    }

    fn dimensions(reason: String) -> Self {
        Self { status: synStatus::synInvalidTensorDimensions, reason }
    }
}

impl<'a> Checked<'a> {
    /// Checks the node for an operation: no more operands than it takes, each of a rank that it takes, none empty, their
    /// sizes in bytes countable; then what the operation asks.
    pub(crate) fn check_by(&self, operation: &dyn Operation) -> Result<(), Refusal> {
        let limits = operation.limits();
        for (operands, most, what) in
            [(self.inputs, limits.inputs, "inputs"), (self.outputs, limits.outputs, "outputs")]
        {
            if operands.iter().skip(most).any(Option::is_some) {
                return Err(Refusal::rejected(format!("more than {most} {what}")));
            }
            for spec in operands.iter().flatten() {
                check_sizes(spec, limits.rank)?;
            }
        }
        operation.check(self)
    }

    pub(super) fn optional_input(&self, index: usize) -> Option<&'a Spec> {
        self.inputs.get(index).copied().flatten()
    }

    pub(super) fn input(&self, index: usize) -> Result<&'a Spec, Refusal> {
        self.optional_input(index).ok_or_else(|| Refusal::rejected(format!("input {index} is missing")))
    }

    pub(super) fn optional_output(&self, index: usize) -> Option<&'a Spec> {
        self.outputs.get(index).copied().flatten()
    }

    pub(super) fn output(&self, index: usize) -> Result<&'a Spec, Refusal> {
        self.optional_output(index).ok_or_else(|| Refusal::rejected(format!("output {index} is missing")))
    }

    /// The tensor that only describes the output's shape, where there is one.
    pub(super) fn shape_input(&self, index: usize) -> Result<(), Refusal> {
        let (Some(shape), output) = (self.optional_input(index), self.output(0)?) else { return Ok(()) };
        require(shape.sizes == output.sizes, || format!("shape {:?} for {:?}", shape.sizes, output.sizes))
    }
}

fn check_sizes(spec: &Spec, rank: usize) -> Result<(), Refusal> {
    let sizes = &spec.sizes;
    if sizes.is_empty() || sizes.len() > rank {
        return Err(Refusal::dimensions(format!("{} dimensions where 1 to {rank} are taken", sizes.len())));
    }
    if sizes.contains(&0) {
        return Err(Refusal::dimensions(format!("no elements in {sizes:?}")));
    }
    let bytes = sizes.iter().try_fold(spec.dtype.bytes(), |bytes, size| bytes.checked_mul(*size));
    match bytes {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => Err(Refusal::dimensions(format!("{sizes:?} elements cannot be counted"))),
    }
}

/// Refuses a node that does not meet a condition.
pub(super) fn require(condition: bool, reason: impl FnOnce() -> String) -> Result<(), Refusal> {
    if condition { Ok(()) } else { Err(Refusal::rejected(reason())) }
}

/// Refuses an operand of another type.
pub(super) fn require_dtype(spec: &Spec, dtype: DataType) -> Result<(), Refusal> {
    require(spec.dtype == dtype, || format!("an operand is {:?} and not {dtype:?}", spec.dtype))
}

/// Refuses an operand of other sizes.
pub(super) fn require_sizes(spec: &Spec, sizes: &[usize]) -> Result<(), Refusal> {
    require(spec.sizes == sizes, || format!("an operand is {:?} and not {sizes:?}", spec.sizes))
}

/// Refuses parameters of an operation that has none.
pub(super) fn require_no_params(params: &[u8]) -> Result<(), Refusal> {
    require(params.is_empty(), || format!("{} bytes of parameters where there are none", params.len()))
}

/// An input of a node that runs.
pub(super) fn input<'o, 'a>(inputs: &'o [Option<Input<'a>>], index: usize) -> Result<&'o Input<'a>, String> {
    optional_input(inputs, index).ok_or_else(|| format!("input {index} is missing"))
}

/// An input that a node may leave out.
pub(super) fn optional_input<'o, 'a>(inputs: &'o [Option<Input<'a>>], index: usize) -> Option<&'o Input<'a>> {
    inputs.get(index).and_then(Option::as_ref)
}

/// An output of a node that runs.
pub(super) fn output<'o, 'a>(
    outputs: &'o mut [Option<Output<'a>>],
    index: usize,
) -> Result<&'o mut Output<'a>, String> {
    optional_output(outputs, index).ok_or_else(|| format!("output {index} is missing"))
}

/// An output that a node may leave out.
pub(super) fn optional_output<'o, 'a>(
    outputs: &'o mut [Option<Output<'a>>],
    index: usize,
) -> Option<&'o mut Output<'a>> {
    outputs.get_mut(index).and_then(Option::as_mut)
}

impl Input<'_> {
    /// All bytes.
    pub(super) fn bytes(&self) -> Result<&[u8], String> {
        check_length(self.spec, self.data.len())?;
        Ok(self.data)
    }

    /// All elements, which are as large as a `T`.
    pub(super) fn elements<T: Pod>(&self) -> Result<&[T], String> {
        bytemuck::try_cast_slice(self.bytes()?).map_err(|error| misplaced(self.spec, error))
    }
}

impl Output<'_> {
    /// All bytes.
    pub(super) fn bytes(&mut self) -> Result<&mut [u8], String> {
        check_length(self.spec, self.data.len())?;
        Ok(self.data)
    }

    /// All elements, which are as large as a `T`.
    pub(super) fn elements<T: Pod>(&mut self) -> Result<&mut [T], String> {
        check_length(self.spec, self.data.len())?;
        bytemuck::try_cast_slice_mut(self.data).map_err(|error| misplaced(self.spec, error))
    }
}

fn check_length(spec: &Spec, len: usize) -> Result<(), String> {
    let expected = spec.count().saturating_mul(spec.dtype.bytes());
    if len == expected { Ok(()) } else { Err(format!("{len} bytes for {spec:?}, which has {expected}")) }
}

fn misplaced(spec: &Spec, error: bytemuck::PodCastError) -> String {
    format!("{spec:?} does not lie at a multiple of its element size: {error}")
}
