//! Every way in which attention refuses.

use gaudi_kv::attention::{
    AttentionError, AttentionOptions, AttentionScales, Batch, MhaAttention, MlaAttention, MlaShape,
    MlaWorkspace,
};
use gaudi_kv::cache::{CacheError, CacheGeometry, MhaCache, MlaCache};
use gaudi_kv::device::StorageDtype;
use gaudi_kv::device::emulated::{Emulated, EmulatedPlane, Mode};
use gaudi_kv::{Generation, ScaleFactors};
use half::bf16;

use crate::cases::{Scale, shape};

const HEADS: (usize, usize) = (4, 2);
const DIMS: (usize, usize) = (8, 6);
const SHAPE: MlaShape =
    MlaShape { num_heads: 2, kv_lora_rank: 8, qk_nope_head_dim: 4, qk_rope_head_dim: 2, v_head_dim: 3 };

fn options() -> AttentionOptions {
    AttentionOptions::new(0.25)
}

fn device() -> Emulated {
    Emulated::new(Generation::Gaudi2, Mode::Exact)
}

fn ones(len: usize) -> Vec<bf16> {
    vec![bf16::ONE; len]
}

fn mha_cache(heads: usize, dims: (usize, usize), dtype: StorageDtype) -> MhaCache<EmulatedPlane> {
    let scales = (&Scale::new(&[0.5]).plane(), &Scale::new(&[2.0]).plane());
    MhaCache::new(&device(), CacheGeometry::new(4, 16, dtype).unwrap(), heads, dims, scales).unwrap()
}

fn mla_cache(rank: usize, rope: usize) -> MlaCache<EmulatedPlane> {
    let geometry = CacheGeometry::new(4, 16, StorageDtype::Fp8).unwrap();
    MlaCache::new(&device(), geometry, rank, rope, &Scale::new(&[0.5]).plane()).unwrap()
}

fn mha(options: AttentionOptions) -> MhaAttention {
    MhaAttention::new(shape(HEADS, DIMS), AttentionScales::default(), options).unwrap()
}

fn mla() -> MlaAttention {
    MlaAttention::new(SHAPE, &ones(2 * 7 * 8), AttentionScales::default(), options()).unwrap()
}

/// Two query tokens of one sequence of 20, in blocks 1 and 3.
const GOOD: Batch<'_> = Batch { query_start_loc: &[0, 2], seq_lens: &[20], block_table: &[1, 3] };

fn length(error: &AttentionError) -> &'static str {
    match error {
        AttentionError::Length { what, len, expected } => {
            assert_ne!(len, expected);
            what
        }
        other => panic!("{other}"),
    }
}

fn size(error: &AttentionError) -> &'static str {
    match error {
        AttentionError::Size { what, .. } => what,
        other => panic!("{other}"),
    }
}

#[test]
fn layers_whose_sizes_do_not_fit() {
    let new = |heads, dims| MhaAttention::new(shape(heads, dims), AttentionScales::default(), options());
    for (heads, dims, blamed) in [
        ((4, 2), (0, 6), "head_dim"),
        ((4, 2), (8, 0), "v_head_dim"),
        ((4, 0), (8, 6), "num_kv_heads"),
        ((0, 2), (8, 6), "num_heads"),
        ((3, 2), (8, 6), "num_heads"),
        ((1, 2), (8, 6), "num_heads"),
        ((1 << 62, 1), (4, 1), "head_dim"),
        ((2, 1), (1, usize::MAX / 2), "v_head_dim"),
    ] {
        assert_eq!(size(&new(heads, dims).unwrap_err()), blamed, "{heads:?} {dims:?}");
    }
    assert!(new((8, 8), (1, 1)).is_ok());
    let new = |shape, len| MlaAttention::new(shape, &ones(len), AttentionScales::default(), options());
    for (shape, blamed) in [
        (MlaShape { num_heads: 0, ..SHAPE }, "num_heads"),
        (MlaShape { kv_lora_rank: 0, ..SHAPE }, "kv_lora_rank"),
        (MlaShape { qk_nope_head_dim: 0, ..SHAPE }, "qk_nope_head_dim"),
        (MlaShape { v_head_dim: 0, ..SHAPE }, "v_head_dim"),
        // Their product wraps around to nothing.
        (MlaShape { num_heads: 1 << 63, v_head_dim: 4, ..SHAPE }, "num_heads"),
        (MlaShape { v_head_dim: usize::MAX, ..SHAPE }, "num_heads"),
        (MlaShape { kv_lora_rank: usize::MAX, ..SHAPE }, "num_heads"),
    ] {
        assert_eq!(size(&new(shape, 0).unwrap_err()), blamed, "{shape:?}");
    }
    let rope = MlaShape { qk_rope_head_dim: usize::MAX - 1, ..SHAPE };
    assert_eq!(size(&new(rope, 2 * 7 * 8).unwrap_err()), "qk_rope_head_dim");
    assert_eq!(length(&new(SHAPE, 2 * 7 * 8 - 1).unwrap_err()), "kv_b_proj");
    assert_eq!(length(&new(SHAPE, 2 * 7 * 8 + 1).unwrap_err()), "kv_b_proj");
}

