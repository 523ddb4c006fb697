//! The facts about the C API, which the declarations are held to.

use serde_json::{Map, Value};

/// Names, signatures, values and layouts, on x86-64 System V.
pub struct Facts {
    pub functions: Vec<Function>,
    pub enums: Vec<(String, Vec<(String, u32)>)>,
    /// Structs and unions; names of C++ origin are joined by an underscore.
    pub structs: Vec<Struct>,
    /// Constants of the preprocessor.
    pub constants: Vec<(String, u64)>,
    /// Names of types, and what they stand for.
    pub typedefs: Vec<(String, String)>,
}

pub struct Function {
    pub name: String,
    pub returns: String,
    pub params: Vec<(String, String)>,
}

pub struct Struct {
    pub name: String,
    pub size: usize,
    pub align: usize,
    pub fields: Vec<Field>,
}

pub struct Field {
    pub name: String,
    pub ty: String,
    pub offset: usize,
    pub size: usize,
}

impl Facts {
    pub fn load() -> Facts {
        let facts: Value = serde_json::from_str(include_str!("../data/synapse.json")).unwrap();
        let kernel_params = facts["kernel_params"].as_object().unwrap();
        let (kernel_enums, kernel_structs): (Vec<_>, Vec<_>) =
            kernel_params.iter().partition(|(name, _)| name.starts_with("enum "));
        let kernel_enums =
            kernel_enums.into_iter().map(|(name, value)| (name.trim_start_matches("enum "), value));
        let structs = object(&facts, "structs").chain(object(&facts, "node_params"));
        let structs = structs.chain(kernel_structs.iter().map(|(name, value)| (name.as_str(), *value)));
        let constants = facts["constants"].as_object().unwrap();
        Facts {
            functions: facts["functions"].as_array().unwrap().iter().map(function).collect(),
            enums: object(&facts, "enums")
                .chain(kernel_enums)
                .map(|(name, value)| (name.into(), values(value)))
                .collect(),
            structs: structs.map(|(name, value)| structure(name, value)).collect(),
            constants: constants
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), number(value)?)))
                .collect(),
            typedefs: typedefs(constants),
        }
    }
}

fn object<'a>(facts: &'a Value, key: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    facts[key].as_object().unwrap().iter().map(|(name, value)| (name.as_str(), value))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// A C type as the facts write it, with names as the header has them.
fn ty(value: &Value) -> String {
    text(value).replace("_Bool", "bool").replace("::", "_")
}

fn function(value: &Value) -> Function {
    let params = value["params"].as_array().unwrap();
    Function {
        name: text(&value["name"]),
        returns: text(&value["returns"]),
        params: params.iter().map(|param| (text(&param["name"]), ty(&param["type"]))).collect(),
    }
}

fn values(value: &Value) -> Vec<(String, u32)> {
    let values = value.as_object().unwrap();
    values
        .iter()
        .map(|(name, value)| (name.clone(), u32::try_from(value.as_u64().unwrap()).unwrap()))
        .collect()
}

fn size(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn structure(name: &str, value: &Value) -> Struct {
    let fields = value["fields"].as_array().unwrap().iter().map(|field| Field {
        name: text(&field["name"]),
        ty: ty(&field["type"]),
        offset: size(&field["offset"]),
        size: size(&field["size"]),
    });
    Struct {
        name: name.replace("::", "_"),
        size: size(&value["size"]),
        align: size(&value["align"]),
        fields: fields.collect(),
    }
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| u64::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok())
}

fn typedefs(constants: &Map<String, Value>) -> Vec<(String, String)> {
    let typedefs = constants
        .iter()
        .filter_map(|(key, value)| Some((key.strip_prefix("typedef ")?.to_owned(), text(value))));
    // A type of one struct that the facts do not describe, and no function takes.
    typedefs.filter(|(name, _)| name != "CompilationAttribute").collect()
}
