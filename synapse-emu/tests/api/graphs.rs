//! What graphs may look like, and what runs.

use std::ptr::null_mut;

use habana_sys::*;

use crate::fixture::{Card, F32, Graph, bytes_of, geometry};
use crate::syn::Table;
use crate::{Scenario, ok, syn};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("nodes run in the order of their data", order),
    Scenario::new("tensors that share memory need an order", overlap),
    Scenario::new("a node may write where it reads", in_place),
    Scenario::new("tensors share the workspace", workspace),
    Scenario::new("constants come with the recipe", constants),
    Scenario::new("const sections are filled by the user", const_section),
    Scenario::new("memory of sections that are not persistent", scratch_section),
    Scenario::new("dynamic tensors take their sizes at launch", dynamic),
    Scenario::new("graphs can be duplicated", duplicate),
    Scenario::new("parameters of a node can be replaced", params),
];

const ADD: &str = "add_fwd_f32";
const SIZE: &[u64] = &[32];

fn order(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let graph = Graph::new(table);
    let input = graph.persistent("in", F32, SIZE);
    let (two, four) = (graph.tensor("two", F32, SIZE), graph.tensor("four", F32, SIZE));
    let out = graph.persistent("out", F32, SIZE);
    // Last first.
    graph.node(ADD, &[four, input], &[out], &[]);
    graph.node(ADD, &[two, two], &[four], &[]);
    graph.node(ADD, &[input, input], &[two], &[]);
    let recipe = graph.compile();
    let (from, to) = (card.upload(&bytes_of(&[3.0; 32])), card.malloc(128));
    card.launch(recipe, &[("in", from, SIZE), ("out", to, SIZE)]);
    assert_eq!(card.download(to, 128), bytes_of(&[15.0; 32]));
}

/// Two copies into tensors at these offsets of one section.
fn two_writers(table: Table<'_>, offset: u64) -> (Graph<'_>, [u64; 2]) {
    let graph = Graph::new(table);
    let section = graph.section();
    let (a, b) = (graph.persistent("a", F32, SIZE), graph.persistent("b", F32, SIZE));
    let first = graph.placed("first", F32, SIZE, section, 0);
    let second = graph.placed("second", F32, SIZE, section, offset);
    let nodes = [graph.node("memcpy", &[a], &[first], &[]), graph.node("memcpy", &[b], &[second], &[])];
    (graph, nodes)
}

fn overlap(table: Table<'_>) {
    ok!(table, synInitialize());
    for offset in [0, 64, 124] {
        let (graph, [first, second]) = two_writers(table, offset);
        assert_eq!(graph.try_compile().unwrap_err(), synStatus(26), "at {offset}");
        ok!(table, synNodeDependencySet(graph.handle, &first, &second, 1, 1));
        graph.compile();
    }
    two_writers(table, 128).0.compile();
    // A reader beside a writer, and two readers.
    let graph = Graph::new(table);
    let section = graph.section();
    let (old, new) = (graph.placed("old", F32, SIZE, section, 0), graph.placed("new", F32, SIZE, section, 0));
    let (b, c) = (graph.persistent("b", F32, SIZE), graph.persistent("c", F32, SIZE));
    graph.node("memcpy", &[old], &[b], &[]);
    graph.compile();
    graph.node("memcpy", &[c], &[new], &[]);
    assert_eq!(graph.try_compile().unwrap_err(), synStatus(26));
}

fn in_place(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let graph = Graph::new(table);
    let section = graph.section();
    let (old, new) = (graph.placed("old", F32, SIZE, section, 0), graph.placed("new", F32, SIZE, section, 0));
    let step = graph.persistent("step", F32, SIZE);
    graph.node(ADD, &[old, step], &[new], &[]);
    let recipe = graph.compile();
    let (memory, step) = (card.upload(&bytes_of(&[1.0; 32])), card.upload(&bytes_of(&[0.5; 32])));
    for expected in [1.5, 2.0] {
        card.launch(recipe, &[("old", memory, SIZE), ("new", memory, SIZE), ("step", step, SIZE)]);
        assert_eq!(card.download(memory, 128), bytes_of(&[expected; 32]));
    }
    // Written where something else is read, half over it.
    let graph = Graph::new(table);
    let section = graph.section();
    let old = graph.placed("old", F32, SIZE, section, 0);
    let new = graph.placed("new", F32, SIZE, section, 64);
    graph.node("memcpy", &[old], &[new], &[]);
    let recipe = graph.compile();
    let numbers: Vec<_> = (0..48_u8).map(f32::from).collect();
    let memory = card.upload(&bytes_of(&numbers));
    card.launch(recipe, &[("old", memory, SIZE), ("new", memory + 64, SIZE)]);
    let expected: Vec<_> = (0..16).chain(0..32).map(|number| f32::from(number as u8)).collect();
    assert_eq!(card.download(memory, 192), bytes_of(&expected));
}

