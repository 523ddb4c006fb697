//! What calls in the wrong order, or with the wrong things, return.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use habana_sys::*;

use crate::fixture::{BF16, Card, F32, Graph, copying, geometry};
use crate::syn::Table;
use crate::{Scenario, ok, syn};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("nothing works before initialization", before_initialization),
    Scenario::new("initializations are counted", initializations_are_counted),
    Scenario::new("a second initialization can be forbidden", second_initialization)
        .with(&[("HABANA_DISABLE_DOUBLE_SYN_INITIALIZE", "1")]),
    Scenario::new("misuse of tensors", tensors),
    Scenario::new("misuse of sections", sections),
    Scenario::new("misuse of constant tensors", constants),
    Scenario::new("misuse of nodes", nodes),
    Scenario::new("misuse of graphs", graphs),
    Scenario::new("misuse of launches", launches),
    Scenario::new("misuse of streams and events", streams),
    Scenario::new("stale and foreign handles are refused", handles),
    Scenario::new("null pointers are refused", nulls),
];

fn status(number: u32) -> synStatus {
    synStatus(number)
}

fn before_initialization(table: Table<'_>) {
    let mut number = 0;
    let mut text = [0; 64];
    assert_eq!(syn!(table, synDeviceGetCount(&mut number)), status(28));
    assert_eq!(syn!(table, synGraphCreate(&mut null_mut(), synDeviceType::synDeviceGaudi2)), status(28));
    assert_eq!(syn!(table, synStreamQuery(null_mut())), status(28));
    assert_eq!(syn!(table, synDestroy()), status(28));
    ok!(table, synDriverGetVersion(text.as_mut_ptr(), 64));
    ok!(table, synStatusGetBriefDescription(status(22), text.as_mut_ptr(), 64));
    // SAFETY: the call wrote a text.
    assert_eq!(unsafe { std::ffi::CStr::from_ptr(text.as_ptr()) }, c"busy");
    assert_eq!(syn!(table, synStatusGetBriefDescription(status(44), text.as_mut_ptr(), 64)), status(1));
}

fn initializations_are_counted(table: Table<'_>) {
    ok!(table, synInitialize());
    ok!(table, synInitialize());
    ok!(table, synDestroy());
    let mut number = 0;
    ok!(table, synDeviceGetCount(&mut number));
    assert_eq!(number, 1);
    ok!(table, synDestroy());
    assert_eq!(syn!(table, synDeviceGetCount(&mut number)), status(28));
    ok!(table, synInitialize());
    ok!(table, synDestroy());
}

fn second_initialization(table: Table<'_>) {
    ok!(table, synInitialize());
    assert_eq!(syn!(table, synInitialize()), status(29));
    ok!(table, synDestroy());
}

fn tensors(table: Table<'_>) {
    ok!(table, synInitialize());
    let graph = Graph::new(table);
    let first = graph.tensor("a", F32, &[4]);
    let mut second = null_mut();
    let kind = synTensorType::DATA_TENSOR;
    assert_eq!(
        syn!(table, synTensorHandleCreate(&mut second, graph.handle, kind, c"a".as_ptr())),
        status(21)
    );
    assert_eq!(second, first, "the handle that has the name");
    let mut text = [0; 2];
    ok!(table, synTensorGetName(first, 2, text.as_mut_ptr()));
    assert_eq!(syn!(table, synTensorGetName(first, 1, text.as_mut_ptr())), status(1));
    let mut huge = geometry(&[4]);
    huge.dims = 26;
    assert_eq!(
        syn!(table, synTensorSetGeometry(first, &huge, synGeometryType::synGeometryMaxSizes)),
        status(25)
    );
    assert_eq!(syn!(table, synTensorSetDeviceDataType(first, synDataType::syn_type_na)), status(1));
    let mut param = synFpQuantParam { scale: 1.0, expBias: 8 };
    let mut metadata = synFpQuantMetadata {
        dataType: synDataType::syn_type_fp8_143,
        fpQuantParams: &mut param,
        numFpQuantParams: 1,
    };
    let kind = synQuantizationProperty::SYN_FP_QUANT_METADATA;
    let value: *mut c_void = (&raw mut metadata).cast();
    assert_eq!(syn!(table, synTensorSetQuantizationData(first, kind, value, 24)), status(1), "no bias 8");
    param.expBias = 11;
    assert_eq!(syn!(table, synTensorSetQuantizationData(first, kind, value, 23)), status(1));
    ok!(table, synTensorSetQuantizationData(first, kind, value, 24));
    param.expBias = 0;
    ok!(table, synTensorGetQuantizationData(first, kind, value, 24));
    assert_eq!(param.expBias, 11);
    // Nothing changes once a node has it.
    let output = graph.persistent("b", F32, &[4]);
    let input = graph.persistent("c", F32, &[4]);
    graph.node("memcpy", &[input], &[output], &[]);
    let sizes = geometry(&[8]);
    assert_eq!(
        syn!(table, synTensorSetGeometry(output, &sizes, synGeometryType::synGeometryMaxSizes)),
        status(5)
    );
    assert_eq!(syn!(table, synTensorSetDeviceDataType(input, BF16)), status(5));
    assert_eq!(syn!(table, synTensorAssignToSection(input, graph.section(), 0)), status(5));
    assert_eq!(syn!(table, synTensorSetExternal(output, true)), status(5));
}

