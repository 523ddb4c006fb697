//! Recipes that move, convert and multiply: the bits of the emulated device.

use std::fmt::Debug;

use gaudi_kv::device::emulated::{Emulated, Mode};
use gaudi_kv::device::{Device, HeadScales, PlaneLayout, ProjectKernel, StorageDtype};
use half::bf16;

use crate::card::with_card;
use crate::numbers::Random;

/// Asserts that all are the same, and says how many are not.
fn same<T: PartialEq + Debug>(what: &str, ours: &[T], theirs: &[T]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let different = ours.iter().zip(theirs).enumerate().filter(|(_, (ours, theirs))| ours != theirs);
    let different: Vec<_> = different.collect();
    if let Some((first, (here, there))) = different.first() {
        let (count, all) = (different.len(), theirs.len());
        panic!("{what}: {count} of {all} differ; the first is {first}: {here:?}, emulated {there:?}");
    }
    println!("{what}: {} are the same", ours.len());
}

fn words(values: &[bf16]) -> Vec<u16> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Numbers, of which some are too large, tiny, Inf or NaN.
fn values(random: &mut Random, len: usize) -> Vec<bf16> {
    let mut values = random.bf16s(len, 3.0);
    for value in &mut values {
        if random.chance(5) {
            let other = [bf16::INFINITY, bf16::NEG_INFINITY, bf16::NAN, bf16::MAX, bf16::from_f32(-1e-5)];
            *value = random.pick(&other);
        }
    }
    values
}

/// Blocks after each of: fresh, written, copied, imported; and what was read.
struct Steps {
    fresh: Vec<u8>,
    written: Vec<u8>,
    read: Vec<bf16>,
    copied: Vec<u8>,
    imported: Vec<u8>,
}

fn steps<D: Device>(device: &D, layout: &PlaneLayout, (quant, dequant): (&HeadScales, &HeadScales)) -> Steps {
    let random = &mut Random::new(1);
    let mut plane = device.allocate(layout).unwrap();
    let blocks = |plane: &D::Plane| -> Vec<u8> {
        (0..=layout.num_blocks).flat_map(|block| device.export_block(plane, block).unwrap()).collect()
    };
    let fresh = blocks(&plane);
    // Every slot but some of the last block, and some of them twice.
    let mut slots = random.permutation(layout.slots() - 5);
    slots.extend_from_within(..7);
    let rows = values(random, slots.len() * layout.row());
    device.write(&mut plane, &rows, &slots, quant).unwrap();
    let written = blocks(&plane);
    let mut read = vec![bf16::ONE; rows.len()];
    device.read(&plane, &slots, dequant, &mut read).unwrap();
    device.copy_blocks(&mut plane, &[(0, 1), (1, 2), (2, 0), (3, 4)]).unwrap();
    let copied = blocks(&plane);
    let block: Vec<u8> = (0..layout.block_bytes()).map(|_| random.word() as u8).collect();
    device.import_block(&mut plane, 1, &block).unwrap();
    Steps { fresh, written, read, copied, imported: blocks(&plane) }
}

/// `write`, `read`, `fetch`, `copy_blocks`, export and import, for a dtype.
fn moved(device: &impl Device, dtype: StorageDtype) {
    let emulated = Emulated::new(device.generation(), Mode::Exact);
    let heads = HeadScales::PerHead(vec![20.0, 0.5, 3.0]);
    let of_heads = HeadScales::PerHead(vec![0.05, 2.0, 0.3]);
    for (dim, scales) in [
        (128, (&HeadScales::One(17.0), &HeadScales::One(0.06))),
        (128, (&heads, &of_heads)),
        // Below what fast kernels are trusted for.
        (5, (&heads, &of_heads)),
    ] {
        let layout =
            PlaneLayout { num_blocks: 4, has_pad_block: true, block_size_tokens: 16, heads: 3, dim, dtype };
        let (ours, theirs) = (steps(device, &layout, scales), steps(&emulated, &layout, scales));
        let what = |step: &str| format!("{step}, {dtype:?}, {dim} a head, {:?}", scales.0);
        same(&what("fresh blocks"), &ours.fresh, &theirs.fresh);
        same(&what("written"), &ours.written, &theirs.written);
        same(&what("read"), &words(&ours.read), &words(&theirs.read));
        same(&what("blocks copied"), &ours.copied, &theirs.copied);
        same(&what("block imported"), &ours.imported, &theirs.imported);
    }
}

#[test]
#[ignore = "needs a Gaudi"]
fn fp8_planes() {
    with_card("planes::fp8_planes", |device| {
        for choice in device.kernel_choices().unwrap() {
            println!("kernel: {choice}");
        }
        moved(device, StorageDtype::Fp8);
    });
}

#[test]
#[ignore = "needs a Gaudi"]
fn bf16_planes() {
    with_card("planes::bf16_planes", |device| moved(device, StorageDtype::Bf16));
}

#[test]
#[ignore = "needs a Gaudi"]
fn f32_planes() {
    with_card("planes::f32_planes", |device| moved(device, StorageDtype::F32));
}

#[test]
#[ignore = "needs a Gaudi"]
fn projections() {
    with_card("planes::projections", |device| {
        let emulated = Emulated::new(device.generation(), Mode::Exact);
        let random = &mut Random::new(6);
        for (rows, heads, k, n) in [(3, 2, 20, 7), (65, 3, 128, 128), (1, 4, 512, 128)] {
            let (rows_in, weights) = (random.bf16s(rows * heads * k, 1.0), random.bf16s(heads * n * k, 1.0));
            let kernel = ProjectKernel { rows: &rows_in, weights: &weights, heads, k };
            let mut ours = vec![bf16::ZERO; rows * heads * n];
            let mut theirs = vec![bf16::ONE; ours.len()];
            device.project(&kernel, &mut ours).unwrap();
            emulated.project(&kernel, &mut theirs).unwrap();
            same(&format!("projection {rows} x {k} x {n}, {heads} heads"), &words(&ours), &words(&theirs));
        }
    });
}
