//! The steps of a decode loop allocate nothing once its threads have run some of the same size, in either mode: writing
//! the new tokens to the caches of all layers, preparing the batch, and the attention of each layer.

#![allow(unsafe_code, reason = "an allocator that counts")]
#![allow(clippy::unwrap_used, reason = "a failure here is the test failing")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use gaudi_kv::attention::{
    AttentionOptions, AttentionScales, Batch, DecodeBatch, MhaAttention, MhaShape, MlaAttention, MlaShape,
    MlaWorkspace,
};
use gaudi_kv::cache::{CacheGeometry, MhaCache, MlaCache};
use gaudi_kv::device::StorageDtype;
use gaudi_kv::device::emulated::{Emulated, EmulatedPlane, Mode};
use gaudi_kv::{Generation, ScaleFactors};
use half::bf16;

/// The system's allocator, which counts what the threads of the current pool ask for.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

/// The number of the pool that is counted. (Threads of an earlier one may still be starting or ending.)
static POOL: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static POOL_OF_THREAD: Cell<usize> = const { Cell::new(usize::MAX) };
}

fn count() {
    if POOL_OF_THREAD.try_with(Cell::get) == Ok(POOL.load(Ordering::Relaxed)) {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every method is the system allocator's own, with the caller's arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are those that `System` needs.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are those that `System` needs.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are those that `System` needs.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const HEADS: (usize, usize) = (8, 2);
const DIM: usize = 64;
const SHAPE: MlaShape =
    MlaShape { num_heads: 4, kv_lora_rank: 80, qk_nope_head_dim: 32, qk_rope_head_dim: 16, v_head_dim: 24 };
/// Query tokens of a step: of two sequences, one and two.
const TOKENS: usize = 3;

/// One layer of each kind, with its cache, and what a step of any layer takes and gives.
struct Layers {
    device: Emulated,
    geometry: CacheGeometry,
    mha: Vec<(MhaAttention, MhaCache<EmulatedPlane>)>,
    mla: Vec<(MlaAttention, MlaCache<EmulatedPlane>)>,
    rows: Vec<bf16>,
    batch: DecodeBatch,
    workspace: MlaWorkspace,
    out: Vec<f32>,
}

impl Layers {
    fn new(mode: Mode, dtype: StorageDtype, query: &AttentionScales) -> Self {
        let device = Emulated::new(Generation::Gaudi2, mode);
        let geometry = CacheGeometry::new(20, 16, dtype).unwrap();
        let options = || AttentionOptions::new(0.1);
        let (one, layer) = (ScaleFactors::new(2.0, 0.5), ScaleFactors::new(4.0, 0.25));
        let mha = [&one, &layer].map(|scale| {
            let shape =
                MhaShape { num_heads: HEADS.0, num_kv_heads: HEADS.1, head_dim: DIM, v_head_dim: DIM };
            let attention = MhaAttention::new(shape, query.clone(), options()).unwrap();
            (attention, MhaCache::new(&device, geometry, HEADS.1, (DIM, DIM), (scale, &one)).unwrap())
        });
        let weights = vec![bf16::from_f32(0.125); 4 * (32 + 24) * 80];
        let mla = [&one, &layer].map(|scale| {
            let attention = MlaAttention::new(SHAPE, &weights, query.clone(), options()).unwrap();
            (attention, MlaCache::new(&device, geometry, 80, 16, scale).unwrap())
        });
        Self {
            device,
            geometry,
            mha: mha.into(),
            mla: mla.into(),
            rows: vec![bf16::from_f32(0.75); TOKENS * 8 * DIM],
            batch: DecodeBatch::new(),
            workspace: MlaWorkspace::default(),
            out: vec![0.0; TOKENS * 8 * DIM],
        }
    }

    /// One step: the last tokens of two sequences of 150 and `len` tokens.
    fn step(&mut self, len: usize) {
        let Self { device, geometry, mha, mla, rows, batch, workspace, out } = self;
        let block_table: [i32; 20] = std::array::from_fn(|block| block as i32);
        let slots = [149, 160 + len as i64 - 2, 160 + len as i64 - 1];
        let step = Batch { query_start_loc: &[0, 1, 3], seq_lens: &[150, len], block_table: &block_table };
        batch.prepare(&step, TOKENS, *geometry).unwrap();
        for (attention, cache) in mha {
            let new = &rows[..TOKENS * HEADS.1 * DIM];
            cache.write(device, new, new, &slots).unwrap();
            attention.decode_into(device, cache, rows, batch, out).unwrap();
        }
        for (attention, cache) in mla {
            cache.write(device, &rows[..TOKENS * 80], &rows[..TOKENS * 16], &slots).unwrap();
            let q = (&rows[..TOKENS * 4 * 32], &rows[..TOKENS * 4 * 16]);
            let out = &mut out[..TOKENS * 4 * 24];
            attention.decode_into(device, cache, q, batch, workspace, out).unwrap();
        }
    }
}

/// Allocations of 100 steps after `warm_up` of them, from within a pool of `threads` threads.
fn allocations(threads: usize, warm_up: usize, mut layers: Layers) -> usize {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let number = POOL.fetch_add(1, Ordering::Relaxed) + 1;
    let pool = pool.start_handler(move |_| POOL_OF_THREAD.set(number)).build().unwrap();
    pool.install(|| {
        (0..warm_up).for_each(|_| layers.step(140));
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        // Shorter contexts than before, which then grow.
        (40..140).for_each(|len| layers.step(len));
        ALLOCATIONS.load(Ordering::Relaxed) - before
    })
}

/// One test, because the count is the process's.
#[test]
fn none_after_warm_up() {
    let loaded = AttentionScales::default().with_query(ScaleFactors::new(8.0, 0.125)).with_prob(2.0, 0.5);
    for mode in [Mode::Fast, Mode::Exact] {
        for dtype in [StorageDtype::Fp8, StorageDtype::Bf16, StorageDtype::F32] {
            for query in [&AttentionScales::default(), &loaded] {
                let layers = || Layers::new(mode, dtype, query);
                assert_eq!(allocations(1, 1, layers()), 0, "{mode}, {dtype:?}");
                // Another thread may take its first task late, or one while it waits for another; its memory then grows
                // once.
                let count = allocations(2, 100, layers());
                assert!(count <= 60, "{count} allocations: {mode}, {dtype:?}");
            }
        }
    }
}
