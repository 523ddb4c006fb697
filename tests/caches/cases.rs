//! A layer of MHA or GQA with its scales, its sequences and their blocks, run through the library and described for the
//! oracles.

use std::ops::Range;
use std::rc::Rc;

use gaudi_kv::attention::{AttentionOptions, AttentionScales, Batch, MhaAttention, MhaShape};
use gaudi_kv::cache::{CacheGeometry, MhaCache};
use gaudi_kv::device::emulated::{Emulated, Mode};
use gaudi_kv::device::{Device, StorageDtype};
use gaudi_kv::{Generation, HeadScales, ScaleFactors};
use half::bf16;

use crate::float64::Reference;
use crate::model::{Head, Modifiers, Row, quantized_query};
use crate::numbers::{Random, dequantized};

/// The sizes of a layer: query heads and KV heads, elements of a key and of a value.
pub fn shape(heads: (usize, usize), dims: (usize, usize)) -> MhaShape {
    MhaShape { num_heads: heads.0, num_kv_heads: heads.1, head_dim: dims.0, v_head_dim: dims.1 }
}

/// Multipliers, one for all heads or one for each.
#[derive(Debug, Clone)]
pub struct Scale {
    pub quant: Vec<f32>,
    pub dequant: Vec<f32>,
}

impl Scale {
    /// By the dequantization factors of a checkpoint.
    pub fn new(factors: &[f32]) -> Self {
        let quant: Vec<f32> = factors.iter().map(|factor| 1.0 / factor).collect();
        Self { dequant: quant.iter().map(|quant| 1.0 / quant).collect(), quant }
    }

    pub fn random(random: &mut Random, heads: usize) -> Self {
        let count = if random.chance(50) { heads } else { 1 };
        Self::new(&(0..count).map(|_| 2f64.powf(random.unit() * 6.0 - 8.0) as f32).collect::<Vec<_>>())
    }

    /// `quant` and `dequant` of a head.
    pub fn of(&self, head: usize) -> (f32, f32) {
        let at = if self.quant.len() == 1 { 0 } else { head };
        (self.quant[at], self.dequant[at])
    }

    /// As a cache takes it.
    pub fn plane(&self) -> ScaleFactors {
        if self.quant.len() == 1 {
            return ScaleFactors::new(self.quant[0], self.dequant[0]);
        }
        ScaleFactors {
            quant: HeadScales::PerHead(self.quant.clone()),
            dequant: HeadScales::PerHead(self.dequant.clone()),
        }
    }
}

/// The scales of query and probabilities.
pub fn attention_scales(query: Option<&Scale>, prob: (f32, f32)) -> AttentionScales {
    let scales = AttentionScales::default().with_prob(prob.0, prob.1);
    match query {
        Some(query) => scales.with_query(query.plane()),
        None => scales,
    }
}

/// The options of one head.
pub fn modifiers(options: &AttentionOptions, head: usize) -> Modifiers {
    Modifiers {
        softmax_scale: options.softmax_scale,
        soft_cap: options.logits_soft_cap,
        slope: options.alibi_slopes.as_ref().map(|slopes| slopes[head]),
        window: options.sliding_window,
        sink: options.sinks.as_ref().map(|sinks| sinks[head]),
    }
}

/// Random options for a layer.
pub fn random_options(random: &mut Random, num_heads: usize, dim: usize) -> AttentionOptions {
    let mut options = AttentionOptions::new((dim as f64).powf(-0.5) as f32);
    if random.chance(30) {
        options.logits_soft_cap = Some(random.pick(&[0.7, 5.0, 50.0]));
    }
    if random.chance(30) {
        options.alibi_slopes = Some((0..num_heads).map(|head| 2f32.powi(-1 - head as i32)).collect());
    }
    if random.chance(30) {
        options.sliding_window = Some(random.between(1, 24));
    }
    if random.chance(30) {
        options.sinks = Some(random.f32s(num_heads, 2.0));
    }
    options
}

/// The lengths of a sequence and where it lives.
#[derive(Debug, Clone)]
pub struct Place {
    /// Query tokens, the last ones of the sequence.
    pub queries: usize,
    pub len: usize,
    pub blocks: Vec<i32>,
}

