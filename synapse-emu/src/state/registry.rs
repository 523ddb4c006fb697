//! Objects behind handles.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use habana_sys::synStatus;

use crate::outcome::Outcome;

/// The next handle of any kind. Never reused, so a stale handle, or one of another kind, is found nowhere.
static NEXT: AtomicU64 = AtomicU64::new(0x1000);

/// The objects of one kind by their handles.
///
/// Handles reach C as pointers, but are numbers that are only ever looked up here.
pub(crate) struct Registry<T> {
    objects: RwLock<BTreeMap<u64, Arc<T>>>,
}

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Self { objects: RwLock::default() }
    }
}

impl<T> Registry<T> {
    pub(crate) fn insert(&self, object: Arc<T>) -> u64 {
        // Steps of 16 look like addresses of aligned objects to whoever checks that.
        let handle = NEXT.fetch_add(16, Ordering::Relaxed);
        self.objects.write().unwrap_or_else(PoisonError::into_inner).insert(handle, object);
        handle
    }

    /// `synInvalidArgument` for a handle that is not there.
    pub(crate) fn get(&self, handle: u64) -> Outcome<Arc<T>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.get(&handle).cloned().ok_or(synStatus::synInvalidArgument)
    }

    pub(crate) fn remove(&self, handle: u64) -> Outcome<Arc<T>> {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        objects.remove(&handle).ok_or(synStatus::synInvalidArgument)
    }

    /// Takes out what `condition` holds for, the oldest first.
    pub(crate) fn remove_where(&self, condition: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        let found = |(&handle, object): (&u64, &Arc<T>)| condition(object).then_some(handle);
        let handles: Vec<_> = objects.iter().filter_map(found).collect();
        handles.iter().filter_map(|handle| objects.remove(handle)).collect()
    }

    /// Everything that `condition` holds for, the oldest first.
    pub(crate) fn find_all(&self, condition: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.values().filter(|object| condition(object)).cloned().collect()
    }
}
