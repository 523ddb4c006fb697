//! Running recipes, and moving bytes between the host and a device.
//!
//! Beyond the rules of [`link`](super::link): what goes to the device is there before it is used, and a launch without a
//! result of its own is followed by one that has one, as launches of a stream are in order.

use std::sync::Arc;
use std::time::Duration;

use half::bf16;

use super::error::HpuError;
use super::graph::{Dtype, Graph};
use super::link::Link;
use super::recipes::{Compiled, Recipes};
use super::synapse::{Device, DeviceMemory, HostMemory, LaunchTensor};

/// Where operands start in their buffer: what both generations align to.
const ALIGNMENT: usize = 256;

/// Elements of the launch that follows one without a result.
const MARK: usize = 128;

/// Bytes that are moved at a time where the amount is not bounded.
const CHUNK_BYTES: usize = 4 << 20;

/// An operand of a launch.
pub(super) enum Operand<'a> {
    /// Bytes of the host.
    Bytes(Vec<u8>),
    /// Memory of the device.
    Memory(&'a DeviceMemory),
}

/// An operand with the name that its recipe gives it.
pub(super) type Named<'a> = (&'static str, Operand<'a>);

/// A pair of buffers, pinned and on the device.
#[derive(Debug)]
struct Buffers {
    host: HostMemory,
    memory: DeviceMemory,
}

impl Buffers {
    fn allocate(device: &Arc<Device>, what: &'static str, bytes: usize) -> Result<Self, HpuError> {
        let failed = |failure| HpuError::of_allocation(what, bytes, failure);
        Ok(Self {
            host: HostMemory::allocate(device, bytes).map_err(failed)?,
            memory: DeviceMemory::allocate(device, bytes).map_err(failed)?,
        })
    }

    fn grow(&mut self, device: &Arc<Device>, what: &'static str, bytes: usize) -> Result<(), HpuError> {
        if bytes > self.memory.len() {
            *self = Self::allocate(device, what, bytes.next_power_of_two())?;
        }
        Ok(())
    }
}

/// The stream of a device with its buffers.
#[derive(Debug)]
pub(super) struct Engine {
    // Fields are dropped in order: the stream, which waits for its work, before the memory that the work uses.
    link: Link,
    inputs: Buffers,
    outputs: Buffers,
    mark: Buffers,
    mark_input: DeviceMemory,
    mark_recipe: Arc<Compiled>,
    workspace: DeviceMemory,
    device: Arc<Device>,
}

