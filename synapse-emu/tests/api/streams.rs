//! Order and errors of asynchronous work.

use std::ptr::null_mut;

use habana_sys::*;

use crate::fixture::{Card, F32, Graph, I8, I32, bytes_of, copying};
use crate::syn::Table;
use crate::{Scenario, ok, syn};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("work of a stream is done in order, later", order),
    Scenario::new("an event orders two streams", events_order),
    Scenario::new("events measure time", time),
    Scenario::new("a failed launch is told once, and to its events", errors),
    Scenario::new("external tensors signal events", external_events),
    Scenario::new("copies in every direction, many at once", copies),
    Scenario::new("streams have affinities", affinities),
    Scenario::new("a card can be released while it works", release_while_busy),
    Scenario::new("threads use the library at once", threads),
];

fn order(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let (a, b) = (card.malloc(256), card.malloc(256));
    card.occupy(card.stream);
    ok!(table, synMemsetD8Async(a, 1, 256, card.stream));
    ok!(table, synMemCopyAsync(card.stream, a, 256, b, synDmaDir::DRAM_TO_DRAM));
    ok!(table, synMemsetD8Async(a, 2, 256, card.stream));
    assert_eq!(syn!(table, synStreamQuery(card.stream)), synStatus::synBusy);
    assert_eq!(card.download(b, 256), [1; 256]);
    assert_eq!(card.download(a, 256), [2; 256]);
    ok!(table, synStreamQuery(card.stream));
}

fn events_order(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let (first, second) = (card.stream, card.new_stream());
    let (a, b) = (card.malloc(256), card.malloc(256));
    let event = card.event(0);
    // Nothing recorded yet: nothing to wait for.
    ok!(table, synStreamWaitEvent(second, event, 0));
    ok!(table, synEventSynchronize(event));
    card.occupy(first);
    ok!(table, synMemsetD8Async(a, 7, 256, first));
    ok!(table, synEventRecord(event, first));
    ok!(table, synStreamWaitEvent(second, event, 0));
    ok!(table, synMemCopyAsync(second, a, 256, b, synDmaDir::DRAM_TO_DRAM));
    ok!(table, synStreamSynchronize(second));
    assert_eq!(card.download(b, 256), [7; 256]);
}

fn time(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let flags = eventCreateFlags::EVENT_COLLECT_TIME.0;
    let (start, end) = (card.event(flags), card.event(flags));
    let mut elapsed = 0;
    assert_eq!(syn!(table, synEventElapsedTime(&mut elapsed, start, end)), synStatus(41), "not recorded");
    ok!(table, synEventRecord(start, card.stream));
    card.occupy(card.stream);
    ok!(table, synEventRecord(end, card.stream));
    assert_eq!(syn!(table, synEventElapsedTime(&mut elapsed, start, end)), synStatus(22));
    ok!(table, synEventSynchronize(end));
    ok!(table, synEventElapsedTime(&mut elapsed, start, end));
    // 200 fills, of 2 to 128 microseconds each.
    assert!((400_000..26_000_000).contains(&elapsed), "{elapsed} ns");
    assert_eq!(syn!(table, synEventElapsedTime(&mut elapsed, end, start)), synStatus(41), "backwards");
}

/// A gather, whose indices are data.
fn gather(table: Table<'_>) -> synRecipeHandle {
    let graph = Graph::new(table);
    let (data, index) = (graph.persistent("data", I8, &[16, 4]), graph.persistent("index", I32, &[2]));
    let out = graph.persistent("out", I8, &[16, 2]);
    graph.node("gather_fwd_i8", &[data, index], &[out], &1_u32.to_le_bytes());
    graph.compile()
}

fn errors(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let recipe = gather(table);
    let data = card.upload(&(0..64).collect::<Vec<_>>());
    let index = card.upload(&[3, 0, 0, 0, 4, 0, 0, 0]);
    let out = card.malloc(32);
    let tensors: [(&str, u64, &[u64]); 3] =
        [("data", data, &[16, 4]), ("index", index, &[2]), ("out", out, &[16, 2])];
    let (before, after) = (card.event(0), card.event(0));
    ok!(table, synEventRecord(before, card.stream));
    assert_eq!(card.try_launch(recipe, &tensors), synStatus::synSuccess);
    ok!(table, synEventRecord(after, card.stream));
    ok!(table, synEventSynchronize(before));
    assert_eq!(syn!(table, synEventSynchronize(after)), synStatus::synFail);
    assert_eq!(syn!(table, synDeviceSynchronize(card.id)), synStatus::synFail);
    ok!(table, synStreamSynchronize(card.stream));
    card.write(index, &[3, 0, 0, 0, 0, 0, 0, 0]);
    card.launch(recipe, &tensors);
    let expected: Vec<u8> = (48..64).chain(0..16).collect();
    assert_eq!(card.download(out, 32), expected);
}

