//! Running the graphs of questions, and reading their results.

use std::sync::Arc;

use habana_sys::synDeviceType;
use half::bf16;
use xxhash_rust::xxh3::xxh3_64;

use crate::Generation;
use crate::device::hpu::engine::{Engine, NamedOperand, Operand};
use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::GraphSpec;
use crate::device::hpu::recipes::{Compiled, compile};
use crate::device::hpu::synapse::Api;

/// The size of the fastest-changing dimension: fast kernels are not trusted below.
pub(super) const WIDTH: usize = 128;

/// How many bytes are written out.
const SHOWN: usize = 16;

/// A device while it is asked questions.
pub(crate) struct ProbeSession<'a> {
    pub(crate) generation: Generation,
    pub(crate) api: &'a Arc<Api>,
    pub(crate) device_type: synDeviceType,
    pub(crate) engine: &'a mut Engine,
}

/// An operand's name and bytes.
pub(super) type ProbeOperand = (&'static str, Vec<u8>);

fn named(operands: Vec<ProbeOperand>) -> Vec<NamedOperand<'static>> {
    operands.into_iter().map(|(name, bytes)| (name, Operand::Bytes(bytes))).collect()
}

impl ProbeSession<'_> {
    /// Compiles a recipe anew, whatever is kept in memory or in files.
    pub(super) fn compile(&self, graph: &GraphSpec) -> Result<Compiled, HpuError> {
        Compiled::new(compile(self.api, self.device_type, graph)?, graph)
    }

    /// Runs a graph, and gives the bytes of its result `out`.
    pub(super) fn run(
        &mut self,
        graph: &GraphSpec,
        operands: Vec<ProbeOperand>,
    ) -> Result<Vec<u8>, HpuError> {
        let compiled = self.compile(graph)?;
        self.engine.fetch(&compiled, &named(operands))
    }

    /// Runs a graph, and gives its float32 result `out`.
    pub(super) fn run_f32(
        &mut self,
        graph: &GraphSpec,
        operands: Vec<ProbeOperand>,
    ) -> Result<Vec<f32>, HpuError> {
        let bytes = self.run(graph, operands)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    /// Runs a graph that changes the operand `name` in place, `before` at first, and gives its bytes after.
    pub(super) fn change(
        &mut self,
        graph: &GraphSpec,
        (name, before): ProbeOperand,
        operands: Vec<ProbeOperand>,
    ) -> Result<Vec<u8>, HpuError> {
        let compiled = self.compile(graph)?;
        let memory = self.engine.zeroed("an operand", before.len())?;
        self.engine.store(&memory, 0, &before)?;
        let mut operands = named(operands);
        operands.push((name, Operand::Memory(&memory)));
        self.engine.change(&compiled, &operands)?;
        self.engine.download(&memory, 0, before.len())
    }
}

/// The bytes of float32 numbers.
pub(super) fn f32s(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

/// The bytes of bfloat16 numbers.
pub(super) fn bf16s(values: impl IntoIterator<Item = bf16>) -> Vec<u8> {
    values.into_iter().flat_map(bf16::to_le_bytes).collect()
}

/// Pseudo-random words of a seed.
pub(super) fn words(seed: u64, count: usize) -> impl Iterator<Item = u64> {
    (0..count as u64).map(move |number| xxh3_64(&[seed.to_le_bytes(), number.to_le_bytes()].concat()))
}

/// Bytes as text: the first ones, and a digest where there are more.
pub(super) fn shown(bytes: &[u8]) -> String {
    let hex: Vec<String> = bytes.iter().take(SHOWN).map(|byte| format!("{byte:02x}")).collect();
    let all = if bytes.len() > SHOWN {
        format!(" .. ({} bytes, xxh3 {:016x})", bytes.len(), xxh3_64(bytes))
    } else {
        String::new()
    };
    hex.join(" ") + &all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_bytes_are_shortened() {
        assert_eq!(shown(&[0, 0x7F, 0xA5]), "00 7f a5");
        let long = shown(&[1; 40]);
        assert!(long.starts_with("01 01") && long.contains("(40 bytes, xxh3 "), "{long}");
        assert_ne!(long, shown(&[[1; 39].as_slice(), &[2]].concat()));
    }
}
