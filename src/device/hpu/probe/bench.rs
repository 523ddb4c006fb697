//! What questions are asked with.

use std::sync::Arc;

use habana_sys::synDeviceType;
use half::bf16;
use xxhash_rust::xxh3::xxh3_64;

use crate::Generation;
use crate::device::hpu::build::compile;
use crate::device::hpu::engine::{Engine, Named, Operand};
use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::Graph;
use crate::device::hpu::recipes::Compiled;
use crate::device::hpu::synapse::Api;

/// Elements of the fastest-changing dimension: fast kernels are not trusted below.
pub(super) const WIDTH: usize = 128;

/// Bytes that are written out.
const SHOWN: usize = 16;

/// A device for questions.
pub(in crate::device::hpu) struct Bench<'a> {
    pub(in crate::device::hpu) generation: Generation,
    pub(in crate::device::hpu) api: &'a Arc<Api>,
    pub(in crate::device::hpu) device_type: synDeviceType,
    pub(in crate::device::hpu) engine: &'a mut Engine,
}

/// The bytes of an operand, by its name.
pub(super) type Given = (&'static str, Vec<u8>);

fn named(operands: Vec<Given>) -> Vec<Named<'static>> {
    operands.into_iter().map(|(name, bytes)| (name, Operand::Bytes(bytes))).collect()
}

impl Bench<'_> {
    /// A recipe of its own, whatever is kept in memory or in files.
    pub(super) fn compile(&self, graph: &Graph) -> Result<Compiled, HpuError> {
        Compiled::new(compile(self.api, self.device_type, graph)?, graph)
    }

    /// The bytes of a graph's result `out`.
    pub(super) fn run(&mut self, graph: &Graph, operands: Vec<Given>) -> Result<Vec<u8>, HpuError> {
        let compiled = self.compile(graph)?;
        self.engine.fetch(&compiled, &named(operands))
    }

    /// The bytes of a graph's result `out`, which is float32.
    pub(super) fn run_f32(&mut self, graph: &Graph, operands: Vec<Given>) -> Result<Vec<f32>, HpuError> {
        let bytes = self.run(graph, operands)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    /// The bytes of the operand `name`, `before` at first, which a graph changes in place.
    pub(super) fn change(
        &mut self,
        graph: &Graph,
        (name, before): Given,
        operands: Vec<Given>,
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

/// Numbers with nothing in common, the same each time.
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