fn sections(table: Table<'_>) {
    ok!(table, synInitialize());
    let (graph, other) = (Graph::new(table), Graph::new(table));
    let tensor = graph.tensor("a", F32, &[4]);
    assert_eq!(
        syn!(table, synTensorAssignToSection(tensor, other.section(), 0)),
        status(1),
        "of another graph"
    );
    assert_eq!(syn!(table, synSectionCreate(&mut null_mut(), 0, null_mut())), status(26), "without a graph");
    let section = graph.section();
    let mut is_persistent = false;
    ok!(table, synSectionGetPersistent(section, &mut is_persistent));
    assert!(is_persistent, "unless said otherwise");
    assert_eq!(syn!(table, synSectionSetRMW(section, true)), status(18), "persistent and RMW");
    ok!(table, synSectionSetPersistent(section, false));
    ok!(table, synSectionSetRMW(section, true));
    assert_eq!(syn!(table, synSectionSetPersistent(section, true)), status(18), "RMW and persistent");
    assert_eq!(syn!(table, synSectionSetGroup(null_mut(), 1)), status(26));
    assert_eq!(syn!(table, synSectionSetGroup(section, 256)), status(18));
    ok!(table, synSectionSetGroup(section, 255));
    let mut group = 0;
    ok!(table, synSectionGetGroup(section, &mut group));
    assert_eq!(group, 255);
    ok!(table, synTensorAssignToSection(tensor, section, 0));
    assert_eq!(syn!(table, synSectionSetPersistent(section, false)), status(26), "in use");
    assert_eq!(syn!(table, synSectionSetConst(section, true)), status(26), "in use");
    assert_eq!(syn!(table, synSectionSetGroup(section, 1)), status(26), "in use");
}

fn constants(table: Table<'_>) {
    ok!(table, synInitialize());
    let graph = Graph::new(table);
    let limit = 1 << 20;
    let mut data = vec![0_u8; limit as usize + 4];
    let pointer: *mut c_void = data.as_mut_ptr().cast();
    let large = graph.tensor("large", F32, &[limit / 4 + 1]);
    assert_eq!(
        syn!(table, synTensorSetHostPtr(large, pointer, limit + 4, F32, true)),
        status(1),
        "over a MiB"
    );
    let constant = graph.section();
    ok!(table, synSectionSetConst(constant, true));
    ok!(table, synTensorAssignToSection(large, constant, 0));
    ok!(table, synTensorSetHostPtr(large, pointer, limit + 4, F32, true));
    let small = graph.tensor("small", F32, &[limit / 4]);
    ok!(table, synTensorSetHostPtr(small, pointer, limit, F32, true));
    assert_eq!(syn!(table, synTensorSetHostPtr(small, null_mut(), limit, F32, true)), status(1));
    // Data of its own, and a section that is not const.
    ok!(table, synTensorAssignToSection(small, graph.section(), 0));
    let output = graph.persistent("out", F32, &[limit / 4]);
    assert_eq!(graph.try_node("memcpy", &[small], &[output], &[]).0, status(1));
    // Data of another size.
    let short = graph.tensor("short", F32, &[4]);
    ok!(table, synTensorSetHostPtr(short, pointer, 12, F32, true));
    let target = graph.persistent("target", F32, &[4]);
    assert_eq!(graph.try_node("memcpy", &[short], &[target], &[]).0, status(1));
}

