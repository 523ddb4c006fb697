//! Finding the Gaudi of this machine without any vendor software: the PCI bus lists it.

use std::path::Path;

use crate::Generation;

/// The PCI vendor id of Habana Labs.
const VENDOR: &str = "0x1da3";

/// A device of Habana Labs on the PCI bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledDevice {
    /// The address on the bus, such as `0000:19:00.0`.
    pub address: String,
    /// The PCI device id, such as `0x1020`.
    pub device_id: String,
    /// The generation; `None` for a device that is neither a Gaudi2 nor a Gaudi3.
    pub generation: Option<Generation>,
}

/// The devices of Habana Labs on this machine's PCI bus, by address.
#[must_use]
pub fn installed_devices() -> Vec<InstalledDevice> {
    scan(Path::new("/sys/bus/pci/devices"))
}

/// The generation of the first Gaudi2 or Gaudi3 on this machine's PCI bus, `None` where there is none.
#[must_use]
pub fn installed_generation() -> Option<Generation> {
    installed_devices().into_iter().find_map(|device| device.generation)
}

fn scan(bus: &Path) -> Vec<InstalledDevice> {
    let Ok(entries) = std::fs::read_dir(bus) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let device = |path: &Path| {
        let read = |name: &str| Some(std::fs::read_to_string(path.join(name)).ok()?.trim().to_owned());
        if read("vendor")? != VENDOR {
            return None;
        }
        let device_id = read("device")?;
        let address = path.file_name()?.to_string_lossy().into_owned();
        Some(InstalledDevice { address, generation: generation_of(&device_id), device_id })
    };
    paths.iter().filter_map(|path| device(path)).collect()
}

/// The generation of a PCI device id. Ids are those of the Linux driver and the PCI id registry: `0x1020` is Gaudi2, `0x1060` to `0x1063` are Gaudi3.
fn generation_of(device: &str) -> Option<Generation> {
    match device {
        "0x1020" => Some(Generation::Gaudi2),
        "0x1060" | "0x1061" | "0x1062" | "0x1063" => Some(Generation::Gaudi3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_of_the_vendor_are_listed_and_those_known_have_a_generation() {
        let bus = tempfile::tempdir().unwrap();
        let devices = [
            ("0000:01:00.0", "0x8086", "0x1020"),
            ("0000:02:00.0", VENDOR, "0x1000"),
            ("0000:03:00.0", VENDOR, "0x1060"),
        ];
        for (slot, vendor, device) in devices {
            let path = bus.path().join(slot);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("vendor"), format!("{vendor}\n")).unwrap();
            std::fs::write(path.join("device"), format!("{device}\n")).unwrap();
        }
        let device = |address: &str, device_id: &str, generation| InstalledDevice {
            address: address.to_owned(),
            device_id: device_id.to_owned(),
            generation,
        };
        let expected = [
            device("0000:02:00.0", "0x1000", None),
            device("0000:03:00.0", "0x1060", Some(Generation::Gaudi3)),
        ];
        assert_eq!(scan(bus.path()), expected);
        assert!(scan(&bus.path().join("missing")).is_empty());
    }
}
