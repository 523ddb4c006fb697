//! The folder that recipes are kept in between processes.

use std::path::PathBuf;

/// The environment variable that names the folder of recipes.
pub const RECIPE_CACHE_ENV: &str = "GAUDI_KV_RECIPE_CACHE";

/// Where recipes are kept between processes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RecipeFolder {
    /// `GAUDI_KV_RECIPE_CACHE`, else `gaudi-kv/recipes` in the user's cache folder.
    #[default]
    Default,
    /// A folder of the caller's choice.
    At(PathBuf),
    /// No folder: recipes are not kept.
    Nowhere,
}

impl RecipeFolder {
    /// The path of the folder; `None` where recipes are not kept.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        match self {
            Self::At(path) => Some(path.clone()),
            Self::Nowhere => None,
            Self::Default => variable(RECIPE_CACHE_ENV).or_else(|| {
                let cache = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
                let cache = cache.or_else(|| Some(variable("HOME")?.join(".cache")))?;
                Some(cache.join("gaudi-kv/recipes"))
            }),
        }
    }
}
