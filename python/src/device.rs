//! The device, and the names of its generations and modes.

use gaudi_kv::Generation;
use gaudi_kv::device::Device as _;
use gaudi_kv::device::emulated::{Emulated, Mode};
use pyo3::prelude::*;

use crate::error::Failure;

/// The generation of that name.
pub(crate) fn generation(name: &str) -> Result<Generation, Failure> {
    let found = Generation::ALL.into_iter().find(|generation| generation.name() == name);
    found.ok_or_else(|| Failure::Option(format!("generation {name:?}; gaudi2 and gaudi3 are known")))
}

/// The mode of that name.
pub(crate) fn mode(name: &str) -> Result<Mode, Failure> {
    match name {
        "exact" => Ok(Mode::Exact),
        "fast" => Ok(Mode::Fast),
        _ => Err(Failure::Option(format!("mode {name:?}; exact and fast are known"))),
    }
}

/// A Gaudi, emulated on the CPU.
///
/// `generation` is `gaudi2` or `gaudi3`. `mode` is `exact`, which accumulates products as the device does, bit for bit, or
/// `fast`, which accumulates in float; what is quantized, and every code in a cache, is the same in both.
///
/// Raises `OptionError` for another generation or mode.
#[pyclass(frozen, module = "gaudi_kv")]
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) emulated: Emulated,
}

#[pymethods]
impl Device {
    #[new]
    #[pyo3(signature = (generation, mode = "exact"))]
    fn new(generation: &str, mode: &str) -> PyResult<Self> {
        Ok(Self { emulated: Emulated::new(self::generation(generation)?, self::mode(mode)?) })
    }

    /// `gaudi2` or `gaudi3`.
    #[getter]
    fn generation(&self) -> &'static str {
        self.emulated.generation().name()
    }

    /// `exact` or `fast`.
    #[getter]
    fn mode(&self) -> String {
        self.emulated.mode().to_string()
    }

    /// The largest finite e4m3 value that the device writes: 240.0 or 448.0.
    #[getter]
    fn fp8_max(&self) -> f32 {
        self.emulated.generation().fp8_max()
    }

    /// What it is, for people.
    #[getter]
    fn description(&self) -> String {
        self.emulated.description()
    }

    fn __repr__(&self) -> String {
        format!("Device('{}', '{}')", self.generation(), self.mode())
    }
}

/// The generation of the first Gaudi on this machine's PCI bus, `None` where there is none.
#[pyfunction]
pub(crate) fn installed_generation() -> Option<&'static str> {
    gaudi_kv::device::installed_generation().map(Generation::name)
}
