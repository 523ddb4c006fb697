//! Attention: query tokens are cut into tiles, tiles of like shape share a launch.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use half::bf16;

use super::buckets::{self, MAX_TOKENS};
use super::engine::{Operand, bf16_bytes, f32_bytes, index_bytes};
use super::graph::attention::AttentionShape;
use super::kernels::CodeMover;
use super::plane::HpuPlane;
use super::planes::check_scales;
use super::session::Session;
use crate::device::amax::quant_by_amax;
use crate::device::{
    AttentionProblem, DeviceError, HeadScales, PlaneLayout, PlanePair, QueryScale, SequenceSpan,
    StorageDtype, TensorPair,
};
use crate::{Generation, ScaleFactors};

/// Tokens of a block of the planes that a prefill's keys and values are put into.
const PREFILL_BLOCK_TOKENS: usize = 128;

/// Attention over planes: those of a cache, or those that tensors were put into.
struct PlaneAttention<'a> {
    problem: &'a AttentionProblem<'a, HpuPlane>,
    key: &'a HpuPlane,
    /// `None` where a value is the first elements of a key.
    value: Option<&'a HpuPlane>,
}

/// Query tokens of one sequence that are computed together.
#[derive(Debug, Clone, Copy)]
struct Tile<'a> {
    first_token: usize,
    tokens: usize,
    /// The position of the first of them.
    position: usize,
    /// The blocks of the sequence.
    blocks: &'a [usize],
}

impl Tile<'_> {
    /// The keys that its last token sees. Later ones are left out: their probabilities would be zero.
    fn keys(&self) -> usize {
        self.position + self.tokens
    }
}

/// Cuts a sequence into tiles.
fn tiles<'a>(sequence: &SequenceSpan, blocks: &'a [usize]) -> impl Iterator<Item = Tile<'a>> + use<'a> {
    let SequenceSpan { first_token, tokens, .. } = *sequence;
    let first_position = sequence.context_tokens();
    (0..tokens).step_by(MAX_TOKENS).map(move |at| Tile {
        first_token: first_token + at,
        tokens: MAX_TOKENS.min(tokens - at),
        position: first_position + at,
        blocks,
    })
}

