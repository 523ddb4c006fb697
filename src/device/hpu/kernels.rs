//! Which kernels the compiler has for FP8 codes.
//!
//! The vendor's lists name no kernel that gathers or copies `hf8`, and what runs in their place on a machine may convert
//! the codes on the way. So the FP8 form is tried once a device, and where the compiler refuses it, the codes are moved
//! as 8-bit integers.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use habana_sys::{synDeviceType, synStatus};
use tracing::info;

use super::build::compile;
use super::error::HpuError;
use super::graph::{Dtype, Graph};
use super::synapse::Api;
use crate::device::StorageDtype;

/// As what FP8 codes are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fp8View {
    /// As FP8 codes.
    Native,
    /// As 8-bit integers.
    Int8,
}

impl Fp8View {
    /// The element type that a plane is given to a recipe as.
    pub(super) const fn stored(self, dtype: StorageDtype) -> Dtype {
        match (dtype, self) {
            (StorageDtype::Fp8, Self::Native) => Dtype::Fp8,
            (StorageDtype::Fp8, Self::Int8) => Dtype::I8,
            (StorageDtype::Bf16, _) => Dtype::Bf16,
            (StorageDtype::F32, _) => Dtype::F32,
        }
    }
}

/// A kernel that moves FP8 codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mover {
    Gather,
    IndexCopy,
}

impl Mover {
    const ALL: [Self; 2] = [Self::Gather, Self::IndexCopy];

    const fn name(self) -> &'static str {
        match self {
            Self::Gather => "gather_fwd",
            Self::IndexCopy => "index_copy_fwd",
        }
    }

    /// The smallest graph that needs its FP8 form.
    fn probe(self) -> Graph {
        let mut graph = Graph::new("probe");
        let data = graph.input("data", Dtype::Fp8, &[256, 128]);
        let indices = graph.input("indices", Dtype::I32, &[128]);
        match self {
            Self::Gather => {
                let out = graph.gather_rows(data, indices);
                graph.output(out, "out");
            }
            Self::IndexCopy => {
                let source = graph.input("source", Dtype::Fp8, &[128, 128]);
                graph.index_copy_in_place("data_out", data, indices, source);
            }
        }
        graph
    }
}

/// Which form of a kernel is taken, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelChoice {
    /// The kernel's guid.
    pub guid: String,
    /// Why it is not the FP8 form: what the compiler said to that.
    pub refused: Option<String>,
}

impl fmt::Display for KernelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.refused {
            None => f.write_str(&self.guid),
            Some(reason) => write!(f, "{}, as the compiler has no FP8 form ({reason})", self.guid),
        }
    }
}

/// The choices made so far.
#[derive(Debug)]
pub(super) struct Kernels {
    api: Arc<Api>,
    device_type: synDeviceType,
    chosen: Mutex<[Option<KernelChoice>; 2]>,
}

impl Kernels {
    pub(super) fn new(api: &Arc<Api>, device_type: synDeviceType) -> Self {
        Self { api: Arc::clone(api), device_type, chosen: Mutex::default() }
    }

    /// As what a kernel moves the elements of a plane.
    pub(super) fn view(&self, mover: Mover, dtype: StorageDtype) -> Result<Fp8View, HpuError> {
        if dtype != StorageDtype::Fp8 {
            return Ok(Fp8View::Native);
        }
        let choice = self.choice(mover)?;
        Ok(if choice.refused.is_none() { Fp8View::Native } else { Fp8View::Int8 })
    }

    fn choice(&self, mover: Mover) -> Result<KernelChoice, HpuError> {
        let mut chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        let place = &mut chosen[mover as usize];
        if let Some(choice) = place {
            return Ok(choice.clone());
        }
        let refused = match compile(&self.api, self.device_type, &mover.probe()) {
            Ok(_) => None,
            Err(HpuError::Call(failure))
                if matches!(failure.function, "synNodeCreateWithId" | "synGraphCompile")
                    && matches!(failure.status, synStatus::synFail | synStatus::synUnsupported) =>
            {
                Some(failure.to_string())
            }
            Err(other) => return Err(other),
        };
        let dtype = if refused.is_none() { Dtype::Fp8 } else { Dtype::I8 };
        let choice = KernelChoice { guid: format!("{}_{}", mover.name(), dtype.suffix()), refused };
        info!(%choice, "kernel for FP8 codes");
        *place = Some(choice.clone());
        Ok(choice)
    }

    /// The choices for all kernels.
    pub(super) fn choices(&self) -> Result<Vec<KernelChoice>, HpuError> {
        Mover::ALL.into_iter().map(|mover| self.choice(mover)).collect()
    }
}
