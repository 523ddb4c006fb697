//! A device whose kind is chosen at run time.

use gaudi_kv::device::emulated::Mode;
use gaudi_kv::device::{AnyDevice, Device, DeviceChoice, DeviceError, HeadScales, PlaneLayout, StorageDtype};
use half::bf16;

use crate::process::{each, open};
use crate::small::{everything, expected};

const LAYOUT: PlaneLayout = PlaneLayout {
    num_blocks: 1,
    has_pad_block: true,
    block_size_tokens: 16,
    heads: 1,
    dim: 4,
    dtype: StorageDtype::Fp8,
};

#[test]
fn either_kind_computes_as_the_device_itself_and_refuses_planes_of_the_other() {
    let gaudi3 = [("SYNAPSE_EMU_DEVICE", "gaudi3")];
    each(
        "any_device::either_kind_computes_as_the_device_itself_and_refuses_planes_of_the_other",
        &[&gaudi3],
        || {
            let hpu = AnyDevice::from(open());
            let choice: DeviceChoice = "gaudi3".parse().unwrap();
            let emulated = choice.open(Some(Mode::Exact)).unwrap();
            let expected = expected(hpu.generation());
            assert_eq!(everything(&hpu).unwrap(), expected);
            assert_eq!(everything(&emulated).unwrap(), expected);
            for (device, other) in [(&hpu, &emulated), (&emulated, &hpu)] {
                let mut plane = other.allocate(&LAYOUT).unwrap();
                let rows = [bf16::ONE; 4];
                let written = device.write(&mut plane, &rows, &[0], &HeadScales::One(1.0));
                assert!(matches!(written, Err(DeviceError::OtherKind)), "{written:?}");
            }
        },
    );
}