impl Engine {
    pub(super) fn new(device: &Arc<Device>, recipes: &Recipes, timeout: Duration) -> Result<Self, HpuError> {
        let buffers = |what, bytes| Buffers::allocate(device, what, bytes);
        let memory = |what, bytes| {
            DeviceMemory::allocate(device, bytes).map_err(|e| HpuError::of_allocation(what, bytes, e))
        };
        let mut engine = Self {
            link: Link::new(device, timeout)?,
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
        engine.link.stream.upload(&engine.mark.host, ones.len(), (&engine.mark_input, 0))?;
        engine.link.until_holds(
            (&engine.mark_input, 0),
            &ones,
            &mut engine.outputs.host,
            "a first upload",
        )?;
        Ok(engine)
    }

    /// Puts operands of the host into device memory, and gives the address of each.
    fn upload(&mut self, operands: &[Named<'_>]) -> Result<Vec<(&'static str, u64)>, HpuError> {
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
            self.link.stream.upload(&self.inputs.host, end, (&self.inputs.memory, 0))?;
            self.link.fence()?;
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
        Ok(self.link.stream.launch(&compiled.recipe, &tensors, &self.workspace)?)
    }

    /// Runs a recipe that computes a bfloat16 result.
    pub(super) fn compute(
        &mut self,
        compiled: &Compiled,
        operands: &[Named<'_>],
    ) -> Result<Vec<bf16>, HpuError> {
        let (elements, bytes) = compiled.output().map_or((0, 0), |spec| (spec.elements(), spec.bytes()));
        self.outputs.grow(&self.device, "results", bytes + 4)?;
        let mut addresses = self.upload(operands)?;
        addresses.push(("out", self.outputs.memory.address()));
        self.link.expect_result(&self.outputs.memory, elements)?;
        self.launch(compiled, &addresses)?;
        let what = compiled.recipe.name();
        self.link.wait(what)?;
        self.link.result(&self.outputs.memory, elements, &mut self.outputs.host, what)
    }

    /// Runs a recipe that computes a bfloat16 result, and gives how many of its elements were neither computed nor copied
    /// when the stream reported both as done.
    pub(super) fn missing_at_report(
        &mut self,
        compiled: &Compiled,
        operands: &[Named<'_>],
    ) -> Result<(usize, usize), HpuError> {
        let (elements, bytes) = compiled.output().map_or((0, 0), |spec| (spec.elements(), spec.bytes()));
        self.outputs.grow(&self.device, "results", bytes + 4)?;
        let mut addresses = self.upload(operands)?;
        addresses.push(("out", self.outputs.memory.address()));
        self.link.expect_result(&self.outputs.memory, elements)?;
        self.launch(compiled, &addresses)?;
        let (what, host) = (compiled.recipe.name(), &mut self.outputs.host);
        let missing = self.link.missing_at_report(&self.outputs.memory, elements, host, what)?;
        // Nothing is left on its way.
        self.link.result(&self.outputs.memory, elements, &mut self.outputs.host, what)?;
        Ok(missing)
    }

    /// Runs a recipe that changes an operand in place.
    pub(super) fn change(&mut self, compiled: &Compiled, operands: &[Named<'_>]) -> Result<(), HpuError> {
        let addresses = self.upload(operands)?;
        self.launch(compiled, &addresses)?;
        self.mark(compiled.recipe.name())
    }

    /// Runs a recipe whose result may be any bytes.
    pub(super) fn fetch(&mut self, compiled: &Compiled, operands: &[Named<'_>]) -> Result<Vec<u8>, HpuError> {
        let bytes = compiled.output().map_or(0, |spec| spec.bytes());
        self.outputs.grow(&self.device, "results", bytes)?;
        let mut addresses = self.upload(operands)?;
        addresses.push(("out", self.outputs.memory.address()));
        self.launch(compiled, &addresses)?;
        let what = compiled.recipe.name();
        self.mark(what)?;
        self.link.bytes_at_rest((&self.outputs.memory, 0), bytes, &mut self.outputs.host, what)
    }

    /// Waits until every launch so far has been run.
    fn mark(&mut self, what: &str) -> Result<(), HpuError> {
        self.link.expect_result(&self.mark.memory, MARK)?;
        let addresses = [("in", self.mark_input.address()), ("out", self.mark.memory.address())];
        let recipe = Arc::clone(&self.mark_recipe);
        self.launch(&recipe, &addresses)?;
        self.link.wait(what)?;
        self.link.result(&self.mark.memory, MARK, &mut self.mark.host, what)?;
        Ok(())
    }

    /// Bytes of device memory that nothing is changing.
    pub(super) fn download(
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
            all.extend(self.link.bytes_at_rest(from, len, &mut self.outputs.host, "a copy")?);
        }
        Ok(all)
    }

    /// Overwrites device memory, and sees that it is so.
    pub(super) fn store(
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
            self.link.stream.upload(&self.inputs.host, chunk.len(), (memory, at))?;
            self.link.until_holds((memory, at), chunk, &mut self.outputs.host, "a copy")?;
            at += chunk.len();
        }
        Ok(())
    }

    /// New memory, all zero: what it held before may be anything, and so Inf or NaN.
    pub(super) fn zeroed(&mut self, what: &'static str, bytes: usize) -> Result<DeviceMemory, HpuError> {
        let bytes = bytes.next_multiple_of(4);
        let failed = |failure| HpuError::of_allocation(what, bytes, failure);
        let memory = DeviceMemory::allocate(&self.device, bytes).map_err(failed)?;
        self.link.stream.fill(&memory, 0, bytes / 4)?;
        let zeros = vec![0; CHUNK_BYTES.min(bytes)];
        self.outputs.grow(&self.device, "results", zeros.len())?;
        for at in (0..bytes).step_by(CHUNK_BYTES) {
            let expected = &zeros[..CHUNK_BYTES.min(bytes - at)];
            self.link.until_holds((&memory, at), expected, &mut self.outputs.host, what)?;
        }
        Ok(memory)
    }
}

/// `out = in + in`, of ones: the smallest thing that is computed.
fn mark_graph() -> Graph {
    let mut graph = Graph::new("mark");
    let ones = graph.input("in", Dtype::Bf16, &[MARK]);
    let out = graph.elementwise("add", Dtype::Bf16, &[ones, ones]);
    graph.output(out, "out");
    graph
}
