//! Blocks that are copied, swapped out and moved, and the ones that are refused.

use gaudi_kv::cache::{BlockCache, BlockImage, CacheError, CacheGeometry, MhaCache, MlaCache};
use gaudi_kv::device::StorageDtype;
use gaudi_kv::device::emulated::{Emulated, EmulatedPlane, Mode};
use gaudi_kv::{Generation, ScaleFactors};

use crate::cases::Scale;
use crate::numbers::Random;

const BLOCKS: usize = 4;
const SIZE: usize = 16;

fn device(generation: Generation) -> Emulated {
    Emulated::new(generation, Mode::Exact)
}

fn geometry(dtype: StorageDtype) -> CacheGeometry {
    CacheGeometry::new(BLOCKS, SIZE, dtype).unwrap()
}

fn mha(generation: Generation, dtype: StorageDtype, k: &[f32], v: &[f32]) -> MhaCache<EmulatedPlane> {
    let scales = (&Scale::new(k).plane(), &Scale::new(v).plane());
    MhaCache::new(&device(generation), geometry(dtype), 2, (4, 6), scales).unwrap()
}

fn mla(generation: Generation, dtype: StorageDtype, k: f32) -> MlaCache<EmulatedPlane> {
    MlaCache::new(&device(generation), geometry(dtype), 6, 2, &Scale::new(&[k]).plane()).unwrap()
}

/// Fills every slot.
fn fill(cache: &mut MhaCache<EmulatedPlane>, generation: Generation, seed: u64) {
    let random = &mut Random::new(seed);
    let slots: Vec<i64> = (0..((BLOCKS + 1) * SIZE) as i64).collect();
    let (k, v) = (random.bf16s(slots.len() * 8, 1.0), random.bf16s(slots.len() * 12, 1.0));
    cache.write(&device(generation), &k, &v, &slots).unwrap();
}

fn fill_latents(cache: &mut MlaCache<EmulatedPlane>, generation: Generation, seed: u64) {
    let random = &mut Random::new(seed);
    let slots: Vec<i64> = (0..((BLOCKS + 1) * SIZE) as i64).collect();
    let (kv_c, k_pe) = (random.bf16s(slots.len() * 6, 1.0), random.bf16s(slots.len() * 2, 1.0));
    cache.write(&device(generation), &kv_c, &k_pe, &slots).unwrap();
}

fn images(cache: &MhaCache<EmulatedPlane>, generation: Generation) -> Vec<BlockImage> {
    (0..=BLOCKS as i32).map(|block| cache.export_block(&device(generation), block).unwrap()).collect()
}

fn latent_images(cache: &MlaCache<EmulatedPlane>, generation: Generation) -> Vec<BlockImage> {
    (0..=BLOCKS as i32).map(|block| cache.export_block(&device(generation), block).unwrap()).collect()
}

const DTYPES: [StorageDtype; 3] = [StorageDtype::Fp8, StorageDtype::Bf16, StorageDtype::F32];

#[test]
fn blocks_are_copied_pair_by_pair_in_order() {
    let generation = Generation::Gaudi3;
    for dtype in DTYPES {
        let mut cache = mha(generation, dtype, &[0.05], &[0.5]);
        fill(&mut cache, generation, 1);
        let mut latents = mla(generation, dtype, 0.05);
        fill_latents(&mut latents, generation, 2);
        let (before, latents_before) = (images(&cache, generation), latent_images(&latents, generation));
        // The second pair reads what the first wrote; the last copies onto itself.
        let pairs = [(0, 1), (1, 2), (4, 0), (3, 3)];
        cache.copy_blocks(&device(generation), &pairs).unwrap();
        latents.copy_blocks(&device(generation), &pairs).unwrap();
        for (before, after) in
            [(before, images(&cache, generation)), (latents_before, latent_images(&latents, generation))]
        {
            let sources = [4, 0, 0, 3, 4];
            for (block, source) in sources.into_iter().enumerate() {
                assert_eq!(after[block], before[source], "{dtype:?} block {block}");
            }
            assert_ne!(before[0], before[1]);
        }
    }
}

