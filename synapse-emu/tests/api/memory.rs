//! Memory of the card and of the host.

use std::ffi::c_void;

use habana_sys::*;

use crate::fixture::Card;
use crate::syn::Table;
use crate::{Scenario, ok, syn};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("device memory has a limit", limit).with(&[("SYNAPSE_EMU_MEMORY_BYTES", "1048576")]),
    Scenario::new("addresses are aligned on Gaudi2", aligned_gaudi2),
    Scenario::new("addresses are aligned on Gaudi3", aligned_gaudi3)
        .with(&[("SYNAPSE_EMU_DEVICE", "gaudi3")]),
    Scenario::new("fresh memory is not zero", fresh),
    Scenario::new("memory can be asked for at an address", requested),
    Scenario::new("copies stay inside allocations and mappings", bounds),
    Scenario::new("memory that is freed stays until its work is done", freed_in_use),
    Scenario::new("host memory of the caller can be mapped", mapping),
];

fn malloc(table: Table<'_>, card: &Card<'_>, bytes: u64, at: u64) -> Result<u64, u32> {
    let mut address = 0;
    let status = syn!(table, synDeviceMalloc(card.id, bytes, at, 0, &mut address));
    if status == synStatus::synSuccess { Ok(address) } else { Err(status.0) }
}

fn free_bytes(table: Table<'_>, card: &Card<'_>) -> u64 {
    let (mut free, mut total) = (0, 0);
    ok!(table, synDeviceGetMemoryInfo(card.id, &mut free, &mut total));
    assert_eq!(total, 1 << 20);
    free
}

fn limit(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let large = malloc(table, &card, 512 << 10, 0).unwrap();
    assert_eq!(free_bytes(table, &card), 512 << 10);
    assert_eq!(malloc(table, &card, (512 << 10) + 1, 0), Err(4));
    assert_eq!(malloc(table, &card, u64::MAX, 0), Err(4));
    assert_eq!(malloc(table, &card, 0, 0), Err(1));
    let small = malloc(table, &card, 1, 0).unwrap();
    assert_eq!(free_bytes(table, &card), (512 << 10) - 128);
    ok!(table, synDeviceFree(card.id, large, 0));
    assert_eq!(syn!(table, synDeviceFree(card.id, large, 0)), synStatus(1), "twice");
    assert_eq!(malloc(table, &card, 512 << 10, 0), Ok(large), "the first place that fits");
    ok!(table, synDeviceFree(card.id, small, 0));
    assert_eq!(free_bytes(table, &card), 512 << 10);
}

fn aligned(table: Table<'_>, alignment: u64, device_type: u64) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let attributes = [
        synDeviceAttribute::DEVICE_ATTRIBUTE_ADDRESS_ALIGNMENT_SIZE,
        synDeviceAttribute::DEVICE_ATTRIBUTE_DEVICE_TYPE,
    ];
    let mut values = [0; 2];
    ok!(table, synDeviceGetAttribute(values.as_mut_ptr(), attributes.as_ptr(), 2, card.id));
    assert_eq!(values, [alignment, device_type]);
    let (first, second) = (card.malloc(1), card.malloc(1));
    assert_eq!(second - first, alignment);
    assert_eq!(first % alignment, 0);
}

fn aligned_gaudi2(table: Table<'_>) {
    aligned(table, 128, 4);
}

fn aligned_gaudi3(table: Table<'_>) {
    aligned(table, 256, 5);
}

fn fresh(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let address = card.malloc(4096);
    assert!(card.download(address, 4096).iter().all(|&byte| byte != 0));
}

fn requested(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let first = card.malloc(1024);
    let wanted = first + (1 << 20);
    assert_eq!(malloc(table, &card, 1024, wanted), Ok(wanted));
    assert_eq!(malloc(table, &card, 1024, wanted + 512), Err(4), "taken");
    assert_eq!(malloc(table, &card, 1024, wanted + 1), Err(1), "not aligned");
    assert_eq!(card.malloc(1024), first + 1024);
}

fn bounds(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let (first, second) = (card.malloc(256), card.malloc(256));
    assert_eq!(second, first + 256);
    let host = card.host(512) as u64;
    let up = synDmaDir::HOST_TO_DRAM;
    let copy =
        |from, bytes, to, direction| syn!(table, synMemCopyAsync(card.stream, from, bytes, to, direction)).0;
    assert_eq!(copy(host, 256, first, up), 0);
    assert_eq!(copy(host, 257, first, up), 1, "into the next allocation");
    assert_eq!(copy(host, 4, first - 4, up), 1, "before the first");
    assert_eq!(copy(host, 4, second + 256, up), 1, "behind the last");
    assert_eq!(copy(host, u64::MAX, first, up), 34);
    assert_eq!(copy(host + 510, 4, first, up), 34, "beyond the mapping");
    let local = [0_u8; 8];
    assert_eq!(copy(local.as_ptr() as u64, 8, first, up), 34, "not mapped");
    assert_eq!(syn!(table, synMemsetD32Async(first, 0, 65, card.stream)), synStatus(1));
    assert_eq!(syn!(table, synMemsetD32Async(first, 0, u64::MAX, card.stream)), synStatus(1));
    card.synchronize();
}

fn freed_in_use(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let (a, b) = (card.malloc(256), card.malloc(256));
    card.occupy(card.stream);
    ok!(table, synMemsetD8Async(a, 9, 256, card.stream));
    ok!(table, synMemCopyAsync(card.stream, a, 256, b, synDmaDir::DRAM_TO_DRAM));
    ok!(table, synDeviceFree(card.id, a, 0));
    assert_eq!(card.download(b, 256), [9; 256]);
}

fn mapping(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let memory = card.upload(&[5; 64]);
    let mut target = vec![0_u8; 64];
    let pointer: *const c_void = target.as_mut_ptr().cast();
    ok!(table, synHostMap(card.id, 64, pointer));
    assert_eq!(syn!(table, synHostMap(card.id, 64, pointer)), synStatus(1), "twice");
    assert_eq!(syn!(table, synHostFree(card.id, pointer, 0)), synStatus(1), "not the library's");
    card.occupy(card.stream);
    ok!(table, synMemCopyAsync(card.stream, memory, 64, pointer as u64, synDmaDir::DRAM_TO_HOST));
    // Waits for the copy.
    ok!(table, synHostUnmap(card.id, pointer));
    assert_eq!(target, [5; 64]);
    assert_eq!(syn!(table, synHostUnmap(card.id, pointer)), synStatus(34));
}
