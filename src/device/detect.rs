//! Finding the Gaudi of this machine without any vendor software: the PCI bus lists it.

use std::path::Path;

use crate::Generation;

/// Habana Labs on the PCI bus.
const VENDOR: &str = "0x1da3";

/// The generation of the first Gaudi2 or Gaudi3 on this machine's PCI bus, `None` where there is none.
#[must_use]
pub fn installed_generation() -> Option<Generation> {
    scan(Path::new("/sys/bus/pci/devices"))
}

fn scan(bus: &Path) -> Option<Generation> {
    let mut devices: Vec<_> = std::fs::read_dir(bus).ok()?.flatten().map(|entry| entry.path()).collect();
    devices.sort();
    devices.iter().find_map(|device| {
        let read = |name: &str| std::fs::read_to_string(device.join(name)).ok();
        if read("vendor")?.trim() != VENDOR {
            return None;
        }
        generation_of(read("device")?.trim())
    })
}

/// Device ids of the Linux driver and the PCI id registry: `0x1020` is Gaudi2, `0x1060` to `0x1063` are Gaudi3.
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
    fn the_first_gaudi_on_the_bus_is_found_and_others_are_passed_over() {
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
        assert_eq!(scan(bus.path()), Some(Generation::Gaudi3));
        assert_eq!(scan(&bus.path().join("missing")), None);
    }
}
