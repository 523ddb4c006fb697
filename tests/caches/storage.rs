//! Blocks, slots, and what is stored in them.

use gaudi_kv::cache::{BlockCache, CacheError, CacheGeometry, MhaCache, MlaCache};
use gaudi_kv::device::emulated::{Emulated, EmulatedPlane, Mode};
use gaudi_kv::device::{Device, DeviceError, HeadScales, PlaneLayout, StorageDtype};
use gaudi_kv::{Generation, ScaleFactors};
use half::bf16;

use crate::cases::Scale;
use crate::numbers::{Random, dequantized, quantized};

const DTYPES: [StorageDtype; 3] = [StorageDtype::Fp8, StorageDtype::Bf16, StorageDtype::F32];
const KV_HEADS: usize = 3;
const DIMS: (usize, usize) = (5, 7);
const LATENT: (usize, usize) = (9, 4);

fn device(generation: Generation) -> Emulated {
    Emulated::new(generation, Mode::Fast)
}

fn mha(device: &Emulated, geometry: CacheGeometry) -> MhaCache<EmulatedPlane> {
    let scales = (&Scale::new(&[0.05, 0.5, 0.02]).plane(), &Scale::new(&[0.8]).plane());
    MhaCache::new(device, geometry, KV_HEADS, DIMS, scales).unwrap()
}

fn mla(device: &Emulated, geometry: CacheGeometry) -> MlaCache<EmulatedPlane> {
    MlaCache::new(device, geometry, LATENT.0, LATENT.1, &Scale::new(&[0.0547]).plane()).unwrap()
}

/// The bytes of every plane, block by block, the pad block last.
fn all_bytes(device: &Emulated, cache: &MhaCache<EmulatedPlane>, blocks: usize) -> Vec<Vec<Vec<u8>>> {
    let image = |block| cache.export_block(device, block as i32).unwrap();
    (0..=blocks).map(|block| image(block).planes.into_iter().map(|plane| plane.bytes).collect()).collect()
}

fn all_latent_bytes(device: &Emulated, cache: &MlaCache<EmulatedPlane>, blocks: usize) -> Vec<Vec<u8>> {
    (0..=blocks)
        .map(|block| cache.export_block(device, block as i32).unwrap().planes.remove(0).bytes)
        .collect()
}

#[test]
fn block_sizes_are_powers_of_two_from_16_to_256() {
    for size in 0..=1024 {
        let geometry = CacheGeometry::new(2, size, StorageDtype::Bf16);
        if [16, 32, 64, 128, 256].contains(&size) {
            assert_eq!(geometry.unwrap().block_size_tokens(), size);
        } else {
            assert!(matches!(geometry, Err(CacheError::BlockSize(found)) if found == size), "{size}");
        }
    }
}

#[test]
fn sizes_of_zero_and_sizes_that_overflow_are_refused() {
    assert!(matches!(
        CacheGeometry::new(0, 128, StorageDtype::Fp8),
        Err(CacheError::Size { what: "num_blocks", value: 0 })
    ));
    let device = device(Generation::Gaudi2);
    let scales = (&ScaleFactors::ONE, &ScaleFactors::ONE);
    for (blocks, heads, dims, blamed) in [
        (1, 0, (4, 4), "heads"),
        (1, 1, (0, 4), "dim"),
        (1, 1, (4, 0), "dim"),
        (usize::MAX, 1, (4, 4), "num_blocks"),
        (usize::MAX / 256, 8, (128, 128), "num_blocks"),
        (1, usize::MAX, (2, 2), "num_blocks"),
    ] {
        let geometry = CacheGeometry::new(blocks, 256, StorageDtype::F32).unwrap();
        let cache = MhaCache::new(&device, geometry, heads, dims, scales);
        assert!(matches!(cache, Err(CacheError::Size { what, .. }) if what == blamed), "{blamed}");
    }
    let geometry = CacheGeometry::new(1, 16, StorageDtype::Fp8).unwrap();
    for (rank, rope) in [(0, 4), (usize::MAX, 1)] {
        let cache = MlaCache::new(&device, geometry, rank, rope, &ScaleFactors::ONE);
        assert!(matches!(cache, Err(CacheError::Size { what: "kv_lora_rank", .. })));
    }
    let geometry = CacheGeometry::new(1 << 40, 256, StorageDtype::Fp8).unwrap();
    let cache = MhaCache::new(&device, geometry, 1, (1 << 8, 1), scales);
    assert!(matches!(cache, Err(CacheError::Device(DeviceError::OutOfMemory { .. }))));
}

