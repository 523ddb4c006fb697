//! Planes: what is written, read, copied and moved is byte for byte what the emulated device has.

use gaudi_kv::device::emulated::{Emulated, Mode};
use gaudi_kv::device::hpu::HpuError;
use gaudi_kv::device::{Device, DeviceError, HeadScales, PlaneLayout, ProjectKernel, StorageDtype};
use half::bf16;

use crate::numbers::Random;
use crate::process::{MACHINES, each, open};

const DTYPES: [StorageDtype; 3] = [StorageDtype::Fp8, StorageDtype::Bf16, StorageDtype::F32];

fn layout(dtype: StorageDtype) -> PlaneLayout {
    PlaneLayout { num_blocks: 4, has_pad_block: true, block_size_tokens: 16, heads: 3, dim: 5, dtype }
}

/// Ordinary numbers, and some of each kind that is not; every NaN a quiet one.
fn hostile(random: &mut Random, len: usize) -> Vec<bf16> {
    let mut values = random.bf16s(len, 3.0);
    for value in &mut values {
        match random.between(0, 15) {
            0 => *value = random.pick(&[bf16::INFINITY, bf16::NEG_INFINITY, bf16::NAN, bf16::MAX, bf16::MIN]),
            1 => *value = bf16::from_f32(random.pick(&[1e-5, -1e-39, 0.0, -0.0])),
            // Those that mark a result as not there yet.
            2 => *value = bf16::from_bits(random.pick(&[0x7FC1, 0x7FC2])),
            _ => {}
        }
    }
    values
}

fn blocks<D: Device>(device: &D, layout: &PlaneLayout, plane: &D::Plane) -> Vec<Vec<u8>> {
    (0..=layout.num_blocks).map(|block| device.export_block(plane, block).unwrap()).collect()
}

/// Takes fixed steps on a device and returns what came out of each.
fn steps<D: Device>(device: &D, layout: &PlaneLayout, scales: (&HeadScales, &HeadScales)) -> Vec<Vec<u8>> {
    let random = &mut Random::new(9);
    let mut plane = device.allocate(layout).unwrap();
    let mut seen = blocks(device, layout, &plane);
    assert!(seen.iter().flatten().all(|byte| *byte == 0), "fresh memory is zero");
    for rows in [1, 3, 16, 37, 80] {
        // Slots more than once, so that the last one counts.
        let slots: Vec<usize> = (0..rows).map(|_| random.between(0, layout.slots() - 1)).collect();
        let values = hostile(random, rows * layout.row());
        device.write(&mut plane, &values, &slots, scales.0).unwrap();
        seen.extend(blocks(device, layout, &plane));
        let mut read = vec![bf16::ONE; rows * layout.row()];
        device.read(&plane, &slots, scales.1, &mut read).unwrap();
        seen.push(read.iter().flat_map(|value| value.to_bits().to_le_bytes()).collect());
    }
    for pairs in [
        &[(0, 1), (1, 2), (2, 0)][..],
        &[(0, 4), (1, 0), (4, 1)],
        &[(3, 3)],
        &[(0, 1), (2, 1), (1, 3), (3, 2), (2, 4)],
        &[],
    ] {
        device.copy_blocks(&mut plane, pairs).unwrap();
        seen.extend(blocks(device, layout, &plane));
    }
    let bytes: Vec<u8> = (0..layout.block_bytes()).map(|_| random.word() as u8).collect();
    device.import_block(&mut plane, 2, &bytes).unwrap();
    seen.extend(blocks(device, layout, &plane));
    // Reading and writing nothing.
    device.write(&mut plane, &[], &[], scales.0).unwrap();
    device.read(&plane, &[], scales.1, &mut []).unwrap();
    seen
}

#[test]
fn the_bytes_of_the_emulated_device() {
    each("planes::the_bytes_of_the_emulated_device", &MACHINES, || {
        let device = open();
        let emulated = Emulated::new(device.generation(), Mode::Exact);
        let heads = HeadScales::PerHead(vec![20.0, 0.5, 3.0]);
        let dequant = HeadScales::PerHead(vec![0.05, 2.0, 0.3]);
        for dtype in DTYPES {
            for scales in [(&HeadScales::One(17.0), &HeadScales::One(0.06)), (&heads, &dequant)] {
                let layout = layout(dtype);
                assert_eq!(
                    steps(&device, &layout, scales),
                    steps(&emulated, &layout, scales),
                    "{dtype:?} {scales:?}"
                );
            }
        }
    });
}