#[test]
fn options_that_do_not_fit() {
    let plain = options();
    let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    let mut refused: Vec<(AttentionOptions, &str)> = Vec::new();
    for value in bad {
        refused.push((
            AttentionOptions { alibi_slopes: Some(vec![0.5, 0.5, value, 0.5]), ..plain.clone() },
            "alibi_slopes",
        ));
        refused
            .push((AttentionOptions { sinks: Some(vec![value, 0.0, 0.0, 0.0]), ..plain.clone() }, "sinks"));
    }
    for value in bad.into_iter().chain([0.0, -1.0]) {
        refused.push((AttentionOptions { softmax_scale: value, ..plain.clone() }, "softmax_scale"));
        refused.push((AttentionOptions { logits_soft_cap: Some(value), ..plain.clone() }, "logits_soft_cap"));
    }
    let new = |options| MhaAttention::new(shape(HEADS, DIMS), AttentionScales::default(), options);
    for (options, blamed) in refused {
        assert!(
            matches!(new(options), Err(AttentionError::Value { what, .. }) if what == blamed),
            "{blamed}"
        );
    }
    for len in [0, 3, 5] {
        let slopes = AttentionOptions { alibi_slopes: Some(vec![0.5; len]), ..plain.clone() };
        assert_eq!(length(&new(slopes).unwrap_err()), "alibi_slopes");
        let sinks = AttentionOptions { sinks: Some(vec![0.5; len]), ..plain.clone() };
        assert_eq!(length(&new(sinks).unwrap_err()), "sinks");
    }
    let window = AttentionOptions { sliding_window: Some(0), ..plain };
    assert_eq!(size(&new(window).unwrap_err()), "sliding_window");
}

#[test]
fn operands_of_other_lengths() {
    let (device, layer) = (device(), mha(options()));
    let cache = mha_cache(2, DIMS, StorageDtype::Fp8);
    for len in [63, 65, 1] {
        assert_eq!(length(&layer.decode(&device, &cache, &ones(len), &GOOD).unwrap_err()), "q");
    }
    for ((q, k, v), blamed) in [
        ((63, 32, 24), "q"),
        ((64, 31, 24), "k"),
        ((64, 48, 24), "k"),
        ((64, 32, 23), "v"),
        ((64, 32, 0), "v"),
    ] {
        let operands = (&ones(q)[..], &ones(k)[..], &ones(v)[..]);
        let error = layer.prefill(&device, Some(&cache), operands, &GOOD).unwrap_err();
        assert_eq!(length(&error), blamed);
    }
    let (layer, cache) = (mla(), mla_cache(8, 2));
    for ((nope, rope), blamed) in [((15, 8), "q_nope"), ((16, 7), "q_pe"), ((16, 0), "q_pe")] {
        let q = (&ones(nope)[..], &ones(rope)[..]);
        assert_eq!(length(&layer.decode(&device, &cache, q, &GOOD).unwrap_err()), blamed);
        let new = (&ones(16)[..], &ones(4)[..]);
        assert_eq!(length(&layer.prefill(&device, Some(&cache), q, new, &GOOD).unwrap_err()), blamed);
    }
    for ((c, pe), blamed) in [((17, 4), "kv_c"), ((16, 5), "k_pe")] {
        let (q, new) = ((&ones(16)[..], &ones(8)[..]), (&ones(c)[..], &ones(pe)[..]));
        assert_eq!(length(&layer.prefill(&device, Some(&cache), q, new, &GOOD).unwrap_err()), blamed);
    }
}