#[test]
fn a_bad_block_id_copies_nothing() {
    let generation = Generation::Gaudi2;
    let mut cache = mha(generation, StorageDtype::Fp8, &[0.05], &[0.5]);
    let mut latents = mla(generation, StorageDtype::Fp8, 0.05);
    fill(&mut cache, generation, 1);
    fill_latents(&mut latents, generation, 1);
    let (before, latents_before) = (images(&cache, generation), latent_images(&latents, generation));
    for bad in [-1, 5, i32::MAX, i32::MIN] {
        for pairs in [[(0, 1), (2, bad)], [(0, 1), (bad, 2)], [(bad, 1), (0, 1)]] {
            let refused = |result| {
                assert!(
                    matches!(result, Err(CacheError::Block { block, last: 4 }) if block == i64::from(bad))
                );
            };
            refused(cache.copy_blocks(&device(generation), &pairs));
            refused(latents.copy_blocks(&device(generation), &pairs));
        }
        let image = &before[1].clone();
        assert!(matches!(cache.import_block(&device(generation), bad, image), Err(CacheError::Block { .. })));
        assert!(matches!(
            latents.import_block(&device(generation), bad, image),
            Err(CacheError::Block { .. })
        ));
        assert!(matches!(latents.export_block(&device(generation), bad), Err(CacheError::Block { .. })));
    }
    assert_eq!(before, images(&cache, generation));
    assert_eq!(latents_before, latent_images(&latents, generation));
}

#[test]
fn a_block_swapped_out_comes_back_as_it_was() {
    for generation in Generation::ALL {
        for dtype in DTYPES {
            let mut cache = mha(generation, dtype, &[0.05, 0.1], &[0.5]);
            fill(&mut cache, generation, 1);
            let before = images(&cache, generation);
            let image = before[2].clone();
            assert_eq!(image.generation, generation);
            let bytes = |plane: usize, dim: usize| {
                let plane = &image.planes[plane];
                assert_eq!(
                    (plane.dtype, plane.block_size_tokens, plane.heads, plane.dim),
                    (dtype, SIZE, 2, dim)
                );
                plane.bytes.len()
            };
            assert_eq!((bytes(0, 4), bytes(1, 6)), (SIZE * 8 * dtype.bytes(), SIZE * 12 * dtype.bytes()));
            // The block is given to somebody else, then another block gets the content back.
            fill(&mut cache, generation, 9);
            let overwritten = images(&cache, generation);
            cache.import_block(&device(generation), 1, &image).unwrap();
            let after = images(&cache, generation);
            assert_eq!(after[1].planes, image.planes);
            for block in [0, 2, 3, 4] {
                assert_eq!(after[block], overwritten[block]);
            }
            // Another cache of the same kind takes it too, and reads the same values.
            let mut other = mha(generation, dtype, &[0.05, 0.1], &[0.5]);
            assert_eq!(other.fingerprint(), cache.fingerprint());
            other.import_block(&device(generation), 4, &image).unwrap();
            let slots = |block: i64| (block * 16..block * 16 + 16).collect::<Vec<i64>>();
            let device = device(generation);
            assert_eq!(other.read(&device, &slots(4)).unwrap(), cache.read(&device, &slots(1)).unwrap());

            let mut latents = mla(generation, dtype, 0.05);
            fill_latents(&mut latents, generation, 1);
            let before = latent_images(&latents, generation);
            latents.import_block(&device, 0, &before[3]).unwrap();
            let after = latent_images(&latents, generation);
            assert_eq!((&after[0], &after[1]), (&before[3], &before[1]));
        }
    }
}

/// Why a cache refused an image.
fn refusal(error: &CacheError) -> &'static str {
    match error {
        CacheError::Generation { .. } => "generation",
        CacheError::Dtype { .. } => "dtype",
        CacheError::Shape { .. } => "shape",
        CacheError::Fingerprint { .. } => "fingerprint",
        other => panic!("{other}"),
    }
}

