//! Devices by their names, and the names of generations and modes.

use gaudi_kv::Generation;
use gaudi_kv::device::emulated::Mode;
use gaudi_kv::device::{AnyDevice, Backend, Device as _, DeviceChoice};
use pyo3::prelude::*;

use crate::error::Failure;

/// The generation that is called `name`.
pub(crate) fn generation(name: &str) -> Result<Generation, Failure> {
    let found = Generation::ALL.into_iter().find(|generation| generation.name() == name);
    found.ok_or_else(|| Failure::Option(format!("generation {name:?}; gaudi2 and gaudi3 are known")))
}

/// The device that is called `name`.
pub(crate) fn choice(name: &str) -> Result<DeviceChoice, Failure> {
    name.parse().map_err(|error| Failure::Option(format!("device {name:?}: {error}")))
}

/// The mode of accumulation that is called `name`.
pub(crate) fn mode(name: &str) -> Result<Mode, Failure> {
    match name {
        "exact" => Ok(Mode::Exact),
        "fast" => Ok(Mode::Fast),
        _ => Err(Failure::Option(format!("mode {name:?}; exact and fast are known"))),
    }
}

/// A device: a Gaudi, or one that is emulated on the CPU.
///
/// `generation` is `gaudi2` or `gaudi3` for an emulated one, `hpu` for any free Gaudi of this machine, `hpu:3` for that of
/// module 3; a Gaudi is taken until this object and all that was made with it are gone. `mode` is of emulated devices alone:
/// `exact`, the default, accumulates products as the device does, bit for bit, and `fast` accumulates in float; what is
/// quantized, and every code in a cache, is the same in both.
///
/// Raises `OptionError` for another generation or mode, `DeviceError` where there is no such Gaudi or it cannot be taken.
#[pyclass(frozen, module = "gaudi_kv")]
#[derive(Debug)]
pub(crate) struct Device {
    choice: DeviceChoice,
    pub(crate) device: AnyDevice,
}

#[pymethods]
impl Device {
    #[new]
    #[pyo3(signature = (generation, mode = None))]
    fn new(py: Python<'_>, generation: &str, mode: Option<&str>) -> PyResult<Self> {
        let choice = choice(generation)?;
        let mode = mode.map(self::mode).transpose()?;
        let device = py.detach(|| choice.open(mode)).map_err(Failure::from)?;
        Ok(Self { choice, device })
    }

    /// The generation: `gaudi2` or `gaudi3`.
    #[getter]
    fn generation(&self) -> &'static str {
        self.device.generation().name()
    }

    /// How products are accumulated: `exact`, `fast`, or `hpu` for as a Gaudi does.
    #[getter]
    fn mode(&self) -> &'static str {
        self.device.backend().arithmetic()
    }

    /// The kind of device: `emulated`, or `hpu` for a Gaudi.
    #[getter]
    fn backend(&self) -> &'static str {
        self.device.backend().name()
    }

    /// The largest finite e4m3 value that the device writes: 240.0 or 448.0.
    #[getter]
    fn fp8_max(&self) -> f32 {
        self.device.generation().fp8_max()
    }

    /// What the device is, for people.
    #[getter]
    fn description(&self) -> String {
        self.device.description()
    }

    fn __repr__(&self) -> String {
        match self.device.backend() {
            Backend::Emulated(mode) => format!("Device('{}', '{mode}')", self.choice),
            Backend::Hpu => format!("Device('{}')", self.choice),
        }
    }
}

impl Device {
    /// The device of a cache in tensors of the CPU.
    ///
    /// # Errors
    /// The device is a Gaudi, whose caches lie in its own memory.
    pub(crate) fn for_tensors(&self) -> Result<AnyDevice, Failure> {
        match self.device.backend() {
            Backend::Emulated(_) => Ok(self.device.clone()),
            Backend::Hpu => Err(Failure::NotOfTensors),
        }
    }
}

/// The generation of the first Gaudi on this machine's PCI bus, `None` where there is none.
#[pyfunction]
pub(crate) fn installed_generation() -> Option<&'static str> {
    gaudi_kv::device::installed_generation().map(Generation::name)
}