#[test]
fn batches_that_contradict_themselves() {
    let (device, layer) = (device(), mha(options()));
    let cache = mha_cache(2, DIMS, StorageDtype::Fp8);
    let (mla, latents) = (mla(), mla_cache(8, 2));
    let refusals = |batch: Batch<'_>| {
        [
            layer.decode(&device, &cache, &ones(64), &batch).unwrap_err(),
            layer.prefill(&device, Some(&cache), (&ones(64), &ones(32), &ones(24)), &batch).unwrap_err(),
            mla.decode(&device, &latents, (&ones(16), &ones(8)), &batch).unwrap_err(),
            mla.prefill(&device, Some(&latents), (&ones(16), &ones(8)), (&ones(16), &ones(4)), &batch)
                .unwrap_err(),
        ]
    };
    let none: &[usize] = &[];
    for (query_start_loc, seq_lens) in
        [(&[0][..], &[20][..]), (&[0, 1, 2], &[20]), (none, &[20]), (none, none), (&[0, 2], none)]
    {
        for error in refusals(Batch { query_start_loc, seq_lens, block_table: &[1, 3] }) {
            assert_eq!(length(&error), "query_start_loc");
        }
    }
    type Case = (&'static [usize], &'static [usize], &'static [i32], usize, &'static str);
    let cases: [Case; 12] = [
        (&[0, 1], &[20], &[1, 3], 0, "must run from 0 to 2"),
        (&[0, 3], &[20], &[1, 3], 0, "must run from 0 to 2"),
        (&[1, 2], &[20], &[1, 3], 0, "must run from 0 to 2"),
        (&[0], &[], &[], 0, "must run from 0 to 2"),
        (&[0, 2, 1, 2], &[20, 20, 20], &[1, 3, 1, 3, 1, 3], 1, "falls from 2 to 1"),
        (&[0, usize::MAX, 2], &[usize::MAX, 2], &[1, 3], 1, "falls from"),
        (&[0, 2], &[1], &[1, 3], 0, "2 query tokens of 1"),
        (&[0, 2], &[40], &[1, 3], 0, "need 3 blocks of 16; the block table has 2"),
        (&[0, 2], &[usize::MAX], &[1, 3], 0, "blocks of 16"),
        (&[0, 2], &[20], &[], 0, "need 2 blocks of 16; the block table has 0"),
        (&[0, 1, 2], &[20, 20], &[1, 3], 0, "need 2 blocks of 16; the block table has 1"),
        (&[0, 1, 2], &[20, 20], &[1, 3, 2, 0, 1], 0, "5 entries is not equal rows for 2 sequences"),
    ];
    for (query_start_loc, seq_lens, block_table, number, why) in cases {
        for error in refusals(Batch { query_start_loc, seq_lens, block_table }) {
            match error {
                AttentionError::Batch { sequence, reason } => {
                    assert_eq!(sequence, number, "{reason}");
                    assert!(reason.contains(why), "{reason}: {why}");
                }
                other => panic!("{other}"),
            }
        }
    }
}

#[test]
fn blocks_outside_the_cache() {
    let (device, layer) = (device(), mha(options()));
    let cache = mha_cache(2, DIMS, StorageDtype::Fp8);
    let (mla, latents) = (mla(), mla_cache(8, 2));
    let run = |block_table: &[i32]| {
        let batch = Batch { block_table, ..GOOD };
        [
            layer.decode(&device, &cache, &ones(64), &batch),
            layer.prefill(&device, Some(&cache), (&ones(64), &ones(32), &ones(24)), &batch),
            mla.decode(&device, &latents, (&ones(16), &ones(8)), &batch),
            mla.prefill(&device, Some(&latents), (&ones(16), &ones(8)), (&ones(16), &ones(4)), &batch),
        ]
    };
    for bad in [-1, 5, i32::MAX, i32::MIN] {
        for table in [[bad, 1], [1, bad]] {
            for result in run(&table) {
                assert!(
                    matches!(result, Err(AttentionError::Cache(CacheError::Block { block, last: 4 })) if block == i64::from(bad))
                );
            }
        }
        // Beyond what the sequence needs, nothing is looked at.
        assert!(run(&[1, 3, bad]).iter().all(Result::is_ok));
    }
    // The pad block is a block.
    assert!(run(&[4, 4]).iter().all(Result::is_ok));
}

