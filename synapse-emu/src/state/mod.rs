//! What lives from `synInitialize` to `synDestroy`.

mod registry;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use gaudi_numerics::Generation;
use habana_sys::synStatus;

pub(crate) use registry::Registry;

use crate::Outcome;
use crate::card::{Card, Event, Stream};
use crate::config::Config;
use crate::fault::Faults;
use crate::graph::{Graph, SectionRef, TensorRef};
use crate::log;
use crate::node::Machine;
use crate::recipe::Recipe;

/// The library between initialization and its end.
pub(crate) struct Runtime {
    pub(crate) config: Config,
    pub(crate) faults: Faults,
    /// By module id; `None` where not acquired.
    cards: Mutex<Vec<Option<Arc<Card>>>>,
    pub(crate) streams: Registry<Stream>,
    pub(crate) events: Registry<Event>,
    pub(crate) graphs: Registry<Mutex<Graph>>,
    pub(crate) tensors: Registry<TensorRef>,
    pub(crate) sections: Registry<SectionRef>,
    pub(crate) recipes: Registry<Recipe>,
    pub(crate) settings: Mutex<HashMap<String, String>>,
}

struct Library {
    initializations: usize,
    runtime: Option<Arc<Runtime>>,
}

static LIBRARY: RwLock<Library> = RwLock::new(Library { initializations: 0, runtime: None });

/// Locks, whatever a panicking holder left: no invariant of this crate's data spans a panic.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The initialized library, else `synUninitialized`.
pub(crate) fn runtime() -> Outcome<Arc<Runtime>> {
    let library = LIBRARY.read().unwrap_or_else(PoisonError::into_inner);
    library.runtime.clone().ok_or(synStatus::synUninitialized)
}

/// Counts one more user; the first one reads the environment.
pub(crate) fn initialize() -> Outcome {
    let mut library = LIBRARY.write().unwrap_or_else(PoisonError::into_inner);
    if library.runtime.is_some() {
        if std::env::var_os("HABANA_DISABLE_DOUBLE_SYN_INITIALIZE").is_some() {
            return Err(synStatus::synAlreadyInitialized);
        }
        library.initializations += 1;
        return Ok(());
    }
    let config = Config::from_environment().map_err(|error| {
        log::always(&error);
        synStatus::synFail
    })?;
    let faults = Faults::from_environment().map_err(|error| {
        log::always(&error);
        synStatus::synFail
    })?;
    log::enable(config.logs);
    faults.before("synInitialize")?;
    library.runtime = Some(Arc::new(Runtime {
        cards: Mutex::new(vec![None; config.cards]),
        config,
        faults,
        streams: Registry::default(),
        events: Registry::default(),
        graphs: Registry::default(),
        tensors: Registry::default(),
        sections: Registry::default(),
        recipes: Registry::default(),
        settings: Mutex::default(),
    }));
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

impl Runtime {
    /// An acquired card, else `synInvalidArgument`.
    pub(crate) fn card(&self, device: u32) -> Outcome<Arc<Card>> {
        let cards = lock(&self.cards);
        cards.get(device as usize).cloned().flatten().ok_or(synStatus::synInvalidArgument)
    }

    /// An acquired card that still answers, else `synDeviceReset`.
    pub(crate) fn live_card(&self, device: u32) -> Outcome<Arc<Card>> {
        let card = self.card(device)?;
        card.check()?;
        Ok(card)
    }

    /// What nodes of a graph run on.
    pub(crate) fn machine(&self, generation: Generation, is_inference: bool, is_quantized: bool) -> Machine {
        Machine {
            generation,
            mode: self.config.mode,
            is_inference,
            is_quantized,
            has_hf8_kernels: self.config.has_hf8_kernels,
            are_hf8_kernels_lossy: self.config.are_hf8_kernels_lossy,
        }
    }

    /// Acquires the card `module`, or the first free one.
    pub(crate) fn acquire(&self, module: Option<usize>) -> Outcome<u32> {
        let mut cards = lock(&self.cards);
        let module = match module {
            Some(module) => module,
            None => cards.iter().position(Option::is_none).ok_or(synStatus::synDeviceAlreadyAcquired)?,
        };
        let card = cards.get_mut(module).ok_or(synStatus::synNoDeviceFound)?;
        if card.is_some() {
            return Err(synStatus::synDeviceAlreadyAcquired);
        }
        *card = Some(Arc::new(Card::new(module, &self.config)));
        u32::try_from(module).map_err(|_| synStatus::synFail)
    }

    /// Ends the card's work and takes back everything that was made on it.
    pub(crate) fn release(&self, module: usize) -> Outcome {
        let card =
            lock(&self.cards).get_mut(module).and_then(Option::take).ok_or(synStatus::synInvalidArgument)?;
        for stream in self.streams.remove_where(|stream| Arc::ptr_eq(stream.card(), &card)) {
            stream.close();
        }
        self.events.remove_where(|event| Arc::ptr_eq(event.card(), &card));
        Ok(())
    }
}
