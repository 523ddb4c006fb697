//! Caches in memory that somebody else owns, and without a pad block.
#![allow(unsafe_code, reason = "the tests lend memory as an engine does")]

use gaudi_kv::attention::{
    AttentionError, AttentionOptions, AttentionScales, Batch, DecodeBatch, MhaAttention,
};
use gaudi_kv::cache::{BlockCache, CacheError, CacheGeometry, MhaCache, MlaCache};
use gaudi_kv::device::emulated::{Emulated, EmulatedPlane, Mode};
use gaudi_kv::device::{DeviceError, PlaneLayout, StorageDtype};
use gaudi_kv::{Generation, ScaleFactors};
use half::bf16;

use crate::cases::shape;

/// Memory of an engine: `bytes` bytes that hold `0x38`, aligned for every type of element.
struct Engine {
    words: Vec<u64>,
    bytes: usize,
}

impl Engine {
    fn of(bytes: usize) -> Self {
        Self { words: vec![0x3838_3838_3838_3838; bytes.div_ceil(8)], bytes }
    }

    /// A plane in it, which is to be used while it lives.
    fn plane(&mut self, layout: &PlaneLayout) -> Result<EmulatedPlane, CacheError> {
        let address = self.words.as_mut_ptr().cast();
        // SAFETY: the vector has that many bytes, and the tests look at them when no call runs.
        Ok(unsafe { EmulatedPlane::from_raw(*layout, address, self.bytes) }?)
    }

    /// What it holds.
    fn contents(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_ne_bytes()).take(self.bytes).collect()
    }
}

fn device(mode: Mode) -> Emulated {
    Emulated::new(Generation::Gaudi2, mode)
}

fn geometry(num_blocks: usize) -> CacheGeometry {
    CacheGeometry::new(num_blocks, 16, StorageDtype::Fp8).unwrap()
}

/// A cache of one head of two elements in the memory of an engine for keys and one for values.
fn over(
    geometry: CacheGeometry,
    [keys, values]: &mut [Engine; 2],
) -> Result<MhaCache<EmulatedPlane>, CacheError> {
    let planes = (|layout: &PlaneLayout| keys.plane(layout), |layout: &PlaneLayout| values.plane(layout));
    let scales = (&ScaleFactors::new(2.0, 0.5), &ScaleFactors::ONE);
    MhaCache::over(&device(Mode::Exact), geometry, 1, (2, 2), scales, planes)
}

fn engines(bytes: usize) -> [Engine; 2] {
    [Engine::of(bytes), Engine::of(bytes)]
}

#[test]
fn the_owner_gets_what_was_written_and_what_was_there() {
    let mut engines = engines(64);
    let mut cache = over(geometry(2).without_pad_block(), &mut engines).unwrap();
    let device = device(Mode::Exact);
    let row = [bf16::ONE, bf16::from_f32(-300.0)];
    cache.write(&device, &row, &row, &[31]).unwrap();
    // 1.0 twice a key of half; 2.0 is 0x40, -240 is 0xF7.
    let half = bf16::from_f32(0.5);
    assert_eq!(cache.read(&device, &[0]).unwrap(), (vec![half; 2], vec![bf16::ONE; 2]));
    drop(cache);
    let mut expected = vec![0x38; 64];
    expected[62..].copy_from_slice(&[0x40, 0xF7]);
    assert_eq!(engines[0].contents(), expected);
}

#[test]
fn without_a_pad_block_the_last_block_is_the_last() {
    let mut engines = engines(64);
    let mut cache = over(geometry(2).without_pad_block(), &mut engines).unwrap();
    let device = device(Mode::Exact);
    assert_eq!((cache.geometry().num_blocks(), cache.geometry().blocks()), (2, 2));
    let row = [bf16::ONE; 2];
    for slot in [32, -1] {
        let error = cache.write(&device, &row, &row, &[slot]);
        assert!(matches!(error, Err(CacheError::Slot { slot: s, index: 0, last: 31 }) if s == slot));
    }
    assert!(matches!(cache.export_block(&device, 2), Err(CacheError::Block { block: 2, last: 1 })));
    assert_eq!(geometry(2).blocks(), 3);
}

