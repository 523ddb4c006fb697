//! `gaudi-kv devices`.

use gaudi_kv::device::{DeviceError, InstalledDevice, installed_devices};
use serde::Serialize;

use super::args::DevicesArguments;
use super::display::counted;
use super::outcome::{CommandError, Outcome};
use super::output::{to_json, write_result};

/// What is there.
#[derive(Debug, Serialize)]
struct Devices {
    /// On the PCI bus.
    installed: Vec<Installed>,
    /// What the library reports; null where there is none.
    library: Option<Library>,
    /// Why there is no library.
    library_missing: Option<String>,
}

#[derive(Debug, Serialize)]
struct Installed {
    address: String,
    device_id: String,
    generation: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Library {
    path: String,
    version: String,
    gaudi2: u32,
    gaudi3: u32,
    /// Null where the library cannot list them.
    modules: Option<Vec<Module>>,
}

#[derive(Debug, Serialize)]
struct Module {
    module: u32,
    generation: Option<&'static str>,
    memory_free_bytes: Option<u64>,
    memory_total_bytes: Option<u64>,
}

impl From<InstalledDevice> for Installed {
    fn from(device: InstalledDevice) -> Self {
        let generation = device.generation.map(gaudi_kv::Generation::name);
        Self { address: device.address, device_id: device.device_id, generation }
    }
}

/// Lists the Gaudis of this machine, as its bus and as the library have them, or probes one. None to list is no error; a
/// library that was named and cannot be used is one, and so is none to probe.
pub(super) fn run(arguments: &DevicesArguments) -> Result<Outcome, CommandError> {
    if arguments.probe {
        return probe(arguments);
    }
    let installed = installed_devices().into_iter().map(Installed::from).collect();
    let (library, library_missing) = library(arguments)?;
    let devices = Devices { installed, library, library_missing };
    write_result(&if arguments.json { to_json(&devices)? } else { render(&devices) })?;
    Ok(Outcome::Fine)
}

#[cfg(feature = "hpu")]
fn probe(arguments: &DevicesArguments) -> Result<Outcome, CommandError> {
    super::probe::run(arguments)
}

#[cfg(not(feature = "hpu"))]
fn probe(_: &DevicesArguments) -> Result<Outcome, CommandError> {
    Err(DeviceError::NoHpu.into())
}

#[cfg(feature = "hpu")]
fn library(arguments: &DevicesArguments) -> Result<(Option<Library>, Option<String>), CommandError> {
    use gaudi_kv::device::hpu::{HpuOptions, reported_modules};
    let options = HpuOptions { library: arguments.library.clone(), ..HpuOptions::default() };
    let report = match reported_modules(&options) {
        Ok(report) => report,
        Err(error) if error.is_of_a_search() => return Ok((None, Some(error.to_string()))),
        Err(error) => return Err(DeviceError::from(error).into()),
    };
    let modules = report.modules.map(|modules| {
        let module = |module: gaudi_kv::device::hpu::ModuleReport| Module {
            module: module.module,
            generation: module.generation.map(gaudi_kv::Generation::name),
            memory_free_bytes: module.memory_bytes.map(|(free, _)| free),
            memory_total_bytes: module.memory_bytes.map(|(_, total)| total),
        };
        modules.into_iter().map(module).collect()
    });
    let library = Library {
        path: report.library.display().to_string(),
        version: report.version,
        gaudi2: report.gaudi2,
        gaudi3: report.gaudi3,
        modules,
    };
    Ok((Some(library), None))
}

#[cfg(not(feature = "hpu"))]
fn library(arguments: &DevicesArguments) -> Result<(Option<Library>, Option<String>), CommandError> {
    if arguments.library.is_some() {
        return Err(DeviceError::NoHpu.into());
    }
    Ok((None, Some(DeviceError::NoHpu.to_string())))
}

fn render(devices: &Devices) -> String {
    let mut text = String::new();
    let mut line = |label: &str, value: String| text.push_str(&format!("{label:<12} {value}\n"));
    if devices.installed.is_empty() {
        line("installed", "no Gaudi on the PCI bus".to_owned());
    }
    for device in &devices.installed {
        let name = device.generation.unwrap_or("not supported");
        line("installed", format!("{} {name} ({})", device.address, device.device_id));
    }
    if let Some(reason) = &devices.library_missing {
        line("library", reason.clone());
    }
    if let Some(library) = &devices.library {
        line("library", format!("{}, version {}", library.path, library.version));
        line(
            "reported",
            format!("{} of gaudi2, {} of gaudi3", counted(library.gaudi2 as usize, "device"), library.gaudi3),
        );
        match &library.modules {
            None => line("modules", "this library cannot list them".to_owned()),
            Some(modules) => {
                for module in modules {
                    let name = module.generation.unwrap_or("unknown or not supported");
                    let memory = match (module.memory_free_bytes, module.memory_total_bytes) {
                        (Some(free), Some(total)) => {
                            format!(", {} of {} MiB free", free >> 20, total >> 20)
                        }
                        _ => String::new(),
                    };
                    line("module", format!("{} {name}{memory}", module.module));
                }
            }
        }
    }
    text
}
