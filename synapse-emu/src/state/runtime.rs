//! The library between initialization and its end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use habana_sys::synStatus;

use super::registry::Registry;
use crate::card::Card;
use crate::config::Config;
use crate::fault::Faults;
use crate::graph::builder::Graph;
use crate::graph::handles::{SectionRef, TensorRef};
use crate::lock::lock;
use crate::outcome::Outcome;
use crate::recipe::executable::Recipe;
use crate::schedule::event::Event;
use crate::schedule::scheduler::Scheduler;
use crate::schedule::stream::Stream;
use crate::schedule::watch::Watch;

/// Everything that the handles of an initialized library name.
pub(crate) struct Runtime {
    pub(crate) config: Config,
    pub(crate) faults: Faults,
    /// By module id; `None` where not acquired.
    cards: Mutex<Vec<Option<Arc<Card>>>>,
    pub(crate) scheduler: Arc<Scheduler>,
    _watch: Watch,
    pub(crate) streams: Registry<Stream>,
    pub(crate) events: Registry<Event>,
    pub(crate) graphs: Registry<Mutex<Graph>>,
    pub(crate) tensors: Registry<TensorRef>,
    pub(crate) sections: Registry<SectionRef>,
    pub(crate) recipes: Registry<Recipe>,
    pub(crate) settings: Mutex<HashMap<String, String>>,
}

impl Runtime {
    /// `synOutOfResources` where the host has no thread left.
    pub(crate) fn new(config: Config, faults: Faults) -> Outcome<Self> {
        let scheduler = Arc::new(Scheduler::new(config.seed, faults.lateness));
        Ok(Self {
            cards: Mutex::new(vec![None; config.cards]),
            _watch: Watch::new(Arc::clone(&scheduler), config.silence)?,
            scheduler,
            config,
            faults,
            streams: Registry::default(),
            events: Registry::default(),
            graphs: Registry::default(),
            tensors: Registry::default(),
            sections: Registry::default(),
            recipes: Registry::default(),
            settings: Mutex::default(),
        })
    }

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
        let streams = self.streams.remove_where(|stream| Arc::ptr_eq(stream.card(), &card));
        Stream::close_all(&self.scheduler, &streams);
        self.events.remove_where(|event| Arc::ptr_eq(event.card(), &card));
        Ok(())
    }
}