impl PlaneAttention<'_> {
    fn heads(&self) -> usize {
        self.problem.shape.num_kv_heads
    }

    fn group(&self) -> usize {
        self.problem.shape.group()
    }

    fn dim(&self) -> usize {
        self.problem.shape.head_dim
    }

    fn value_dim(&self) -> usize {
        self.problem.shape.v_head_dim
    }

    fn check(&self, generation: Generation) -> Result<(), DeviceError> {
        let Some(fp8) = self.problem.fp8 else { return Ok(()) };
        if let QueryScale::Static(ScaleFactors { quant, .. }) = fp8.query_scale {
            check_scales(generation, self.heads(), quant)?;
        }
        check_scales(generation, 1, &HeadScales::One(fp8.prob.quant))
    }

    /// Runs tiles and puts their rows where they belong.
    fn run(&self, session: &mut Session<'_>, all: &[Tile<'_>], out: &mut [f32]) -> Result<(), DeviceError> {
        self.check(session.generation)?;
        let mut by_shape: BTreeMap<(usize, usize), Vec<Tile<'_>>> = BTreeMap::new();
        for tile in all {
            let shape = (buckets::rounded(tile.tokens), buckets::rounded_keys(tile.keys())?);
            by_shape.entry(shape).or_default().push(*tile);
        }
        for ((tokens, keys), tiles) in by_shape {
            let rows = tokens * self.group();
            for tiles in tiles.chunks(buckets::max_entries(self.heads(), rows, keys)) {
                let values = self.launch(session, tiles, rows, keys)?;
                self.scatter(tiles, rows, &values, out);
            }
        }
        Ok(())
    }

    /// One launch: `[batch, heads, rows, value_dim]`.
    fn launch(
        &self,
        session: &mut Session<'_>,
        tiles: &[Tile<'_>],
        rows: usize,
        keys: usize,
    ) -> Result<Vec<bf16>, DeviceError> {
        let batch = buckets::rounded(tiles.len());
        let modifiers = &self.problem.modifiers;
        let shape = AttentionShape {
            batch,
            rows,
            keys,
            key_layout: self.key.layout,
            value_layout: self.value.map(|plane| plane.layout),
            value_dim: self.value_dim(),
            has_soft_cap: modifiers.logits_soft_cap.is_some(),
            has_alibi: modifiers.alibi_slopes.is_some(),
            has_window: modifiers.sliding_window.is_some(),
            has_sinks: modifiers.sinks.is_some(),
            view: session.kernels.view(CodeMover::Gather, self.key.layout.dtype, session.engine)?,
        };
        let compiled = session.recipes.get(&shape.graph())?;
        let heads = self.heads();
        let (key_dequant, value_dequant) = self.problem.product_dequants();
        let of_heads = |scales: &HeadScales| f32_bytes((0..heads).map(|head| scales.of(head)));
        let mut operands = vec![
            ("ids", self.ids(tiles, batch, keys)),
            ("key", Operand::Memory(&self.key.memory)),
            ("key_dequant", of_heads(key_dequant)),
            ("value_dequant", of_heads(value_dequant)),
            ("softmax_scale", f32_bytes([modifiers.softmax_scale])),
            ("lowest", f32_bytes([f32::MIN])),
            ("zero", f32_bytes([0.0])),
            ("key_position", f32_bytes((0..keys).map(|key| key as f32))),
            ("end", self.of_tokens(tiles, batch, rows, |position| position + 1)),
        ];
        let q = self.query(tiles, batch, rows);
        if let Some(fp8) = self.problem.fp8 {
            let (quant, dequant) = self.query_multipliers(session.generation, fp8.query_scale, &q, rows);
            operands.push(("q_quant", f32_bytes(quant)));
            operands.push(("q_dequant", f32_bytes(dequant)));
            operands.push(("prob_quant", f32_bytes([fp8.prob.quant])));
            operands.push(("prob_dequant", f32_bytes([fp8.prob.dequant])));
        }
        operands.push(("q", bf16_bytes(q)));
        if let Some(plane) = self.value {
            operands.push(("value", Operand::Memory(&plane.memory)));
        }
        self.push_modifiers(tiles, batch, rows, &mut operands);
        Ok(session.engine.compute(&compiled, &operands)?)
    }

    /// The operands of the modifiers that the problem has.
    fn push_modifiers(
        &self,
        tiles: &[Tile<'_>],
        batch: usize,
        rows: usize,
        operands: &mut Vec<(&'static str, Operand<'_>)>,
    ) {
        let modifiers = &self.problem.modifiers;
        if let Some(cap) = modifiers.logits_soft_cap {
            operands.push(("cap", f32_bytes([cap])));
        }
        if let Some(slopes) = modifiers.alibi_slopes {
            operands.push(("slope", self.of_query_heads(rows, slopes)));
            operands.push(("position", self.of_tokens(tiles, batch, rows, |position| position)));
        }
        if let Some(window) = modifiers.sliding_window {
            let first = |position: usize| (position + 1).saturating_sub(window);
            operands.push(("first", self.of_tokens(tiles, batch, rows, first)));
        }
        if let Some(sinks) = modifiers.sinks {
            operands.push(("sink", self.of_query_heads(rows, sinks)));
        }
    }

    /// `[batch, heads, rows, dim]`: the rows of a KV head are its tokens' query heads. Zero where there is no token.
    fn query(&self, tiles: &[Tile<'_>], batch: usize, rows: usize) -> Vec<bf16> {
        let (heads, width) = (self.heads(), self.group() * self.dim());
        let head_len = rows * self.dim();
        let mut q = vec![bf16::ZERO; batch * heads * head_len];
        for (entry, tile) in tiles.iter().enumerate() {
            for head in 0..heads {
                for token in 0..tile.tokens {
                    let from = ((tile.first_token + token) * heads + head) * width;
                    let to = (entry * heads + head) * head_len + token * width;
                    q[to..to + width].copy_from_slice(&self.problem.q[from..from + width]);
                }
            }
        }
        q
    }

    /// What multiplies each row of a query on the way in, and its product.
    fn query_multipliers(
        &self,
        generation: Generation,
        scale: &QueryScale,
        q: &[bf16],
        rows: usize,
    ) -> (Vec<f32>, Vec<f32>) {
        let pairs = q.chunks_exact(self.dim()).enumerate().map(|(number, row)| match scale {
            QueryScale::Static(ScaleFactors { quant, dequant }) => {
                let head = number / rows % self.heads();
                (quant.of(head), dequant.of(head))
            }
            QueryScale::Dynamic => {
                let quant = quant_by_amax(generation, row);
                (quant, 1.0 / quant)
            }
        });
        pairs.unzip()
    }

    /// `[batch, heads, keys]`: which row of the plane, counted by head, holds a key. Keys that are not there have the
    /// first of the zero row.
    fn ids(&self, tiles: &[Tile<'_>], batch: usize, keys: usize) -> Operand<'static> {
        let (heads, size) = (self.heads(), self.key.layout.block_size_tokens);
        let zero = self.key.layout.slots() * heads;
        let mut ids = Vec::with_capacity(batch * heads * keys);
        for tile in tiles {
            for head in 0..heads {
                let slots = (0..tile.keys()).map(|key| tile.blocks[key / size] * size + key % size);
                ids.extend(slots.map(|slot| slot * heads + head));
                ids.extend(std::iter::repeat_n(zero, keys - tile.keys()));
            }
        }
        ids.resize(batch * heads * keys, zero);
        index_bytes(ids)
    }

    /// `[batch, 1, rows, 1]`: a number of each token's position, zero where there is no token.
    fn of_tokens(
        &self,
        tiles: &[Tile<'_>],
        batch: usize,
        rows: usize,
        number: impl Fn(usize) -> usize,
    ) -> Operand<'static> {
        let mut values = vec![0.0; batch * rows];
        for (tile, values) in tiles.iter().zip(values.chunks_exact_mut(rows)) {
            for (token, values) in values.chunks_exact_mut(self.group()).take(tile.tokens).enumerate() {
                values.fill(number(tile.position + token) as f32);
            }
        }
        f32_bytes(values)
    }

    /// `[heads, rows]`: a number of each query head.
    fn of_query_heads(&self, rows: usize, values: &[f32]) -> Operand<'static> {
        let group = self.group();
        let heads = (0..self.heads()).flat_map(|head| (0..rows).map(move |row| head * group + row % group));
        f32_bytes(heads.map(|head| values[head]))
    }

    /// Puts `[batch, heads, rows, value_dim]` into `[tokens, num_heads, value_dim]`.
    fn scatter(&self, tiles: &[Tile<'_>], rows: usize, values: &[bf16], out: &mut [f32]) {
        let (heads, width) = (self.heads(), self.group() * self.value_dim());
        for (entry, tile) in tiles.iter().enumerate() {
            for head in 0..heads {
                for token in 0..tile.tokens {
                    let from = (entry * heads + head) * rows * self.value_dim() + token * width;
                    let to = ((tile.first_token + token) * heads + head) * width;
                    let pairs = out[to..to + width].iter_mut().zip(&values[from..from + width]);
                    pairs.for_each(|(to, from)| *to = from.to_f32());
                }
            }
        }
    }
}

/// Attention over cache planes.
pub(super) fn over_planes(
    session: &mut Session<'_>,
    problem: &AttentionProblem<'_, HpuPlane>,
    planes: &PlanePair<'_, HpuPlane>,
    out: &mut [f32],
) -> Result<(), DeviceError> {
    let all: Vec<Tile<'_>> = problem
        .sequences
        .iter()
        .flat_map(|sequence| tiles(sequence, planes.blocks_of(sequence, sequence.len)))
        .collect();
    let value = (!std::ptr::eq(planes.key, planes.value)).then_some(planes.value);
    PlaneAttention { problem, key: planes.key, value }.run(session, &all, out)
}

/// Planes for one operand of prefills, each kept for the next prefill of its shape.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    planes: HashMap<PlaneLayout, HpuPlane>,
}

impl Scratch {
    /// The plane of a layout, written with `rows`, each at the slot of its number.
    fn plane(
        &mut self,
        session: &mut Session<'_>,
        layout: &PlaneLayout,
        rows: &[bf16],
        quant: &HeadScales,
    ) -> Result<&HpuPlane, DeviceError> {
        let plane = match self.planes.entry(*layout) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(session.allocate(layout)?),
        };
        let slots: Vec<usize> = (0..rows.len() / layout.row()).collect();
        session.write(plane, rows, &slots, quant)?;
        Ok(plane)
    }
}

/// Attention over tensors: those of each sequence are put into planes.
pub(super) fn over_tensors(
    session: &mut Session<'_>,
    (key_scratch, value_scratch): &mut (Scratch, Scratch),
    problem: &AttentionProblem<'_, HpuPlane>,
    tensors: &TensorPair<'_>,
    out: &mut [f32],
) -> Result<(), DeviceError> {
    let (shape, one) = (problem.shape, HeadScales::One(1.0));
    let (dtype, key_quant, value_quant) = match problem.fp8 {
        Some(_) => (StorageDtype::Fp8, &problem.key_factors.quant, &problem.value_factors.quant),
        None => (StorageDtype::Bf16, &one, &one),
    };
    for sequence in problem.sequences {
        let num_blocks = buckets::rounded_keys(sequence.len)? / PREFILL_BLOCK_TOKENS;
        let layout = |dim| PlaneLayout {
            num_blocks,
            has_pad_block: false,
            block_size_tokens: PREFILL_BLOCK_TOKENS,
            heads: shape.num_kv_heads,
            dim,
            dtype,
        };
        let rows = sequence.first_row..sequence.first_row + sequence.len;
        let k = &tensors.k[rows.start * shape.k_row()..rows.end * shape.k_row()];
        let v = &tensors.v[rows.start * shape.v_row()..rows.end * shape.v_row()];
        let key = key_scratch.plane(session, &layout(shape.head_dim), k, key_quant)?;
        let value = value_scratch.plane(session, &layout(shape.v_head_dim), v, value_quant)?;
        let blocks: Vec<usize> = (0..num_blocks).collect();
        let all: Vec<Tile<'_>> = tiles(sequence, &blocks).collect();
        PlaneAttention { problem, key, value: Some(value) }.run(session, &all, out)?;
    }
    Ok(())
}