fn round_trip<D: Device>(device: &D, layout: &PlaneLayout, values: &[bf16], slots: &[usize]) -> Vec<bf16> {
    let (mut plane, scale) = (device.allocate(layout).unwrap(), HeadScales::One(3.0));
    device.write(&mut plane, values, slots, &scale).unwrap();
    let mut read = vec![bf16::ZERO; values.len()];
    device.read(&plane, slots, &scale, &mut read).unwrap();
    read
}

#[test]
fn more_rows_than_one_launch_takes() {
    each("planes::more_rows_than_one_launch_takes", &MACHINES[..1], || {
        let device = open();
        let emulated = Emulated::new(device.generation(), Mode::Exact);
        let layout = PlaneLayout {
            num_blocks: 40,
            has_pad_block: true,
            block_size_tokens: 128,
            heads: 1,
            dim: 2,
            dtype: StorageDtype::Fp8,
        };
        let slots = Random::new(4).permutation(5000);
        let values = Random::new(5).bf16s(slots.len() * layout.row(), 2.0);
        let ours = round_trip(&device, &layout, &values, &slots);
        assert_eq!(ours, round_trip(&emulated, &layout, &values, &slots));
    });
}

#[test]
fn projections() {
    each("planes::projections", &MACHINES[..2], || {
        let device = open();
        let emulated = Emulated::new(device.generation(), Mode::Exact);
        let random = &mut Random::new(6);
        for (rows, heads, k, n) in [(1, 1, 1, 1), (3, 2, 20, 7), (65, 3, 33, 16)] {
            let kernel = ProjectKernel {
                rows: &random.bf16s(rows * heads * k, 1.0),
                weights: &random.bf16s(heads * n * k, 1.0),
                heads,
                k,
            };
            let (mut ours, mut theirs) =
                (vec![bf16::ZERO; rows * heads * n], vec![bf16::ONE; rows * heads * n]);
            device.project(&kernel, &mut ours).unwrap();
            emulated.project(&kernel, &mut theirs).unwrap();
            assert_eq!(ours, theirs, "{rows} {heads} {k} {n}");
        }
    });
}

#[test]
fn scales_that_no_conversion_takes_are_refused() {
    each("planes::scales_that_no_conversion_takes_are_refused", &MACHINES[..1], || {
        let device = open();
        let layout = layout(StorageDtype::Fp8);
        let mut plane = device.allocate(&layout).unwrap();
        let ones = vec![bf16::ONE; layout.row()];
        for scale in [
            HeadScales::PerHead(vec![2.0]),
            HeadScales::One(0.0),
            HeadScales::One(f32::NAN),
            HeadScales::One(f32::MAX),
        ] {
            let written = device.write(&mut plane, &ones, &[0], &scale);
            assert!(matches!(written, Err(DeviceError::Fp8(_))), "{scale:?}");
            let read = device.read(&plane, &[0], &scale, &mut ones.clone());
            assert!(matches!(read, Err(DeviceError::Fp8(_))), "{scale:?}");
        }
        assert!(blocks(&device, &layout, &plane).iter().flatten().all(|byte| *byte == 0));
    });
}

#[test]
fn a_plane_that_does_not_fit_says_so() {
    let small = [("SYNAPSE_EMU_MEMORY_BYTES", "67108864")];
    each("planes::a_plane_that_does_not_fit_says_so", &[&small], || {
        let device = open();
        let large = PlaneLayout { num_blocks: 1 << 20, ..layout(StorageDtype::Fp8) };
        match device.allocate(&large) {
            Err(DeviceError::Hardware(error)) => {
                let error: Box<HpuError> = error.downcast().unwrap();
                assert!(matches!(*error, HpuError::OutOfMemory { bytes, .. } if bytes > 1 << 27), "{error}");
                assert!(error.to_string().starts_with("out of memory for a cache plane"), "{error}");
            }
            other => panic!("{other:?}"),
        }
        // More rows than an index counts.
        let huge = PlaneLayout { num_blocks: 1 << 27, ..layout(StorageDtype::Fp8) };
        let result = device.allocate(&huge);
        let Err(DeviceError::Hardware(error)) = result else { panic!("{result:?}") };
        let error: Box<HpuError> = error.downcast().unwrap();
        assert!(matches!(*error, HpuError::TooLarge { .. }), "{error}");
        device.allocate(&layout(StorageDtype::Fp8)).unwrap();
    });
}