#[test]
fn a_fresh_cache_is_zero_and_has_one_block_more_for_padding() {
    for block_size in [16, 32, 64, 128, 256] {
        for dtype in DTYPES {
            let device = device(Generation::Gaudi3);
            let geometry = CacheGeometry::new(3, block_size, dtype).unwrap();
            let cache = mha(&device, geometry);
            let slots: Vec<i64> = (0..4 * block_size as i64).collect();
            let (k, v) = cache.read(&device, &slots).unwrap();
            assert!(k.iter().chain(&v).all(|x| x.to_bits() == 0));
            assert_eq!(k.len(), slots.len() * KV_HEADS * DIMS.0);
            let last = 4 * block_size as i64 - 1;
            let beyond = cache.read(&device, &[last, last + 1]);
            assert!(
                matches!(beyond, Err(CacheError::Slot { slot, index: 1, last: l }) if slot == last + 1 && l as i64 == last)
            );
            // The pad block's id is the number of blocks.
            assert!(cache.export_block(&device, 3).is_ok());
            assert!(matches!(cache.export_block(&device, 4), Err(CacheError::Block { block: 4, last: 3 })));
            assert!(matches!(cache.export_block(&device, -1), Err(CacheError::Block { block: -1, last: 3 })));
        }
    }
}

#[test]
fn padding_rows_go_to_the_pad_block_and_touch_nothing_else() {
    let device = device(Generation::Gaudi2);
    let geometry = CacheGeometry::new(2, 16, StorageDtype::Fp8).unwrap();
    let mut cache = mha(&device, geometry);
    let random = &mut Random::new(1);
    let (k, v) = (random.bf16s(20 * KV_HEADS * DIMS.0, 1.0), random.bf16s(20 * KV_HEADS * DIMS.1, 1.0));
    let before = all_bytes(&device, &cache, 2);
    // Padding cycles through the pad block's slots, so a slot may come twice; the last row stays.
    let slots: Vec<i64> = (0..20).map(|row| 32 + row % 16).collect();
    cache.write(&device, &k, &v, &slots).unwrap();
    let after = all_bytes(&device, &cache, 2);
    assert_eq!(before[..2], after[..2]);
    assert_ne!(before[2], after[2]);
    let (read, _) = cache.read(&device, &[32, 36]).unwrap();
    let row = KV_HEADS * DIMS.0;
    let scale = Scale::new(&[0.05, 0.5, 0.02]);
    for (row_read, written) in [(&read[..row], &k[16 * row..17 * row]), (&read[row..], &k[4 * row..5 * row])]
    {
        for (index, (found, x)) in row_read.iter().zip(written).enumerate() {
            let (quant, dequant) = scale.of(index / DIMS.0);
            let code = quantized(Generation::Gaudi2, *x, quant);
            assert_eq!(*found, dequantized(Generation::Gaudi2, code, dequant));
        }
    }
}