#[test]
fn blocks_that_mean_something_else_are_refused_and_nothing_is_written() {
    use Generation::{Gaudi2, Gaudi3};
    use StorageDtype::{Bf16, F32, Fp8};
    let mut consumer = mha(Gaudi2, Fp8, &[0.037_333_3], &[0.5]);
    fill(&mut consumer, Gaudi2, 1);
    let before = images(&consumer, Gaudi2);
    let good = before[0].clone();
    let of = |generation, dtype, k: &[f32], v: &[f32]| {
        let mut cache = mha(generation, dtype, k, v);
        fill(&mut cache, generation, 2);
        cache.export_block(&device(generation), 0).unwrap()
    };
    let shaped = |heads, dims, size| {
        let geometry = CacheGeometry::new(1, size, Fp8).unwrap();
        let scales = (&Scale::new(&[0.037_333_3]).plane(), &Scale::new(&[0.5]).plane());
        let cache = MhaCache::new(&device(Gaudi2), geometry, heads, dims, scales).unwrap();
        cache.export_block(&device(Gaudi2), 0).unwrap()
    };
    let edited = |edit: fn(&mut BlockImage)| {
        let mut image = good.clone();
        edit(&mut image);
        image
    };
    // The producer on a Gaudi3 stored codes that a Gaudi2 reads as Inf and NaN.
    let producer = of(Gaudi3, Fp8, &[0.001], &[0.5]);
    assert!(producer.planes[0].bytes.iter().any(|code| code & 0x7F > 0x77));
    for (image, reason) in [
        (producer, "generation"),
        (of(Gaudi3, Fp8, &[0.037_333_3], &[0.5]), "generation"),
        (of(Gaudi2, Bf16, &[0.037_333_3], &[0.5]), "dtype"),
        (of(Gaudi2, F32, &[1.0], &[1.0]), "dtype"),
        (of(Gaudi2, Fp8, &[0.02], &[0.5]), "fingerprint"),
        (of(Gaudi2, Fp8, &[0.037_333_3], &[0.25]), "fingerprint"),
        (of(Gaudi2, Fp8, &[0.5], &[0.037_333_3]), "fingerprint"),
        (of(Gaudi2, Fp8, &[0.037_333_3, 0.037], &[0.5]), "fingerprint"),
        (shaped(1, (4, 6), SIZE), "shape"),
        (shaped(4, (2, 3), SIZE), "shape"),
        (shaped(2, (6, 4), SIZE), "shape"),
        (shaped(2, (4, 6), 32), "shape"),
        (mla(Gaudi2, Fp8, 0.037_333_3).export_block(&device(Gaudi2), 0).unwrap(), "shape"),
        (edited(|image| image.planes[1].bytes.truncate(5)), "shape"),
        (edited(|image| image.planes[0].bytes.push(0)), "shape"),
        (edited(|image| image.planes.swap(0, 1)), "shape"),
        (edited(|image| image.planes.clear()), "shape"),
        (edited(|image| image.fingerprint ^= 1), "fingerprint"),
        (edited(|image| image.generation = Gaudi3), "generation"),
        // Bytes of another type under the right number of bytes.
        (edited(|image| image.planes[1].dtype = Bf16), "dtype"),
    ] {
        let error = consumer.import_block(&device(Gaudi2), 1, &image).unwrap_err();
        assert_eq!(refusal(&error), reason, "{error}");
        assert_eq!(images(&consumer, Gaudi2), before, "{reason}");
    }
    consumer.import_block(&device(Gaudi2), 1, &good).unwrap();
    assert_eq!(images(&consumer, Gaudi2)[1], good);
}

#[test]
fn latents_that_mean_something_else_are_refused_and_nothing_is_written() {
    use Generation::{Gaudi2, Gaudi3};
    let mut consumer = mla(Gaudi3, StorageDtype::Fp8, 0.05);
    fill_latents(&mut consumer, Gaudi3, 1);
    let before = latent_images(&consumer, Gaudi3);
    let split = |rank, rope| {
        let scale = Scale::new(&[0.05]).plane();
        let cache = MlaCache::new(&device(Gaudi3), geometry(StorageDtype::Fp8), rank, rope, &scale).unwrap();
        cache.export_block(&device(Gaudi3), 0).unwrap()
    };
    for (image, reason) in [
        (mla(Gaudi2, StorageDtype::Fp8, 0.05).export_block(&device(Gaudi2), 0).unwrap(), "generation"),
        (mla(Gaudi3, StorageDtype::Bf16, 0.05).export_block(&device(Gaudi3), 0).unwrap(), "dtype"),
        (mla(Gaudi3, StorageDtype::Fp8, 0.06).export_block(&device(Gaudi3), 0).unwrap(), "fingerprint"),
        (split(6, 3), "shape"),
        // As long, but other elements of it are the rope part.
        (split(5, 3), "fingerprint"),
    ] {
        let error = consumer.import_block(&device(Gaudi3), 1, &image).unwrap_err();
        assert_eq!(refusal(&error), reason, "{error}");
        assert_eq!(latent_images(&consumer, Gaudi3), before, "{reason}");
    }
}