fn workspace(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let graph = Graph::new(table);
    let names = ["t0", "t1", "t2", "t3", "t4"];
    let tensors = names.map(|name| graph.tensor(name, F32, SIZE));
    let (input, out) = (graph.persistent("in", F32, SIZE), graph.persistent("out", F32, SIZE));
    graph.node(ADD, &[input, input], &[tensors[0]], &[]);
    for pair in tensors.windows(2) {
        graph.node(ADD, &[pair[0], pair[0]], &[pair[1]], &[]);
    }
    graph.node(ADD, &[tensors[4], input], &[out], &[]);
    let recipe = graph.compile();
    let mut bytes = 0;
    ok!(table, synWorkspaceGetSize(&mut bytes, recipe));
    // Two live at a time, of 128 bytes each.
    assert_eq!(bytes, 256);
    let (from, to) = (card.upload(&bytes_of(&[1.0; 32])), card.malloc(128));
    card.launch(recipe, &[("in", from, SIZE), ("out", to, SIZE)]);
    assert_eq!(card.download(to, 128), bytes_of(&[33.0; 32]));
}

fn constants(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let graph = Graph::new(table);
    let constant = graph.tensor("constant", F32, SIZE);
    let mut data = bytes_of(&[2.0; 32]);
    ok!(table, synTensorSetHostPtr(constant, data.as_mut_ptr().cast(), 128, F32, true));
    data.fill(0);
    let (input, out) = (graph.persistent("in", F32, SIZE), graph.persistent("out", F32, SIZE));
    graph.node(ADD, &[input, constant], &[out], &[]);
    let recipe = graph.compile();
    let (from, to) = (card.upload(&bytes_of(&[1.0; 32])), card.malloc(128));
    card.launch(recipe, &[("in", from, SIZE), ("out", to, SIZE)]);
    assert_eq!(card.download(to, 128), bytes_of(&[3.0; 32]));
}

fn const_section(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let graph = Graph::new(table);
    let section = graph.section();
    ok!(table, synSectionSetConst(section, true));
    let (weights, out) =
        (graph.placed("weights", F32, SIZE, section, 128), graph.persistent("out", F32, SIZE));
    let mut data = bytes_of(&[4.0; 32]);
    ok!(table, synTensorSetHostPtr(weights, data.as_mut_ptr().cast(), 128, F32, true));
    graph.node("memcpy", &[weights], &[out], &[]);
    let recipe = graph.compile();
    let mut info = synRetrievedLaunchTensorInfo::default();
    ok!(table, synTensorRetrieveIds(recipe, &mut c"weights".as_ptr(), &mut info.tensorId, 1));
    ok!(table, synTensorRetrieveLaunchInfoById(recipe, 1, &mut info));
    assert_eq!((info.tensorDims, info.tensorMaxSize[0], info.tensorOffsetInSection), (1, 32, 128));
    assert_eq!(info.isInput, 1);
    let property = |property| {
        let mut value = 0;
        ok!(table, synRecipeSectionGetProp(recipe, info.tensorSectionId, property, &mut value));
        value
    };
    assert_eq!(property(synSectionProp::IS_CONST), 1);
    let bytes = property(synSectionProp::SECTION_SIZE);
    assert_eq!(bytes, 256);
    let pointer = std::ptr::with_exposed_provenance::<u8>(property(synSectionProp::SECTION_DATA) as usize);
    // SAFETY: the section has that many bytes, and the recipe lives.
    let content = unsafe { std::slice::from_raw_parts(pointer, bytes as usize) };
    let (base, to) = (card.upload(content), card.malloc(128));
    ok!(table, synRecipeSectionHostBuffersClear(recipe, &info.tensorSectionId, 1));
    let mut value = 0;
    let data = synSectionProp::SECTION_DATA;
    let cleared = syn!(table, synRecipeSectionGetProp(recipe, info.tensorSectionId, data, &mut value));
    assert_eq!(cleared, synStatus(1));
    card.launch(recipe, &[("weights", base + 128, SIZE), ("out", to, SIZE)]);
    assert_eq!(card.download(to, 128), bytes_of(&[4.0; 32]));
}

fn scratch_section(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let graph = Graph::new(table);
    let section = graph.section();
    ok!(table, synSectionSetPersistent(section, false));
    ok!(table, synSectionSetRMW(section, true));
    let (input, out) = (graph.persistent("in", F32, SIZE), graph.persistent("out", F32, SIZE));
    let (a, b) = (graph.placed("a", F32, SIZE, section, 0), graph.placed("b", F32, SIZE, section, 256));
    graph.node(ADD, &[input, input], &[a], &[]);
    graph.node(ADD, &[a, input], &[b], &[]);
    graph.node(ADD, &[a, b], &[out], &[]);
    let recipe = graph.compile();
    let (from, to) = (card.upload(&bytes_of(&[1.0; 32])), card.malloc(128));
    let mut count = 0;
    ok!(table, synTensorRetrieveLaunchAmount(recipe, &mut count));
    assert_eq!(count, 2);
    card.launch(recipe, &[("in", from, SIZE), ("out", to, SIZE)]);
    assert_eq!(card.download(to, 128), bytes_of(&[5.0; 32]));
}

