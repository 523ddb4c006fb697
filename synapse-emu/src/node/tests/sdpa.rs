//! Scaled dot-product attention in one node.

use gaudi_kv::ScaleFactors;
use gaudi_kv::device::emulated::{Emulated, Mode};
use gaudi_kv::device::{
    AttentionProblem, AttentionWorkspace, Device, Fp8Products, KeysAndValues, MhaShape, Modifiers,
    QueryScale, SequenceSpan, TensorPair,
};
use gaudi_numerics::Generation;
use half::bf16;

use super::{Failure, GAUDI2, Tensor, machine, node, words};
use crate::node::spec::DataType::{self, Bf16, F32, Fp8_143};

const TOKENS: usize = 5;
const KV_HEADS: usize = 2;
const GROUP: usize = 3;
const HEADS: usize = KV_HEADS * GROUP;
const DIM: usize = 16;
const VALUE_DIM: usize = 12;
const SCALE: f32 = 0.25;

/// The parameters: scale, causal, and the flags of the third version.
fn params(scale: f32, is_causal: bool, flags: u32) -> Vec<u8> {
    words(&[scale.to_bits(), u32::from(is_causal), 0, 0, 0, 1, 0, flags])
}

fn numbers(seed: u32, len: usize) -> Vec<bf16> {
    let mut state = seed;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            bf16::from_f32((state >> 8) as f32 / 2_097_152.0 - 4.0)
        })
        .collect()
}

/// `[tokens, heads, dim]` as `[dim, tokens, heads]`, the first dimension the fastest.
fn by_head(values: &[bf16], heads: usize, dim: usize) -> Vec<bf16> {
    let tokens = values.len() / (heads * dim);
    let rows = (0..heads).flat_map(|head| (0..tokens).map(move |token| (token * heads + head) * dim));
    rows.flat_map(|at| values[at..at + dim].iter().copied()).collect()
}

/// The node's inputs: q, k, v, mask, seed, and the scales.
fn run(
    generation: Generation,
    guid: &str,
    inputs: &[Option<&Tensor>],
    dtype: DataType,
    params: &[u8],
) -> Result<Vec<Option<Tensor>>, Failure> {
    let statistic = || Some(Tensor::zeros(F32, &[1, TOKENS, HEADS]));
    let outputs = vec![Some(Tensor::zeros(dtype, &[VALUE_DIM, TOKENS, HEADS])), statistic(), statistic()];
    node(&machine(generation), guid, inputs, outputs, params)
}

/// The emulated device's attention of one sequence; `factors` are those of keys and of values.
fn prefilled(
    generation: Generation,
    [q, k, v]: [&[bf16]; 3],
    [key_factors, value_factors]: [&ScaleFactors; 2],
    fp8: Option<Fp8Products<'_>>,
) -> Vec<bf16> {
    let problem = AttentionProblem {
        q,
        shape: MhaShape { num_heads: HEADS, num_kv_heads: KV_HEADS, head_dim: DIM, v_head_dim: VALUE_DIM },
        operands: KeysAndValues::Tensors(TensorPair { k, v }),
        key_factors,
        value_factors,
        fp8,
        modifiers: Modifiers {
            softmax_scale: SCALE,
            logits_soft_cap: None,
            alibi_slopes: None,
            sliding_window: None,
            sinks: None,
        },
        sequences: &[SequenceSpan {
            first_token: 0,
            tokens: TOKENS,
            len: TOKENS,
            first_block: 0,
            first_row: 0,
        }],
    };
    let mut expected = vec![0.0; TOKENS * HEADS * VALUE_DIM];
    let device = Emulated::new(generation, Mode::Exact);
    device.attend(&problem, &mut AttentionWorkspace::default(), &mut expected).unwrap();
    expected.iter().map(|value| bf16::from_f32(*value)).collect()
}

