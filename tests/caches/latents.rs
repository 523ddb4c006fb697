//! A layer of MLA, run through the library and described for the oracles.

use std::ops::Range;
use std::rc::Rc;

use gaudi_kv::Generation;
use gaudi_kv::attention::{AttentionOptions, MlaAttention, MlaShape};
use gaudi_kv::cache::{CacheGeometry, MlaCache};
use gaudi_kv::device::emulated::{Emulated, Mode};
use gaudi_kv::device::{Device, StorageDtype};
use half::bf16;

use crate::cases::{Place, Scale, Table, attention_scales, block_count, modifiers, places, random_options};
use crate::float64::{BF16, Reference};
use crate::model::{Head, Row, projected, quantized_query};
use crate::numbers::{Random, dequantized};

/// One sequence: `[queries, heads, ..]` and `[len, ..]`.
#[derive(Debug, Clone)]
pub struct Sequence {
    pub place: Place,
    pub q_nope: Vec<bf16>,
    pub q_pe: Vec<bf16>,
    pub kv_c: Vec<bf16>,
    pub k_pe: Vec<bf16>,
}

/// A layer and its sequences.
#[derive(Debug, Clone)]
pub struct Mla {
    pub generation: Generation,
    pub dtype: StorageDtype,
    pub block_size: usize,
    pub shape: MlaShape,
    pub kv_b_proj: Vec<bf16>,
    pub k_scale: Scale,
    pub query: Option<Scale>,
    pub prob: (f32, f32),
    pub options: AttentionOptions,
    pub sequences: Vec<Sequence>,
}

impl Mla {
    pub fn plain(
        random: &mut Random,
        generation: Generation,
        shape: MlaShape,
        lengths: &[(usize, usize)],
    ) -> Self {
        let MlaShape { num_heads, kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim, v_head_dim } = shape;
        let block_size = 16;
        let sequences = places(random, lengths, block_size)
            .into_iter()
            .map(|place| Sequence {
                q_nope: random.bf16s(place.queries * num_heads * qk_nope_head_dim, 1.0),
                q_pe: random.bf16s(place.queries * num_heads * qk_rope_head_dim, 1.0),
                kv_c: random.bf16s(place.len * kv_lora_rank, 1.0),
                k_pe: random.bf16s(place.len * qk_rope_head_dim, 1.0),
                place,
            })
            .collect();
        let weights = num_heads * (qk_nope_head_dim + v_head_dim) * kv_lora_rank;
        Self {
            generation,
            dtype: StorageDtype::Fp8,
            block_size,
            shape,
            kv_b_proj: random.bf16s(weights, (kv_lora_rank as f64).powf(-0.5)),
            k_scale: Scale::new(&[0.03]),
            query: None,
            prob: (1.0, 1.0),
            options: AttentionOptions::new(((qk_nope_head_dim + qk_rope_head_dim) as f64).powf(-0.5) as f32),
            sequences,
        }
    }

    pub fn random(seed: u64, generation: Generation) -> Self {
        let random = &mut Random::new(seed);
        let shape = MlaShape {
            num_heads: random.between(1, 4),
            kv_lora_rank: random.between(1, 24),
            qk_nope_head_dim: random.between(1, 12),
            qk_rope_head_dim: random.between(0, 8),
            v_head_dim: random.between(1, 12),
        };
        let lengths: Vec<(usize, usize)> = (0..random.between(1, 3))
            .map(|_| {
                let len = random.between(1, 36);
                (random.between(0, len.min(4)), len)
            })
            .collect();
        let mut case = Self::plain(random, generation, shape, &lengths);
        case.dtype =
            random.pick(&[StorageDtype::Fp8, StorageDtype::Fp8, StorageDtype::Bf16, StorageDtype::F32]);
        case.k_scale = Scale::random(random, 1);
        case.query = random.chance(50).then(|| Scale::random(random, 1));
        if random.chance(30) {
            case.prob = (3.0, 1.0 / 3.0);
        }
        case.options =
            random_options(random, shape.num_heads, shape.qk_nope_head_dim + shape.qk_rope_head_dim);
        case.options.fp8_prefill = random.chance(50);
        case
    }

    pub fn device(&self, mode: Mode) -> Emulated {
        Emulated::new(self.generation, mode)
    }

