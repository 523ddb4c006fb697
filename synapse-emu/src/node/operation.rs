//! What a node does: a check when it is created, and a run over plain bytes.

use super::machine::Machine;
use super::spec::Spec;

/// Why the compiler does not take a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The status that the call returns.
    pub(crate) status: habana_sys::synStatus,
    /// For the log.
    pub(crate) reason: String,
}

impl From<Refusal> for String {
    fn from(refusal: Refusal) -> Self {
        refusal.reason
    }
}

/// An operand of a node that runs.
pub(crate) struct Input<'a> {
    pub(crate) spec: &'a Spec,
    /// Empty where an output aliases it: its elements are then what that output holds.
    pub(crate) data: &'a [u8],
}

/// A result of a node that runs.
pub(crate) struct Output<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) data: &'a mut [u8],
    /// The input whose memory this is. Only what [`Operation::in_place`] names.
    pub(crate) aliases: Option<usize>,
}

/// A node that the compiler is asked to take. Operands that it leaves out are `None`.
pub(crate) struct Checked<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) inputs: &'a [Option<&'a Spec>],
    pub(crate) outputs: &'a [Option<&'a Spec>],
    pub(crate) params: &'a [u8],
}

/// A node that runs.
pub(crate) struct Running<'a, 'd> {
    pub(crate) machine: &'a Machine,
    pub(crate) inputs: &'a [Option<Input<'d>>],
    pub(crate) outputs: &'a mut [Option<Output<'d>>],
    pub(crate) params: &'a [u8],
}

/// How many operands an operation takes at most, and of how many dimensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) rank: usize,
}

/// What nodes of one guid do.
///
/// Operands may lie in memory at multiples of their element size only; `run` says so where one does not.
pub(crate) trait Operation: Send + Sync {
    /// What [`Checked::check_by`] looks at first.
    fn limits(&self) -> Limits;

    /// What a compiler checks when the node is created, of operands within the limits.
    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal>;

    /// Computes. The operands are those that [`check`](Self::check) took. What goes wrong here is a failed launch.
    fn run(&self, node: Running<'_, '_>) -> Result<(), String>;

    /// The input whose memory the first output may be, for operations that change a tensor in place.
    fn in_place(&self) -> Option<usize> {
        None
    }
}
