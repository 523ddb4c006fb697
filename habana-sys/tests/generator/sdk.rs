//! A stand-in for the headers of an installed SDK: the same file names, and C++ where the vendor has C++. The
//! parameters of kernels live in namespaces there, and later versions of a struct inherit from earlier ones.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::facts::{Facts, Field, Struct};

/// The parts of our header, in an order in which each finds what it needs.
const TYPES: [&str; 2] = ["types", "node_params"];
const API: [&str; 13] = [
    "status",
    "device",
    "configuration",
    "stream",
    "memory",
    "section",
    "tensor",
    "launch",
    "event",
    "node",
    "graph",
    "recipe",
    "profiler",
];

/// Writes the headers into a folder.
pub fn write(folder: &Path) {
    let common = TYPES.map(part).concat();
    fs::write(folder.join("synapse_common_types.h"), format!("#pragma once\n{common}")).unwrap();
    let newer = "/** Comment of the vendor. */\nextern \"C\" synStatus synNewer(synDeviceId device);\n\
                 struct unrelated { int number; };\n";
    let api = API.map(part).concat();
    let api = format!("#pragma once\n#include \"synapse_common_types.h\"\n{api}{newer}");
    fs::write(folder.join("synapse_api.h"), api).unwrap();
    fs::write(folder.join("perf_lib_layer_params.h"), kernel_params()).unwrap();
}

/// A part of our header, without its inclusion of others.
fn part(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/synapse");
    let text = fs::read_to_string(folder.join(format!("{name}.h"))).unwrap();
    text.lines()
        .filter(|line| !line.starts_with("#include \""))
        .fold(String::new(), |text, line| text + line + "\n")
}

fn kernel_params() -> String {
    let facts = Facts::load();
    let mut text = String::from("#pragma once\n#include <stdint.h>\n");
    for (name, values) in facts.enums.iter().filter(|(name, _)| !name.starts_with("syn")) {
        // The others came with the common types.
        if matches!(&**name, "TransposePermutationDim" | "eventCreateFlags") {
            continue;
        }
        let mut values = values.clone();
        values.sort_by_key(|(_, value)| *value);
        let values: Vec<_> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        writeln!(text, "typedef enum _{name} {{ {} }} {name};", values.join(", ")).unwrap();
    }
    text.push_str("typedef union _fint_t { float f; int32_t i; } fint_t;\n");
    for name in ["KTensorType_t", "RotaryPosEmbeddingMode_t", "RmsNormBwdMode_t"] {
        writeln!(text, "typedef int32_t {name};").unwrap();
    }
    let structs: Vec<_> = facts.structs.iter().filter(|item| item.name.starts_with("ns_")).collect();
    // Bases come before what extends them, and what is the type of a field before its struct.
    let mut ordered = structs.clone();
    ordered.sort_by_key(|item| (!item.name.starts_with("ns_DropoutKernel"), item.fields.len()));
    for item in ordered {
        let (namespace, name) =
            item.name.rsplit_once("_Params").map(|(a, b)| (a, format!("Params{b}"))).unwrap();
        let base =
            structs.iter().copied().filter(|base| extends(item, base)).max_by_key(|base| base.fields.len());
        let inherited = base.map_or(0, |base| base.fields.len());
        let base = base
            .map_or(String::new(), |base| format!(" : public {}", base.name.replace("_Params", "::Params")));
        let fields: String = item.fields[inherited..].iter().map(declaration).collect();
        writeln!(text, "namespace {namespace} {{ struct {name}{base} {{ {fields}}}; }}").unwrap();
    }
    text
}

/// Whether a struct begins with the fields of another of its namespace.
fn extends(item: &Struct, base: &Struct) -> bool {
    let namespace = |item: &Struct| item.name.split("_Params").next().map(ToOwned::to_owned);
    namespace(item) == namespace(base)
        && base.fields.len() < item.fields.len()
        && base.fields.iter().zip(&item.fields).all(|(a, b)| (&a.name, &a.ty) == (&b.name, &b.ty))
}

fn declaration(field: &Field) -> String {
    let ty = field.ty.replace("_Params", "::Params");
    match ty.find('[') {
        Some(at) => format!("{} {}{}; ", &ty[..at], field.name, &ty[at..]),
        None => format!("{ty} {}; ", field.name),
    }
}