fn dynamic(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let graph = Graph::new(table);
    for name in [c"in", c"out"] {
        let mut tensor = null_mut();
        let kind = synTensorType::DATA_TENSOR_DYNAMIC;
        ok!(table, synTensorHandleCreate(&mut tensor, graph.handle, kind, name.as_ptr()));
        let (min, max) = (geometry(&[1]), geometry(&[32]));
        ok!(table, synTensorSetGeometry(tensor, &min, synGeometryType::synGeometryMinSizes));
        ok!(table, synTensorSetGeometry(tensor, &max, synGeometryType::synGeometryMaxSizes));
        ok!(table, synTensorSetDeviceDataType(tensor, F32));
        ok!(table, synTensorAssignToSection(tensor, graph.section(), 0));
        if name == c"out" {
            let mut input = null_mut();
            assert_eq!(
                syn!(table, synTensorHandleCreate(&mut input, graph.handle, kind, c"in".as_ptr())),
                synStatus(21)
            );
            graph.node("memcpy", &[input], &[tensor], &[]);
        }
    }
    let recipe = graph.compile();
    let from = card.upload(&bytes_of(&[6.0; 32]));
    let to = card.upload(&bytes_of(&[0.0; 32]));
    card.launch(recipe, &[("in", from, &[5]), ("out", to, &[5])]);
    let expected = [[6.0; 5].as_slice(), &[0.0; 27]].concat();
    assert_eq!(card.download(to, 128), bytes_of(&expected));
    assert_eq!(
        card.try_launch(recipe, &[("in", from, &[0]), ("out", to, &[0])]),
        synStatus(1),
        "below the least"
    );
    assert_eq!(card.try_launch(recipe, &[("in", from, &[33]), ("out", to, &[33])]), synStatus(1));
    assert_eq!(card.try_launch(recipe, &[("in", from, &[5]), ("out", to, &[6])]), synStatus(35), "no copy");
}

fn duplicate(table: Table<'_>) {
    ok!(table, synInitialize());
    let graph = Graph::new(table);
    let (input, out) = (graph.persistent("in", F32, SIZE), graph.persistent("out", F32, SIZE));
    let id = graph.node("memcpy", &[input], &[out], &[]);
    let (mut tensors, mut nodes) = (0, 0);
    let mut handle = null_mut();
    ok!(
        table,
        synGraphDuplicate(graph.handle, &mut handle, null_mut(), &mut tensors, null_mut(), &mut nodes)
    );
    assert_eq!((tensors, nodes), (2, 1));
    let mut tensor_map = [synTensorHandleMap::default(); 2];
    let mut node_map = [synNodeHandleMap::default()];
    ok!(
        table,
        synGraphDuplicate(
            graph.handle,
            &mut handle,
            tensor_map.as_mut_ptr(),
            &mut tensors,
            node_map.as_mut_ptr(),
            &mut nodes
        )
    );
    assert_eq!(tensor_map.map(|pair| pair.origHandle), [input, out]);
    assert_eq!(node_map[0].origHandle, id);
    let copy = Graph { table, handle };
    let more = copy.persistent("more", F32, SIZE);
    copy.node("memcpy", &[tensor_map[1].newHandle], &[more], &[]);
    drop(graph);
    let recipe = copy.compile();
    let mut count = 0;
    ok!(table, synTensorRetrieveLaunchAmount(recipe, &mut count));
    assert_eq!(count, 3);
}

fn params(table: Table<'_>) {
    ok!(table, synInitialize());
    let graph = Graph::new(table);
    let (a, b) = (graph.persistent("a", F32, &[4, 4]), graph.persistent("b", F32, &[4, 4]));
    let out = graph.persistent("out", F32, &[4, 4]);
    let id = graph.node("gemm", &[a, b], &[out], &[0, 1]);
    let (mut params, mut size) = ([9_u8; 2], 2);
    ok!(table, synNodeGetUserParams(graph.handle, id, null_mut(), &mut size));
    assert_eq!(size, 2);
    ok!(table, synNodeGetUserParams(graph.handle, id, params.as_mut_ptr().cast(), &mut size));
    assert_eq!(params, [0, 1]);
    ok!(table, synNodeSetUserParams(graph.handle, id, [1_u8, 0].as_ptr().cast(), 2));
    ok!(table, synNodeGetUserParams(graph.handle, id, params.as_mut_ptr().cast(), &mut size));
    assert_eq!(params, [1, 0]);
    assert_eq!(
        syn!(table, synNodeSetUserParams(graph.handle, id, [1_u8; 7].as_ptr().cast(), 7)),
        synStatus(26)
    );
}
