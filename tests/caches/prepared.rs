//! Batches that are prepared once, and memory that is used again.

use gaudi_kv::attention::{AttentionError, AttentionScales, Batch, DecodeBatch, MhaAttention, MlaWorkspace};
use gaudi_kv::attention::{AttentionOptions, MlaAttention, MlaShape};
use gaudi_kv::cache::{CacheError, CacheGeometry, MhaCache, MlaCache};
use gaudi_kv::device::StorageDtype;
use gaudi_kv::device::emulated::{Emulated, EmulatedPlane, Mode};
use gaudi_kv::{Generation, ScaleFactors};
use half::bf16;

use crate::cases::{Mha, modelled, shape};
use crate::latents::Mla;
use crate::numbers::bits;

/// What an earlier decode, of any shape, left behind makes no difference.
#[test]
fn one_batch_and_one_workspace_for_all() {
    let (mut batch, mut workspace) = (DecodeBatch::new(), MlaWorkspace::default());
    for seed in 5000..5060 {
        for generation in Generation::ALL {
            let case = Mha::random(seed, generation);
            let device = case.device(Mode::Exact);
            let (cache, q, expected) = (case.cache(&device, true), case.q(), modelled(&case.decode_heads()));
            let tokens = case.sequences.iter().map(|s| s.place.queries).sum();
            let mut out = vec![f32::NAN; expected.len()];
            batch.prepare(&case.table().batch(), tokens, cache.geometry()).unwrap();
            case.attention().decode_into(&device, &cache, &q, &batch, &mut out).unwrap();
            assert_eq!(bits(&out), bits(&expected), "seed {seed}, {generation}");

            let case = Mla::random(seed, generation);
            let device = case.device(Mode::Exact);
            let (cache, (nope, pe), expected) = (case.cache(&device, true), case.q(), case.modelled_decode());
            let tokens = case.sequences.iter().map(|s| s.place.queries).sum();
            let mut out = vec![f32::NAN; expected.len()];
            batch.prepare(&case.table().batch(), tokens, cache.geometry()).unwrap();
            case.attention()
                .decode_into(&device, &cache, (&nope, &pe), &batch, &mut workspace, &mut out)
                .unwrap();
            assert_eq!(bits(&out), bits(&expected), "seed {seed}, {generation}");
        }
    }
}

const SHAPE: MlaShape =
    MlaShape { num_heads: 2, kv_lora_rank: 8, qk_nope_head_dim: 4, qk_rope_head_dim: 2, v_head_dim: 3 };

/// Two query tokens of one sequence of 20, in blocks 1 and 3.
const GOOD: Batch<'_> = Batch { query_start_loc: &[0, 2], seq_lens: &[20], block_table: &[1, 3] };

/// An MHA layer and an MLA layer, each with a cache that holds nothing, and queries of two tokens.
struct Layers {
    device: Emulated,
    mha: (MhaAttention, MhaCache<EmulatedPlane>),
    mla: (MlaAttention, MlaCache<EmulatedPlane>),
}

fn geometry(num_blocks: usize, block_size_tokens: usize, dtype: StorageDtype) -> CacheGeometry {
    CacheGeometry::new(num_blocks, block_size_tokens, dtype).unwrap()
}

impl Layers {
    fn new(geometry: CacheGeometry) -> Self {
        let device = Emulated::new(Generation::Gaudi2, Mode::Fast);
        let (one, options, scales) =
            (&ScaleFactors::ONE, AttentionOptions::new(0.25), AttentionScales::default());
        let weights = vec![bf16::ONE; 2 * 7 * 8];
        Self {
            device,
            mha: (
                MhaAttention::new(shape((4, 2), (8, 6)), scales.clone(), options.clone()).unwrap(),
                MhaCache::new(&device, geometry, 2, (8, 6), (one, one)).unwrap(),
            ),
            mla: (
                MlaAttention::new(SHAPE, &weights, scales, options).unwrap(),
                MlaCache::new(&device, geometry, 8, 2, one).unwrap(),
            ),
        }
    }