#[test]
fn context_without_a_cache() {
    let device = device();
    let batch = Batch { query_start_loc: &[0, 1, 2], seq_lens: &[1, 20], block_table: &[0, 0, 1, 3] };
    let mha = mha(options()).prefill(&device, None, (&ones(64), &ones(32), &ones(24)), &batch).unwrap_err();
    let mla = mla().prefill(&device, None, (&ones(16), &ones(8)), (&ones(16), &ones(4)), &batch).unwrap_err();
    for error in [mha, mla] {
        assert!(matches!(error, AttentionError::NoCache { sequence: 1, context_tokens: 19 }), "{error}");
    }
}

#[test]
fn a_prefill_that_is_refused_writes_nothing() {
    // The first sequence is fine, the second one's context is in a block that there is not.
    let (device, untouched) = (device(), 7.0f32);
    let batch = Batch { query_start_loc: &[0, 1, 2], seq_lens: &[1, 20], block_table: &[0, 0, 9, 3] };
    let mut out = vec![untouched; 2 * 24];
    let cache = mha_cache(2, DIMS, StorageDtype::Fp8);
    let operands = (&ones(64)[..], &ones(32)[..], &ones(24)[..]);
    let error = mha(options()).prefill_into(&device, Some(&cache), operands, &batch, &mut out).unwrap_err();
    assert!(matches!(error, AttentionError::Cache(CacheError::Block { block: 9, .. })), "{error}");
    assert!(out.iter().all(|x| *x == untouched));

    let mut out = vec![untouched; 2 * 6];
    let (query, latents) = ((&ones(16)[..], &ones(8)[..]), (&ones(16)[..], &ones(4)[..]));
    let (cache, mut workspace) = (mla_cache(8, 2), MlaWorkspace::default());
    let error = mla()
        .prefill_into(&device, Some(&cache), query, latents, &batch, &mut workspace, &mut out)
        .unwrap_err();
    assert!(matches!(error, AttentionError::Cache(CacheError::Block { block: 9, .. })), "{error}");
    assert!(out.iter().all(|x| *x == untouched));
}

#[test]
fn caches_of_other_layers() {
    let (device, layer) = (device(), mha(options()));
    for (cache, blamed) in [
        (mha_cache(1, DIMS, StorageDtype::Fp8), "the cache's num_kv_heads"),
        (mha_cache(2, (4, 6), StorageDtype::Fp8), "the cache's head_dim"),
        (mha_cache(2, (8, 8), StorageDtype::Fp8), "the cache's v_head_dim"),
    ] {
        assert_eq!(size(&layer.decode(&device, &cache, &ones(64), &GOOD).unwrap_err()), blamed);
        let operands = (&ones(64)[..], &ones(32)[..], &ones(24)[..]);
        assert_eq!(size(&layer.prefill(&device, Some(&cache), operands, &GOOD).unwrap_err()), blamed);
    }
    let layer = mla();
    for (cache, blamed) in
        [(mla_cache(7, 3), "the cache's kv_lora_rank"), (mla_cache(8, 3), "the cache's qk_rope_head_dim")]
    {
        let q = (&ones(16)[..], &ones(8)[..]);
        assert_eq!(size(&layer.decode(&device, &cache, q, &GOOD).unwrap_err()), blamed);
        let new = (&ones(16)[..], &ones(4)[..]);
        assert_eq!(size(&layer.prefill(&device, Some(&cache), q, new, &GOOD).unwrap_err()), blamed);
    }
}

#[test]
fn devices_of_another_generation() {
    let other = Emulated::new(Generation::Gaudi3, Mode::Exact);
    let (cache, latents) = (mha_cache(2, DIMS, StorageDtype::Fp8), mla_cache(8, 2));
    let q = (&ones(16)[..], &ones(8)[..]);
    for result in [
        mha(options()).decode(&other, &cache, &ones(64), &GOOD),
        mha(options()).prefill(&other, Some(&cache), (&ones(64), &ones(32), &ones(24)), &GOOD),
        mla().decode(&other, &latents, q, &GOOD),
        mla().prefill(&other, Some(&latents), q, (&ones(16), &ones(4)), &GOOD),
    ] {
        assert!(matches!(result, Err(AttentionError::Cache(CacheError::OtherDevice { .. }))));
    }
}