#[test]
fn causal_attention_is_the_devices_prefill() {
    let q = numbers(1, TOKENS * HEADS * DIM);
    let (k, v) = (numbers(2, TOKENS * KV_HEADS * DIM), numbers(3, TOKENS * KV_HEADS * VALUE_DIM));
    let query_scale = QueryScale::Static(ScaleFactors::new(20.0, 0.05));
    let scales = [ScaleFactors::new(30.0, 1.0 / 30.0), ScaleFactors::new(25.0, 0.04)];
    let prob = ScaleFactors { quant: 200.0, dequant: 0.005 };
    let fp8 = Fp8Products { query_scale: &query_scale, prob };
    for generation in Generation::ALL {
        let machine = machine(generation);
        for fp8 in [None, Some(fp8)] {
            let expected = prefilled(generation, [&q, &k, &v], [&scales[0], &scales[1]], fp8);
            let tensor = |values: &[bf16], heads: usize, dim: usize, quant: f32| {
                let values = Tensor::new(Bf16, &[dim, TOKENS, heads], &by_head(values, heads, dim));
                if fp8.is_none() {
                    return values;
                }
                let quant = Tensor::f32(&[1], &[quant]);
                let outputs = vec![Some(Tensor::zeros(Fp8_143, &values.spec.sizes))];
                node(&machine, "convert_to_fp8_bf16", &[Some(&values), Some(&quant)], outputs, &[])
                    .unwrap()
                    .remove(0)
                    .unwrap()
            };
            let (q, k) = (tensor(&q, HEADS, DIM, 20.0), tensor(&k, KV_HEADS, DIM, 30.0));
            let v = tensor(&v, KV_HEADS, VALUE_DIM, 25.0);
            let number = |value: f32| Tensor::f32(&[1], &[value]);
            let numbers = [0.05, 1.0 / 30.0, 0.04, 200.0, 0.005].map(number);
            let mut inputs = vec![Some(&q), Some(&k), Some(&v)];
            let (guid, flags) = if fp8.is_some() {
                inputs.extend([None, None]);
                inputs.extend(numbers[..4].iter().map(Some));
                inputs.extend([None, Some(&numbers[4])]);
                ("sdpa_recomp_fwd_hf8", 0b10_1111 << 8)
            } else {
                ("sdpa_fwd_bf16", 0)
            };
            let out = run(generation, guid, &inputs, Bf16, &params(SCALE, true, flags)).unwrap();
            let bits = |values: &[bf16]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            let out = out[0].as_ref().unwrap().elements::<bf16>();
            assert_eq!(bits(&out), bits(&by_head(&expected, HEADS, VALUE_DIM)), "{generation} {guid}");
        }
    }
}

/// One query of one head over two keys, whose scores are 0 and the first element of the query; values 1 and 3.
fn small(mask: Option<&Tensor>, first: f32, params: &[u8]) -> [Vec<f32>; 3] {
    let q = Tensor::bf16(&[1, 1], &[first]);
    let k = Tensor::bf16(&[1, 2], &[0.0, 1.0]);
    let v = Tensor::bf16(&[1, 2], &[1.0, 3.0]);
    let outputs = vec![
        Some(Tensor::zeros(Bf16, &[1, 1])),
        Some(Tensor::zeros(F32, &[1, 1])),
        Some(Tensor::zeros(Bf16, &[1, 1])),
    ];
    let inputs = [Some(&q), Some(&k), Some(&v), mask];
    let outputs = node(&machine(GAUDI2), "sdpa_recomp_fwd_bf16", &inputs, outputs, params).unwrap();
    [0, 1, 2].map(|i| outputs[i].as_ref().unwrap().floats())
}

#[test]
fn statistics_are_the_maximum_and_the_inverse_sum() {
    // Equal scores: the mean of the values, and a sum of 2.
    assert_eq!(small(None, 0.0, &params(1.0, false, 0)[..24]), [vec![2.0], vec![0.0], vec![0.5]]);
    // Far apart: the second key alone, at 64 / 2.
    assert_eq!(small(None, 64.0, &params(0.5, false, 0)[..28]), [vec![3.0], vec![32.0], vec![1.0]]);
    // Its own index is as far as a causal query sees.
    assert_eq!(small(None, 64.0, &params(0.5, true, 0)), [vec![1.0], vec![0.0], vec![1.0]]);
}

#[test]
fn a_mask_is_added() {
    let mask = Tensor::bf16(&[2, 1], &[0.0, -30000.0]);
    assert_eq!(small(Some(&mask), 64.0, &params(0.5, false, 0))[0], [1.0]);
    let mask = Tensor::f32(&[2], &[32.0, 0.0]);
    assert_eq!(small(Some(&mask), 64.0, &params(0.5, false, 0)), [vec![2.0], vec![32.0], vec![0.5]]);
}

#[test]
fn masks_lie_along_any_dimension() {
    // Each query and head sees one key of three, by its mask.
    let q = Tensor::zeros(Bf16, &[1, 2, 2]);
    let k = Tensor::zeros(Bf16, &[1, 3, 1]);
    let v = Tensor::bf16(&[1, 3, 1], &[1.0, 2.0, 4.0]);
    let seen = |sizes: &[usize], keys: &[usize]| {
        let mask: Vec<f32> = keys
            .iter()
            .flat_map(|seen| (0..3).map(move |key| if key == *seen { 0.0 } else { -3e4 }))
            .collect();
        let mask = Tensor::f32(sizes, &mask);
        let outputs = vec![Some(Tensor::zeros(Bf16, &[1, 2, 2]))];
        let inputs = [Some(&q), Some(&k), Some(&v), Some(&mask)];
        let out = node(&machine(GAUDI2), "sdpa_fwd_bf16", &inputs, outputs, &params(1.0, false, 0)).unwrap();
        out[0].as_ref().unwrap().floats()
    };
    assert_eq!(seen(&[3, 2, 2], &[0, 1, 2, 0]), [1.0, 2.0, 4.0, 1.0]);
    assert_eq!(seen(&[3, 2, 1], &[1, 2]), [2.0, 4.0, 2.0, 4.0]);
    assert_eq!(seen(&[3, 1, 2], &[1, 2]), [2.0, 2.0, 4.0, 4.0]);
    assert_eq!(seen(&[3], &[2]), [4.0; 4]);
}

