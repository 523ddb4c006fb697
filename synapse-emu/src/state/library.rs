//! Whether the library is initialized, and its only runtime.

use std::sync::{Arc, PoisonError, RwLock};

use habana_sys::synStatus;

use super::runtime::Runtime;
use crate::config::Config;
use crate::fault::Faults;
use crate::log;
use crate::outcome::Outcome;
use crate::variable::{BadVariable, Variables};

struct Library {
    initializations: usize,
    runtime: Option<Arc<Runtime>>,
}

static LIBRARY: RwLock<Library> = RwLock::new(Library { initializations: 0, runtime: None });

/// The initialized library, else `synUninitialized`.
pub(crate) fn runtime() -> Outcome<Arc<Runtime>> {
    let library = LIBRARY.read().unwrap_or_else(PoisonError::into_inner);
    library.runtime.clone().ok_or(synStatus::synUninitialized)
}

/// Counts one more user; the first one reads the settings.
pub(crate) fn initialize() -> Outcome {
    let mut library = LIBRARY.write().unwrap_or_else(PoisonError::into_inner);
    if library.runtime.is_some() {
        if std::env::var_os("HABANA_DISABLE_DOUBLE_SYN_INITIALIZE").is_some() {
            return Err(synStatus::synAlreadyInitialized);
        }
        library.initializations += 1;
        return Ok(());
    }
    let refused = |error: BadVariable| {
        log::always(&error);
        synStatus::synFail
    };
    let variables = Variables::take_given();
    let config = Config::read(&variables).map_err(refused)?;
    let faults = Faults::read(&variables).map_err(refused)?;
    log::enable(config.logs);
    log::event(&format_args!("seed {}", config.seed));
    faults.before("synInitialize")?;
    library.runtime = Some(Arc::new(Runtime::new(config, faults)?));
    library.initializations = 1;
    Ok(())
}

/// One user less; after the last one nothing is left, whatever was not destroyed.
pub(crate) fn destroy() -> Outcome {
    let ended = {
        let mut library = LIBRARY.write().unwrap_or_else(PoisonError::into_inner);
        if library.runtime.is_none() {
            return Err(synStatus::synUninitialized);
        }
        library.initializations -= 1;
        if library.initializations > 0 {
            return Ok(());
        }
        library.runtime.take()
    };
    if let Some(runtime) = ended {
        for module in 0..runtime.config.cards {
            // A card that was not acquired has nothing to release.
            let _ = runtime.release(module);
        }
    }
    Ok(())
}