    /// Both decodes, of operands and outputs for `tokens` tokens; nothing may be written where one is refused.
    fn decode(
        &self,
        batch: &DecodeBatch,
        tokens: usize,
        out_tokens: usize,
    ) -> [Result<(), AttentionError>; 2] {
        let ones = |len: usize| vec![bf16::ONE; tokens * len];
        let (mut out, mut mla_out) = (vec![9.0; out_tokens * 24], vec![9.0; out_tokens * 6]);
        let ((mha, cache), (mla, latents)) = (&self.mha, &self.mla);
        let results = [
            mha.decode_into(&self.device, cache, &ones(32), batch, &mut out),
            mla.decode_into(
                &self.device,
                latents,
                (&ones(8), &ones(4)),
                batch,
                &mut MlaWorkspace::default(),
                &mut mla_out,
            ),
        ];
        for (result, out) in results.iter().zip([out, mla_out]) {
            // The caches hold zeros.
            assert!(out.iter().all(|x| *x == if result.is_ok() { 0.0 } else { 9.0 }));
        }
        results
    }
}

#[test]
fn caches_of_other_blocks_are_refused() {
    let mut batch = DecodeBatch::new();
    let layers = Layers::new(geometry(4, 16, StorageDtype::Fp8));
    for result in layers.decode(&batch, 0, 0) {
        assert_eq!(
            result.unwrap_err().to_string(),
            "the batch is not prepared; the cache has 5 blocks of 16 tokens, a pad block included"
        );
    }
    // The type of the elements is another matter.
    batch.prepare(&GOOD, 2, geometry(4, 16, StorageDtype::F32)).unwrap();
    assert!(layers.decode(&batch, 2, 2).iter().all(Result::is_ok));
    for (blocks, size) in [(5, 16), (3, 16), (4, 32)] {
        for result in Layers::new(geometry(blocks, size, StorageDtype::Fp8)).decode(&batch, 2, 2) {
            match result.unwrap_err() {
                AttentionError::OtherBlocks { prepared, cache } => {
                    assert_eq!((prepared, cache), (Some((5, 16)), (blocks + 1, size)));
                }
                other => panic!("{other}"),
            }
        }
    }
}

#[test]
fn a_refused_batch_is_not_prepared() {
    let fp8 = geometry(4, 16, StorageDtype::Fp8);
    let layers = Layers::new(fp8);
    let mut batch = DecodeBatch::new();
    for (bad, tokens) in [
        (Batch { block_table: &[1, 5], ..GOOD }, 2),
        (Batch { block_table: &[1], ..GOOD }, 2),
        (Batch { seq_lens: &[1], ..GOOD }, 2),
        (GOOD, 3),
    ] {
        batch.prepare(&GOOD, 2, fp8).unwrap();
        assert!(layers.decode(&batch, 2, 2).iter().all(Result::is_ok));
        let error = batch.prepare(&bad, tokens, fp8).unwrap_err();
        let is_block = matches!(error, AttentionError::Cache(CacheError::Block { block: 5, last: 4 }));
        assert!(is_block || matches!(error, AttentionError::Batch { sequence: 0, .. }), "{error}");
        for result in layers.decode(&batch, 2, 2) {
            assert!(matches!(result, Err(AttentionError::OtherBlocks { prepared: None, cache: (5, 16) })));
        }
    }
}

#[test]
fn operands_and_outputs_of_another_number_of_tokens() {
    let fp8 = geometry(4, 16, StorageDtype::Fp8);
    let (layers, mut batch) = (Layers::new(fp8), DecodeBatch::new());
    batch.prepare(&GOOD, 2, fp8).unwrap();
    for (tokens, out_tokens, blamed) in
        [(1, 2, ["q", "q_nope"]), (3, 2, ["q", "q_nope"]), (2, 1, ["out", "out"]), (2, 3, ["out", "out"])]
    {
        for (result, blamed) in layers.decode(&batch, tokens, out_tokens).into_iter().zip(blamed) {
            match result.unwrap_err() {
                AttentionError::Length { what, len, expected } => {
                    assert_eq!(what, blamed);
                    assert_ne!(len, expected);
                }
                other => panic!("{other}"),
            }
        }
    }
}