#[test]
fn an_output_scale_makes_fp8() {
    let q = Tensor::hf8(&[1, 1], &[0]);
    let k = Tensor::hf8(&[1, 2], &[0, 0]);
    // 1 and 3.
    let v = Tensor::hf8(&[1, 2], &[0x38, 0x44]);
    let quant = Tensor::f32(&[1], &[4.0]);
    let mut inputs = vec![Some(&q), Some(&k), Some(&v)];
    inputs.resize(9, None);
    inputs.push(Some(&quant));
    let outputs = vec![Some(Tensor::zeros(Fp8_143, &[1, 1]))];
    let out = node(&machine(GAUDI2), "sdpa_fwd_hf8", &inputs, outputs, &params(1.0, false, 1 << 12)).unwrap();
    // The mean 2, times 4.
    assert_eq!(out[0].as_ref().unwrap().bytes(), [0x50]);
}

#[test]
fn a_score_is_scaled_in_two_steps() {
    // 3 * q * k rounds to 0x3FFF in bfloat16, 3 * (q * k) to 0x3FFE.
    let (q, k) = (f32::from_bits(0x3F20_A61A), f32::from_bits(0x3F87_2F65));
    let [query, key] = [0x44, 0x38].map(|code| Tensor::hf8(&[1, 1], &[code]));
    let scales = [q, k].map(|scale| Tensor::f32(&[1], &[scale]));
    let inputs = [Some(&query), Some(&key), Some(&key), None, None, Some(&scales[0]), Some(&scales[1])];
    let outputs = vec![Some(Tensor::zeros(Bf16, &[1, 1])), Some(Tensor::zeros(F32, &[1, 1]))];
    let params = params(1.0, false, 0b11 << 8);
    let outputs = node(&machine(GAUDI2), "sdpa_fwd_hf8", &inputs, outputs, &params).unwrap();
    assert_eq!(outputs[1].as_ref().unwrap().elements::<u32>(), [0x3FFF_0000]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let q = Tensor::zeros(Bf16, &[4, 3, 6]);
    let (k, v) = (Tensor::zeros(Bf16, &[4, 5, 2]), Tensor::zeros(Bf16, &[7, 5, 2]));
    let try_with = |inputs: &[Option<&Tensor>], out: &Tensor, params: &[u8]| match node(
        &machine(GAUDI2),
        "sdpa_fwd_bf16",
        inputs,
        vec![Some(out.clone())],
        params,
    ) {
        Err(Failure::Refused(status, _)) => status,
        other => panic!("{other:?}"),
    };
    let out = Tensor::zeros(Bf16, &[7, 3, 6]);
    let plain = params(1.0, false, 0);
    let inputs = [Some(&q), Some(&k), Some(&v)];
    assert!(node(&machine(GAUDI2), "sdpa_fwd_bf16", &inputs, vec![Some(out.clone())], &plain).is_ok());
    assert_eq!(try_with(&inputs, &Tensor::zeros(Bf16, &[7, 3, 2]), &plain), 26);
    assert_eq!(try_with(&inputs, &Tensor::zeros(F32, &[7, 3, 6]), &plain), 26);
    assert_eq!(try_with(&inputs, &out, &plain[..20]), 26);
    let four = Tensor::zeros(Bf16, &[4, 5, 4]);
    assert_eq!(try_with(&[Some(&q), Some(&four), Some(&v)], &out, &plain), 26);
    let fewer = Tensor::zeros(Bf16, &[7, 4, 2]);
    assert_eq!(try_with(&[Some(&q), Some(&k), Some(&fewer)], &out, &plain), 26);
    let mask = Tensor::zeros(Bf16, &[3, 5]);
    assert_eq!(try_with(&[Some(&q), Some(&k), Some(&v), Some(&mask)], &out, &plain), 26);
    // A flag without its input, an input without its flag, and scales of bfloat16 operands.
    assert_eq!(try_with(&inputs, &out, &params(1.0, false, 1 << 8)), 26);
    let scale = Tensor::f32(&[1], &[1.0]);
    let with_scale = [Some(&q), Some(&k), Some(&v), None, None, Some(&scale)];
    assert_eq!(try_with(&with_scale, &out, &plain), 26);
    assert_eq!(try_with(&with_scale, &out, &params(1.0, false, 1 << 8)), 26);
    // The amax of the probabilities, dropout and the approximate softmax.
    assert_eq!(try_with(&inputs, &out, &params(1.0, false, 1)), 26);
    let mut dropout = plain.clone();
    dropout[8..12].copy_from_slice(&0.5f32.to_le_bytes());
    assert_eq!(try_with(&inputs, &out, &dropout), 26);
    let mut fast = plain;
    fast[24] = 1;
    assert_eq!(try_with(&inputs, &out, &fast), 26);
}
