//! Programs under many seeds: with every wait they give the same, and without one some seed shows it.

use std::collections::BTreeMap;

use habana_sys::*;

use crate::fixture::{Card, Graph, I32, configure};
use crate::syn::Table;
use crate::{Scenario, ok};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("programs give the same under 1,000 seeds", every_seed),
    Scenario::new("a wait that is left out is seen under some seed", left_out),
    Scenario::new("a seed replays", replay),
];

const STREAMS: usize = 3;
const BUFFERS: usize = 4;
const OPERATIONS: usize = 24;
const ELEMENTS: u64 = 16;
const BYTES: u64 = 4 * ELEMENTS;
/// How many seeds may pass before a missing wait is seen.
const SEEDS_TO_FIND: u64 = 200;

/// All kinds of operations, and those whose order always shows in the end: nothing is overwritten.
const ALL: usize = 5;
const TELLING: usize = 3;

/// What is submitted, to a stream.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// `to = 3 * to + from`: whatever order two of them run in shows in the end.
    Mix {
        to: usize,
        from: usize,
    },
    Move {
        to: usize,
        from: usize,
    },
    /// From a place in host memory of its own.
    Upload {
        to: usize,
        slot: usize,
    },
    /// To a place in host memory of its own.
    Download {
        from: usize,
        slot: usize,
    },
    /// Each event is recorded once.
    Record {
        event: usize,
    },
    Wait {
        event: usize,
    },
}

/// Steps with their streams, and everything awaited that must be.
struct Program(Vec<(usize, Step)>);

/// How far each stream had come.
type Clock = [usize; STREAMS];

/// An operation: its stream, and its number there, counted from 1.
type Place = (usize, usize);

/// What is known of a buffer while a program is made.
#[derive(Default)]
struct Uses {
    written: Option<Place>,
    read: Vec<Place>,
}

fn next(state: &mut u64, end: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % end
}

impl Program {
    /// A random one, of `kinds` of operations: the first ones of those that are listed here. An operation waits for those of other streams that use the same buffer, unless an earlier wait
    /// says so already: no wait can be left out.
    fn new(mut state: u64, kinds: usize) -> Self {
        let mut steps = Vec::new();
        let mut clocks = [Clock::default(); STREAMS];
        let mut events: BTreeMap<Place, (usize, Clock)> = BTreeMap::new();
        let mut uses: [Uses; BUFFERS] = Default::default();
        for slot in 0..OPERATIONS {
            let stream = next(&mut state, STREAMS);
            let to = next(&mut state, BUFFERS);
            let from = (to + 1 + next(&mut state, BUFFERS - 1)) % BUFFERS;
            let (step, written, read) = match next(&mut state, kinds) {
                0 | 1 => (Step::Mix { to, from }, Some(to), Some(from)),
                2 => (Step::Download { from, slot }, None, Some(from)),
                3 => (Step::Move { to, from }, Some(to), Some(from)),
                _ => (Step::Upload { to, slot }, Some(to), None),
            };
            let mut before: Vec<Place> =
                read.iter().filter_map(|&buffer: &usize| uses[buffer].written).collect();
            if let Some(buffer) = written {
                before.extend(uses[buffer].written);
                before.extend(&uses[buffer].read);
            }
            // The latest first: it may make others needless.
            before.sort_by_key(|place| std::cmp::Reverse(events[place].0));
            for place in before {
                if clocks[stream][place.0] < place.1 {
                    let (event, known) = events[&place];
                    steps.push((stream, Step::Wait { event }));
                    clocks[stream].iter_mut().zip(known).for_each(|(ours, theirs)| *ours = theirs.max(*ours));
                }
            }
            clocks[stream][stream] += 1;
            let place = (stream, clocks[stream][stream]);
            read.into_iter().for_each(|buffer| uses[buffer].read.push(place));
            written.into_iter().for_each(|buffer| uses[buffer] = Uses { written: Some(place), read: vec![] });
            events.insert(place, (slot, clocks[stream]));
            steps.extend([(stream, step), (stream, Step::Record { event: slot })]);
        }
        Self(steps)
    }

    /// The numbers of the steps that wait.
    fn waits(&self) -> Vec<usize> {
        let waits = self.0.iter().enumerate().filter(|(_, (_, step))| matches!(step, Step::Wait { .. }));
        waits.map(|(number, _)| number).collect()
    }

    fn without(&self, number: usize) -> Self {
        let mut steps = self.0.clone();
        steps.remove(number);
        Self(steps)
    }
}

/// `out = 3 * to + from`, where `out` lies in the place of `to`.
fn mixing(table: Table<'_>) -> synRecipeHandle {
    let graph = Graph::new(table);
    let (section, sizes) = (graph.section(), &[ELEMENTS]);
    let to = graph.placed("to", I32, sizes, section, 0);
    let out = graph.placed("out", I32, sizes, section, 0);
    let from = graph.persistent("from", I32, sizes);
    let (three, product) = (graph.tensor("three", I32, sizes), graph.tensor("product", I32, sizes));
    graph.node("constant_i32", &[], &[three], &3_u32.to_le_bytes());
    graph.node("mult_fwd_i32", &[to, three], &[product], &[]);
    graph.node("add_fwd_i32", &[product, from], &[out], &[]);
    graph.compile()
}