fn nodes(table: Table<'_>) {
    ok!(table, synInitialize());
    let graph = Graph::new(table);
    let input = graph.persistent("in", F32, &[4]);
    let output = graph.persistent("out", F32, &[4]);
    assert_eq!(graph.try_node("no_such_guid", &[input], &[output], &[]).0, status(26));
    let null_guid = syn!(
        table,
        synNodeCreate(
            graph.handle,
            [input].as_ptr(),
            [output].as_ptr(),
            1,
            1,
            null(),
            0,
            null(),
            null(),
            null_mut(),
            null_mut()
        )
    );
    assert_eq!(null_guid, status(1));
    let other_size = graph.persistent("other", F32, &[5]);
    assert_eq!(graph.try_node("memcpy", &[input], &[other_size], &[]).0, status(26), "rejected");
    let six = [1, 1, 1, 1, 1, 4];
    let (deep, deep_out) = (graph.persistent("deep", F32, &six), graph.persistent("deep_out", F32, &six));
    assert_eq!(graph.try_node("exp_fwd_f32", &[deep], &[deep_out], &[]).0, status(25), "six dimensions");
    assert_eq!(graph.try_node("memcpy", &[graph.bare("bare")], &[output], &[]).0, status(1), "no sizes");
    let nameless = graph.persistent("", F32, &[4]);
    assert_eq!(
        graph.try_node("memcpy", &[nameless], &[output], &[]).0,
        status(1),
        "persistent without a name"
    );
    let foreign = Graph::new(table).persistent("foreign", F32, &[4]);
    assert_eq!(graph.try_node("memcpy", &[foreign], &[output], &[]).0, status(1), "of another graph");
    let id = graph.node("memcpy", &[input], &[output], &[]);
    assert_eq!(graph.try_node("memcpy", &[input], &[output], &[]).0, status(26), "written twice");
    let mut is_deterministic = false;
    ok!(table, synNodeSetDeterministic(graph.handle, id, true));
    ok!(table, synNodeGetDeterministic(graph.handle, id, &mut is_deterministic));
    assert!(is_deterministic);
    assert_eq!(syn!(table, synNodeSetDeterministic(graph.handle, id + 1, true)), status(1));
    let mode = synRoundingMode::synStochasticRounding;
    assert_eq!(syn!(table, synNodeSetRoundingMode(graph.handle, id, mode)), status(18));
}

fn graphs(table: Table<'_>) {
    ok!(table, synInitialize());
    assert_eq!(syn!(table, synGraphCreate(&mut null_mut(), synDeviceType::synDeviceGaudi)), status(9));
    let graph = Graph::new(table);
    assert_eq!(graph.try_compile().unwrap_err(), status(26), "no nodes");
    let attribute = synGraphAttribute::GRAPH_ATTRIBUTE_INFERENCE;
    ok!(table, synGraphSetAttribute(graph.handle, &attribute, &1, 1));
    let (a, b) = (graph.tensor("a", F32, &[4]), graph.tensor("b", F32, &[4]));
    graph.node("memcpy", &[a], &[b], &[]);
    assert_eq!(
        syn!(table, synGraphSetAttribute(graph.handle, &attribute, &0, 1)),
        status(26),
        "after a node"
    );
    let mut value = 0;
    ok!(table, synGraphGetAttribute(graph.handle, &attribute, &mut value, 1));
    assert_eq!(value, 1);
    assert_eq!(graph.try_compile().unwrap_err(), status(26), "`a` comes from nowhere");
    // A circle, in data and by word.
    let graph = Graph::new(table);
    let (a, b) = (graph.tensor("a", F32, &[4]), graph.tensor("b", F32, &[4]));
    graph.node("memcpy", &[a], &[b], &[]);
    graph.node("memcpy", &[b], &[a], &[]);
    assert_eq!(graph.try_compile().unwrap_err(), status(26));
    let graph = Graph::new(table);
    let tensors = ["a", "b", "c"].map(|name| graph.persistent(name, F32, &[4]));
    let first = graph.node("memcpy", &[tensors[0]], &[tensors[1]], &[]);
    let second = graph.node("memcpy", &[tensors[0]], &[tensors[2]], &[]);
    ok!(table, synNodeDependencySet(graph.handle, &first, &second, 1, 1));
    graph.compile();
    ok!(table, synNodeDependencySet(graph.handle, &second, &first, 1, 1));
    assert_eq!(graph.try_compile().unwrap_err(), status(26));
}

