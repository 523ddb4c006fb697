//! The modules of a crate: what each defines, imports and mentions, read off its tokens.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::files;

/// A crate of a package.
pub struct Crate {
    /// The name of its package.
    pub package: String,
    /// Packages of the workspace, by the names that they have in this crate.
    pub names: BTreeMap<String, String>,
    /// Whether other packages can import it.
    pub is_library: bool,
}

/// One module, in a file of its own or inside one.
pub struct Module {
    pub file: String,
    pub krate: usize,
    pub parent: Option<usize>,
    pub children: BTreeMap<String, usize>,
    /// Names that it defines.
    pub items: BTreeSet<String>,
    /// Names in macros and their calls between the items, which may define them.
    pub from_macros: BTreeSet<String>,
    pub uses: Vec<Use>,
    /// Paths of two names and more outside `use`.
    pub paths: BTreeSet<Vec<String>>,
    /// Every name outside `use`.
    pub names: BTreeSet<String>,
}

/// One name that a `use` brings.
#[derive(Debug, Clone)]
pub struct Use {
    pub path: Vec<String>,
    /// The name in this module, `*` for all names of a module.
    pub name: String,
    pub is_public: bool,
}

/// Modules of all crates.
#[derive(Default)]
pub struct Modules {
    pub crates: Vec<Crate>,
    pub all: Vec<Module>,
    /// The outermost module of each crate.
    pub roots: Vec<usize>,
}

impl Modules {
    /// Adds a crate with all modules below the file `root`.
    pub fn add_crate(&mut self, krate: Crate, root: &str) {
        self.crates.push(krate);
        let folder = Path::new(root).parent().unwrap().to_string_lossy().into_owned();
        let index = self.add(self.crates.len() - 1, None, root, files::tokens(root), &folder);
        self.roots.push(index);
    }

    /// Adds a module whose children are files in `folder`.
    fn add(
        &mut self,
        krate: usize,
        parent: Option<usize>,
        file: &str,
        tokens: TokenStream,
        folder: &str,
    ) -> usize {
        let index = self.all.len();
        self.all.push(Module {
            file: file.to_string(),
            krate,
            parent,
            children: BTreeMap::new(),
            items: BTreeSet::new(),
            from_macros: BTreeSet::new(),
            uses: Vec::new(),
            paths: BTreeSet::new(),
            names: BTreeSet::new(),
        });
        let tokens: Vec<_> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            let next = tokens.get(at + 1);
            match token {
                TokenTree::Ident(word) => match (word.to_string().as_str(), next) {
                    ("mod", Some(TokenTree::Ident(name))) => {
                        let child = match tokens.get(at + 2) {
                            Some(TokenTree::Group(body)) => {
                                let folder = format!("{folder}/{name}");
                                self.add(krate, Some(index), file, body.stream(), &folder)
                            }
                            _ => self.add_file(krate, index, &format!("{folder}/{name}")),
                        };
                        self.all[index].children.insert(name.to_string(), child);
                    }
                    (word, Some(TokenTree::Ident(name))) if DEFINES.contains(&word) => {
                        self.all[index].items.insert(name.to_string());
                    }
                    _ => {}
                },
                TokenTree::Group(group) => match before(&tokens, at) {
                    Between::MacroCall => names(group.stream(), &mut self.all[index].from_macros),
                    Between::MacroRules(name) => {
                        self.all[index].items.insert(name);
                        names(group.stream(), &mut self.all[index].from_macros);
                    }
                    Between::Item => {}
                },
                _ => {}
            }
        }
        self.all[index].mention(&tokens, true);
        index
    }

    fn add_file(&mut self, krate: usize, parent: usize, stem: &str) -> usize {
        let file = [format!("{stem}.rs"), format!("{stem}/mod.rs")]
            .into_iter()
            .find(|path| files::repository().join(path).is_file())
            .unwrap_or_else(|| panic!("no file of the module {stem}"));
        self.add(krate, Some(parent), &file, files::tokens(&file), stem)
    }
}

/// Words before the name of a definition.
const DEFINES: [&str; 8] = ["struct", "enum", "union", "trait", "type", "fn", "const", "static"];

/// What a group between the items of a module belongs to.
enum Between {
    Item,
    MacroCall,
    MacroRules(String),
}

