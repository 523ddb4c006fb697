//! The header, held to the facts by the system's compilers, as C11 and as C++.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::compiler;
use crate::facts::Facts;

const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/include");

/// A declaration of `name`, with dimensions behind it and the star of a pointer in front.
fn declaration(ty: &str, name: &str) -> String {
    match ty.find('[') {
        Some(at) => format!("{} {name}{}", &ty[..at], &ty[at..]),
        None => format!("{ty} {name}"),
    }
}

/// Assertions that no compiler accepts unless the header says what the facts say.
fn assertions(facts: &Facts) -> String {
    let mut text = String::from("#include <stddef.h>\n#include \"synapse.h\"\n");
    let mut assert = |claim: String| writeln!(text, "_Static_assert({claim}, \"\");").unwrap();
    for (name, value) in &facts.constants {
        assert(format!("{name} == {value}ULL"));
    }
    for (name, values) in &facts.enums {
        assert(format!("sizeof({name}) == 4"));
        values.iter().for_each(|(enumerator, value)| assert(format!("{enumerator} == {value}")));
    }
    for item in &facts.structs {
        assert(format!(
            "sizeof({}) == {} && _Alignof({}) == {}",
            item.name, item.size, item.name, item.align
        ));
        for field in &item.fields {
            assert(format!("offsetof({}, {}) == {}", item.name, field.name, field.offset));
            assert(format!("sizeof((({}*)0)->{}) == {}", item.name, field.name, field.size));
        }
    }
    // What is declared twice must have one type.
    for (name, ty) in &facts.typedefs {
        writeln!(text, "typedef {};", declaration(ty, name)).unwrap();
    }
    for item in &facts.structs {
        let named = item
            .fields
            .iter()
            .filter(|field| !field.ty.contains("ValueType") && !field.ty.contains("(unnamed)"));
        for field in named {
            let variable = format!("{}_{}", item.name, field.name);
            writeln!(text, "extern __typeof__((({}*)0)->{}) {variable};", item.name, field.name).unwrap();
            writeln!(text, "extern {};", declaration(&field.ty, &variable)).unwrap();
        }
    }
    text.push_str("#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    for function in &facts.functions {
        let params: Vec<_> = function.params.iter().map(|(name, ty)| declaration(ty, name)).collect();
        let params = if params.is_empty() { "void".into() } else { params.join(", ") };
        writeln!(text, "{} {}({params});", function.returns, function.name).unwrap();
    }
    text.push_str("#ifdef __cplusplus\n}\n#endif\n");
    text
}

/// Compiles a text that includes the header, in a language.
fn compile(text: &str, language: Language) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join(language.file);
    fs::write(&source, text).unwrap();
    let mut arguments = language.arguments.to_vec();
    arguments.extend(["-Wall", "-Werror", "-fsyntax-only", "-I", INCLUDE]);
    compiler::run(language.variable, language.program, &arguments, &source)
}

#[derive(Clone, Copy)]
struct Language {
    variable: &'static str,
    program: &'static str,
    file: &'static str,
    arguments: &'static [&'static str],
}

const C: Language = Language { variable: "CC", program: "cc", file: "check.c", arguments: &["-std=c11"] };
const CPP: Language = Language {
    variable: "CXX",
    program: "c++",
    file: "check.cpp",
    arguments: &["-std=c++11", "-D_Static_assert=static_assert", "-D_Alignof=alignof"],
};

#[test]
fn the_facts_are_whole() {
    let facts = Facts::load();
    let kinds = (facts.functions.len(), facts.enums.len(), facts.structs.len(), facts.typedefs.len());
    assert_eq!(kinds, (145, 32, 102, 18));
}

#[test]
fn c_agrees_with_the_facts() {
    compile(&assertions(&Facts::load()), C).unwrap();
}

#[test]
fn cpp_agrees_with_the_facts() {
    compile(&assertions(&Facts::load()), CPP).unwrap();
}

#[test]
fn each_function_is_declared_by_the_header_itself() {
    let mut text = String::from("#include \"synapse.h\"\n");
    for function in Facts::load().functions {
        writeln!(text, "extern __typeof__({}) *use_of_{};", function.name, function.name).unwrap();
    }
    compile(&text, C).unwrap();
}

#[test]
fn a_wrong_fact_is_refused() {
    let refuses = |change: fn(&mut Facts), language| {
        let mut facts = Facts::load();
        change(&mut facts);
        compile(&assertions(&facts), language).is_err()
    };
    for language in [C, CPP] {
        assert!(refuses(|facts| facts.structs[0].size += 1, language));
        assert!(refuses(|facts| facts.structs[0].fields[0].offset += 1, language));
        assert!(refuses(|facts| facts.structs[0].fields[0].ty = "synDataType".into(), language));
        assert!(refuses(|facts| facts.enums[0].1[0].1 += 1, language));
        assert!(refuses(|facts| facts.constants[0].1 += 1, language));
        assert!(refuses(|facts| facts.typedefs[0].1 = "int *".into(), language));
        assert!(refuses(|facts| facts.functions[0].returns = "int".into(), language));
    }
    assert!(refuses(|facts| facts.functions[0].params.clear(), C));
}

#[test]
fn each_part_of_the_header_stands_alone() {
    let parts = fs::read_dir(Path::new(INCLUDE).join("synapse")).unwrap();
    for part in parts {
        let name = part.unwrap().file_name().into_string().unwrap();
        let text = format!("#include \"synapse/{name}\"\n");
        compile(&text, C).unwrap();
        compile(&text, CPP).unwrap();
    }
}
