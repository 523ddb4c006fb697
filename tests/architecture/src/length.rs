//! Files and functions that are longer than they may be.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::files;

/// Files of more than `most` lines.
pub fn long_files(most: usize) -> BTreeSet<String> {
    let files = files::written(&["rs", "py", "pyi", "c", "h", "cpp", "sh"]);
    files.into_iter().filter(|file| files::text(file).lines().count() > most).collect()
}

/// Functions of more than `most` lines, with the files that they are in.
pub fn long_functions(most: usize) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in files::written(&["rs"]) {
        functions(files::tokens(&file), &mut |name, lines| {
            if lines > most {
                println!("{file}: {name} has {lines} lines");
                found.insert(format!("{file} {name}"));
            }
        });
    }
    found
}

/// Calls `each` with the name of each function and its lines.
fn functions(tokens: TokenStream, each: &mut impl FnMut(&str, usize)) {
    let tokens: Vec<_> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word) if *word == "fn" => {
                let Some(TokenTree::Ident(name)) = tokens.get(at + 1) else { continue };
                if let Some(body) = body(&tokens[at..]) {
                    each(&name.to_string(), body + 1 - word.span().start().line);
                }
            }
            TokenTree::Group(group) => functions(group.stream(), each),
            _ => {}
        }
    }
}

/// The line of a function's last brace; there is none where a trait only declares it.
fn body(tokens: &[TokenTree]) -> Option<usize> {
    tokens.iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            Some(Some(group.span_close().end().line))
        }
        TokenTree::Punct(mark) if mark.as_char() == ';' => Some(None),
        _ => None,
    })?
}

#[test]
fn a_function_has_the_lines_from_its_name_to_its_last_brace() {
    let mut found = Vec::new();
    let text = "trait T { fn declared(); }\nfn one() {}\n#[inline]\nfn three(\n) -> [u8; 2] {\n}";
    functions(text.parse().unwrap(), &mut |name, lines| found.push((name.to_string(), lines)));
    assert_eq!(found, [("one".to_string(), 1), ("three".to_string(), 3)]);
}