fn launches(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let recipe = copying(table, 64);
    let (from, to) = (card.malloc(256), card.malloc(256));
    let sizes: &[u64] = &[64];
    assert_eq!(card.try_launch(recipe, &[("from", from, sizes)]), status(30), "`to` is missing");
    assert_eq!(card.try_launch(recipe, &[("from", from, sizes), ("to", 0, sizes)]), status(30));
    assert_eq!(
        card.try_launch(recipe, &[("from", from, sizes), ("to", to + 4, sizes)]),
        status(1),
        "alignment"
    );
    let outside = to + (1 << 40);
    assert_eq!(card.try_launch(recipe, &[("from", from, sizes), ("to", outside, sizes)]), status(1));
    assert_eq!(
        card.try_launch(recipe, &[("from", from, sizes), ("to", to + 128, sizes)]),
        status(1),
        "too short"
    );
    assert_eq!(
        card.try_launch(recipe, &[("from", from, sizes), ("to", to, &[63])]),
        status(1),
        "other sizes"
    );
    assert_eq!(card.try_launch(recipe, &[("from", from, sizes), ("to", to, &[64, 0])]), status(1), "[n, 0]");
    assert_eq!(card.try_launch(recipe, &[("from", from, sizes), ("to", to, &[64, 1])]), status(0));
    card.synchronize();
    let mut unknown = card.info(recipe, "to", to, sizes);
    unknown.tensorId = 7;
    assert_eq!(syn!(table, synLaunch(card.stream, &unknown, 1, 0, recipe, 0)), status(1), "no such tensor");
    let mut id = 0;
    assert_eq!(syn!(table, synTensorRetrieveIds(recipe, &mut c"nobody".as_ptr(), &mut id, 1)), status(1));
    assert_eq!(id, u64::MAX);
    // A workspace that is needed and missing.
    let graph = Graph::new(table);
    let (a, b, c) =
        (graph.persistent("a", F32, &[64]), graph.tensor("b", F32, &[64]), graph.persistent("c", F32, &[64]));
    graph.node("memcpy", &[a], &[b], &[]);
    graph.node("memcpy", &[b], &[c], &[]);
    let recipe = graph.compile();
    let infos = [card.info(recipe, "a", from, sizes), card.info(recipe, "c", to, sizes)];
    assert_eq!(syn!(table, synLaunch(card.stream, infos.as_ptr(), 2, 0, recipe, 0)), status(1));
    // Two tensors of a section that lie elsewhere than it.
    let graph = Graph::new(table);
    let section = graph.section();
    let (a, b) = (graph.placed("a", F32, &[32], section, 0), graph.placed("b", F32, &[32], section, 128));
    graph.node("memcpy", &[a], &[b], &[]);
    let recipe = graph.compile();
    let half: &[u64] = &[32];
    assert_eq!(card.try_launch(recipe, &[("a", from, half), ("b", to + 128, half)]), status(30));
    assert_eq!(card.try_launch(recipe, &[("a", from, half), ("b", from + 128, half)]), status(0));
    card.synchronize();
    // A recipe of the other generation.
    let graph = Graph::on(table, synDeviceType::synDeviceGaudi3);
    let (a, b) = (graph.persistent("from", F32, &[64]), graph.persistent("to", F32, &[64]));
    graph.node("memcpy", &[a], &[b], &[]);
    let recipe = graph.compile();
    assert_eq!(card.try_launch(recipe, &[("from", from, sizes), ("to", to, sizes)]), status(9));
}

fn streams(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let (stream, event) = (card.stream, card.event(0));
    card.occupy(stream);
    ok!(table, synEventRecord(event, stream));
    assert_eq!(syn!(table, synStreamQuery(stream)), status(22));
    assert_eq!(syn!(table, synEventQuery(event)), status(22));
    assert_eq!(syn!(table, synStreamDestroy(stream)), status(22));
    assert_eq!(syn!(table, synStreamWaitEvent(stream, event, 0)), status(1), "its own event");
    let other = card.new_stream();
    assert_eq!(syn!(table, synStreamWaitEvent(other, event, 1)), status(1), "flags");
    ok!(table, synStreamWaitEvent(other, event, 0));
    ok!(table, synStreamSynchronize(other));
    ok!(table, synStreamSynchronize(stream));
    ok!(table, synStreamQuery(stream));
    ok!(table, synEventQuery(event));
    ok!(table, synStreamDestroy(stream));
    assert_eq!(syn!(table, synStreamCreateGeneric(&mut null_mut(), card.id, 1)), status(1), "flags");
    assert_eq!(syn!(table, synEventCreate(&mut null_mut(), card.id, 2)), status(1), "flags");
    let mut elapsed = 0;
    assert_eq!(syn!(table, synEventElapsedTime(&mut elapsed, event, event)), status(41), "collects no times");
}

