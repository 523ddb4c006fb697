//! The choice of kernels that move FP8 codes.
//!
//! The vendor's lists name no kernel that gathers or copies `hf8`, and what runs in their place on a machine may convert
//! the codes on the way. So the FP8 form is tried once a device, with every code, and where the compiler refuses it or a
//! code changes, the codes are moved as 8-bit integers.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use habana_sys::{synDeviceType, synStatus};
use tracing::info;

use super::engine::{Engine, Operand, index_bytes};
use super::error::HpuError;
use super::graph::{Dtype, Fp8View, GraphSpec};
use super::recipes::{Compiled, compile};
use super::synapse::Api;
use crate::device::StorageDtype;

/// The rows of the plane that a kernel is tried on, rows that are moved, and the length of each.
const PLANE_ROWS: usize = 256;
const MOVED_ROWS: usize = 128;
const ROW: usize = 128;

/// A kernel that moves FP8 codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodeMover {
    Gather,
    IndexCopy,
}

impl CodeMover {
    const ALL: [Self; 2] = [Self::Gather, Self::IndexCopy];

    const fn name(self) -> &'static str {
        match self {
            Self::Gather => "gather_fwd",
            Self::IndexCopy => "index_copy_fwd",
        }
    }

    /// The smallest graph that needs its FP8 form.
    fn trial(self) -> GraphSpec {
        let mut graph = GraphSpec::new("trial");
        let data = graph.input("data", Dtype::Fp8, &[PLANE_ROWS, ROW]);
        let indices = graph.input("indices", Dtype::I32, &[MOVED_ROWS]);
        match self {
            Self::Gather => {
                let out = graph.gather_rows(data, indices);
                graph.output(out, "out");
            }
            Self::IndexCopy => {
                let source = graph.input("source", Dtype::Fp8, &[MOVED_ROWS, ROW]);
                graph.index_copy_in_place("data_out", data, indices, source);
            }
        }
        graph
    }

    /// Runs the trial with every code, and counts the bytes that are not what was moved.
    fn changed_bytes(self, compiled: &Compiled, engine: &mut Engine) -> Result<usize, HpuError> {
        // Steps of 3 along the rows, so that both halves of the plane hold every code.
        let codes = |rows: usize| -> Vec<u8> {
            (0..rows * ROW).map(|at| (3 * (at / ROW) + at % ROW) as u8).collect()
        };
        let places = (0..MOVED_ROWS).map(|row| PLANE_ROWS - 1 - 2 * row);
        let (moved, expected) = match self {
            Self::Gather => {
                let data = codes(PLANE_ROWS);
                let expected = places.clone().flat_map(|row| data[row * ROW..(row + 1) * ROW].to_vec());
                let expected: Vec<u8> = expected.collect();
                let operands = [("data", Operand::Bytes(data)), ("indices", index_bytes(places))];
                (engine.fetch(compiled, &operands)?, expected)
            }
            Self::IndexCopy => {
                let source = codes(MOVED_ROWS);
                let mut expected = vec![0; PLANE_ROWS * ROW];
                for (row, codes) in places.clone().zip(source.chunks_exact(ROW)) {
                    expected[row * ROW..(row + 1) * ROW].copy_from_slice(codes);
                }
                let plane = engine.zeroed("the plane that a kernel is tried on", PLANE_ROWS * ROW)?;
                let operands = [
                    ("data", Operand::Memory(&plane)),
                    ("indices", index_bytes(places)),
                    ("source", Operand::Bytes(source)),
                ];
                engine.change(compiled, &operands)?;
                (engine.download(&plane, 0, PLANE_ROWS * ROW)?, expected)
            }
        };
        Ok(moved.iter().zip(&expected).filter(|(moved, expected)| moved != expected).count())
    }
}

/// The form of a kernel that is taken, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelChoice {
    /// The kernel's guid.
    pub guid: String,
    /// Why it is not the FP8 form: what the compiler said to that, or what the kernel did to the codes.
    pub refused: Option<String>,
}

impl fmt::Display for KernelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.refused {
            None => f.write_str(&self.guid),
            Some(reason) => write!(f, "{}, not the FP8 form: {reason}", self.guid),
        }
    }
}

/// The kernels chosen so far, and what choosing takes.
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

    /// The type that a kernel moves a plane's elements as.
    pub(super) fn view(
        &self,
        mover: CodeMover,
        dtype: StorageDtype,
        engine: &mut Engine,
    ) -> Result<Fp8View, HpuError> {
        if dtype != StorageDtype::Fp8 {
            return Ok(Fp8View::Native);
        }
        let choice = self.choice(mover, engine)?;
        Ok(if choice.refused.is_none() { Fp8View::Native } else { Fp8View::Int8 })
    }

    fn choice(&self, mover: CodeMover, engine: &mut Engine) -> Result<KernelChoice, HpuError> {
        let mut chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        let place = &mut chosen[mover as usize];
        if let Some(choice) = place {
            return Ok(choice.clone());
        }
        let refused = self.refusal(mover, engine)?;
        let dtype = if refused.is_none() { Dtype::Fp8 } else { Dtype::I8 };
        let choice = KernelChoice { guid: format!("{}_{}", mover.name(), dtype.suffix()), refused };
        info!(%choice, "kernel for FP8 codes");
        *place = Some(choice.clone());
        Ok(choice)
    }

    /// The reason why the FP8 form cannot be taken, if it cannot.
    fn refusal(&self, mover: CodeMover, engine: &mut Engine) -> Result<Option<String>, HpuError> {
        let graph = mover.trial();
        let recipe = match compile(&self.api, self.device_type, &graph) {
            Ok(recipe) => recipe,
            Err(HpuError::Call(failure))
                if matches!(failure.function, "synNodeCreateWithId" | "synGraphCompile")
                    && matches!(failure.status, synStatus::synFail | synStatus::synUnsupported) =>
            {
                return Ok(Some(format!("the compiler refuses it ({failure})")));
            }
            Err(other) => return Err(other),
        };
        let changed = mover.changed_bytes(&Compiled::new(recipe, &graph)?, engine)?;
        Ok((changed > 0).then(|| format!("it changes codes ({changed} bytes of a trial with all of them)")))
    }

    /// Chooses all kernels.
    pub(super) fn choices(&self, engine: &mut Engine) -> Result<Vec<KernelChoice>, HpuError> {
        CodeMover::ALL.into_iter().map(|mover| self.choice(mover, engine)).collect()
    }
}
