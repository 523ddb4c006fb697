//! FP8 conversions on buffers far larger than any cache, each beside a memcpy or a memchr timed in the same run.
//!
//! Every iteration times the conversion and, right after it, its yardstick, so that a busy machine slows both. The table
//! at the end has the rates of the fastest iterations, which a busy machine disturbs least, and the ratio of the medians
//! too; `cargo bench -p gaudi-numerics --bench fp8`. `GAUDI_KV_BENCH_MIB` sets the size of the larger
//! buffer (1024 unless set) and `GAUDI_KV_ISA` the instruction set.

use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, SamplingMode, Throughput};
use gaudi_numerics::Generation;
use gaudi_numerics::fp8::{Dequantizer, Encoder, Format, Isa, Quantizer, Rerange, Rounding, scan_codes};
use half::bf16;
use half::slice::HalfBitsSliceExt;

/// Bytes moved and the times of every iteration, for a conversion and its yardstick.
struct Row {
    name: &'static str,
    goal: f64,
    bytes: [f64; 2],
    times: [Vec<Duration>; 2],
}

/// The fastest and the median rate of each, in GB/s.
fn rates(row: &mut Row) -> [[f64; 2]; 2] {
    std::array::from_fn(|i| {
        let times = &mut row.times[i];
        times.sort();
        [times[0], times[times.len() / 2]].map(|time| row.bytes[i] / time.as_secs_f64() / 1e9)
    })
}

fn timed(f: impl FnOnce()) -> Duration {
    let start = Instant::now();
    f();
    start.elapsed()
}

struct Buffers {
    a: Vec<u16>,
    b: Vec<u16>,
}

impl Buffers {
    fn bytes(words: &mut [u16]) -> &mut [u8] {
        bytemuck::cast_slice_mut(words)
    }
}

fn main() {
    let mib: usize =
        std::env::var("GAUDI_KV_BENCH_MIB").ok().and_then(|mib| mib.parse().ok()).unwrap_or(1024);
    let size = mib << 20;
    // bfloat16 values around 1 of both signs, also codes when read as bytes; no byte above 0x77.
    let mut state = 1u32;
    let a: Vec<u16> = (0..size / 2)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as u16 & 0x8777
        })
        .collect();
    let b = a.clone();
    let buffers = RefCell::new(Buffers { a, b });
    let rows: RefCell<Vec<Row>> = RefCell::new(Vec::new());
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .without_plots()
        .configure_from_args();

    let mut run = |name: &'static str,
                   goal: f64,
                   bytes: [usize; 2],
                   work: &dyn Fn(&mut Buffers),
                   yardstick: &dyn Fn(&mut Buffers)| {
        let mut group = criterion.benchmark_group("fp8");
        group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Bytes(bytes[0] as u64));
        let mut times = [Vec::new(), Vec::new()];
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|iterations| {
                let buffers = &mut *buffers.borrow_mut();
                let mut total = Duration::ZERO;
                for _ in 0..iterations {
                    let time = timed(|| work(buffers));
                    times[0].push(time);
                    times[1].push(timed(|| yardstick(buffers)));
                    total += time;
                }
                total
            });
        });
        group.finish();
        if !times[0].is_empty() {
            rows.borrow_mut().push(Row { name, goal, bytes: bytes.map(|b| b as f64), times });
        }
    };

    let memcpy = |buffers: &mut Buffers| {
        buffers.b.copy_from_slice(&buffers.a);
        black_box(&mut buffers.b);
    };
    // No byte of the buffer is 0x7F.
    let memchr = |buffers: &mut Buffers| {
        black_box(memchr::memchr(0x7F, Buffers::bytes(&mut buffers.a)));
    };
    let quantizer = Quantizer::kv_cache(Generation::Gaudi2, 2.5).expect("a fine scale");
    let dequantizer = Dequantizer::new(Format::kv_cache(Generation::Gaudi2), 0.4).expect("a fine scale");
    let unclipped = Quantizer::new(
        Encoder {
            format: Format::kv_cache(Generation::Gaudi3),
            rounding: Rounding::NearestEven,
            clip: false,
        },
        2.5,
    )
    .expect("a fine scale");

    run(
        "quant bf16 -> e4m3, scaled, saturating",
        0.6,
        [size / 2 * 3, size * 2],
        &|buffers| {
            let codes = &mut Buffers::bytes(&mut buffers.b)[..size / 2];
            quantizer.quant_bf16(buffers.a.reinterpret_cast::<bf16>(), codes).expect("equal lengths");
        },
        &memcpy,
    );
    run(
        "quant bf16 -> e4m3, scaled, Inf/NaN on overflow",
        0.0,
        [size / 2 * 3, size * 2],
        &|buffers| {
            let codes = &mut Buffers::bytes(&mut buffers.b)[..size / 2];
            unclipped.quant_bf16(buffers.a.reinterpret_cast::<bf16>(), codes).expect("equal lengths");
        },
        &memcpy,
    );
    run(
        "dequant e4m3 -> bf16, scaled",
        0.6,
        [size / 2 * 3, size * 2],
        &|buffers| {
            let codes = &Buffers::bytes(&mut buffers.a)[..size / 2];
            let values = buffers.b.reinterpret_cast_mut::<bf16>();
            dequantizer.dequant_bf16(codes, values).expect("equal lengths");
        },
        &memcpy,
    );
    let rerange = Rerange::halve_for_gaudi2();
    run(
        "re-range 448 -> 240, in place, counting",
        0.9,
        [size * 2, size * 2],
        &|buffers| {
            black_box(rerange.apply(Buffers::bytes(&mut buffers.b)));
        },
        &memcpy,
    );
    run(
        "find codes above 0x77, none there",
        0.9,
        [size, size],
        &|buffers| {
            assert_eq!(scan_codes(Buffers::bytes(&mut buffers.a)).above_gaudi2_max, 0);
        },
        &memchr,
    );

    println!("\n{} on {mib} MiB, one core", Isa::active());
    println!("| operation | GB/s | yardstick GB/s | ratio | of medians | goal |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for row in rows.borrow_mut().iter_mut() {
        let [work, yardstick] = rates(row);
        let goal = if row.goal > 0.0 { format!("{:.1}", row.goal) } else { String::new() };
        let ratio = [work[0] / yardstick[0], work[1] / yardstick[1]];
        println!(
            "| {} | {:.1} | {:.1} | {:.2} | {:.2} | {goal} |",
            row.name, work[0], yardstick[0], ratio[0], ratio[1]
        );
    }
}