fn external_events(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let graph = Graph::new(table);
    let input = graph.persistent("in", F32, &[32]);
    let (first, second) = (graph.tensor("first", F32, &[32]), graph.tensor("second", F32, &[32]));
    for tensor in [first, second] {
        ok!(table, synTensorAssignToSection(tensor, graph.section(), 0));
        ok!(table, synTensorSetExternal(tensor, true));
    }
    // Created in the other order than they run.
    graph.node("exp_fwd_f32", &[first], &[second], &[]);
    graph.node("memcpy", &[input], &[first], &[]);
    let recipe = graph.compile();
    let sizes: &[u64] = &[32];
    let infos = [
        ("in", card.upload(&bytes_of(&[0.0; 32]))),
        ("first", card.malloc(128)),
        ("second", card.malloc(128)),
    ]
    .map(|(name, address)| card.info(recipe, name, address, sizes));
    let mut ids = [0; 2];
    ok!(table, synTensorExtExtractExecutionOrder(recipe, 2, ids.as_mut_ptr()));
    assert_eq!(ids, [infos[1].tensorId, infos[2].tensorId]);
    let mut events = [card.event(0), card.event(0)];
    ok!(table, synEventMapTensor(events.as_mut_ptr(), 2, infos[1..].as_ptr(), recipe));
    let inner = infos.as_ptr();
    assert_eq!(
        syn!(table, synEventMapTensor(events.as_mut_ptr(), 1, inner, recipe)),
        synStatus(1),
        "an input is not external"
    );
    let events_pointer = events.as_mut_ptr();
    ok!(table, synLaunchWithExternalEvents(card.stream, inner, 3, 0, recipe, events_pointer, 2, 0));
    let other = card.new_stream();
    ok!(table, synStreamWaitEvent(other, events[1], 0));
    ok!(table, synStreamSynchronize(other));
    assert_eq!(card.download(infos[2].pTensorAddress, 128), bytes_of(&[1.0; 32]));
    let unmapped = &mut [card.event(0)];
    let unmapped = unmapped.as_mut_ptr();
    assert_eq!(
        syn!(table, synLaunchWithExternalEvents(card.stream, inner, 3, 0, recipe, unmapped, 1, 0)),
        synStatus(33)
    );
}

fn copies(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let memory = card.upload(&(0..=255).collect::<Vec<_>>());
    // Overlapping: as if by way of a third place.
    ok!(table, synMemCopyAsync(card.stream, memory, 128, memory + 64, synDmaDir::DRAM_TO_DRAM));
    let expected: Vec<u8> = (0..64).chain(0..128).chain(192..=255).collect();
    assert_eq!(card.download(memory, 256), expected);
    let (from, sizes, to) = ([memory, memory + 64], [4, 8], [memory + 248, memory + 128]);
    ok!(
        table,
        synMemCopyAsyncMultiple(
            card.stream,
            from.as_ptr(),
            sizes.as_ptr(),
            to.as_ptr(),
            synDmaDir::DRAM_TO_DRAM,
            2
        )
    );
    let found = card.download(memory, 256);
    assert_eq!((&found[248..252], &found[128..136]), (&[0, 1, 2, 3][..], &[0, 1, 2, 3, 4, 5, 6, 7][..]));
    ok!(table, synMemsetD16Async(memory, 0x1234, 3, card.stream));
    ok!(table, synMemsetD32Async(memory + 6, 0xDEAD_BEEF, 1, card.stream));
    assert_eq!(card.download(memory, 10), [0x34, 0x12, 0x34, 0x12, 0x34, 0x12, 0xEF, 0xBE, 0xAD, 0xDE]);
    assert_eq!(syn!(table, synMemCopyAsync(card.stream, memory, 4, memory, synDmaDir(3))), synStatus(1));
}

fn affinities(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let (mut range, mut mask) = (0, 0);
    ok!(table, synDeviceGetAffinityMaskRange(card.id, &mut range));
    ok!(table, synDeviceGetNextStreamAffinity(card.id, &mut mask));
    assert!(mask.is_power_of_two() && mask & range == mask);
    ok!(table, synStreamSetAffinity(card.id, card.stream, range));
    ok!(table, synStreamGetAffinity(card.id, card.stream, &mut mask));
    assert_eq!(mask, range);
    assert_eq!(syn!(table, synStreamSetAffinity(card.id, card.stream, range + 1)), synStatus(1));
}

fn release_while_busy(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    card.occupy(card.stream);
    ok!(table, synDeviceRelease(card.id));
    ok!(table, synDestroy());
}

fn threads(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let id = card.id;
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            scope.spawn(move || {
                let mut stream = null_mut();
                ok!(table, synStreamCreateGeneric(&mut stream, id, 0));
                let card = Card { table, id, stream };
                let recipe = copying(table, 32);
                let (from, to) = (card.malloc(128), card.malloc(128));
                for round in 0..20_u8 {
                    card.write(from, &[thread * 20 + round; 128]);
                    card.launch(recipe, &[("from", from, &[32]), ("to", to, &[32])]);
                    assert_eq!(card.download(to, 128), [thread * 20 + round; 128]);
                }
                ok!(table, synStreamDestroy(stream));
                ok!(table, synRecipeDestroy(recipe));
            });
        }
    });
    ok!(table, synDeviceRelease(id));
    ok!(table, synDestroy());
}