#[test]
fn memory_of_another_size_is_refused() {
    for (geometry, bytes) in [(geometry(2), 64), (geometry(2).without_pad_block(), 96)] {
        match over(geometry, &mut engines(bytes)).unwrap_err() {
            CacheError::Device(DeviceError::PlaneMemory { found, expected }) => {
                assert_eq!((found, expected), (bytes, 160 - bytes));
            }
            other => panic!("{other}"),
        }
    }
    let bf16s = CacheGeometry::new(2, 16, StorageDtype::Bf16).unwrap().without_pad_block();
    let message = over(bf16s, &mut engines(64)).unwrap_err().to_string();
    assert_eq!(message, "memory of 64 bytes for a cache plane of 128");
    let mut latents = Engine::of(64);
    let plane = |layout: &PlaneLayout| latents.plane(layout);
    let device = device(Mode::Fast);
    let cache = MlaCache::over(&device, geometry(2).without_pad_block(), 2, 1, &ScaleFactors::ONE, plane);
    assert!(matches!(cache, Err(CacheError::Device(DeviceError::PlaneMemory { .. }))));
}

#[test]
fn memory_that_is_null_or_not_aligned_is_refused() {
    let layout = |dtype| PlaneLayout {
        num_blocks: 2,
        has_pad_block: false,
        block_size_tokens: 16,
        heads: 1,
        dim: 2,
        dtype,
    };
    let mut engine = Engine::of(257);
    let address: *mut u8 = engine.words.as_mut_ptr().cast();
    let cases = [(StorageDtype::Fp8, 64, 1), (StorageDtype::Bf16, 128, 2), (StorageDtype::F32, 256, 4)];
    for (dtype, bytes, alignment) in cases {
        let plane = |address| {
            // SAFETY: the memory is there where the address is not null, and no plane is used.
            unsafe { EmulatedPlane::from_raw(layout(dtype), address, bytes) }
        };
        let refusal = plane(std::ptr::null_mut());
        assert!(matches!(refusal, Err(DeviceError::PlaneAddress { alignment: a }) if a == alignment));
        let shifted = plane(address.wrapping_add(1));
        assert_eq!(shifted.is_ok(), alignment == 1);
        assert!(plane(address).is_ok());
    }
}

#[test]
fn a_batch_for_a_cache_with_a_pad_block_is_not_for_one_without() {
    let batch = Batch { query_start_loc: &[0, 1], seq_lens: &[17], block_table: &[0, 2] };
    let attention =
        MhaAttention::new(shape((1, 1), (2, 2)), AttentionScales::default(), AttentionOptions::new(1.0))
            .unwrap();
    for mode in [Mode::Exact, Mode::Fast] {
        let device = device(mode);
        let decode = |cache: &MhaCache<_>, batch: &DecodeBatch| {
            let mut out = [0.0; 2];
            attention.decode_into(&device, cache, &[bf16::ONE; 2], batch, &mut out)?;
            Ok::<_, AttentionError>(out)
        };
        // Block 2 is the pad block of a cache of two, and no block of the same cache without it.
        let mut padded = DecodeBatch::new();
        padded.prepare(&batch, 1, geometry(2)).unwrap();
        let mut three = DecodeBatch::new();
        three.prepare(&batch, 1, geometry(3).without_pad_block()).unwrap();
        let refused = DecodeBatch::new().prepare(&batch, 1, geometry(2).without_pad_block());
        assert!(matches!(refused, Err(AttentionError::Cache(CacheError::Block { block: 2, last: 1 }))));
        let mut memory = engines(64);
        let two = over(geometry(2).without_pad_block(), &mut memory).unwrap();
        let refused = decode(&two, &padded);
        assert!(matches!(
            refused,
            Err(AttentionError::OtherBlocks { prepared: Some((3, 16)), cache: (2, 16) })
        ));
        // All values are 1.0, so whatever the probabilities are, the result is.
        let mut memory = engines(96);
        let cache = over(geometry(3).without_pad_block(), &mut memory).unwrap();
        assert_eq!(decode(&cache, &three).unwrap(), [1.0; 2]);
    }
}
