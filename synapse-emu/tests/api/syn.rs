//! The library under test, loaded as programs load it.

use std::path::PathBuf;

use habana_sys::{Functions, Library};

/// Where `cargo` puts the library when it builds these tests: beside them.
pub fn library_path() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.with_file_name("libSynapse.so")
}

pub fn load() -> Library {
    Library::open(Some(&library_path())).unwrap()
}

/// An entry of the table of functions, required or not.
pub trait Entry {
    type Function;
    fn entry(self) -> Self::Function;
}

impl<F> Entry for Option<F> {
    type Function = F;
    fn entry(self) -> F {
        self.unwrap()
    }
}

macro_rules! entries {
    ($(($($argument:ident)*))*) => {$(
        impl<R, $($argument),*> Entry for unsafe extern "C" fn($($argument),*) -> R {
            type Function = Self;
            fn entry(self) -> Self {
                self
            }
        }
    )*};
}
entries! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H)
(A B C D E F G H I) (A B C D E F G H I J) (A B C D E F G H I J K) (A B C D E F G H I J K L) }

/// Calls a function; what comes back is its status.
#[macro_export]
macro_rules! syn {
    ($functions:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        use $crate::syn::Entry as _;
        #[allow(clippy::macro_metavars_in_unsafe, reason = "arguments are plain values and pointers")]
        // SAFETY: pointers are null or to what this scope holds; handles may be anything.
        unsafe { $functions.$function.entry()($($argument),*) }
    }};
}

/// Calls a function that must succeed.
#[macro_export]
macro_rules! ok {
    ($functions:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        let status = $crate::syn!($functions, $function($($argument),*));
        assert_eq!(status, habana_sys::synStatus::synSuccess, stringify!($function));
    }};
}

/// The table of a loaded library.
pub type Table<'a> = &'a Functions;
