//! Running recipes, and moving bytes between the host and a device.
//!
//! Beyond the rules of [`ConfirmedStream`]: what goes to the device is there before it is used, and a launch without a
//! result of its own is followed by one that has one, as launches of a stream are in order.

use std::sync::Arc;
use std::time::Duration;

use half::bf16;

use super::buffers::Buffers;
use super::confirmed_stream::ConfirmedStream;
use super::operand::{NamedOperand, Operand};
use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::{Dtype, GraphSpec};
use crate::device::hpu::recipes::{Compiled, Recipes};
use crate::device::hpu::synapse::{AcquiredDevice, DeviceMemory, LaunchTensor};

/// Where operands start in their buffer: what both generations align to.
const ALIGNMENT: usize = 256;

/// Elements of the launch that follows one without a result.
const MARK: usize = 128;

/// Bytes that are moved at a time where the amount is not bounded.
const CHUNK_BYTES: usize = 4 << 20;

/// The stream of a device with its buffers.
#[derive(Debug)]
pub(crate) struct Engine {
    // Fields are dropped in order: the stream, which waits for its work, before the memory that the work uses.
    stream: ConfirmedStream,
    inputs: Buffers,
    outputs: Buffers,
    mark: Buffers,
    mark_input: DeviceMemory,
    mark_recipe: Arc<Compiled>,
    workspace: DeviceMemory,
    device: Arc<AcquiredDevice>,
}

impl Engine {
    pub(crate) fn new(
        device: &Arc<AcquiredDevice>,
        recipes: &Recipes,
        timeout: Duration,
    ) -> Result<Self, HpuError> {
        let buffers = |what, bytes| Buffers::allocate(device, what, bytes);
        let memory = |what, bytes| {
            DeviceMemory::allocate(device, bytes).map_err(|e| HpuError::of_allocation(what, bytes, e))
        };
        let mut engine = Self {
            stream: ConfirmedStream::new(device, timeout)?,
            inputs: buffers("operands", 1 << 16)?,
            outputs: buffers("results", 1 << 16)?,
            mark: buffers("the mark behind a launch", MARK * 2)?,
            mark_input: memory("the mark behind a launch", MARK * 2)?,
            mark_recipe: recipes.get(&mark_graph())?,
            workspace: memory("a workspace", ALIGNMENT)?,
            device: Arc::clone(device),
        };
        let ones: Vec<u8> = [bf16::ONE; MARK].iter().flat_map(|one| one.to_le_bytes()).collect();
        engine.mark.host.write(0, &ones);
        engine.stream.raw.upload(&engine.mark.host, ones.len(), (&engine.mark_input, 0))?;
        engine.stream.until_holds(
            (&engine.mark_input, 0),
            &ones,
            &mut engine.outputs.host,
            "a first upload",
        )?;
        Ok(engine)
    }