impl Place {
    pub fn slot(&self, token: usize, block_size: usize) -> i64 {
        i64::from(self.blocks[token / block_size]) * block_size as i64 + (token % block_size) as i64
    }

    pub fn slots(&self, tokens: Range<usize>, block_size: usize) -> Vec<i64> {
        tokens.map(|token| self.slot(token, block_size)).collect()
    }

    pub fn context(&self) -> usize {
        self.len - self.queries
    }
}

/// Sequences of `(queries, len)` at random blocks; one block is spare.
pub fn places(random: &mut Random, lengths: &[(usize, usize)], block_size: usize) -> Vec<Place> {
    let counts: Vec<usize> = lengths.iter().map(|(_, len)| len.div_ceil(block_size)).collect();
    let mut blocks =
        random.permutation(counts.iter().sum::<usize>() + 1).into_iter().map(|block| block as i32);
    let place = |((queries, len), count): (&(usize, usize), &usize)| Place {
        queries: *queries,
        len: *len,
        blocks: blocks.by_ref().take(*count).collect(),
    };
    lengths.iter().zip(&counts).map(place).collect()
}

/// Blocks that the sequences use, and one more.
pub fn block_count(places: &[Place]) -> usize {
    places.iter().flat_map(|place| &place.blocks).max().map_or(1, |block| *block as usize + 2)
}

/// `query_start_loc`, `seq_lens` and `block_table` of sequences.
#[derive(Debug, Clone)]
pub struct Table {
    pub query_start_loc: Vec<usize>,
    pub seq_lens: Vec<usize>,
    pub block_table: Vec<i32>,
}

impl Table {
    pub fn new(places: &[Place]) -> Self {
        let mut query_start_loc = vec![0];
        for place in places {
            query_start_loc.push(query_start_loc[query_start_loc.len() - 1] + place.queries);
        }
        let width = places.iter().map(|place| place.blocks.len()).max().unwrap_or(0);
        let mut block_table = Vec::new();
        for place in places {
            block_table.extend(&place.blocks);
            // What lies behind a sequence's blocks is not looked at.
            block_table.extend(vec![-1; width - place.blocks.len()]);
        }
        Self { query_start_loc, seq_lens: places.iter().map(|place| place.len).collect(), block_table }
    }

    pub fn batch(&self) -> Batch<'_> {
        Batch {
            query_start_loc: &self.query_start_loc,
            seq_lens: &self.seq_lens,
            block_table: &self.block_table,
        }
    }
}

/// One sequence: its place, `[queries, heads, dim]`, and `[len, kv_heads, ..]`.
#[derive(Debug, Clone)]
pub struct Sequence {
    pub place: Place,
    pub q: Vec<bf16>,
    pub k: Vec<bf16>,
    pub v: Vec<bf16>,
}

/// A layer and its sequences.
#[derive(Debug, Clone)]
pub struct Mha {
    pub generation: Generation,
    pub dtype: StorageDtype,
    pub block_size: usize,
    /// Query heads and KV heads.
    pub heads: (usize, usize),
    /// Elements of key and value.
    pub dims: (usize, usize),
    pub k_scale: Scale,
    pub v_scale: Scale,
    /// `None` for a dynamic one.
    pub query: Option<Scale>,
    pub prob: (f32, f32),
    pub options: AttentionOptions,
    pub sequences: Vec<Sequence>,
}

impl Mha {
    /// A layer without modifiers; keys, values and queries are of the order of 1, the scales reach to about 8.
    pub fn plain(
        random: &mut Random,
        generation: Generation,
        heads: (usize, usize),
        dims: (usize, usize),
        lengths: &[(usize, usize)],
    ) -> Self {
        let block_size = 16;
        let sequences = places(random, lengths, block_size)
            .into_iter()
            .map(|place| Sequence {
                q: random.bf16s(place.queries * heads.0 * dims.0, 1.0),
                k: random.bf16s(place.len * heads.1 * dims.0, 1.0),
                v: random.bf16s(place.len * heads.1 * dims.1, 1.0),
                place,
            })
            .collect();
        Self {
            generation,
            dtype: StorageDtype::Fp8,
            block_size,
            heads,
            dims,
            k_scale: Scale::new(&[0.03]),
            v_scale: Scale::new(&[0.02]),
            query: None,
            prob: (1.0, 1.0),
            options: AttentionOptions::new((dims.0 as f64).powf(-0.5) as f32),
            sequences,
        }
    }

