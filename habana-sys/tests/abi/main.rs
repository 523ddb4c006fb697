//! The header and the Rust declarations, held to the facts: layouts, values, signatures. Whatever the facts have
//! must be covered. Needs a C and a C++ compiler.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "../common/compiler.rs"]
mod compiler;
#[path = "../common/facts.rs"]
mod facts;

mod enums;
mod header;
mod structs;

use std::collections::BTreeSet;

use facts::Facts;
use habana_sys::{Functions, synStatus};

#[test]
fn structs_lie_as_the_facts_say() {
    let layouts = structs::layouts();
    let facts = Facts::load().structs;
    for fact in &facts {
        let layout = layouts.iter().find(|layout| layout.name == fact.name);
        let layout = layout.unwrap_or_else(|| panic!("{} is not covered", fact.name));
        assert_eq!((layout.size, layout.align), (fact.size, fact.align), "{}", fact.name);
        let found: Vec<_> =
            layout.fields.iter().map(|field| (field.name, field.offset, field.size)).collect();
        let wanted: Vec<_> =
            fact.fields.iter().map(|field| (&*field.name, field.offset, field.size)).collect();
        assert_eq!(found, wanted, "{}", fact.name);
    }
    // Some parameters of nodes are among the structs, too.
    let names: BTreeSet<_> = facts.iter().map(|fact| &fact.name).collect();
    assert_eq!(layouts.len(), names.len());
}

#[test]
fn enums_have_the_values_of_the_facts() {
    let enums = enums::enums();
    let facts = Facts::load().enums;
    for (name, values) in &facts {
        let found = enums.iter().find(|found| found.name == name);
        let found = found.unwrap_or_else(|| panic!("{name} is not covered"));
        assert_eq!(found.size, 4, "{name}");
        let wanted: BTreeSet<_> = values.iter().map(|(name, value)| (&**name, *value)).collect();
        assert_eq!(found.values.iter().copied().collect::<BTreeSet<_>>(), wanted, "{name}");
    }
    assert_eq!(enums.len(), facts.len());
}

#[test]
fn constants_have_the_values_of_the_facts() {
    let found = [
        ("HABANA_DIM_MAX", u64::from(habana_sys::HABANA_DIM_MAX)),
        ("ENQUEUE_TENSOR_NAME_MAX_SIZE", u64::from(habana_sys::ENQUEUE_TENSOR_NAME_MAX_SIZE)),
        ("STATUS_DESCRIPTION_MAX_SIZE", u64::from(habana_sys::STATUS_DESCRIPTION_MAX_SIZE)),
        ("MAX_USER_PARAMS_SIZE", u64::from(habana_sys::MAX_USER_PARAMS_SIZE)),
        ("SYN_MAX_TENSOR_DIM", u64::from(habana_sys::SYN_MAX_TENSOR_DIM)),
        ("SYN_FLAGS_TENSOR_NAME", u64::from(habana_sys::SYN_FLAGS_TENSOR_NAME)),
        ("TENSOR_INVALID_ID", habana_sys::TENSOR_INVALID_ID),
    ];
    let facts = Facts::load().constants;
    let wanted: BTreeSet<_> = facts.iter().map(|(name, value)| (&**name, *value)).collect();
    assert_eq!(BTreeSet::from(found), wanted);
}

#[test]
fn the_table_has_every_function_once() {
    let names: Vec<_> = Functions::REQUIRED.iter().chain(Functions::OPTIONAL).copied().collect();
    let facts = Facts::load().functions;
    let wanted: BTreeSet<_> = facts.iter().map(|function| &*function.name).collect();
    assert_eq!(names.len(), 145);
    assert_eq!(names.into_iter().collect::<BTreeSet<_>>(), wanted);
}

/// The Rust for a C type in a signature. `const` counts behind a pointer only.
fn rust_type(c: &str) -> String {
    if let Some(element) = c.strip_suffix("[][1024]") {
        return format!("*mut [{}; 1024usize]", rust_type(element));
    }
    if let Some(element) = c.strip_suffix("[8]") {
        return format!("*mut {}", rust_type(element));
    }
    if let Some(target) = c.strip_suffix('*') {
        let target = target.trim_end();
        // A handle behind a pointer is a pointer of its own, which `const` does not reach.
        let mutability = if target.starts_with("const ") && !target.ends_with('*') { "const" } else { "mut" };
        return format!("*{mutability} {}", rust_type(target));
    }
    match c.trim_start_matches("const ") {
        "void" => "::core::ffi::c_void",
        "char" => "::core::ffi::c_char",
        "unsigned char" => "::core::ffi::c_uchar",
        "int" => "::core::ffi::c_int",
        "unsigned int" => "::core::ffi::c_uint",
        "int8_t" => "i8",
        "uint16_t" => "u16",
        "uint32_t" => "u32",
        "uint64_t" => "u64",
        name => name,
    }
    .to_owned()
}

#[test]
fn signatures_are_those_of_the_facts() {
    let plain = |text: &str| {
        text.split_whitespace().collect::<String>().replace(",)", ")").replace("type_:", "type:")
    };
    let source = plain(include_str!("../../src/functions.rs"));
    for function in Facts::load().functions {
        let params: Vec<_> =
            function.params.iter().map(|(name, ty)| format!("{name}: {}", rust_type(ty))).collect();
        let wanted = format!(
            "pub type {}_fn = unsafe extern \"C\" fn({}) -> {};",
            function.name,
            params.join(", "),
            function.returns
        );
        assert!(source.contains(&plain(&wanted)), "not found: {wanted}");
    }
}

#[test]
fn a_status_is_shown_by_name_and_number() {
    assert_eq!(synStatus::synFail.to_string(), "synFail (26)");
    assert_eq!(synStatus(43).to_string(), "synResourceBadUsage (43)");
    assert_eq!(synStatus(99).to_string(), "status 99");
    assert_eq!(habana_sys::status_name(synStatus::synSuccess), Some("synSuccess"));
    assert_eq!(habana_sys::status_name(synStatus(99)), None);
}