#[test]
fn a_bad_slot_anywhere_writes_nothing() {
    for dtype in DTYPES {
        let device = device(Generation::Gaudi2);
        let geometry = CacheGeometry::new(2, 16, dtype).unwrap();
        let (mut cache, mut latents) = (mha(&device, geometry), mla(&device, geometry));
        let random = &mut Random::new(2);
        let rows = |random: &mut Random, row: usize| random.bf16s(3 * row, 1.0);
        let good = [7, 20, 33];
        let (k, v) = (rows(random, KV_HEADS * DIMS.0), rows(random, KV_HEADS * DIMS.1));
        let (kv_c, k_pe) = (rows(random, LATENT.0), rows(random, LATENT.1));
        cache.write(&device, &k, &v, &good).unwrap();
        latents.write(&device, &kv_c, &k_pe, &good).unwrap();
        let (before, latents_before) =
            (all_bytes(&device, &cache, 2), all_latent_bytes(&device, &latents, 2));
        let (k, v) = (rows(random, KV_HEADS * DIMS.0), rows(random, KV_HEADS * DIMS.1));
        let (kv_c, k_pe) = (rows(random, LATENT.0), rows(random, LATENT.1));
        for bad in [-1, i64::MIN, 48, i64::from(i32::MAX) + 1, 1 << 32, i64::MAX] {
            for at in 0..3 {
                let mut slots = [1, 18, 40];
                slots[at] = bad;
                let refused = |result: Result<(), CacheError>| {
                    assert!(
                        matches!(result, Err(CacheError::Slot { slot, index, last: 47 }) if slot == bad && index == at)
                    );
                };
                refused(cache.write(&device, &k, &v, &slots));
                refused(latents.write(&device, &kv_c, &k_pe, &slots));
                refused(cache.read(&device, &slots).map(|_| ()));
                refused(latents.read(&device, &slots).map(|_| ()));
            }
        }
        let slots = [1, 18, 40];
        for (k, v, blamed) in
            [(&k[1..], &v[..], "k"), (&k[..], &v[..v.len() - 1], "v"), (&k[..], &k[..0], "v")]
        {
            let result = cache.write(&device, k, v, &slots);
            assert!(matches!(result, Err(CacheError::Length { what, .. }) if what == blamed));
        }
        for (kv_c, k_pe, blamed) in [(&kv_c[1..], &k_pe[..], "kv_c"), (&kv_c[..], &kv_c[..], "k_pe")] {
            let result = latents.write(&device, kv_c, k_pe, &slots);
            assert!(matches!(result, Err(CacheError::Length { what, .. }) if what == blamed));
        }
        assert_eq!(before, all_bytes(&device, &cache, 2));
        assert_eq!(latents_before, all_latent_bytes(&device, &latents, 2));
    }
}

/// Numbers of every kind: ordinary, too large, too small, zeros, Inf and NaN (a quiet one: widening to float32 makes
/// every NaN quiet).
fn hostile(random: &mut Random, len: usize) -> Vec<bf16> {
    let mut values = random.bf16s(len, 3.0);
    for value in &mut values {
        match random.between(0, 19) {
            0 => *value = bf16::from_f32(random.pick(&[1e4, -1e4, 3e38, -3e38])),
            1 => *value = bf16::from_f32(random.pick(&[1e-5, -1e-5, 1e-39, 0.0, -0.0])),
            2 => *value = random.pick(&[bf16::INFINITY, bf16::NEG_INFINITY, bf16::NAN]),
            3 => {
                let any = bf16::from_bits(random.word() as u16);
                *value = if any.is_nan() { bf16::from_bits(any.to_bits() | 0x40) } else { any };
            }
            _ => {}
        }
    }
    values
}

/// The bytes of a value in a cache.
fn stored(generation: Generation, dtype: StorageDtype, value: bf16, quant: f32) -> Vec<u8> {
    match dtype {
        StorageDtype::Fp8 => vec![quantized(generation, value, quant)],
        StorageDtype::Bf16 => value.to_bits().to_le_bytes().to_vec(),
        StorageDtype::F32 => (u32::from(value.to_bits()) << 16).to_le_bytes().to_vec(),
    }
}

fn read_back(generation: Generation, dtype: StorageDtype, value: bf16, (quant, dequant): (f32, f32)) -> u16 {
    match dtype {
        StorageDtype::Fp8 => {
            let read = dequantized(generation, quantized(generation, value, quant), dequant);
            if read.is_nan() { 0x7FFF } else { read.to_bits() }
        }
        _ => value.to_bits(),
    }
}

