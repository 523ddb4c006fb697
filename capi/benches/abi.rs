#![allow(unsafe_code, reason = "calls the shared library as a C program does")]
#![allow(clippy::unwrap_used, reason = "a failure here is the benchmark failing")]
//! What a call through C costs: handles, scales, and the writing of 128 tokens beside the same call in Rust.
//!
//! Both sides of a comparison take turns, so that whatever else the machine does meets both alike. Medians are printed.

use std::ffi::{CString, c_char, c_void};
use std::hint::black_box;
use std::path::Path;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

use half::bf16;
use kv::cache::{CacheGeometry, MhaCache, MlaCache};
use kv::device::StorageDtype;
use kv::device::emulated::{Emulated, Mode};
use kv::{Generation, ScaleFactors};
use libloading::{Library, Symbol};

const ROUNDS: usize = 4001;
const TOKENS: usize = 128;
const BLOCKS: usize = 64;
const GAUDI2: i32 = 2;
const FAST: i32 = 2;

type Create = unsafe extern "C" fn(i32, i32, *mut *mut c_void) -> i32;
type Free = unsafe extern "C" fn(*mut c_void);
type New = unsafe extern "C" fn(*mut *mut c_void) -> i32;
type Inspect = unsafe extern "C" fn(*const c_char, *const c_void, *const c_void, *mut *mut c_void) -> i32;
type GetScale = unsafe extern "C" fn(*const c_void, u64, i32, *mut Scale) -> i32;
type CreateCache = unsafe extern "C" fn(*const c_void, *const usize, *const Options, *mut *mut c_void) -> i32;
type CreateCodec = unsafe extern "C" fn(*const CodecOptions, *mut *mut c_void) -> i32;
type CreateAttention =
    unsafe extern "C" fn(*const c_void, *const usize, *const AttentionOptions, *mut *mut c_void) -> i32;
type Write =
    unsafe extern "C" fn(*mut c_void, *const bf16, usize, *const bf16, usize, *const i64, usize) -> i32;

/// `gaudi_kv_scale`.
#[repr(C)]
struct Scale {
    struct_size: u64,
    rest: [u64; 5],
}

/// `gaudi_kv_cache_options` with as much as is needed.
#[repr(C)]
struct Options {
    struct_size: u64,
    num_blocks: usize,
    block_size_tokens: usize,
    dtype: i32,
    reserved: u32,
    scales: [(*const f32, *const f32, usize); 2],
}

/// `gaudi_kv_codec_options` with as much as is needed.
#[repr(C)]
struct CodecOptions {
    struct_size: u64,
    format: i32,
    rounding: i32,
}

/// `gaudi_kv_attention_options` with as much as is needed.
#[repr(C)]
struct AttentionOptions {
    struct_size: u64,
    softmax_scale: f32,
    logits_soft_cap: f32,
}

/// All of `gaudi_kv_cache_options`.
#[repr(C)]
struct LentOptions {
    options: Options,
    memory: [(*mut u8, usize); 2],
}

fn library() -> Library {
    let path = std::env::current_exe().unwrap().with_file_name("libgaudi_kv.so");
    // SAFETY: it is this package's own library, which runs nothing when it is loaded.
    unsafe { Library::new(path) }.unwrap()
}

/// A function of the library.
fn function<'a, T>(library: &'a Library, name: &str) -> Symbol<'a, T> {
    // SAFETY: the types above are those of the header.
    unsafe { library.get(format!("gaudi_kv_{name}\0").as_bytes()) }.unwrap()
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_nanos() as f64
}

/// Nanoseconds of a call that is too short to be measured alone.
fn short(mut call: impl FnMut()) -> f64 {
    const CALLS: u32 = 100;
    let rounds = (0..ROUNDS / 10).map(|_| {
        let start = Instant::now();
        (0..CALLS).for_each(|_| call());
        start.elapsed() / CALLS
    });
    median(rounds.collect())
}

/// Nanoseconds of two calls that take turns.
fn turns(mut first: impl FnMut(), mut second: impl FnMut()) -> (f64, f64) {
    let mut times = (Vec::new(), Vec::new());
    let time = |call: &mut dyn FnMut()| {
        let start = Instant::now();
        call();
        start.elapsed()
    };
    for round in 0..ROUNDS {
        if round % 2 == 0 {
            times.0.push(time(&mut first));
            times.1.push(time(&mut second));
        } else {
            times.1.push(time(&mut second));
            times.0.push(time(&mut first));
        }
    }
    (median(times.0), median(times.1))
}

