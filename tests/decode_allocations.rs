//! A decode in `fast` mode allocates nothing once its threads have run one of the same size.

#![allow(unsafe_code, reason = "an allocator that counts")]
#![allow(clippy::unwrap_used, reason = "a failure here is the test failing")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use gaudi_kv::Generation;
use gaudi_kv::device::emulated::{Emulated, Mode};
use gaudi_kv::device::{
    DecodeKernel, DecodeSequence, Device, HeadScales, Modifiers, PlaneLayout, QueryScale, StorageDtype,
    Values,
};
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

/// Allocations of 100 decodes after `warm_up` of them, from within a pool of `threads` threads.
fn allocations(threads: usize, warm_up: usize, dtype: StorageDtype, is_latent: bool) -> usize {
    let device = Emulated::new(Generation::Gaudi2, Mode::Fast);
    let (kv_heads, dim) = if is_latent { (1, 96) } else { (2, 64) };
    let layout = PlaneLayout { num_blocks: 20, block_size_tokens: 16, heads: kv_heads, dim, dtype };
    let one = HeadScales::One(1.0);
    let plane = || {
        let mut plane = device.allocate(&layout).unwrap();
        let rows = vec![bf16::from_f32(0.75); layout.slots() * layout.row()];
        let slots: Vec<usize> = (0..layout.slots()).collect();
        device.write(&layout, &mut plane, &rows, &slots, &one).unwrap();
        plane
    };
    let (key, value) = (plane(), plane());
    let blocks: Vec<usize> = (0..10).collect();
    let sequences: Vec<_> = [(0, 1, 150), (1, 2, 77)]
        .map(|(first_token, tokens, context_tokens)| DecodeSequence {
            first_token,
            tokens,
            context_tokens,
            first_block: 0,
        })
        .into();
    let num_heads = 4 * kv_heads;
    let q = vec![bf16::from_f32(0.5); 3 * num_heads * dim];
    let kernel = DecodeKernel {
        q: &q,
        num_heads,
        key_layout: &layout,
        key: &key,
        key_dequant: &one,
        values: if is_latent {
            Values::KeyPrefix { dim: 80 }
        } else {
            Values::Plane { layout: &layout, plane: &value, dequant: &one }
        },
        query_scale: &QueryScale::Dynamic,
        prob: (1.0, 1.0),
        modifiers: Modifiers {
            softmax_scale: 0.1,
            logits_soft_cap: None,
            alibi_slopes: None,
            sliding_window: None,
            sinks: None,
        },
        sequences: &sequences,
        blocks: &blocks,
    };
    let mut out = vec![0.0; 3 * num_heads * kernel.value_dim()];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let number = POOL.fetch_add(1, Ordering::Relaxed) + 1;
    let pool = pool.start_handler(move |_| POOL_OF_THREAD.set(number)).build().unwrap();
    pool.install(|| {
        for _ in 0..warm_up {
            device.decode(&kernel, &mut out).unwrap();
        }
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..100 {
            device.decode(&kernel, &mut out).unwrap();
        }
        ALLOCATIONS.load(Ordering::Relaxed) - before
    })
}

/// One test, because the count is the process's.
#[test]
fn none_after_warm_up() {
    for dtype in [StorageDtype::Fp8, StorageDtype::Bf16, StorageDtype::F32] {
        for is_latent in [false, true] {
            assert_eq!(allocations(1, 1, dtype, is_latent), 0, "{dtype:?}, latent: {is_latent}");
            // The second thread may take its first task late; its memory then grows once.
            let count = allocations(2, 100, dtype, is_latent);
            assert!(count <= 20, "{count} allocations: {dtype:?}, latent: {is_latent}");
        }
    }
}
