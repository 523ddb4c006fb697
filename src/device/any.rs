//! A device whose kind is known at run time only, for callers that cannot be generic over it.

use half::bf16;

use super::emulated::{Emulated, EmulatedPlane};
use super::error::DeviceError;
#[cfg(feature = "hpu")]
use super::hpu::{Hpu, HpuPlane};
use super::plane::{Plane, PlaneLayout};
use super::problem::{AttentionProblem, KeysAndValues, PlanePair};
use super::projection::ProjectKernel;
use super::workspace::AttentionWorkspace;
use super::{Backend, Device};
use crate::{Generation, HeadScales};

/// An emulated device, or a Gaudi.
#[derive(Debug, Clone)]
pub enum AnyDevice {
    /// The CPU, by the arithmetic of a Gaudi.
    Emulated(Emulated),
    /// A Gaudi, through SynapseAI.
    #[cfg(feature = "hpu")]
    Hpu(Hpu),
}

/// A cache plane of [`AnyDevice`]. Only devices of its kind take it.
#[derive(Debug)]
pub enum AnyPlane {
    /// Memory of the CPU.
    Emulated(EmulatedPlane),
    /// Memory of a Gaudi.
    #[cfg(feature = "hpu")]
    Hpu(HpuPlane),
}

impl From<Emulated> for AnyDevice {
    fn from(device: Emulated) -> Self {
        Self::Emulated(device)
    }
}

#[cfg(feature = "hpu")]
impl From<Hpu> for AnyDevice {
    fn from(device: Hpu) -> Self {
        Self::Hpu(device)
    }
}

impl From<EmulatedPlane> for AnyPlane {
    fn from(plane: EmulatedPlane) -> Self {
        Self::Emulated(plane)
    }
}

/// Calls the device, of either kind.
macro_rules! on_device {
    ($any:expr, |$device:ident| $call:expr) => {
        match $any {
            AnyDevice::Emulated($device) => $call,
            #[cfg(feature = "hpu")]
            AnyDevice::Hpu($device) => $call,
        }
    };
}

/// Calls the device with a plane, both of one kind.
macro_rules! on_plane {
    ($any:expr, $any_plane:expr, |$device:ident, $plane:ident| $call:expr) => {
        match ($any, $any_plane) {
            (AnyDevice::Emulated($device), AnyPlane::Emulated($plane)) => $call,
            #[cfg(feature = "hpu")]
            (AnyDevice::Hpu($device), AnyPlane::Hpu($plane)) => $call,
            #[cfg(feature = "hpu")]
            _ => Err(DeviceError::OtherKind),
        }
    };
}

impl AnyDevice {
    /// This device with work on the thread that calls, for work so small that handing it to other threads takes longer.
    /// A Gaudi has no threads, and is returned as it is.
    #[must_use]
    pub fn on_calling_thread(&self) -> Self {
        match self {
            Self::Emulated(device) => Self::Emulated(device.on_calling_thread()),
            #[cfg(feature = "hpu")]
            Self::Hpu(device) => Self::Hpu(device.clone()),
        }
    }
}

impl AnyPlane {
    fn emulated(&self) -> Result<&EmulatedPlane, DeviceError> {
        match self {
            Self::Emulated(plane) => Ok(plane),
            #[cfg(feature = "hpu")]
            Self::Hpu(_) => Err(DeviceError::OtherKind),
        }
    }

    #[cfg(feature = "hpu")]
    fn hpu(&self) -> Result<&HpuPlane, DeviceError> {
        match self {
            Self::Hpu(plane) => Ok(plane),
            Self::Emulated(_) => Err(DeviceError::OtherKind),
        }
    }
}

impl Plane for AnyPlane {
    fn layout(&self) -> &PlaneLayout {
        match self {
            Self::Emulated(plane) => plane.layout(),
            #[cfg(feature = "hpu")]
            Self::Hpu(plane) => plane.layout(),
        }
    }
}

/// The problem over the planes that `of` finds in its own.
fn with_planes<'a, P>(
    problem: &'a AttentionProblem<'_, AnyPlane>,
    of: impl Fn(&'a AnyPlane) -> Result<&'a P, DeviceError>,
) -> Result<AttentionProblem<'a, P>, DeviceError> {
    let pair = |pair: &'a PlanePair<'_, AnyPlane>| {
        let PlanePair { key, value, blocks } = *pair;
        Ok::<_, DeviceError>(PlanePair { key: of(key)?, value: of(value)?, blocks })
    };
    let operands = match &problem.operands {
        KeysAndValues::Planes(planes) => KeysAndValues::Planes(pair(planes)?),
        KeysAndValues::Tensors(tensors) => KeysAndValues::Tensors(*tensors),
        KeysAndValues::ContextAndTensors { context, new } => {
            KeysAndValues::ContextAndTensors { context: pair(context)?, new: *new }
        }
    };
    Ok(problem.over(operands, problem.sequences))
}

impl Device for AnyDevice {
    type Plane = AnyPlane;

    fn generation(&self) -> Generation {
        on_device!(self, |device| device.generation())
    }

    fn backend(&self) -> Backend {
        on_device!(self, |device| device.backend())
    }

    fn description(&self) -> String {
        on_device!(self, |device| device.description())
    }

    fn applies_scales(&self) -> bool {
        on_device!(self, |device| device.applies_scales())
    }

    fn allocate(&self, layout: &PlaneLayout) -> Result<AnyPlane, DeviceError> {
        Ok(match self {
            Self::Emulated(device) => AnyPlane::Emulated(device.allocate(layout)?),
            #[cfg(feature = "hpu")]
            Self::Hpu(device) => AnyPlane::Hpu(device.allocate(layout)?),
        })
    }

    fn write(
        &self,
        plane: &mut AnyPlane,
        rows: &[bf16],
        slots: &[usize],
        quant: &HeadScales,
    ) -> Result<(), DeviceError> {
        on_plane!(self, plane, |device, plane| device.write(plane, rows, slots, quant))
    }

    fn read(
        &self,
        plane: &AnyPlane,
        slots: &[usize],
        dequant: &HeadScales,
        rows: &mut [bf16],
    ) -> Result<(), DeviceError> {
        on_plane!(self, plane, |device, plane| device.read(plane, slots, dequant, rows))
    }

    fn copy_blocks(&self, plane: &mut AnyPlane, pairs: &[(usize, usize)]) -> Result<(), DeviceError> {
        on_plane!(self, plane, |device, plane| device.copy_blocks(plane, pairs))
    }

    fn export_block(&self, plane: &AnyPlane, block: usize) -> Result<Vec<u8>, DeviceError> {
        on_plane!(self, plane, |device, plane| device.export_block(plane, block))
    }

    fn import_block(&self, plane: &mut AnyPlane, block: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        on_plane!(self, plane, |device, plane| device.import_block(plane, block, bytes))
    }

    fn attend(
        &self,
        problem: &AttentionProblem<'_, AnyPlane>,
        workspace: &mut AttentionWorkspace,
        out: &mut [f32],
    ) -> Result<(), DeviceError> {
        match self {
            Self::Emulated(device) => {
                device.attend(&with_planes(problem, AnyPlane::emulated)?, workspace, out)
            }
            #[cfg(feature = "hpu")]
            Self::Hpu(device) => device.attend(&with_planes(problem, AnyPlane::hpu)?, workspace, out),
        }
    }

    fn project(&self, kernel: &ProjectKernel<'_>, out: &mut [bf16]) -> Result<(), DeviceError> {
        on_device!(self, |device| device.project(kernel, out))
    }
}