    pub fn attention(&self) -> MlaAttention {
        let scales = attention_scales(self.query.as_ref(), self.prob);
        MlaAttention::new(self.shape, &self.kv_b_proj, scales, self.options.clone()).unwrap()
    }

    pub fn places(&self) -> Vec<Place> {
        self.sequences.iter().map(|sequence| sequence.place.clone()).collect()
    }

    pub fn table(&self) -> Table {
        Table::new(&self.places())
    }

    pub fn empty_cache<D: Device>(&self, device: &D) -> MlaCache<D::Plane> {
        let geometry = CacheGeometry::new(block_count(&self.places()), self.block_size, self.dtype).unwrap();
        let MlaShape { kv_lora_rank, qk_rope_head_dim, .. } = self.shape;
        MlaCache::new(device, geometry, kv_lora_rank, qk_rope_head_dim, &self.k_scale.plane()).unwrap()
    }

    /// Latents of some tokens.
    pub fn tokens<'a>(&self, sequence: &'a Sequence, tokens: Range<usize>) -> (&'a [bf16], &'a [bf16]) {
        let (c, pe) = (self.shape.kv_lora_rank, self.shape.qk_rope_head_dim);
        (&sequence.kv_c[tokens.start * c..tokens.end * c], &sequence.k_pe[tokens.start * pe..tokens.end * pe])
    }

    pub fn write<D: Device>(
        &self,
        device: &D,
        cache: &mut MlaCache<D::Plane>,
        sequence: &Sequence,
        tokens: Range<usize>,
    ) {
        let (kv_c, k_pe) = self.tokens(sequence, tokens.clone());
        cache.write(device, kv_c, k_pe, &sequence.place.slots(tokens, self.block_size)).unwrap();
    }

    /// A cache with the first tokens of each sequence: all, or those before the query.
    pub fn cache<D: Device>(&self, device: &D, all: bool) -> MlaCache<D::Plane> {
        let mut cache = self.empty_cache(device);
        for sequence in &self.sequences {
            let place = &sequence.place;
            let end = if all { place.len } else { place.context() };
            self.write(device, &mut cache, sequence, 0..end);
        }
        cache
    }

    /// The query of the batch.
    pub fn q(&self) -> (Vec<bf16>, Vec<bf16>) {
        let nope = self.sequences.iter().flat_map(|sequence| sequence.q_nope.clone()).collect();
        (nope, self.sequences.iter().flat_map(|sequence| sequence.q_pe.clone()).collect())
    }

    pub fn decode(&self, mode: Mode) -> Vec<f32> {
        self.decode_on(&self.device(mode))
    }

    pub fn decode_on<D: Device>(&self, device: &D) -> Vec<f32> {
        let (cache, (q_nope, q_pe)) = (self.cache(device, true), self.q());
        self.attention().decode(device, &cache, (&q_nope, &q_pe), &self.table().batch()).unwrap()
    }

    pub fn prefill(&self, mode: Mode) -> Vec<f32> {
        self.prefill_on(&self.device(mode))
    }

    pub fn prefill_on<D: Device>(&self, device: &D) -> Vec<f32> {
        let (cache, (q_nope, q_pe)) = (self.cache(device, false), self.q());
        let (mut kv_c, mut k_pe) = (Vec::new(), Vec::new());
        for sequence in &self.sequences {
            let new = self.tokens(sequence, sequence.place.context()..sequence.place.len);
            kv_c.extend_from_slice(new.0);
            k_pe.extend_from_slice(new.1);
        }
        let batch = &self.table();
        let attention = self.attention();
        attention.prefill(device, Some(&cache), (&q_nope, &q_pe), (&kv_c, &k_pe), &batch.batch()).unwrap()
    }

    /// `[qk_nope_head_dim, kv_lora_rank]` and `[v_head_dim, kv_lora_rank]` of a head.
    pub fn weights(&self, head: usize) -> (&[bf16], &[bf16]) {
        let MlaShape { kv_lora_rank, qk_nope_head_dim, v_head_dim, .. } = self.shape;
        let rows = (qk_nope_head_dim + v_head_dim) * kv_lora_rank;
        self.kv_b_proj[head * rows..(head + 1) * rows].split_at(qk_nope_head_dim * kv_lora_rank)
    }

    /// The latent of a token.
    fn latent(sequence: &Sequence, shape: MlaShape, token: usize) -> Vec<bf16> {
        let mut latent = sequence.kv_c[token * shape.kv_lora_rank..][..shape.kv_lora_rank].to_vec();
        latent.extend(&sequence.k_pe[token * shape.qk_rope_head_dim..][..shape.qk_rope_head_dim]);
        latent
    }

    /// `(token, head, q_nope, q_pe)` of a sequence in the order of the output.
    fn queries<'a>(
        &self,
        sequence: &'a Sequence,
    ) -> impl Iterator<Item = (usize, usize, &'a [bf16], &'a [bf16])> + use<'a> {
        let MlaShape { num_heads, qk_nope_head_dim: nope, qk_rope_head_dim: rope, .. } = self.shape;
        (0..sequence.place.queries * num_heads).map(move |number| {
            let q_nope = &sequence.q_nope[number * nope..(number + 1) * nope];
            (
                number / num_heads,
                number % num_heads,
                q_nope,
                &sequence.q_pe[number * rope..(number + 1) * rope],
            )
        })
    }

    /// The operands of the absorbed decode; the output of each is a latent, which [`Self::valued`] projects.
    pub fn decode_heads(&self) -> Vec<Head> {
        let (generation, shape) = (self.generation, self.shape);
        let is_fp8 = self.dtype == StorageDtype::Fp8;
        let (quant, dequant) = self.k_scale.of(0);
        let mut heads = Vec::new();
        for sequence in &self.sequences {
            let latents: Vec<Row> = (0..sequence.place.len)
                .map(|token| {
                    let latent = Self::latent(sequence, shape, token);
                    if is_fp8 { Row::quantized(generation, &latent, quant) } else { Row::Bf16(latent) }
                })
                .collect();
            let values = Rc::new(latents.iter().map(|latent| latent.prefix(shape.kv_lora_rank)).collect());
            let latents = Rc::new(latents);
            for (token, head, q_nope, q_pe) in self.queries(sequence) {
                let columns: Vec<bf16> = (0..shape.kv_lora_rank)
                    .flat_map(|c| {
                        let row = self.weights(head).0;
                        (0..shape.qk_nope_head_dim).map(move |r| row[r * shape.kv_lora_rank + c])
                    })
                    .collect();
                let mut q = projected(generation, q_nope, &columns);
                q.extend(q_pe);
                let (query, query_dequant) = if is_fp8 {
                    quantized_query(generation, &q, self.query.as_ref().map(|scale| scale.of(0)))
                } else {
                    (Row::Bf16(q), 1.0)
                };
                heads.push(Head {
                    generation,
                    modifiers: modifiers(&self.options, head),
                    position: sequence.place.context() + token,
                    query,
                    query_dequant,
                    keys: Rc::clone(&latents),
                    key_dequant: if is_fp8 { dequant } else { 1.0 },
                    values: Rc::clone(&values),
                    value_dequant: if is_fp8 { dequant } else { 1.0 },
                    prob: is_fp8.then_some(self.prob),
                });
            }
        }
        heads
    }

    /// The outputs of the decode by the rules.
    pub fn modelled_decode(&self) -> Vec<f32> {
        let heads = self.decode_heads();
        let outs = heads.iter().enumerate().flat_map(|(number, head)| {
            let latent: Vec<bf16> = head.attend().iter().map(|x| bf16::from_f32(*x)).collect();
            projected(self.generation, &latent, self.weights(number % self.shape.num_heads).1)
        });
        outs.map(|x| x.to_f32()).collect()
    }

    /// The float64 results of the decode with their bounds: the bound of a latent goes through the projection, which
    /// rounds once more.
    pub fn decode_reference(&self) -> Reference {
        let heads = self.decode_heads();
        let references = heads.iter().enumerate().map(|(number, head)| {
            let latent = head.reference();
            let rows = self.weights(number % self.shape.num_heads).1.chunks_exact(self.shape.kv_lora_rank);
            let (mut out, mut bound) = (Vec::new(), Vec::new());
            for row in rows {
                let (mut sum, mut error, mut magnitude) = (0.0, 0.0, 0.0);
                for (c, weight) in row.iter().enumerate() {
                    sum += weight.to_f64() * latent.out[c];
                    error += weight.to_f64().abs() * latent.bound[c];
                    magnitude += weight.to_f64().abs() * latent.out[c].abs();
                }
                let accumulated = error + row.len() as f64 * 2f64.powi(-22) * (magnitude + error);
                out.push(sum);
                bound.push(accumulated + BF16 * (sum.abs() + accumulated) + f64::MIN_POSITIVE);
            }
            Reference { out, bound }
        });
        Reference::concat(references.collect())
    }

    /// The operands of the expanded prefill.
    pub fn prefill_heads(&self) -> Vec<Head> {
        let (generation, shape) = (self.generation, self.shape);
        let is_fp8 = self.dtype == StorageDtype::Fp8 && self.options.fp8_prefill;
        let (quant, dequant) = self.k_scale.of(0);
        let operand = |row: Vec<bf16>| {
            if is_fp8 { Row::quantized(generation, &row, 1.0) } else { Row::Bf16(row) }
        };
        let mut heads = Vec::new();
        for sequence in &self.sequences {
            let latents: Vec<Vec<bf16>> = (0..sequence.place.len)
                .map(|token| {
                    let latent = Self::latent(sequence, shape, token);
                    if self.dtype != StorageDtype::Fp8 || token >= sequence.place.context() {
                        return latent;
                    }
                    let Row::Fp8(codes) = Row::quantized(generation, &latent, quant) else { unreachable!() };
                    codes.iter().map(|code| dequantized(generation, *code, dequant)).collect()
                })
                .collect();
            let sides: Vec<_> = (0..shape.num_heads)
                .map(|head| {
                    let (key, value) = self.weights(head);
                    let keys = latents.iter().map(|latent| {
                        let (c, pe) = latent.split_at(shape.kv_lora_rank);
                        operand([projected(generation, c, key), pe.to_vec()].concat())
                    });
                    let values = latents
                        .iter()
                        .map(|latent| operand(projected(generation, &latent[..shape.kv_lora_rank], value)));
                    (Rc::new(keys.collect::<Vec<_>>()), Rc::new(values.collect::<Vec<_>>()))
                })
                .collect();
            for (token, head, q_nope, q_pe) in self.queries(sequence) {
                heads.push(Head {
                    generation,
                    modifiers: modifiers(&self.options, head),
                    position: sequence.place.context() + token,
                    query: operand([q_nope, q_pe].concat()),
                    query_dequant: 1.0,
                    keys: Rc::clone(&sides[head].0),
                    key_dequant: 1.0,
                    values: Rc::clone(&sides[head].1),
                    value_dequant: 1.0,
                    prob: is_fp8.then_some((1.0, 1.0)),
                });
            }
        }
        heads
    }

    /// Float64 results from the latents as they come: keys and values expanded in float64, nothing rounded.
    pub fn expanded_reference(&self) -> Vec<f64> {
        let shape = self.shape;
        let matrix = |row: &[f64], weights: &[bf16]| -> Vec<f64> {
            let rows = weights.chunks_exact(row.len());
            rows.map(|w| w.iter().zip(row).map(|(w, x)| w.to_f64() * x).sum()).collect()
        };
        let wide = |row: &[bf16]| row.iter().map(|x| x.to_f64()).collect::<Vec<_>>();
        let mut out = Vec::new();
        for sequence in &self.sequences {
            for (token, head, q_nope, q_pe) in self.queries(sequence) {
                let (key, value) = self.weights(head);
                let (mut keys, mut values) = (Vec::new(), Vec::new());
                for token in 0..sequence.place.len {
                    let latent = wide(&Self::latent(sequence, shape, token));
                    let (c, pe) = latent.split_at(shape.kv_lora_rank);
                    keys.push([matrix(c, key), pe.to_vec()].concat());
                    values.push(matrix(c, value));
                }
                let q = [wide(q_nope), wide(q_pe)].concat();
                let position = sequence.place.context() + token;
                let modifiers = modifiers(&self.options, head);
                out.extend(crate::float64::attend(&q, &keys, &values, &modifiers, position).out);
            }
        }
        out
    }
}