/// The results of every computation that quantizes a query with these scales, then of those that do not.
fn with_scales(scales: &AttentionScales) -> (Vec<Option<AttentionError>>, Vec<Option<AttentionError>>) {
    let device = device();
    let layer = |fp8_prefill| {
        let options = AttentionOptions { fp8_prefill, ..options() };
        MhaAttention::new(shape(HEADS, DIMS), scales.clone(), options).unwrap()
    };
    let (fp8, bf16) = (mha_cache(2, DIMS, StorageDtype::Fp8), mha_cache(2, DIMS, StorageDtype::Bf16));
    let decode = |cache| layer(false).decode(&device, cache, &ones(64), &GOOD).err();
    let prefill = |fp8_prefill, cache| {
        let operands = (&ones(64)[..], &ones(32)[..], &ones(24)[..]);
        layer(fp8_prefill).prefill(&device, Some(cache), operands, &GOOD).err()
    };
    let quantizing = vec![decode(&fp8), prefill(true, &fp8)];
    (quantizing, vec![decode(&bf16), prefill(true, &bf16), prefill(false, &fp8)])
}

#[test]
fn scales_of_query_and_probabilities_that_do_not_fit() {
    for bad in [f32::NAN, 0.0, -2.0, f32::INFINITY, 1e-45, f32::MAX] {
        for scale in [ScaleFactors::new(bad, 0.5), ScaleFactors::new(2.0, bad)] {
            let (used, unused) = with_scales(&AttentionScales::default().with_query(scale));
            for error in used {
                assert!(
                    matches!(error, Some(AttentionError::Cache(CacheError::ScaleValue { plane: "query", value })) if value.to_bits() == bad.to_bits())
                );
            }
            assert!(unused.iter().all(Option::is_none));
        }
        for prob in [(bad, 1.0), (1.0, bad)] {
            let (used, unused) = with_scales(&AttentionScales::default().with_prob(prob.0, prob.1));
            for error in used {
                assert!(
                    matches!(error, Some(AttentionError::Value { what: "the prob scale", value, is_positive: true }) if value.to_bits() == bad.to_bits())
                );
            }
            assert!(unused.iter().all(Option::is_none));
        }
    }
    // One scale for each of another number of heads: none of them is taken for 1.0.
    for factors in [&[0.5, 0.5, 0.5][..], &[0.5, 0.5, 0.5, 0.5]] {
        let (used, unused) = with_scales(&AttentionScales::default().with_query(Scale::new(factors).plane()));
        for error in used {
            assert!(matches!(
                error,
                Some(AttentionError::Cache(CacheError::ScaleHeads { plane: "query", heads: 2, .. }))
            ));
        }
        assert!(unused.iter().all(Option::is_none));
    }
    let (used, _) = with_scales(&AttentionScales::default().with_query(Scale::new(&[0.5, 0.25]).plane()));
    assert!(used.iter().all(Option::is_none));
    // A latent has one head.
    let scales = AttentionScales::default().with_query(Scale::new(&[0.5, 0.25]).plane());
    let layer = MlaAttention::new(SHAPE, &ones(2 * 7 * 8), scales, options()).unwrap();
    let result = layer.decode(&device(), &mla_cache(8, 2), (&ones(16), &ones(8)), &GOOD);
    assert!(matches!(
        result,
        Err(AttentionError::Cache(CacheError::ScaleHeads { plane: "query", scales: 2, heads: 1 }))
    ));
}

#[test]
fn messages_name_what_is_wrong() {
    let error = mha(options()).decode(&device(), &mha_cache(1, DIMS, StorageDtype::Fp8), &ones(64), &GOOD);
    assert_eq!(error.unwrap_err().to_string(), "the cache's num_kv_heads is 1; the layer has 2");
    let error =
        mha_cache(2, DIMS, StorageDtype::Fp8).write(&device(), &ones(16), &ones(12), &[80]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "slot 80 at index 0 of the slot mapping; the cache has slots 0 to 79, a pad block included"
    );
    let other = Emulated::new(Generation::Gaudi3, Mode::Exact);
    let error = mha_cache(2, DIMS, StorageDtype::Fp8).read(&other, &[0]).unwrap_err();
    assert_eq!(error.to_string(), "the cache was made on a gaudi2, this device is a gaudi3");
}
