//! One library and one device a process.

use gaudi_kv::Generation;
use gaudi_kv::device::Device;
use gaudi_kv::device::hpu::{Hpu, HpuError, HpuOptions, MODULE_ENV, reported_generation, reported_modules};

use crate::process::{each, library, open, options, run};

fn module(module_id: u32) -> HpuOptions {
    HpuOptions { module_id: Some(module_id), ..options() }
}

#[test]
fn a_process_holds_one_device() {
    let two = [("SYNAPSE_EMU_CARDS", "2"), ("SYNAPSE_EMU_DEVICE", "gaudi3")];
    each("holding::a_process_holds_one_device", &[&two], || {
        let first = Hpu::open(&module(1)).unwrap();
        assert_eq!((first.module(), first.generation()), (Some(1), Generation::Gaudi3));
        // The same device, whether it is asked for or not.
        for same in [Hpu::open(&module(1)).unwrap(), Hpu::open(&options()).unwrap()] {
            assert_eq!(same.module(), Some(1));
            assert_eq!(same.recipe_statistics(), first.recipe_statistics());
        }
        let other = Hpu::open(&module(0));
        let Err(HpuError::OtherModule { held: Some(1), asked: 0 }) = other else { panic!("{other:?}") };
        let said = first.description();
        assert!(said.starts_with("gaudi3, module 1, SynapseAI synapse-emu"), "{said}");
        assert!(said.contains("libSynapse.so"), "{said}");
        let (free, total) = first.memory_bytes().unwrap();
        assert!(free < total && total == 4 << 30);
        // A plane keeps the device.
        let layout = gaudi_kv::device::PlaneLayout {
            num_blocks: 1,
            has_pad_block: true,
            block_size_tokens: 16,
            heads: 1,
            dim: 4,
            dtype: gaudi_kv::device::StorageDtype::Fp8,
        };
        let plane = first.allocate(&layout).unwrap();
        drop(first);
        drop(plane);
        assert_eq!(Hpu::open(&module(0)).unwrap().module(), Some(0));
    });
}

#[test]
fn the_environment_names_a_module() {
    if !crate::process::is_scenario() {
        for (value, cards) in [("1", "2"), ("x", "1"), ("7", "1")] {
            run(
                "holding::the_environment_names_a_module",
                &[(MODULE_ENV, value), ("SYNAPSE_EMU_CARDS", cards)],
            );
        }
        return;
    }
    match std::env::var(MODULE_ENV).unwrap().as_str() {
        "1" => assert_eq!(open().module(), Some(1)),
        "x" => {
            let error = Hpu::open(&options()).unwrap_err().to_string();
            assert_eq!(error, "HLS_MODULE_ID is \"x\"; the number of a module is needed");
        }
        _ => {
            let error = Hpu::open(&options()).unwrap_err();
            let HpuError::Call(failure) = &error else { panic!("{error}") };
            assert_eq!(
                (failure.function, failure.arguments.as_str()),
                ("synDeviceAcquireByModuleId", "module 7")
            );
        }
    }
}

#[test]
fn a_listing_takes_no_device() {
    let three = [("SYNAPSE_EMU_CARDS", "3"), ("SYNAPSE_EMU_DEVICE", "gaudi3")];
    each("holding::a_listing_takes_no_device", &[&three], || {
        let report = reported_modules(&options()).unwrap();
        assert_eq!((report.gaudi2, report.gaudi3), (0, 3));
        assert_eq!(report.library.canonicalize().unwrap(), library().canonicalize().unwrap());
        let modules = report.modules.unwrap();
        let numbers: Vec<u32> = modules.iter().map(|module| module.module).collect();
        assert_eq!(numbers, [0, 1, 2]);
        assert!(modules.iter().all(|module| module.generation == Some(Generation::Gaudi3)));
        assert!(modules.iter().all(|module| module.memory_bytes == Some((4 << 30, 4 << 30))));
        assert_eq!(reported_generation(&options()).unwrap(), Generation::Gaudi3);
        assert_eq!(Hpu::open(&module(2)).unwrap().module(), Some(2));
    });
}
