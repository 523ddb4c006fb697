//! Making the functions' types, and the table that the loader fills.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Attribute, Expr, File, ForeignItem, ImplItem, Item, ItemForeignMod, Signature};

mod required;

/// A function as declared.
struct Function {
    docs: Vec<Attribute>,
    signature: Signature,
}

/// Takes the foreign functions out of the bindings, and gives the file that replaces them: a type for each
/// function, the table `Functions`, and what fills it. Nothing that would have to be linked remains.
pub(crate) fn take_functions(file: &mut File) -> Result<File, String> {
    let mut functions = Vec::new();
    let mut kept = Vec::new();
    for item in std::mem::take(&mut file.items) {
        match item {
            Item::ForeignMod(ItemForeignMod { items, .. }) => {
                functions.extend(items.into_iter().filter_map(function))
            }
            other => kept.push(other),
        }
    }
    file.items = kept;
    let absent: Vec<_> = required::REQUIRED
        .into_iter()
        .filter(|name| functions.iter().all(|f| f.signature.ident != name))
        .collect();
    if !absent.is_empty() {
        return Err(format!("the header lacks functions that are required: {}", absent.join(", ")));
    }
    let types = functions.iter().map(type_alias);
    let table = table(&functions);
    syn::parse2(quote! {
        use crate::bindings::*;
        use crate::symbols::Symbols;
        #(#types)*
        #table
    })
    .map_err(|error| format!("the table of functions: {error}"))
}

fn function(item: ForeignItem) -> Option<Function> {
    let ForeignItem::Fn(item) = item else { return None };
    let docs = item.attrs.into_iter().filter(|attribute| attribute.path().is_ident("doc")).collect();
    Some(Function { docs, signature: item.sig })
}

fn type_name(function: &Function) -> Ident {
    format_ident!("{}_fn", function.signature.ident)
}

fn type_alias(function: &Function) -> TokenStream {
    let name = type_name(function);
    let doc = format!(" Type of `{}`.", function.signature.ident);
    let (inputs, output) = (&function.signature.inputs, &function.signature.output);
    quote! {
        #[doc = #doc]
        pub type #name = unsafe extern "C" fn(#inputs) #output;
    }
}

fn table(functions: &[Function]) -> TokenStream {
    let (required, optional): (Vec<_>, Vec<_>) =
        functions.iter().partition(|f| required::REQUIRED.iter().any(|name| f.signature.ident == name));
    let fields = functions.iter().map(|function| {
        let (docs, name, ty) = (&function.docs, &function.signature.ident, type_name(function));
        match required.iter().any(|f| f.signature.ident == *name) {
            true => quote! { #(#docs)* pub #name: #ty },
            false => quote! { #(#docs)* pub #name: Option<#ty> },
        }
    });
    let (names, types): (Vec<_>, Vec<_>) =
        required.iter().map(|f| (&f.signature.ident, type_name(f))).unzip();
    let others: Vec<_> = optional.iter().map(|f| &f.signature.ident).collect();
    let (words, other_words) = (words(&names), words(&others));
    quote! {
        /// The functions of a loaded library: those that are required, and those that it may lack.
        #[derive(Debug)]
        pub struct Functions { #(#fields,)* }

        impl Functions {
            /// Names of the functions without which a library is refused.
            pub const REQUIRED: &'static [&'static str] = &[#(#words),*];
            /// Names of the functions that a library may lack; their fields are `None` then.
            pub const OPTIONAL: &'static [&'static str] = &[#(#other_words),*];

            /// Looks every function up; `None` where a required one is missing, which `symbols` then lists.
            ///
            /// # Safety
            ///
            /// The functions of the library have the types declared here.
            pub(crate) unsafe fn resolve(symbols: &mut Symbols<'_>) -> Option<Functions> {
                // SAFETY: the caller vouches for the types.
                unsafe {
                    #(let #names = symbols.required::<#types>(#words);)*
                    Some(Functions {
                        #(#names: #names?,)*
                        #(#others: symbols.optional(#other_words),)*
                    })
                }
            }
        }
    }
}

fn words(names: &[&Ident]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Adds `status_name` behind the types. A value with two names has that of the header's first.
pub(crate) fn add_status_name(file: &mut File) -> Result<(), String> {
    let mut arms = Vec::new();
    let mut seen = Vec::new();
    for item in &file.items {
        let Item::Impl(item) = item else { continue };
        if type_ident(item).is_none_or(|name| name != "synStatus") {
            continue;
        }
        for constant in &item.items {
            let ImplItem::Const(constant) = constant else { continue };
            let Expr::Call(call) = &constant.expr else { continue };
            let value = quote!(#call).to_string();
            if !seen.contains(&value) {
                seen.push(value);
                let (name, word) = (&constant.ident, constant.ident.to_string());
                arms.push(quote! { synStatus::#name => Some(#word) });
            }
        }
    }
    if arms.is_empty() {
        return Err("the header has no enum synStatus".into());
    }
    let item = syn::parse2(quote! {
        /// The name of a status, as in `synFail`; `None` for a value without one.
        pub fn status_name(status: synStatus) -> Option<&'static str> {
            match status { #(#arms,)* _ => None }
        }
    });
    file.items.push(item.map_err(|error| format!("status_name: {error}"))?);
    Ok(())
}

fn type_ident(item: &syn::ItemImpl) -> Option<&Ident> {
    match &*item.self_ty {
        syn::Type::Path(path) if item.trait_.is_none() => path.path.get_ident(),
        _ => None,
    }
}