    /// Puts operands of the host into device memory, and gives the address of each.
    fn upload(&mut self, operands: &[NamedOperand<'_>]) -> Result<Vec<(&'static str, u64)>, HpuError> {
        let (mut places, mut end) = (Vec::with_capacity(operands.len()), 0);
        for (name, operand) in operands {
            if let Operand::Bytes(bytes) = operand {
                places.push((*name, bytes, end));
                end = (end + bytes.len()).next_multiple_of(ALIGNMENT);
            }
        }
        self.inputs.grow(&self.device, "operands", end)?;
        for (_, bytes, at) in &places {
            self.inputs.host.write(*at, bytes);
        }
        if end > 0 {
            self.stream.raw.upload(&self.inputs.host, end, (&self.inputs.memory, 0))?;
            self.stream.fence()?;
        }
        let base = self.inputs.memory.address();
        let mut addresses: Vec<_> =
            places.into_iter().map(|(name, _, at)| (name, base + at as u64)).collect();
        addresses.extend(operands.iter().filter_map(|(name, operand)| match operand {
            Operand::Memory(memory) => Some((*name, memory.address())),
            Operand::Bytes(_) => None,
        }));
        Ok(addresses)
    }

    fn launch(&mut self, compiled: &Compiled, addresses: &[(&str, u64)]) -> Result<(), HpuError> {
        let bytes = compiled.workspace_bytes;
        if bytes > self.workspace.len() {
            let failed = |failure| HpuError::of_allocation("a workspace", bytes, failure);
            self.workspace = DeviceMemory::allocate(&self.device, bytes).map_err(failed)?;
        }
        let mut tensors = Vec::with_capacity(compiled.tensors.len());
        for tensor in &compiled.tensors {
            let wanted = tensor.base.as_ref().unwrap_or(&tensor.spec.name);
            let Some((_, address)) = addresses.iter().find(|(name, _)| name == wanted) else {
                let recipe = compiled.recipe.name().to_owned();
                return Err(HpuError::Operand { recipe, tensor: tensor.spec.name.clone() });
            };
            let (name, fcd_sizes) = (tensor.name.clone(), tensor.spec.fcd_sizes());
            tensors.push(LaunchTensor { name, id: tensor.id, fcd_sizes, address: *address });
        }
        Ok(self.stream.raw.launch(&compiled.recipe, &tensors, &self.workspace)?)
    }

    /// Runs a recipe that computes a bfloat16 result.
    pub(crate) fn compute(
        &mut self,
        compiled: &Compiled,
        operands: &[NamedOperand<'_>],
    ) -> Result<Vec<bf16>, HpuError> {
        let (elements, bytes) = compiled.output().map_or((0, 0), |spec| (spec.elements(), spec.bytes()));
        self.outputs.grow(&self.device, "results", bytes + 4)?;
        let mut addresses = self.upload(operands)?;
        addresses.push(("out", self.outputs.memory.address()));
        self.stream.expect_result(&self.outputs.memory, elements)?;
        self.launch(compiled, &addresses)?;
        let what = compiled.recipe.name();
        self.stream.wait(what)?;
        self.stream.result(&self.outputs.memory, elements, &mut self.outputs.host, what)
    }

    /// Runs a recipe that computes a bfloat16 result, and gives how many of its elements were neither computed nor copied
    /// when the stream reported both as done.
    pub(crate) fn missing_at_report(
        &mut self,
        compiled: &Compiled,
        operands: &[NamedOperand<'_>],
    ) -> Result<(usize, usize), HpuError> {
        let (elements, bytes) = compiled.output().map_or((0, 0), |spec| (spec.elements(), spec.bytes()));
        self.outputs.grow(&self.device, "results", bytes + 4)?;
        let mut addresses = self.upload(operands)?;
        addresses.push(("out", self.outputs.memory.address()));
        self.stream.expect_result(&self.outputs.memory, elements)?;
        self.launch(compiled, &addresses)?;
        let (what, host) = (compiled.recipe.name(), &mut self.outputs.host);
        let missing = self.stream.missing_at_report(&self.outputs.memory, elements, host, what)?;
        // Nothing is left on its way.
        self.stream.result(&self.outputs.memory, elements, &mut self.outputs.host, what)?;
        Ok(missing)
    }

    /// Runs a recipe that changes an operand in place.
    pub(crate) fn change(
        &mut self,
        compiled: &Compiled,
        operands: &[NamedOperand<'_>],
    ) -> Result<(), HpuError> {
        let addresses = self.upload(operands)?;
        self.launch(compiled, &addresses)?;
        self.mark(compiled.recipe.name())
    }

    /// Runs a recipe whose result may be any bytes.
    pub(crate) fn fetch(
        &mut self,
        compiled: &Compiled,
        operands: &[NamedOperand<'_>],
    ) -> Result<Vec<u8>, HpuError> {
        let bytes = compiled.output().map_or(0, |spec| spec.bytes());
        self.outputs.grow(&self.device, "results", bytes)?;
        let mut addresses = self.upload(operands)?;
        addresses.push(("out", self.outputs.memory.address()));
        self.launch(compiled, &addresses)?;
        let what = compiled.recipe.name();
        self.mark(what)?;
        self.stream.bytes_at_rest((&self.outputs.memory, 0), bytes, &mut self.outputs.host, what)
    }

    /// Waits until every launch so far has been run.
    fn mark(&mut self, what: &str) -> Result<(), HpuError> {
        self.stream.expect_result(&self.mark.memory, MARK)?;
        let addresses = [("in", self.mark_input.address()), ("out", self.mark.memory.address())];
        let recipe = Arc::clone(&self.mark_recipe);
        self.launch(&recipe, &addresses)?;
        self.stream.wait(what)?;
        self.stream.result(&self.mark.memory, MARK, &mut self.mark.host, what)?;
        Ok(())
    }

    /// Bytes of device memory that nothing is changing.
    pub(crate) fn download(
        &mut self,
        memory: &DeviceMemory,
        offset: usize,
        bytes: usize,
    ) -> Result<Vec<u8>, HpuError> {
        let mut all = Vec::with_capacity(bytes);
        while all.len() < bytes {
            let len = CHUNK_BYTES.min(bytes - all.len());
            self.outputs.grow(&self.device, "results", len)?;
            let from = (memory, offset + all.len());
            all.extend(self.stream.bytes_at_rest(from, len, &mut self.outputs.host, "a copy")?);
        }
        Ok(all)
    }

    /// Overwrites device memory, and sees that it is so.
    pub(crate) fn store(
        &mut self,
        memory: &DeviceMemory,
        offset: usize,
        bytes: &[u8],
    ) -> Result<(), HpuError> {
        let mut at = offset;
        for chunk in bytes.chunks(CHUNK_BYTES) {
            self.inputs.grow(&self.device, "operands", chunk.len())?;
            self.outputs.grow(&self.device, "results", chunk.len())?;
            self.inputs.host.write(0, chunk);
            self.stream.raw.upload(&self.inputs.host, chunk.len(), (memory, at))?;
            self.stream.until_holds((memory, at), chunk, &mut self.outputs.host, "a copy")?;
            at += chunk.len();
        }
        Ok(())
    }

    /// New memory, all zero: what it held before may be anything, and so Inf or NaN.
    pub(crate) fn zeroed(&mut self, what: &'static str, bytes: usize) -> Result<DeviceMemory, HpuError> {
        let bytes = bytes.next_multiple_of(4);
        let failed = |failure| HpuError::of_allocation(what, bytes, failure);
        let memory = DeviceMemory::allocate(&self.device, bytes).map_err(failed)?;
        self.stream.raw.fill(&memory, 0, bytes / 4)?;
        let zeros = vec![0; CHUNK_BYTES.min(bytes)];
        self.outputs.grow(&self.device, "results", zeros.len())?;
        for at in (0..bytes).step_by(CHUNK_BYTES) {
            let expected = &zeros[..CHUNK_BYTES.min(bytes - at)];
            self.stream.until_holds((&memory, at), expected, &mut self.outputs.host, what)?;
        }
        Ok(memory)
    }
}

/// `out = in + in`, of ones: the smallest thing that is computed.
fn mark_graph() -> GraphSpec {
    let mut graph = GraphSpec::new("mark");
    let ones = graph.input("in", Dtype::Bf16, &[MARK]);
    let out = graph.elementwise("add", Dtype::Bf16, &[ones, ones]);
    graph.output(out, "out");
    graph
}
