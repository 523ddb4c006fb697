//! Attention with every option, through C and through the Rust library.

use half::bf16;
use kv::attention::{
    AttentionOptions, AttentionScales, Batch, MhaAttention, MhaShape, MlaAttention, MlaShape,
};
use kv::cache::{CacheGeometry, MhaCache, MlaCache};
use kv::device::emulated::{Emulated, Mode};
use kv::device::{HeadScales, StorageDtype};
use kv::{Generation, ScaleFactors};

use crate::compiler::{Program, succeed};

/// The numbers of `attend.c`.
struct Numbers(u32);

impl Numbers {
    fn next(&mut self, len: usize) -> Vec<bf16> {
        let mut one = || {
            self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let number = i16::try_from((self.0 >> 16) % 255).unwrap() - 127;
            bf16::from_f32(f32::from(number) / 64.0)
        };
        (0..len).map(|_| one()).collect()
    }
}

const TABLE: [i32; 6] = [5, 0, 3, 1, 6, -1];
const LENS: [usize; 2] = [37, 18];

fn slots() -> Vec<i64> {
    let slot = |sequence: usize, token: usize| {
        i64::from(TABLE[3 * sequence + token / 16]) * 16 + (token % 16) as i64
    };
    (0..2).flat_map(|sequence| (0..LENS[sequence]).map(move |token| slot(sequence, token))).collect()
}

const BATCH: Batch<'_> = Batch { query_start_loc: &[0, 2, 3], seq_lens: &LENS, block_table: &TABLE };

fn per_head(quant: &[f32]) -> ScaleFactors {
    let dequant = quant.iter().map(|quant| 1.0 / quant).collect();
    ScaleFactors { quant: HeadScales::PerHead(quant.to_vec()), dequant: HeadScales::PerHead(dequant) }
}

fn mha(device: &Emulated, geometry: CacheGeometry, numbers: &mut Numbers) -> Vec<f32> {
    let (heads, dims) = ((4, 2), (32, 16));
    let scales = (&per_head(&[70.5, 33.25]), &per_head(&[90.0, 61.0]));
    let mut cache = MhaCache::new(device, geometry, heads.1, dims, scales).unwrap();
    let (slots, tokens) = (slots(), LENS[0] + LENS[1]);
    let (k, v) = (numbers.next(tokens * 64), numbers.next(tokens * 32));
    let q = numbers.next(3 * 128);
    cache.write(device, &k, &v, &slots).unwrap();
    let options = AttentionOptions {
        logits_soft_cap: Some(20.0),
        alibi_slopes: Some(vec![0.5, 0.25, 0.125, 0.0625]),
        sinks: Some(vec![0.5, -1.0, 0.0, 2.0]),
        sliding_window: Some(21),
        fp8_prefill: true,
        ..AttentionOptions::new(0.176_776_69)
    };
    let scales = AttentionScales::default().with_query(per_head(&[41.0, 55.0])).with_prob(200.0, 1.0 / 200.0);
    let shape = MhaShape { num_heads: heads.0, num_kv_heads: heads.1, head_dim: dims.0, v_head_dim: dims.1 };
    let layer = MhaAttention::new(shape, scales, options).unwrap();
    let mut out = layer.decode(device, &cache, &q, &BATCH).unwrap();
    let new = (&q[..], &k[..3 * 64], &v[..3 * 32]);
    out.extend(layer.prefill(device, Some(&cache), new, &BATCH).unwrap());
    out
}

fn mla(device: &Emulated, geometry: CacheGeometry, numbers: &mut Numbers) -> Vec<f32> {
    let shape = MlaShape {
        num_heads: 3,
        kv_lora_rank: 64,
        qk_nope_head_dim: 16,
        qk_rope_head_dim: 8,
        v_head_dim: 24,
    };
    let k_scale = ScaleFactors::new(50.0, 1.0 / 50.0);
    let mut cache = MlaCache::new(device, geometry, 64, 8, &k_scale).unwrap();
    let (slots, tokens) = (slots(), LENS[0] + LENS[1]);
    let (kv_c, k_pe) = (numbers.next(tokens * 64), numbers.next(tokens * 8));
    let weight = numbers.next(3 * 40 * 64);
    let (q_nope, q_pe) = (numbers.next(3 * 3 * 16), numbers.next(3 * 3 * 8));
    cache.write(device, &kv_c, &k_pe, &slots).unwrap();
    let (scales, options) = (AttentionScales::default(), AttentionOptions::new(0.01));
    let layer = MlaAttention::new(shape, &weight, scales, options).unwrap();
    let mut out = layer.decode(device, &cache, (&q_nope, &q_pe), &BATCH).unwrap();
    let new = (&kv_c[..3 * 64], &k_pe[..3 * 8]);
    out.extend(layer.prefill(device, Some(&cache), (&q_nope, &q_pe), new, &BATCH).unwrap());
    out
}

/// The bits that the C program gives; `mode` 0 is a Gaudi, with these variables.
fn through_c(
    program: &Program,
    generation: Generation,
    mode: u32,
    dtype: u32,
    variables: &[(&str, &str)],
) -> Vec<u32> {
    let mut command = program.command(&[]);
    let number = generation.name().strip_prefix("gaudi").unwrap();
    command.args([number, &mode.to_string(), &dtype.to_string()]).envs(variables.iter().copied());
    succeed(&mut command).stdout.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

fn in_rust(generation: Generation, mode: Mode, dtype: StorageDtype) -> Vec<u32> {
    let device = Emulated::new(generation, mode);
    let geometry = CacheGeometry::new(8, 16, dtype).unwrap();
    let mut numbers = Numbers(1);
    let mut expected = mha(&device, geometry, &mut numbers);
    expected.extend(mla(&device, geometry, &mut numbers));
    let expected: Vec<u32> = expected.iter().map(|value| value.to_bits()).collect();
    assert!(expected.len() == 816 && expected.iter().any(|bits| *bits != 0));
    expected
}

const DTYPES: [(StorageDtype, u32); 3] =
    [(StorageDtype::Fp8, 1), (StorageDtype::Bf16, 2), (StorageDtype::F32, 3)];

pub fn all() {
    let program = Program::c("attend.c");
    for generation in Generation::ALL {
        for (mode, mode_number) in [(Mode::Exact, 1), (Mode::Fast, 2)] {
            for (dtype, dtype_number) in DTYPES {
                let found = through_c(&program, generation, mode_number, dtype_number, &[]);
                let expected = in_rust(generation, mode, dtype);
                assert!(found == expected, "{generation} {mode} {}", dtype.name());
            }
        }
    }
}

/// A Gaudi whose library computes on the CPU gives the bits of the exact emulation.
pub fn on_a_gaudi() {
    let program = Program::c("attend.c");
    let library = crate::compiler::library().with_file_name("libSynapse.so").display().to_string();
    let folder = tempfile::tempdir().unwrap();
    let recipes = folder.path().display().to_string();
    for generation in Generation::ALL {
        let variables = [
            ("GAUDI_KV_SYNAPSE", library.as_str()),
            ("SYNAPSE_EMU_DEVICE", generation.name()),
            ("GAUDI_KV_RECIPE_CACHE", &recipes),
        ];
        for (dtype, dtype_number) in DTYPES {
            let found = through_c(&program, generation, 0, dtype_number, &variables);
            let expected = in_rust(generation, Mode::Exact, dtype);
            assert!(found == expected, "{generation} {}", dtype.name());
        }
    }
}
