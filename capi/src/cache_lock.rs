//! The lock of a cache: calls that read run at the same time, and one that writes waits for them.

#[cfg(not(gaudi_kv_thread_sanitizer))]
use std::sync::PoisonError;
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
#[cfg(gaudi_kv_thread_sanitizer)]
use std::sync::{TryLockError, TryLockResult};

use kv::cache::AnyCache;
use kv::device::AnyPlane;

/// A cache of either kind on a device of any kind, behind its lock. A panic leaves bytes of any value, which is what a
/// cache holds, so a lock that it poisoned is used all the same.
#[derive(Debug)]
pub(crate) struct CacheLock(RwLock<AnyCache<AnyPlane>>);

impl CacheLock {
    pub(crate) fn new(cache: impl Into<AnyCache<AnyPlane>>) -> Self {
        Self(RwLock::new(cache.into()))
    }
}

#[cfg(not(gaudi_kv_thread_sanitizer))]
impl CacheLock {
    /// The cache, once no call changes it.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, AnyCache<AnyPlane>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cache, once no other call uses it.
    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, AnyCache<AnyPlane>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread sanitizer does not see how the standard library waits: these try until the lock is free.
#[cfg(gaudi_kv_thread_sanitizer)]
impl CacheLock {
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, AnyCache<AnyPlane>> {
        until_free(|| self.0.try_read())
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, AnyCache<AnyPlane>> {
        until_free(|| self.0.try_write())
    }
}

#[cfg(gaudi_kv_thread_sanitizer)]
fn until_free<G>(attempt: impl Fn() -> TryLockResult<G>) -> G {
    loop {
        match attempt() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
}