#[test]
fn what_is_written_is_read_back_by_the_rules_of_the_scalar_codec() {
    let random = &mut Random::new(3);
    for generation in Generation::ALL {
        for dtype in DTYPES {
            for (block_size, k_scale, v_scale) in [
                (16, Scale::new(&[0.05, 0.5, 0.02]), Scale::new(&[0.8])),
                (32, Scale::new(&[0.011]), Scale::new(&[3.7, 0.0021, 1.0])),
                (128, Scale::new(&[1.0]), Scale::new(&[240.0 / 448.0])),
            ] {
                let device = device(generation);
                let geometry = CacheGeometry::new(3, block_size, dtype).unwrap();
                let scales = (&k_scale.plane(), &v_scale.plane());
                let mut cache = MhaCache::new(&device, geometry, KV_HEADS, DIMS, scales).unwrap();
                let mut slots: Vec<i64> =
                    random.permutation(4 * block_size).iter().map(|slot| *slot as i64).collect();
                slots.truncate(3 * block_size);
                slots[..block_size].sort_unstable();
                let k = hostile(random, slots.len() * KV_HEADS * DIMS.0);
                let v = hostile(random, slots.len() * KV_HEADS * DIMS.1);
                cache.write(&device, &k, &v, &slots).unwrap();
                let (read_k, read_v) = cache.read(&device, &slots).unwrap();
                let bytes = all_bytes(&device, &cache, 3);
                for (plane, dim, scale, written, read) in
                    [(0, DIMS.0, &k_scale, &k, &read_k), (1, DIMS.1, &v_scale, &v, &read_v)]
                {
                    let width = dtype.bytes();
                    for (index, (x, found)) in written.iter().zip(read).enumerate() {
                        let (row, head) = (index / (KV_HEADS * dim), index / dim % KV_HEADS);
                        assert_eq!(found.to_bits(), read_back(generation, dtype, *x, scale.of(head)), "{x}");
                        let (block, token) =
                            (slots[row] as usize / block_size, slots[row] as usize % block_size);
                        let at = (token * KV_HEADS * dim + index % (KV_HEADS * dim)) * width;
                        let expected = stored(generation, dtype, *x, scale.of(head).0);
                        assert_eq!(
                            bytes[block][plane][at..at + width],
                            expected,
                            "{generation} {dtype:?} {x}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn latents_are_written_with_one_scale_for_both_parts() {
    let random = &mut Random::new(4);
    for generation in Generation::ALL {
        for dtype in DTYPES {
            let device = device(generation);
            let mut cache = mla(&device, CacheGeometry::new(2, 64, dtype).unwrap());
            let slots = [0, 1, 2, 130, 131, 64, 5];
            let (kv_c, k_pe) =
                (hostile(random, slots.len() * LATENT.0), hostile(random, slots.len() * LATENT.1));
            cache.write(&device, &kv_c, &k_pe, &slots).unwrap();
            let read = cache.read(&device, &slots).unwrap();
            let scale = Scale::new(&[0.0547]).of(0);
            for (row, read) in read.chunks_exact(LATENT.0 + LATENT.1).enumerate() {
                let written =
                    kv_c[row * LATENT.0..][..LATENT.0].iter().chain(&k_pe[row * LATENT.1..][..LATENT.1]);
                for (x, found) in written.zip(read) {
                    assert_eq!(found.to_bits(), read_back(generation, dtype, *x, scale), "{x}");
                }
            }
        }
    }
}

#[test]
fn finite_values_beyond_the_range_saturate() {
    for generation in Generation::ALL {
        let device = device(generation);
        let geometry = CacheGeometry::new(1, 16, StorageDtype::Fp8).unwrap();
        let mut cache =
            MhaCache::new(&device, geometry, 1, (4, 4), (&ScaleFactors::ONE, &ScaleFactors::ONE)).unwrap();
        let values = [241.0, -300.0, 1e4, -3e38].map(bf16::from_f32);
        cache.write(&device, &values, &values, &[0]).unwrap();
        let (read, _) = cache.read(&device, &[0]).unwrap();
        let read: Vec<f32> = read.iter().map(|x| x.to_f32()).collect();
        let expected = match generation {
            Generation::Gaudi2 => [240.0, -240.0, 240.0, -240.0],
            Generation::Gaudi3 => [240.0, -288.0, 448.0, -448.0],
        };
        assert_eq!(read, expected, "{generation}");
    }
}

#[test]
fn a_sharing_layer_reads_through_the_owner_scale() {
    // The owner has k = 0.29 on Gaudi3. 5.0 is stored as the code of 18 and read as 5.22, not as 18.
    let device = device(Generation::Gaudi3);
    let scale = Scale::new(&[0.29]).plane();
    let geometry = CacheGeometry::new(1, 16, StorageDtype::Fp8).unwrap();
    let mut cache = MhaCache::new(&device, geometry, 1, (1, 1), (&scale, &ScaleFactors::ONE)).unwrap();
    cache.write(&device, &[bf16::from_f32(5.0)], &[bf16::from_f32(5.0)], &[3]).unwrap();
    let bytes = cache.export_block(&device, 0).unwrap();
    assert_eq!(bytes.planes[0].bytes[3], 0x59);
    let (k, v) = cache.read(&device, &[3]).unwrap();
    assert!((k[0].to_f32() - 5.22).abs() <= 5.22 / 128.0, "{}", k[0]);
    assert_eq!(v[0].to_f32(), 5.0);
}

#[test]
fn scales_that_do_not_fit_are_refused_by_an_fp8_cache_and_not_looked_at_by_another() {
    let device = device(Generation::Gaudi2);
    let one = ScaleFactors::ONE;
    // The last two are positive and finite as float32 but not as bfloat16.
    for bad in [f32::NAN, 0.0, -1.0, f32::INFINITY, 1e-45, f32::MAX] {
        for scale in [ScaleFactors::new(bad, 1.0), ScaleFactors::new(1.0, bad)] {
            for dtype in DTYPES {
                let geometry = CacheGeometry::new(1, 16, dtype).unwrap();
                for (plane, result) in [
                    ("key", MhaCache::new(&device, geometry, 1, (2, 2), (&scale, &one)).err()),
                    ("value", MhaCache::new(&device, geometry, 1, (2, 2), (&one, &scale)).err()),
                    ("latent", MlaCache::new(&device, geometry, 2, 2, &scale).err()),
                ] {
                    match (dtype, result) {
                        (StorageDtype::Fp8, Some(CacheError::ScaleValue { plane: blamed, value })) => {
                            assert_eq!((blamed, value.to_bits()), (plane, bad.to_bits()));
                        }
                        (StorageDtype::Bf16 | StorageDtype::F32, None) => {}
                        (_, other) => panic!("{plane} {bad} {dtype:?}: {other:?}"),
                    }
                }
            }
        }
    }
    let two = Scale::new(&[0.5, 0.25]).plane();
    let geometry = CacheGeometry::new(1, 16, StorageDtype::Fp8).unwrap();
    for result in [
        MhaCache::new(&device, geometry, 3, (2, 2), (&two, &one)).err(),
        MhaCache::new(&device, geometry, 3, (2, 2), (&one, &two)).err(),
    ] {
        assert!(matches!(result, Some(CacheError::ScaleHeads { scales: 2, heads: 3, .. })));
    }
    let result = MlaCache::new(&device, geometry, 2, 2, &two);
    assert!(matches!(result, Err(CacheError::ScaleHeads { plane: "latent", scales: 2, heads: 1 })));
}

#[test]
fn a_head_without_a_scale_is_not_given_one() {
    // Below the caches, which refuse such a list: the device itself.
    let device = device(Generation::Gaudi2);
    let layout = PlaneLayout {
        num_blocks: 1,
        has_pad_block: true,
        block_size_tokens: 16,
        heads: 2,
        dim: 3,
        dtype: StorageDtype::Fp8,
    };
    let mut plane = device.allocate(&layout).unwrap();
    let (short, ones) = (HeadScales::PerHead(vec![2.0]), vec![bf16::ONE; 6]);
    assert!(short.of(1).is_nan());
    assert!(matches!(device.write(&mut plane, &ones, &[0], &short), Err(DeviceError::Fp8(_))));
    assert_eq!(device.export_block(&plane, 0).unwrap(), vec![0; 16 * 6]);
    assert!(matches!(device.read(&plane, &[0], &short, &mut [bf16::ONE; 6]), Err(DeviceError::Fp8(_))));
}