    /// A random small layer.
    pub fn random(seed: u64, generation: Generation) -> Self {
        let random = &mut Random::new(seed);
        let (group, kv_heads) = (random.between(1, 4), random.between(1, 3));
        let dims = (random.between(1, 20), random.between(1, 20));
        let lengths: Vec<(usize, usize)> = (0..random.between(1, 3))
            .map(|_| {
                let len = random.between(1, 40);
                (random.between(0, len.min(5)), len)
            })
            .collect();
        let mut case = Self::plain(random, generation, (group * kv_heads, kv_heads), dims, &lengths);
        case.dtype =
            random.pick(&[StorageDtype::Fp8, StorageDtype::Fp8, StorageDtype::Bf16, StorageDtype::F32]);
        case.k_scale = Scale::random(random, kv_heads);
        case.v_scale = Scale::random(random, kv_heads);
        case.query = random.chance(50).then(|| Scale::random(random, kv_heads));
        if random.chance(30) {
            let quant = random.pick(&[0.37, 3.0, 200.0]);
            case.prob = (quant, 1.0 / quant);
        }
        case.options = random_options(random, case.heads.0, dims.0);
        case.options.fp8_prefill = random.chance(50);
        case
    }

    pub fn device(&self, mode: Mode) -> Emulated {
        Emulated::new(self.generation, mode)
    }

    pub fn attention(&self) -> MhaAttention {
        let scales = attention_scales(self.query.as_ref(), self.prob);
        MhaAttention::new(shape(self.heads, self.dims), scales, self.options.clone()).unwrap()
    }

    pub fn places(&self) -> Vec<Place> {
        self.sequences.iter().map(|sequence| sequence.place.clone()).collect()
    }

    pub fn table(&self) -> Table {
        Table::new(&self.places())
    }

    pub fn empty_cache<D: Device>(&self, device: &D) -> MhaCache<D::Plane> {
        let geometry = CacheGeometry::new(block_count(&self.places()), self.block_size, self.dtype).unwrap();
        let scales = (&self.k_scale.plane(), &self.v_scale.plane());
        MhaCache::new(device, geometry, self.heads.1, self.dims, scales).unwrap()
    }