/// Nanoseconds of the making and freeing of a handle.
fn made_and_freed(library: &Library, kind: &str, create: impl Fn(*mut *mut c_void) -> i32) -> f64 {
    let free = function::<Free>(library, &format!("{kind}_free"));
    short(|| {
        let mut handle = null_mut();
        assert_eq!(create(&raw mut handle), 0);
        // SAFETY: it was made just before and is freed once.
        unsafe { free(black_box(handle)) };
    })
}

/// Codecs, layers, and caches over memory that is there.
fn more_handles(library: &Library, device: *const c_void) {
    let create = function::<CreateCodec>(library, "codec_create");
    let options = CodecOptions { struct_size: size_of::<CodecOptions>() as u64, format: 2, rounding: 0 };
    let codec = made_and_freed(library, "codec", |out| {
        // SAFETY: the structure has the size that it says, and a place for the handle is given.
        unsafe { create(&raw const options, out) }
    });
    println!("codec, made and freed       {codec:8.0} ns");

    let create = function::<CreateAttention>(library, "attention_create_mha");
    let (softmax_scale, shape) = (0.125, [40usize, 32, 8, 128, 128]);
    let struct_size = size_of::<AttentionOptions>() as u64;
    let options = AttentionOptions { struct_size, softmax_scale, logits_soft_cap: 0.0 };
    let layer = made_and_freed(library, "attention", |out| {
        // SAFETY: as above, and the device lives.
        unsafe { create(device, shape.as_ptr(), &raw const options, out) }
    });
    println!("attention, made and freed   {layer:8.0} ns");

    let create = function::<CreateCache>(library, "cache_create_mha");
    let mut planes = [vec![0u8; BLOCKS * TOKENS * 1024], vec![0u8; BLOCKS * TOKENS * 1024]];
    let one = 1.0f32;
    let scale = (&raw const one, &raw const one, 1);
    let options = LentOptions {
        options: Options {
            struct_size: size_of::<LentOptions>() as u64,
            num_blocks: BLOCKS,
            block_size_tokens: TOKENS,
            dtype: 1,
            reserved: 0,
            scales: [scale; 2],
        },
        memory: planes.each_mut().map(|plane| (plane.as_mut_ptr(), plane.len())),
    };
    let cache = made_and_freed(library, "cache", |out| {
        // SAFETY: as above; the memory lives, and nothing else uses it.
        unsafe { create(device, shape.as_ptr(), (&raw const options).cast(), out) }
    });
    println!("cache over given memory     {cache:8.0} ns");
}

fn handles(library: &Library) {
    let (create, free) =
        (function::<Create>(library, "device_create_emulated"), function::<Free>(library, "device_free"));
    let device = || {
        let mut device = null_mut();
        // SAFETY: a place for the handle is given.
        assert_eq!(unsafe { create(GAUDI2, FAST, &raw mut device) }, 0);
        device
    };
    // SAFETY: the device was made just before and is freed once.
    println!("device, made and freed      {:8.0} ns", short(|| unsafe { free(black_box(device())) }));

    let (new, free_batch) =
        (function::<New>(library, "batch_create"), function::<Free>(library, "batch_free"));
    let batch = short(|| {
        let mut batch = null_mut();
        // SAFETY: a place for the handle is given, and it is freed once.
        unsafe {
            assert_eq!(new(&raw mut batch), 0);
            free_batch(black_box(batch));
        }
    });
    println!("batch, made and freed       {batch:8.0} ns");

    let (inspect, get_scale) =
        (function::<Inspect>(library, "inspect"), function::<GetScale>(library, "inspection_get_scale"));
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/llmc-gqa-head");
    let model = CString::new(model.to_str().unwrap()).unwrap();
    let (device, mut inspection) = (device(), null_mut());
    // SAFETY: the path ends with a zero, the device lives, and a place for the handle is given.
    assert_eq!(unsafe { inspect(model.as_ptr(), device, null_mut(), &raw mut inspection) }, 0);
    let scale = short(|| {
        let mut scale = Scale { struct_size: size_of::<Scale>() as u64, rest: [0; 5] };
        // SAFETY: the inspection lives, and the structure has the size that it says.
        assert_eq!(unsafe { get_scale(inspection, black_box(1), 1, &raw mut scale) }, 0);
        black_box(scale.rest);
    });
    println!("scale of a layer, read      {scale:8.0} ns");
    more_handles(library, device);
    let free_inspection = function::<Free>(library, "inspection_free");
    // SAFETY: each was made above and is freed once.
    unsafe {
        free_inspection(inspection);
        free(device);
    }
}

