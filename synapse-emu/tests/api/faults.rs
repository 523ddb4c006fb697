//! Faults on request.

use std::thread::sleep;
use std::time::{Duration, Instant};

use habana_sys::*;

use crate::fixture::{Card, copying};
use crate::syn::Table;
use crate::{Scenario, ok, syn};

const FAULT: &str = "SYNAPSE_EMU_FAULT";

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("the second launch fails", second_launch).with(&[(FAULT, "fail=synLaunch:2")]),
    Scenario::new("initialization fails", initialization).with(&[(FAULT, "fail=synInitialize:1")]),
    Scenario::new("the third call fails", third_call).with(&[(FAULT, "fail-call=3")]),
    Scenario::new("the second allocation finds no memory", no_memory).with(&[(FAULT, "out-of-memory=2")]),
    Scenario::new("the first host allocation finds no memory", no_host_memory)
        .with(&[(FAULT, "out-of-memory=1")]),
    Scenario::new("the device is lost at the third submission", lost).with(&[(FAULT, "lost-device=3")]),
    Scenario::new("work lands after it is reported as done", late).with(&[(FAULT, "late-completion=300ms")]),
    Scenario::new("a launch lands after a later copy", late_launch).with(&[(FAULT, "late-launch=300ms")]),
    Scenario::new("an upload lands after a later launch", late_upload).with(&[(FAULT, "late-upload=300ms")]),
    Scenario::new("late work lands before a card is released", late_release)
        .with(&[(FAULT, "late-completion=never")]),
    Scenario::new("late work lands while the host looks on", late_unasked)
        .with(&[(FAULT, "late-completion=1s"), ("SYNAPSE_EMU_SILENCE", "20ms")]),
];

const SIZE: &[u64] = &[64];

fn second_launch(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let recipe = copying(table, 64);
    let (from, to) = (card.upload(&[3; 256]), card.malloc(256));
    let tensors = [("from", from, SIZE), ("to", to, SIZE)];
    assert_eq!(card.try_launch(recipe, &tensors), synStatus::synSuccess);
    assert_eq!(card.try_launch(recipe, &tensors), synStatus::synFail);
    assert_eq!(card.try_launch(recipe, &tensors), synStatus::synSuccess);
    assert_eq!(card.download(to, 256), [3; 256]);
}

fn initialization(table: Table<'_>) {
    assert_eq!(syn!(table, synInitialize()), synStatus::synFail);
    assert_eq!(syn!(table, synDestroy()), synStatus::synUninitialized);
}

fn third_call(table: Table<'_>) {
    ok!(table, synInitialize());
    let mut count = 0;
    ok!(table, synDeviceGetCount(&mut count));
    ok!(table, synDeviceGetCount(&mut count));
    assert_eq!(syn!(table, synDeviceGetCount(&mut count)), synStatus::synFail);
    ok!(table, synDeviceGetCount(&mut count));
}

fn no_memory(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    card.malloc(256);
    let mut address = 0;
    let status = syn!(table, synDeviceMalloc(card.id, 256, 0, 0, &mut address));
    assert_eq!((status, address), (synStatus::synOutOfDeviceMemory, 0));
    card.malloc(256);
}

fn no_host_memory(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let mut pointer = std::ptr::null_mut();
    assert_eq!(syn!(table, synHostMalloc(card.id, 256, 0, &mut pointer)), synStatus::synOutOfHostMemory);
    card.host(256);
}

fn lost(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let (memory, event, lost) = (card.malloc(256), card.event(0), synStatus::synDeviceReset);
    let fill = || syn!(table, synMemsetD8Async(memory, 0, 256, card.stream));
    assert_eq!([fill(), fill(), fill(), fill()], [synStatus::synSuccess, synStatus::synSuccess, lost, lost]);
    assert_eq!(syn!(table, synStreamSynchronize(card.stream)), lost);
    assert_eq!(syn!(table, synStreamQuery(card.stream)), lost);
    assert_eq!(syn!(table, synEventRecord(event, card.stream)), lost);
    assert_eq!(syn!(table, synDeviceSynchronize(card.id)), lost);
    let mut address = 0;
    assert_eq!(syn!(table, synDeviceMalloc(card.id, 256, 0, 0, &mut address)), lost);
    // What there is can be given back, and the card acquired anew.
    ok!(table, synDeviceFree(card.id, memory, 0));
    ok!(table, synEventDestroy(event));
    ok!(table, synDeviceRelease(card.id));
}

