//! Flattening of C++ structs that extend another: in C they have the fields of the base in front of their own.

use std::collections::HashMap;

use syn::punctuated::Punctuated;
use syn::{Field, Fields, File, Item, Token, Type};

/// The name that bindgen gives the field with the base of a C++ struct.
const BASE: &str = "_base";

/// Puts the fields of every base in its place. The layout assertions that bindgen adds hold the result to what the
/// compiler says, also where the fields of the derived struct lie in the base's tail padding.
pub(crate) fn flatten(file: &mut File) -> Result<(), String> {
    let mut known: HashMap<String, Punctuated<Field, Token![,]>> = HashMap::new();
    for item in &mut file.items {
        let Item::Struct(item) = item else { continue };
        let Fields::Named(fields) = &mut item.fields else { continue };
        let mut flat = Punctuated::new();
        for field in std::mem::take(&mut fields.named) {
            if field.ident.as_ref().is_some_and(|name| name == BASE) {
                let base =
                    type_name(&field.ty).ok_or_else(|| format!("{}: a base without a name", item.ident))?;
                // Bases stand before what extends them, as they do in C++.
                let inherited =
                    known.get(&base).ok_or_else(|| format!("{}: unknown base {base}", item.ident))?;
                flat.extend(inherited.iter().cloned());
            } else {
                flat.push(field);
            }
        }
        fields.named = flat;
        known.insert(item.ident.to_string(), fields.named.clone());
    }
    Ok(())
}

fn type_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    }
}
