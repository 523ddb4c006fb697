//! Caches in memory that somebody else owns, and without a pad block.

use std::fmt;
use std::sync::{Arc, Mutex};

use gaudi_kv::attention::{
    AttentionError, AttentionOptions, AttentionScales, Batch, DecodeBatch, MhaAttention,
};
use gaudi_kv::cache::{BlockCache, CacheError, CacheGeometry, MhaCache, MlaCache};
use gaudi_kv::device::emulated::{Emulated, EmulatedPlane, LentMemory, Mode, PlaneMemory};
use gaudi_kv::device::{DeviceError, PlaneLayout, StorageDtype};
use gaudi_kv::{Generation, ScaleFactors};
use half::bf16;

/// Where memory comes back.
type Owner = Arc<Mutex<Option<Vec<u8>>>>;

/// Memory that comes back to its owner when the plane is dropped.
struct Loan {
    elements: Vec<u8>,
    owner: Owner,
}

impl Loan {
    fn of(elements: Vec<u8>) -> (EmulatedPlane, Owner) {
        let owner = Owner::default();
        let loan = Self { elements, owner: Arc::clone(&owner) };
        (EmulatedPlane::Fp8(PlaneMemory::Lent(Box::new(loan))), owner)
    }
}

impl fmt::Debug for Loan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Loan of {} elements", self.elements.len())
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        *self.owner.lock().unwrap() = Some(std::mem::take(&mut self.elements));
    }
}

impl LentMemory<u8> for Loan {
    fn elements(&self) -> &[u8] {
        &self.elements
    }

    fn elements_mut(&mut self) -> &mut [u8] {
        &mut self.elements
    }
}

fn device(mode: Mode) -> Emulated {
    Emulated::new(Generation::Gaudi2, mode)
}

fn geometry(num_blocks: usize) -> CacheGeometry {
    CacheGeometry::new(num_blocks, 16, StorageDtype::Fp8).unwrap()
}

/// A cache of one head of two elements in the memory of two planes, and what comes back of the key's.
fn lent(geometry: CacheGeometry, elements: usize) -> (Result<MhaCache<EmulatedPlane>, CacheError>, Owner) {
    let ((key, owner), (value, _)) = (Loan::of(vec![0x38; elements]), Loan::of(vec![0x38; elements]));
    let planes =
        (|layout: &PlaneLayout| Ok(key.checked(layout)?), |layout: &PlaneLayout| Ok(value.checked(layout)?));
    let scales = (&ScaleFactors::new(2.0, 0.5), &ScaleFactors::ONE);
    (MhaCache::over(&device(Mode::Exact), geometry, 1, (2, 2), scales, planes), owner)
}

#[test]
fn the_owner_gets_what_was_written_and_what_was_there() {
    let (cache, owner) = lent(geometry(2).without_pad_block(), 64);
    let (mut cache, device) = (cache.unwrap(), device(Mode::Exact));
    let row = [bf16::ONE, bf16::from_f32(-300.0)];
    cache.write(&device, &row, &row, &[31]).unwrap();
    // 1.0 twice a key of half; 2.0 is 0x40, -240 is 0xF7.
    let half = bf16::from_f32(0.5);
    assert_eq!(cache.read(&device, &[0]).unwrap(), (vec![half; 2], vec![bf16::ONE; 2]));
    drop(cache);
    let mut expected = vec![0x38; 64];
    expected[62..].copy_from_slice(&[0x40, 0xF7]);
    assert_eq!(owner.lock().unwrap().take(), Some(expected));
}

#[test]
fn without_a_pad_block_the_last_block_is_the_last() {
    let (cache, _) = lent(geometry(2).without_pad_block(), 64);
    let (mut cache, device) = (cache.unwrap(), device(Mode::Exact));
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
fn memory_of_another_size_or_type_is_refused() {
    for (geometry, elements) in [(geometry(2), 64), (geometry(2).without_pad_block(), 96)] {
        let (cache, _) = lent(geometry, elements);
        let expected = (160 - elements, StorageDtype::Fp8);
        let found = (elements, StorageDtype::Fp8);
        match cache.unwrap_err() {
            CacheError::Device(DeviceError::PlaneMemory { found: f, expected: e }) => {
                assert_eq!((f, e), (found, expected));
            }
            other => panic!("{other}"),
        }
    }
    let bf16s = CacheGeometry::new(2, 16, StorageDtype::Bf16).unwrap().without_pad_block();
    let (cache, _) = lent(bf16s, 64);
    let message = cache.unwrap_err().to_string();
    assert_eq!(message, "memory of 64 fp8 elements for a cache plane of 64 bf16");
    let (latent, _) = Loan::of(vec![0; 64]);
    let plane = |layout: &PlaneLayout| Ok(latent.checked(layout)?);
    let device = device(Mode::Fast);
    let cache = MlaCache::over(&device, geometry(2).without_pad_block(), 2, 1, &ScaleFactors::ONE, plane);
    assert!(matches!(cache, Err(CacheError::Device(DeviceError::PlaneMemory { .. }))));
}

#[test]
fn a_batch_for_a_cache_with_a_pad_block_is_not_for_one_without() {
    let batch = Batch { query_start_loc: &[0, 1], seq_lens: &[17], block_table: &[0, 2] };
    let attention =
        MhaAttention::new((1, 1), (2, 2), AttentionScales::default(), AttentionOptions::new(1.0)).unwrap();
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
        let (two, _) = lent(geometry(2).without_pad_block(), 64);
        let refused = decode(&two.unwrap(), &padded);
        assert!(matches!(
            refused,
            Err(AttentionError::OtherBlocks { prepared: Some((3, 16)), cache: (2, 16) })
        ));
        // All values are 1.0, so whatever the probabilities are, the result is.
        let (cache, _) = lent(geometry(3).without_pad_block(), 96);
        assert_eq!(decode(&cache.unwrap(), &three).unwrap(), [1.0; 2]);
    }
}
