//! What the settings do, wherever they come from.

use std::ffi::CString;

use habana_sys::*;

use crate::fixture::{Card, F32, Graph, I8, I32, configure};
use crate::syn::Table;
use crate::{Scenario, ok, syn};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("e4m3 kernels that no list has are refused", hf8_kernels_refused),
    Scenario::new("e4m3 kernels can be had", hf8_kernels_had).with(&[("SYNAPSE_EMU_HF8_KERNELS", "1")]),
    Scenario::new("a bad variable is named", bad_variable)
        .with(&[("SYNAPSE_EMU_DEVICE", "gaudi9")])
        .saying(&["SYNAPSE_EMU_DEVICE", "`gaudi9`", "gaudi2, gaudi3"]),
    Scenario::new("a bad fault is named", bad_variable)
        .with(&[("SYNAPSE_EMU_FAULT", "late-completion=soon")])
        .saying(&["SYNAPSE_EMU_FAULT", "`late-completion=soon`", "late-completion=TIME"]),
    Scenario::new("reasons are logged on request", reasons).with(&[("SYNAPSE_EMU_LOG", "1")]).saying(&[
        "seed 0",
        "status 26",
        "no node has the guid `no_such_guid`",
    ]),
    Scenario::new("what happens is logged on request", events)
        .with(&[("SYNAPSE_EMU_LOG", "1"), ("SYNAPSE_EMU_SEED", "17")])
        .saying(&["seed 17", "ns: stream 1: fill", "ns: stream 1: copy to the host"]),
    Scenario::new("a bad seed is named", bad_variable)
        .with(&[("SYNAPSE_EMU_SEED", "-1")])
        .saying(&["SYNAPSE_EMU_SEED", "`-1`"]),
    Scenario::new("settings can be given in the process", given),
];

fn index_copy(table: Table<'_>, guid: &str, dtype: synDataType) -> synStatus {
    let graph = Graph::new(table);
    let (old, index) = (graph.persistent("old", dtype, &[8, 4]), graph.persistent("index", I32, &[2]));
    let (rows, new) = (graph.persistent("rows", dtype, &[8, 2]), graph.persistent("new", dtype, &[8, 4]));
    graph.try_node(guid, &[old, index, rows], &[new], &[0; 4]).0
}

fn hf8_kernels_refused(table: Table<'_>) {
    ok!(table, synInitialize());
    assert_eq!(index_copy(table, "index_copy_fwd_hf8", synDataType::syn_type_fp8_143), synStatus(26));
    assert_eq!(index_copy(table, "index_copy_fwd_i8", I8), synStatus(0));
}

fn hf8_kernels_had(table: Table<'_>) {
    ok!(table, synInitialize());
    assert_eq!(index_copy(table, "index_copy_fwd_hf8", synDataType::syn_type_fp8_143), synStatus(0));
}

fn bad_variable(table: Table<'_>) {
    assert_eq!(syn!(table, synInitialize()), synStatus(26));
    assert_eq!(syn!(table, synDestroy()), synStatus(28));
}

fn reasons(table: Table<'_>) {
    ok!(table, synInitialize());
    let graph = Graph::new(table);
    let (input, output) = (graph.persistent("in", F32, &[4]), graph.persistent("out", F32, &[4]));
    assert_eq!(graph.try_node("no_such_guid", &[input], &[output], &[]).0, synStatus(26));
}

fn events(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let memory = card.malloc(256);
    ok!(table, synMemsetD8Async(memory, 1, 256, card.stream));
    assert_eq!(card.download(memory, 256), [1; 256]);
}

fn device_type(table: Table<'_>) -> synDeviceType {
    ok!(table, synInitialize());
    let (card, mut info) = (Card::new(table), synDeviceInfo::default());
    ok!(table, synDeviceGetInfo(card.id, &mut info));
    ok!(table, synDestroy());
    info.deviceType
}

fn given(table: Table<'_>) {
    configure(table, &[("SYNAPSE_EMU_DEVICE", "gaudi3")]);
    assert_eq!(device_type(table), synDeviceType::synDeviceGaudi3);
    // It held for one initialization.
    assert_eq!(device_type(table), synDeviceType::synDeviceGaudi2);
    configure(table, &[("SYNAPSE_EMU_CARDS", "nine")]);
    assert_eq!(syn!(table, synInitialize()), synStatus::synFail);
    let set = |name: &str| {
        let (name, value) = (CString::new(name).unwrap(), c"1");
        syn!(table, synConfigurationSet(name.as_ptr(), value.as_ptr()))
    };
    assert_eq!(set("SYNAPSE_EMU_NONSENSE"), synStatus::synInvalidArgument);
    assert_eq!(set("ANOTHER"), synStatus::synUninitialized);
    ok!(table, synInitialize());
    assert_eq!(set("SYNAPSE_EMU_NONSENSE"), synStatus::synSuccess, "kept, and no setting of the emulation");
}