/// Values from -4 to 4.
fn rows(len: usize) -> Vec<bf16> {
    (0..len).map(|i| bf16::from_f32((i * 7919 % 1024) as f32 / 128.0 - 4.0)).collect()
}

/// Writes 128 tokens through C and through Rust. `shape` is that of the C structure after its size, `rows` the
/// elements of a token of both operands.
fn write(
    library: &Library,
    kind: &str,
    shape: &[usize],
    row: (usize, usize),
    mut in_rust: impl FnMut(&[bf16], &[bf16], &[i64]),
) {
    let device_create = function::<Create>(library, "device_create_emulated");
    let create = function::<CreateCache>(library, &format!("cache_create_{kind}"));
    let write = function::<Write>(library, &format!("cache_write_{kind}"));
    let shape: Vec<usize> = [8 * (shape.len() + 1)].iter().chain(shape).copied().collect();
    let (quant, dequant) = (16.0f32, 1.0 / 16.0f32);
    let scale = (&raw const quant, &raw const dequant, 1);
    let options = Options {
        struct_size: size_of::<Options>() as u64,
        num_blocks: BLOCKS,
        block_size_tokens: TOKENS,
        dtype: 1,
        reserved: 0,
        scales: [scale; 2],
    };
    let (mut device, mut cache) = (null_mut(), null_mut());
    // SAFETY: places for the handles are given, and the structures have the sizes that they say.
    unsafe {
        assert_eq!(device_create(GAUDI2, FAST, &raw mut device), 0);
        assert_eq!(create(device, shape.as_ptr(), &raw const options, &raw mut cache), 0);
    }
    let (a, b) = (rows(TOKENS * row.0), rows(TOKENS * row.1));
    for (slots_are, slots) in [
        ("one block", (0..TOKENS as i64).map(|token| 5 * TOKENS as i64 + token).collect::<Vec<_>>()),
        ("scattered", (0..TOKENS as i64).map(|token| token * 37 % (BLOCKS * TOKENS) as i64).collect()),
    ] {
        let (c, rust) = turns(
            || {
                // SAFETY: the cache lives, and the operands have the lengths that are given.
                let status = unsafe {
                    write(cache, a.as_ptr(), a.len(), b.as_ptr(), b.len(), slots.as_ptr(), slots.len())
                };
                assert_eq!(status, 0);
            },
            || in_rust(&a, &b, &slots),
        );
        println!("{kind}, 128 tokens, {slots_are}: C {c:7.0} ns, Rust {rust:7.0} ns, ratio {:.3}", c / rust);
    }
    // SAFETY: each was made above and is freed once.
    unsafe {
        function::<Free>(library, "cache_free")(cache);
        function::<Free>(library, "device_free")(device);
    }
}

fn main() {
    let library = library();
    handles(&library);
    let device = Emulated::new(Generation::Gaudi2, Mode::Fast);
    let geometry = CacheGeometry::new(BLOCKS, TOKENS, StorageDtype::Fp8).unwrap();
    let scale = ScaleFactors::new(16.0, 1.0 / 16.0);
    let mut mha = MhaCache::new(&device, geometry, 8, (128, 128), (&scale, &scale)).unwrap();
    write(&library, "mha", &[32, 8, 128, 128], (1024, 1024), |k, v, slots| {
        mha.write(&device, k, v, slots).unwrap();
    });
    let mut mla = MlaCache::new(&device, geometry, 512, 64, &scale).unwrap();
    write(&library, "mla", &[128, 512, 128, 64, 128], (512, 64), |kv_c, k_pe, slots| {
        mla.write(&device, kv_c, k_pe, slots).unwrap();
    });
}
