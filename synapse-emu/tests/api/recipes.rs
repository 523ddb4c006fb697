//! Recipes in files.

use std::ffi::CString;
use std::path::Path;
use std::ptr::null_mut;

use habana_sys::*;

use crate::fixture::{Card, F32, Graph, bytes_of, copying};
use crate::syn::Table;
use crate::{Scenario, ok, syn};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("a recipe from a file is the same", round_trip),
    Scenario::new("damaged files are refused", damaged),
    Scenario::new("files of another device are refused", other_device),
    Scenario::new("recipes say what they hold", attributes),
];

fn serialize(table: Table<'_>, recipe: synRecipeHandle, path: &Path) {
    let path = CString::new(path.to_str().unwrap()).unwrap();
    ok!(table, synRecipeSerialize(recipe, path.as_ptr()));
}

fn deserialize(table: Table<'_>, path: &Path) -> Result<synRecipeHandle, u32> {
    let path = CString::new(path.to_str().unwrap()).unwrap();
    let mut recipe = null_mut();
    match syn!(table, synRecipeDeSerialize(&mut recipe, path.as_ptr())) {
        synStatus::synSuccess => Ok(recipe),
        status => Err(status.0),
    }
}

/// `out = (in + constant) + weights`, with a workspace and a const section.
fn with_everything(table: Table<'_>) -> synRecipeHandle {
    let graph = Graph::new(table);
    let section = graph.section();
    ok!(table, synSectionSetConst(section, true));
    let weights = graph.placed("weights", F32, &[32], section, 0);
    let constant = graph.tensor("constant", F32, &[32]);
    for (tensor, value) in [(weights, 10.0), (constant, 100.0)] {
        let mut data = bytes_of(&[value; 32]);
        ok!(table, synTensorSetHostPtr(tensor, data.as_mut_ptr().cast(), 128, F32, true));
    }
    let (input, out) = (graph.persistent("in", F32, &[32]), graph.persistent("out", F32, &[32]));
    let sum = graph.tensor("sum", F32, &[32]);
    graph.node("add_fwd_f32", &[input, constant], &[sum], &[]);
    graph.node("add_fwd_f32", &[sum, weights], &[out], &[]);
    graph.compile()
}

fn round_trip(table: Table<'_>) {
    ok!(table, synInitialize());
    let card = Card::new(table);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recipe");
    serialize(table, with_everything(table), &path);
    let recipe = deserialize(table, &path).unwrap();
    let mut bytes = 0;
    ok!(table, synWorkspaceGetSize(&mut bytes, recipe));
    assert_eq!(bytes, 128);
    let again = folder.path().join("again");
    serialize(table, recipe, &again);
    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&again).unwrap());
    let sizes: &[u64] = &[32];
    let weights = card.upload(&bytes_of(&[10.0; 32]));
    let (from, to) = (card.upload(&bytes_of(&[1.0; 32])), card.malloc(128));
    card.launch(recipe, &[("in", from, sizes), ("weights", weights, sizes), ("out", to, sizes)]);
    assert_eq!(card.download(to, 128), bytes_of(&[111.0; 32]));
    assert_eq!(deserialize(table, &folder.path().join("missing")), Err(26));
    let nowhere = CString::new(folder.path().join("missing/recipe").to_str().unwrap()).unwrap();
    assert_eq!(syn!(table, synRecipeSerialize(recipe, nowhere.as_ptr())), synStatus(26));
}

fn damaged(table: Table<'_>) {
    ok!(table, synInitialize());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recipe");
    serialize(table, copying(table, 64), &path);
    let good = std::fs::read(&path).unwrap();
    deserialize(table, &path).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        std::fs::write(&path, &bad).unwrap();
        assert_eq!(deserialize(table, &path), Err(19), "byte {at} of {}", good.len());
    }
    for length in 0..good.len() {
        std::fs::write(&path, &good[..length]).unwrap();
        assert_eq!(deserialize(table, &path), Err(19), "{length} bytes of {}", good.len());
    }
    std::fs::write(&path, [good.as_slice(), &[0]].concat()).unwrap();
    assert_eq!(deserialize(table, &path), Err(19), "a byte too many");
}

fn other_device(table: Table<'_>) {
    ok!(table, synInitialize());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recipe");
    let graph = Graph::on(table, synDeviceType::synDeviceGaudi3);
    let (from, to) = (graph.persistent("from", F32, &[4]), graph.persistent("to", F32, &[4]));
    graph.node("memcpy", &[from], &[to], &[]);
    serialize(table, graph.compile(), &path);
    assert_eq!(deserialize(table, &path), Err(9));
}

fn attributes(table: Table<'_>) {
    ok!(table, synInitialize());
    let recipe = with_everything(table);
    let attributes = [
        synRecipeAttribute::RECIPE_ATTRIBUTE_WORKSPACE_SIZE,
        synRecipeAttribute::RECIPE_ATTRIBUTE_NUM_PERSISTENT_TENSORS,
        synRecipeAttribute::RECIPE_ATTRIBUTE_NUM_EXTERNAL_TENSORS,
        synRecipeAttribute::RECIPE_ATTRIBUTE_PERSISTENT_TENSORS_SIZE,
        synRecipeAttribute::RECIPE_ATTRIBUTE_CONST_SECTIONS_SIZE,
    ];
    let mut values = [9; 5];
    ok!(table, synRecipeGetAttribute(values.as_mut_ptr(), attributes.as_ptr(), 5, recipe));
    assert_eq!(values, [128, 3, 0, 384, 128]);
    let mut names = vec![[0; 1024]; 3];
    ok!(table, synTensorRetrieveNames(recipe, names.as_mut_ptr(), 3));
    // SAFETY: the call wrote texts.
    let names: Vec<_> = names.iter().map(|name| unsafe { std::ffi::CStr::from_ptr(name.as_ptr()) }).collect();
    assert_eq!(names, [c"weights", c"in", c"out"]);
    let mut ids = [9; 3];
    ok!(table, synTensorRetrieveLaunchIds(recipe, ids.as_mut_ptr(), 3));
    assert_eq!(ids, [0, 1, 2], "the kind in the top byte is 0 for data");
}