fn content(number: usize) -> Vec<u8> {
    (0..ELEMENTS as u32)
        .flat_map(|element| (element * 7919 + number as u32 * 104_729 + 1).to_le_bytes())
        .collect()
}

/// Everything that a program leaves behind under a seed: host memory, buffers, and the times of its events.
fn outcome(table: Table<'_>, program: &Program, seed: u64) -> (Vec<u8>, Vec<u64>) {
    configure(table, &[("SYNAPSE_EMU_SEED", &seed.to_string()), ("SYNAPSE_EMU_SILENCE", "never")]);
    ok!(table, synInitialize());
    let card = Card::new(table);
    let streams: Vec<_> = (0..STREAMS).map(|_| card.new_stream()).collect();
    let buffers: Vec<_> = (0..BUFFERS).map(|buffer| card.upload(&content(buffer))).collect();
    let events: Vec<_> =
        (0..OPERATIONS).map(|_| card.event(eventCreateFlags::EVENT_COLLECT_TIME.0)).collect();
    let host = card.host(BYTES * OPERATIONS as u64).cast::<u8>();
    for slot in 0..OPERATIONS {
        // SAFETY: each slot has as many bytes.
        unsafe { host.add(slot * BYTES as usize).copy_from(content(100 + slot).as_ptr(), BYTES as usize) };
    }
    let recipe = mixing(table);
    let mut bytes = 0;
    ok!(table, synWorkspaceGetSize(&mut bytes, recipe));
    let workspaces: Vec<_> = streams.iter().map(|_| card.malloc(bytes.max(1))).collect();
    for &(number, step) in &program.0 {
        let stream = streams[number];
        let copy = |from: u64, to: u64, direction| {
            ok!(table, synMemCopyAsync(stream, from, BYTES, to, direction));
        };
        let slot_address = |slot: usize| host as u64 + slot as u64 * BYTES;
        match step {
            Step::Mix { to, from } => {
                let tensors = [("to", to), ("out", to), ("from", from)];
                let infos =
                    tensors.map(|(name, buffer)| card.info(recipe, name, buffers[buffer], &[ELEMENTS]));
                ok!(table, synLaunch(stream, infos.as_ptr(), 3, workspaces[number], recipe, 0));
            }
            Step::Move { to, from } => copy(buffers[from], buffers[to], synDmaDir::DRAM_TO_DRAM),
            Step::Upload { to, slot } => copy(slot_address(slot), buffers[to], synDmaDir::HOST_TO_DRAM),
            Step::Download { from, slot } => copy(buffers[from], slot_address(slot), synDmaDir::DRAM_TO_HOST),
            Step::Record { event } => ok!(table, synEventRecord(events[event], stream)),
            Step::Wait { event } => ok!(table, synStreamWaitEvent(stream, events[event], 0)),
        }
    }
    ok!(table, synDeviceSynchronize(card.id));
    // SAFETY: all of it was allocated, and written above.
    let mut left = unsafe { std::slice::from_raw_parts(host, BYTES as usize * OPERATIONS) }.to_vec();
    buffers.iter().for_each(|&buffer| left.extend(card.download(buffer, BYTES)));
    let elapsed = |event: &synEventHandle| {
        let mut nanos = 0;
        // Those in the wrong order have no time.
        crate::syn!(table, synEventElapsedTime(&mut nanos, events[0], *event));
        nanos
    };
    let times = events.iter().map(elapsed).collect();
    ok!(table, synDestroy());
    (left, times)
}

fn every_seed(table: Table<'_>) {
    for number in 0..10 {
        let program = Program::new(number, ALL);
        let (expected, _) = outcome(table, &program, 0);
        for seed in 1..=100 {
            let seed = number * 100 + seed;
            let (found, _) = outcome(table, &program, seed);
            assert!(found == expected, "program {number} differs under SYNAPSE_EMU_SEED={seed}");
        }
    }
}

fn left_out(table: Table<'_>) {
    let (mut waits, mut most) = (0, 0);
    for number in 0..4 {
        let program = Program::new(number, TELLING);
        let (expected, _) = outcome(table, &program, 0);
        // One of a quarter of them, from all over the program.
        for wait in program.waits().into_iter().step_by(4) {
            let racy = program.without(wait);
            let found = (0..SEEDS_TO_FIND).find(|&seed| outcome(table, &racy, seed).0 != expected);
            let found = found.unwrap_or_else(|| panic!("program {number}, step {wait}: no seed shows it"));
            (waits, most) = (waits + 1, most.max(found));
        }
    }
    eprintln!("{waits} waits left out, each seen by seed {most} at the latest");
    assert!(waits > 10, "{waits}");
}

fn replay(table: Table<'_>) {
    let program = Program::new(0, ALL);
    let racy = program.without(program.waits()[0]);
    let runs: Vec<_> = (0..8).map(|seed| outcome(table, &racy, seed)).collect();
    for (seed, run) in (0..).zip(&runs) {
        assert!(outcome(table, &racy, seed) == *run, "SYNAPSE_EMU_SEED={seed} does not replay");
    }
    assert!(runs.iter().any(|run| run.1 != runs[0].1), "seeds differ in the times of events");
}
