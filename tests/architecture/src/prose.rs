//! Doc comments that can be read only beside what stands before them.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};

use crate::files;

/// Beginnings that lean on a text before them.
const LEANING: [&str; 5] = ["The same", "Of ", "As above", "As in", "Whose"];

/// Doc comments that begin so, with the files that they are in.
pub fn leaning() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in files::written(&["rs"]) {
        first_lines(files::tokens(&file), &mut |line| {
            if LEANING.iter().any(|start| line.starts_with(start)) {
                found.insert(format!("{file}: {line}"));
            }
        });
    }
    found
}

/// Calls `each` with the first line of each doc comment.
fn first_lines(tokens: TokenStream, each: &mut impl FnMut(&str)) {
    // The mark before the last attribute that was a line of a comment: `#`, or `!` for the comment of a module.
    let mut open = None;
    let mut mark = '#';
    for token in tokens {
        match &token {
            TokenTree::Punct(punct) if matches!(punct.as_char(), '#' | '!') => mark = punct.as_char(),
            TokenTree::Group(group) => match doc(group.stream()) {
                Some(line) => {
                    if open != Some(mark) {
                        each(line.trim());
                    }
                    open = Some(mark);
                }
                None => {
                    first_lines(group.stream(), each);
                    open = None;
                }
            },
            _ => open = None,
        }
    }
}

/// The text of `doc = "text"`.
fn doc(attribute: TokenStream) -> Option<String> {
    let tokens: Vec<_> = attribute.into_iter().collect();
    match &tokens[..] {
        [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Literal(text)] if *name == "doc" => {
            Some(text.to_string().trim_matches(['r', '#', '"']).to_string())
        }
        _ => None,
    }
}

#[test]
fn the_first_line_of_each_comment_is_read() {
    let mut found = Vec::new();
    let text = "//! Outer.\n\n/// Of one.\n/// More.\nstruct A {\n    /// Whose.\n    a: u8,\n}\n";
    first_lines(text.parse().unwrap(), &mut |line| found.push(line.to_string()));
    assert_eq!(found, ["Outer.", "Of one.", "Whose."]);
}