fn first_byte(host: *mut std::ffi::c_void) -> u8 {
    // SAFETY: the host memory lives as long as the card.
    unsafe { host.cast::<u8>().read_volatile() }
}

/// Work that is reported as done, and copies to the host memory that comes back.
fn reported<'a>(table: Table<'a>) -> (Card<'a>, *mut std::ffi::c_void) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let (memory, host) = (card.malloc(256), card.host(256));
    // SAFETY: as many bytes were allocated.
    unsafe { host.cast::<u8>().write_bytes(0, 256) };
    let event = card.event(0);
    ok!(table, synMemsetD8Async(memory, 8, 256, card.stream));
    ok!(table, synMemCopyAsync(card.stream, memory, 256, host as u64, synDmaDir::DRAM_TO_HOST));
    ok!(table, synEventRecord(event, card.stream));
    ok!(table, synStreamSynchronize(card.stream));
    ok!(table, synEventSynchronize(event));
    (card, host)
}

/// Lets time pass: the card is asked, though all its work is reported as done.
fn pass_time(card: &Card<'_>) {
    for _ in 0..4 {
        ok!(card.table, synStreamQuery(card.stream));
    }
}

fn late(table: Table<'_>) {
    let (card, host) = reported(table);
    assert_eq!(first_byte(host), 0, "reported, and not there");
    pass_time(&card);
    assert_eq!(first_byte(host), 8);
}

fn late_unasked(table: Table<'_>) {
    let (_card, host) = reported(table);
    let start = Instant::now();
    while first_byte(host) != 8 {
        assert!(start.elapsed() < Duration::from_secs(30), "it never lands");
        sleep(Duration::from_millis(1));
    }
}

fn late_launch(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let recipe = copying(table, 64);
    let (from, to) = (card.upload(&[5; 256]), card.upload(&[1; 256]));
    card.launch(recipe, &[("from", from, SIZE), ("to", to, SIZE)]);
    assert_eq!(card.download(to, 256), [1; 256], "the copy is there, and old");
    pass_time(&card);
    assert_eq!(card.download(to, 256), [5; 256]);
}

fn late_upload(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let recipe = copying(table, 64);
    let (from, to) = (card.malloc(256), card.malloc(256));
    ok!(table, synMemsetD8Async(from, 1, 256, card.stream));
    card.write(from, &[5; 256]);
    card.launch(recipe, &[("from", from, SIZE), ("to", to, SIZE)]);
    assert_eq!(card.download(to, 256), [1; 256], "computed from what was there before");
    pass_time(&card);
    card.launch(recipe, &[("from", from, SIZE), ("to", to, SIZE)]);
    assert_eq!(card.download(to, 256), [5; 256]);
}

fn late_release(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let mut target = vec![0_u8; 256];
    let memory = card.malloc(256);
    ok!(table, synMemsetD8Async(memory, 8, 256, card.stream));
    ok!(table, synHostMap(card.id, 256, target.as_mut_ptr().cast()));
    let address = target.as_ptr() as u64;
    ok!(table, synMemCopyAsync(card.stream, memory, 256, address, synDmaDir::DRAM_TO_HOST));
    ok!(table, synStreamSynchronize(card.stream));
    pass_time(&card);
    assert_eq!(target, [0; 256], "it does not land by itself");
    ok!(table, synDeviceRelease(card.id));
    assert_eq!(target, [8; 256]);
    ok!(table, synDestroy());
}