#[test]
fn a_reload_with_other_scales_changes_the_fingerprint_and_an_equal_one_does_not() {
    let generation = Generation::Gaudi2;
    let of = |k: &[f32], v: &[f32]| mha(generation, StorageDtype::Fp8, k, v).fingerprint();
    assert_eq!(of(&[0.02], &[0.5]), of(&[0.02], &[0.5]));
    // One scale for all heads and the same one for each are the same values.
    assert_eq!(of(&[0.02], &[0.5]), of(&[0.02, 0.02], &[0.5, 0.5]));
    let all = [
        of(&[0.02], &[0.5]),
        of(&[0.04], &[0.5]),
        of(&[0.02], &[0.25]),
        of(&[0.5], &[0.02]),
        of(&[0.02, 0.04], &[0.5]),
        of(&[0.04, 0.02], &[0.5]),
        of(&[0.020_000_001], &[0.5]),
        mla(generation, StorageDtype::Fp8, 0.02).fingerprint(),
        mla(generation, StorageDtype::Fp8, 0.04).fingerprint(),
        mha(Generation::Gaudi3, StorageDtype::Fp8, &[0.02], &[0.5]).fingerprint(),
    ];
    for (number, fingerprint) in all.iter().enumerate() {
        assert!(!all[..number].contains(fingerprint), "{number}");
    }
    // Without scales in use, they make no difference.
    let bf16 = |k: &[f32]| mha(generation, StorageDtype::Bf16, k, &[0.5]).fingerprint();
    assert_eq!(bf16(&[0.02]), bf16(&[0.04]));
    // Only one of the two multipliers differs.
    let of = |scale: ScaleFactors| {
        let geometry = geometry(StorageDtype::Fp8);
        MlaCache::new(&device(generation), geometry, 6, 2, &scale).unwrap().fingerprint()
    };
    assert_ne!(of(ScaleFactors::new(2.0, 0.5)), of(ScaleFactors::new(2.0, 0.25)));
    assert_ne!(of(ScaleFactors::new(2.0, 0.5)), of(ScaleFactors::new(4.0, 0.5)));
}

#[test]
fn a_cache_cannot_be_used_with_a_device_of_another_generation() {
    use Generation::{Gaudi2, Gaudi3};
    for (own, other) in [(Gaudi2, Gaudi3), (Gaudi3, Gaudi2)] {
        let mut cache = mha(own, StorageDtype::Fp8, &[0.05], &[0.5]);
        let mut latents = mla(own, StorageDtype::Fp8, 0.05);
        fill(&mut cache, own, 1);
        fill_latents(&mut latents, own, 1);
        let (before, latents_before) = (images(&cache, own), latent_images(&latents, own));
        let random = &mut Random::new(1);
        let (k, v) = (random.bf16s(8, 1.0), random.bf16s(12, 1.0));
        let (kv_c, k_pe) = (random.bf16s(6, 1.0), random.bf16s(2, 1.0));
        let device = device(other);
        for error in [
            cache.write(&device, &k, &v, &[0]).unwrap_err(),
            cache.read(&device, &[0]).unwrap_err(),
            cache.copy_blocks(&device, &[(0, 1)]).unwrap_err(),
            cache.export_block(&device, 0).unwrap_err(),
            cache.import_block(&device, 1, &before[0]).unwrap_err(),
            latents.write(&device, &kv_c, &k_pe, &[0]).unwrap_err(),
            latents.read(&device, &[0]).unwrap_err(),
            latents.copy_blocks(&device, &[(0, 1)]).unwrap_err(),
            latents.export_block(&device, 0).unwrap_err(),
            latents.import_block(&device, 1, &latents_before[0]).unwrap_err(),
        ] {
            assert!(
                matches!(error, CacheError::OtherDevice { device, cache } if (device, cache) == (other, own)),
                "{error}"
            );
        }
        assert_eq!((before, latents_before), (images(&cache, own), latent_images(&latents, own)));
    }
}