fn before(tokens: &[TokenTree], at: usize) -> Between {
    let is_bang = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == '!');
    match (at.checked_sub(2).map(|at| &tokens[at]), at.checked_sub(1).map(|at| &tokens[at])) {
        (Some(TokenTree::Ident(_)), Some(bang)) if is_bang(bang) => Between::MacroCall,
        (Some(bang), Some(TokenTree::Ident(name))) if is_bang(bang) => Between::MacroRules(name.to_string()),
        _ => Between::Item,
    }
}

fn names(tokens: TokenStream, found: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => _ = found.insert(name.to_string()),
            TokenTree::Group(group) => names(group.stream(), found),
            _ => {}
        }
    }
}

impl Module {
    /// Whether it defines a name.
    pub fn defines(&self, name: &str) -> bool {
        self.items.contains(name) || self.from_macros.contains(name)
    }

    /// Notes the imports, paths and names of tokens; those of modules inside are theirs.
    fn mention(&mut self, tokens: &[TokenTree], is_outermost: bool) {
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Ident(word) if *word == "use" => {
                    let end = end_of_statement(tokens, at);
                    let is_public = at > 0 && is_visibility(&tokens[..at]);
                    self.read_use(&tokens[at + 1..end], &[], is_public);
                    at = end;
                }
                TokenTree::Ident(word) if *word == "mod" && is_outermost => at += 2,
                TokenTree::Ident(word) => {
                    let path = path(&tokens[at..]);
                    self.names.insert(word.to_string());
                    at += 3 * (path.len() - 1);
                    self.names.extend(path[1..].iter().cloned());
                    if path.len() > 1 {
                        self.paths.insert(path);
                    }
                }
                TokenTree::Group(_) if is_quotation(&tokens[..at]) => {}
                TokenTree::Group(group) => {
                    self.mention(&group.stream().into_iter().collect::<Vec<_>>(), false);
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Reads what comes after `use`, or a part of it in braces.
    fn read_use(&mut self, tokens: &[TokenTree], prefix: &[String], is_public: bool) {
        for part in tokens.split(|token| is_mark(token, ',')) {
            let mut path = prefix.to_vec();
            let mut alias = None;
            for (at, token) in part.iter().enumerate() {
                match token {
                    TokenTree::Ident(word) if *word == "as" => {
                        alias = part.get(at + 1).map(ToString::to_string)
                    }
                    TokenTree::Ident(_) if alias.is_some() => {}
                    TokenTree::Ident(word) => path.push(word.to_string()),
                    TokenTree::Punct(mark) if mark.as_char() == '*' => alias = Some("*".to_string()),
                    TokenTree::Group(group) => self.read_group(group, &path, is_public),
                    _ => {}
                }
            }
            if matches!(part.last(), None | Some(TokenTree::Group(_))) {
                continue;
            }
            if path.len() > 1 && path.last().is_some_and(|name| name == "self") {
                path.pop();
            }
            let name = alias.unwrap_or_else(|| path.last().unwrap().clone());
            self.uses.push(Use { path, name, is_public });
        }
    }

    fn read_group(&mut self, group: &Group, prefix: &[String], is_public: bool) {
        self.read_use(&group.stream().into_iter().collect::<Vec<_>>(), prefix, is_public);
    }
}

fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

fn end_of_statement(tokens: &[TokenTree], at: usize) -> usize {
    (at..tokens.len()).find(|&end| is_mark(&tokens[end], ';')).unwrap_or(tokens.len())
}

/// Whether tokens end in `quote!`, so that what follows is the text of another file.
fn is_quotation(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [.., TokenTree::Ident(word), mark] if *word == "quote" && is_mark(mark, '!'))
}

/// Whether tokens end in `pub` or `pub(..)`.
fn is_visibility(tokens: &[TokenTree]) -> bool {
    match tokens {
        [.., TokenTree::Ident(word)] => *word == "pub",
        [.., TokenTree::Ident(word), TokenTree::Group(group)] => {
            *word == "pub" && group.delimiter() == Delimiter::Parenthesis
        }
        _ => false,
    }
}

/// The path that tokens begin with: one name, or more with `::` between them.
fn path(tokens: &[TokenTree]) -> Vec<String> {
    let mut path = vec![tokens[0].to_string()];
    let mut rest = &tokens[1..];
    while let [first, second, TokenTree::Ident(name), after @ ..] = rest
        && is_mark(first, ':')
        && is_mark(second, ':')
    {
        path.push(name.to_string());
        rest = after;
    }
    path
}