    /// Keys and values of some tokens of a sequence.
    pub fn tokens<'a>(&self, sequence: &'a Sequence, tokens: Range<usize>) -> (&'a [bf16], &'a [bf16]) {
        let (k, v) = (self.heads.1 * self.dims.0, self.heads.1 * self.dims.1);
        (&sequence.k[tokens.start * k..tokens.end * k], &sequence.v[tokens.start * v..tokens.end * v])
    }

    /// Writes some tokens of a sequence.
    pub fn write<D: Device>(
        &self,
        device: &D,
        cache: &mut MhaCache<D::Plane>,
        sequence: &Sequence,
        tokens: Range<usize>,
    ) {
        let (k, v) = self.tokens(sequence, tokens.clone());
        cache.write(device, k, v, &sequence.place.slots(tokens, self.block_size)).unwrap();
    }

    /// A cache with the first tokens of each sequence: all, or those before the query.
    pub fn cache<D: Device>(&self, device: &D, all: bool) -> MhaCache<D::Plane> {
        let mut cache = self.empty_cache(device);
        for sequence in &self.sequences {
            let place = &sequence.place;
            let end = if all { place.len } else { place.context() };
            self.write(device, &mut cache, sequence, 0..end);
        }
        cache
    }

    /// The query of the batch.
    pub fn q(&self) -> Vec<bf16> {
        self.sequences.iter().flat_map(|sequence| sequence.q.clone()).collect()
    }

    /// Every query token through the cache.
    pub fn decode(&self, mode: Mode) -> Vec<f32> {
        self.decode_on(&self.device(mode))
    }

    pub fn decode_on<D: Device>(&self, device: &D) -> Vec<f32> {
        let cache = self.cache(device, true);
        self.attention().decode(device, &cache, &self.q(), &self.table().batch()).unwrap()
    }

    /// Every query token as a new one, those before from the cache.
    pub fn prefill(&self, mode: Mode) -> Vec<f32> {
        self.prefill_on(&self.device(mode))
    }

    pub fn prefill_on<D: Device>(&self, device: &D) -> Vec<f32> {
        let cache = self.cache(device, false);
        let (mut k, mut v) = (Vec::new(), Vec::new());
        for sequence in &self.sequences {
            let new = self.tokens(sequence, sequence.place.context()..sequence.place.len);
            k.extend_from_slice(new.0);
            v.extend_from_slice(new.1);
        }
        let operands = (&self.q()[..], &k[..], &v[..]);
        self.attention().prefill(device, Some(&cache), operands, &self.table().batch()).unwrap()
    }

    /// The operands of the decode, for each token and head in the order of the output.
    pub fn decode_heads(&self) -> Vec<Head> {
        self.heads_of(
            |row, _, quant, _| match self.dtype {
                StorageDtype::Fp8 => Row::quantized(self.generation, row, quant),
                _ => Row::Bf16(row.to_vec()),
            },
            self.dtype == StorageDtype::Fp8,
        )
    }

    /// Those of the prefill.
    pub fn prefill_heads(&self) -> Vec<Head> {
        let is_fp8 = self.dtype == StorageDtype::Fp8 && self.options.fp8_prefill;
        self.heads_of(
            |row, is_new, quant, dequant| {
                let mut row = row.to_vec();
                if self.dtype == StorageDtype::Fp8 && !is_new {
                    let Row::Fp8(codes) = Row::quantized(self.generation, &row, quant) else {
                        unreachable!()
                    };
                    row = codes.iter().map(|code| dequantized(self.generation, *code, dequant)).collect();
                }
                if is_fp8 { Row::quantized(self.generation, &row, quant) } else { Row::Bf16(row) }
            },
            is_fp8,
        )
    }

    /// `row` makes an operand of the values of one token and head, whether it is new, and its scale.
    fn heads_of(&self, row: impl Fn(&[bf16], bool, f32, f32) -> Row, is_fp8: bool) -> Vec<Head> {
        let mut heads = Vec::new();
        for sequence in &self.sequences {
            let place = &sequence.place;
            let rows = |values: &[bf16], dim: usize, head: usize, scale: &Scale| {
                let rows = values.chunks_exact(self.heads.1 * dim).enumerate().map(|(token, values)| {
                    let values = &values[head * dim..(head + 1) * dim];
                    row(values, token >= place.context(), scale.of(head).0, scale.of(head).1)
                });
                Rc::new(rows.collect::<Vec<_>>())
            };
            let sides: Vec<_> = (0..self.heads.1)
                .map(|head| {
                    let keys = rows(&sequence.k, self.dims.0, head, &self.k_scale);
                    (keys, rows(&sequence.v, self.dims.1, head, &self.v_scale))
                })
                .collect();
            for (number, q) in sequence.q.chunks_exact(self.dims.0).enumerate() {
                let (token, head) = (number / self.heads.0, number % self.heads.0);
                let kv_head = head / (self.heads.0 / self.heads.1);
                let (query, query_dequant) = if is_fp8 {
                    quantized_query(self.generation, q, self.query.as_ref().map(|scale| scale.of(kv_head)))
                } else {
                    (Row::Bf16(q.to_vec()), 1.0)
                };
                let dequant = |scale: &Scale| if is_fp8 { scale.of(kv_head).1 } else { 1.0 };
                heads.push(Head {
                    generation: self.generation,
                    modifiers: modifiers(&self.options, head),
                    position: place.context() + token,
                    query,
                    query_dequant,
                    keys: Rc::clone(&sides[kv_head].0),
                    key_dequant: dequant(&self.k_scale),
                    values: Rc::clone(&sides[kv_head].1),
                    value_dequant: dequant(&self.v_scale),
                    prob: is_fp8.then_some(self.prob),
                });
            }
        }
        heads
    }
}

/// The outputs of the model, one after the other.
pub fn modelled(heads: &[Head]) -> Vec<f32> {
    heads.iter().flat_map(Head::attend).collect()
}

/// The float64 results with their bounds.
pub fn references(heads: &[Head]) -> Reference {
    Reference::concat(heads.iter().map(Head::reference).collect())
}
