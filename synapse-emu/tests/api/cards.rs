//! Several cards.

use habana_sys::*;

use crate::fixture::{Card, copying};
use crate::syn::Table;
use crate::{Scenario, ok, syn};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("one card by default", one),
    Scenario::new("two cards", two).with(&[("SYNAPSE_EMU_CARDS", "2")]),
    Scenario::new("too many cards are refused", nine).with(&[("SYNAPSE_EMU_CARDS", "9")]).saying(&[
        "SYNAPSE_EMU_CARDS",
        "`9`",
        "1 to 8",
    ]),
];

fn one(table: Table<'_>) {
    ok!(table, synInitialize());
    let (mut count, mut id) = (0, 9);
    let (gaudi2, gaudi3) = (synDeviceType::synDeviceGaudi2, synDeviceType::synDeviceGaudi3);
    ok!(table, synDeviceGetCountByDeviceType(&mut count, gaudi2));
    assert_eq!(count, 1);
    ok!(table, synDeviceGetCountByDeviceType(&mut count, gaudi3));
    assert_eq!(count, 0);
    assert_eq!(syn!(table, synDeviceAcquireByDeviceType(&mut id, gaudi3)), synStatus(8));
    assert_eq!(syn!(table, synDeviceAcquireByModuleId(&mut id, 1)), synStatus(8));
    assert_eq!(id, 9);
    ok!(table, synDeviceAcquireByDeviceType(&mut id, gaudi2));
    assert_eq!(syn!(table, synDeviceAcquireByDeviceType(&mut id, gaudi2)), synStatus(20));
    assert_eq!(syn!(table, synDeviceAcquireByModuleId(&mut id, 0)), synStatus(20));
    let mut info = synDeviceInfo::default();
    ok!(table, synDeviceGetInfo(id, &mut info));
    assert_eq!((info.deviceType, info.dramSize, info.dramEnabled), (gaudi2, 4 << 30, 1));
    ok!(table, synDeviceRelease(id));
    ok!(table, synDeviceAcquireByModuleId(&mut id, 0));
}

fn two(table: Table<'_>) {
    ok!(table, synInitialize());
    let (mut ids, mut room) = ([9; 2], 2);
    ok!(table, synDeviceGetModuleIDs(ids.as_mut_ptr(), &mut room));
    assert_eq!((ids, room), ([0, 1], 2));
    let (second, first) = (Card::module(table, 1), Card::module(table, 0));
    let mut address = [0; 32];
    ok!(table, synDeviceGetPCIBusId(address.as_mut_ptr(), 32, second.id));
    assert_eq!(syn!(table, synDeviceAcquire(&mut 0, address.as_ptr())), synStatus(20));
    // The same addresses, and memory of their own.
    let (a, b) = (first.upload(&[1; 256]), second.upload(&[2; 256]));
    assert_eq!(a, b);
    let recipe = copying(table, 64);
    for (card, byte) in [(&first, 1), (&second, 2)] {
        let to = card.malloc(256);
        card.launch(recipe, &[("from", a, &[64]), ("to", to, &[64])]);
        assert_eq!(card.download(to, 256), [byte; 256]);
    }
    let event = second.event(0);
    assert_eq!(syn!(table, synEventRecord(event, first.stream)), synStatus(1), "an event of the other card");
    ok!(table, synDeviceRelease(first.id));
    assert_eq!(second.download(b, 4), [2; 4]);
    ok!(table, synDeviceAcquire(&mut 0, std::ptr::null()));
}

fn nine(table: Table<'_>) {
    assert_eq!(syn!(table, synInitialize()), synStatus(26));
}