fn handles(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let stream = card.new_stream();
    ok!(table, synStreamDestroy(stream));
    assert_eq!(syn!(table, synStreamQuery(stream)), status(1), "stale");
    assert_eq!(syn!(table, synStreamDestroy(stream)), status(1), "twice");
    assert_eq!(syn!(table, synStreamQuery(card.event(0).cast())), status(1), "an event");
    assert_eq!(syn!(table, synStreamQuery(0xDEAD_BEEF_usize as synStreamHandle)), status(1), "made up");
    let graph = Graph::new(table);
    let tensor = graph.tensor("a", F32, &[4]);
    let section = graph.section();
    drop(graph);
    let mut kind = synTensorType::DATA_TENSOR;
    assert_eq!(syn!(table, synTensorGetType(tensor, &mut kind)), status(1), "of a destroyed graph");
    assert_eq!(syn!(table, synSectionDestroy(section)), status(1), "of a destroyed graph");
    let recipe = copying(table, 4);
    ok!(table, synRecipeDestroy(recipe));
    assert_eq!(syn!(table, synRecipeDestroy(recipe)), status(1));
    let stream = card.stream;
    ok!(table, synDeviceRelease(card.id));
    assert_eq!(syn!(table, synStreamQuery(stream)), status(1), "of a released card");
    assert_eq!(syn!(table, synDeviceRelease(card.id)), status(1), "released twice");
    let mut address = 0;
    assert_eq!(syn!(table, synDeviceMalloc(card.id, 4, 0, 0, &mut address)), status(1), "of a released card");
    ok!(table, synDestroy());
}

fn nulls(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let graph = Graph::new(table);
    let tensor = graph.tensor("a", F32, &[4]);
    let recipe = copying(table, 4);
    let kind = synGeometryType::synGeometryMaxSizes;
    let data = synTensorType::DATA_TENSOR;
    let gaudi2 = synDeviceType::synDeviceGaudi2;
    let refused = [
        syn!(table, synDeviceGetCount(null_mut())),
        syn!(table, synDeviceAcquireByDeviceType(null_mut(), gaudi2)),
        syn!(table, synDeviceMalloc(card.id, 4, 0, 0, null_mut())),
        syn!(table, synHostMalloc(card.id, 4, 0, null_mut())),
        syn!(table, synHostMap(card.id, 4, null())),
        syn!(table, synStreamCreateGeneric(null_mut(), card.id, 0)),
        syn!(table, synStreamSynchronize(null_mut())),
        syn!(table, synEventCreate(null_mut(), card.id, 0)),
        syn!(table, synEventRecord(null_mut(), card.stream)),
        syn!(table, synGraphCreate(null_mut(), gaudi2)),
        syn!(table, synGraphCompile(null_mut(), graph.handle, c"name".as_ptr(), null())),
        syn!(table, synGraphCompile(&mut null_mut(), graph.handle, null(), null())),
        syn!(table, synGraphCompile(&mut null_mut(), null_mut(), c"name".as_ptr(), null())),
        syn!(table, synGraphSetAttribute(graph.handle, null(), null(), 1)),
        syn!(table, synTensorHandleCreate(null_mut(), graph.handle, data, c"b".as_ptr())),
        syn!(table, synTensorHandleCreate(&mut null_mut(), null_mut(), data, c"b".as_ptr())),
        syn!(table, synTensorSetGeometry(tensor, null(), kind)),
        syn!(table, synTensorSetDeviceDataType(null_mut(), F32)),
        syn!(table, synTensorAssignToSection(tensor, null_mut(), 0)),
        syn!(table, synNodeDependencySet(graph.handle, null(), null(), 1, 1)),
        syn!(table, synWorkspaceGetSize(null_mut(), recipe)),
        syn!(table, synWorkspaceGetSize(&mut 0, null_mut())),
        syn!(table, synTensorRetrieveIds(recipe, null_mut(), &mut 0, 1)),
        syn!(table, synRecipeSerialize(recipe, null())),
        syn!(table, synRecipeDeSerialize(null_mut(), c"file".as_ptr())),
        syn!(table, synLaunch(card.stream, null(), 2, 0, recipe, 0)),
        syn!(table, synMemCopyAsyncMultiple(card.stream, null(), null(), null(), synDmaDir::HOST_TO_DRAM, 1)),
    ];
    for (index, refused) in refused.into_iter().enumerate() {
        assert_eq!(refused, status(1), "call {index}");
    }
}
