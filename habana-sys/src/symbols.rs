//! Looking functions up in a library.

#![allow(unsafe_code, reason = "the type of a symbol is not recorded in a library")]

/// Looks functions up, and remembers the required ones that were missing.
pub(crate) struct Symbols<'a> {
    library: &'a libloading::Library,
    missing: Vec<&'static str>,
}

impl<'a> Symbols<'a> {
    pub(crate) fn of(library: &'a libloading::Library) -> Symbols<'a> {
        Symbols { library, missing: Vec::new() }
    }

    /// The required functions that were asked for and not found.
    pub(crate) fn into_missing(self) -> Vec<&'static str> {
        self.missing
    }

    /// A function that must be there.
    ///
    /// # Safety
    ///
    /// `F` is a function pointer of the type that the symbol has.
    pub(crate) unsafe fn required<F: Copy>(&mut self, name: &'static str) -> Option<F> {
        // SAFETY: the caller promises that `F` is the symbol's type.
        let found = unsafe { self.optional(name) };
        if found.is_none() {
            self.missing.push(name);
        }
        found
    }

    /// A function that may be missing.
    ///
    /// # Safety
    ///
    /// `F` is a function pointer of the type that the symbol has.
    pub(crate) unsafe fn optional<F: Copy>(&self, name: &str) -> Option<F> {
        // SAFETY: `Option` of a function pointer has its layout, with null for `None`, and the caller vouches for
        // the type.
        unsafe { self.library.get::<Option<F>>(name) }.ok().and_then(|symbol| *symbol)
    }
}
