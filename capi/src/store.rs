//! What a cache consists of, and doing the same to each kind.

use std::sync::RwLock;
#[cfg(not(gaudi_kv_thread_sanitizer))]
use std::sync::{PoisonError, RwLockReadGuard, RwLockWriteGuard};

use kv::cache::{MhaCache, MlaCache};
use kv::device::Device;
use kv::device::emulated::{Emulated, EmulatedPlane};
#[cfg(feature = "hpu")]
use kv::device::hpu::{Hpu, HpuPlane};

use crate::failure::Failure;

/// The planes of a cache and the device that they are on.
#[derive(Debug)]
pub(crate) enum Store {
    Emulated(Emulated, Planes<EmulatedPlane>),
    #[cfg(feature = "hpu")]
    Hpu(Hpu, Planes<HpuPlane>),
}

/// The planes of a cache. Calls that read may run at the same time, one that writes waits for them.
#[derive(Debug)]
pub(crate) enum Planes<P> {
    Mha(RwLock<MhaCache<P>>),
    Mla(RwLock<MlaCache<P>>),
}

/// Does the same to a store of any kind.
macro_rules! on_store {
    ($store:expr, |$device:ident, $planes:ident| $work:expr) => {
        match $store {
            $crate::store::Store::Emulated($device, $planes) => $work,
            #[cfg(feature = "hpu")]
            $crate::store::Store::Hpu($device, $planes) => $work,
        }
    };
}
pub(crate) use on_store;

/// Does the same to planes of any kind.
macro_rules! on_planes {
    ($planes:expr, $lock:ident, |$cache:ident| $work:expr) => {
        match $planes {
            $crate::store::Planes::Mha(lock) => {
                #[allow(unused_mut, reason = "one that is read is not changed")]
                let mut $cache = $crate::store::$lock(lock);
                $work
            }
            $crate::store::Planes::Mla(lock) => {
                #[allow(unused_mut, reason = "one that is read is not changed")]
                let mut $cache = $crate::store::$lock(lock);
                $work
            }
        }
    };
}
pub(crate) use on_planes;

/// The cache, once no call changes it. A panic leaves bytes of any value, which is what a cache holds.
#[cfg(not(gaudi_kv_thread_sanitizer))]
pub(crate) fn reading<C>(lock: &RwLock<C>) -> RwLockReadGuard<'_, C> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// The cache, once no other call uses it.
#[cfg(not(gaudi_kv_thread_sanitizer))]
pub(crate) fn writing<C>(lock: &RwLock<C>) -> RwLockWriteGuard<'_, C> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// The same for the thread sanitizer, which does not see how the standard library waits: tries until the lock is free.
#[cfg(gaudi_kv_thread_sanitizer)]
mod seen {
    use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult};

    fn until_free<G>(attempt: impl Fn() -> TryLockResult<G>) -> G {
        loop {
            match attempt() {
                Ok(guard) => return guard,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            }
        }
    }

    pub(crate) fn reading<C>(lock: &RwLock<C>) -> RwLockReadGuard<'_, C> {
        until_free(|| lock.try_read())
    }

    pub(crate) fn writing<C>(lock: &RwLock<C>) -> RwLockWriteGuard<'_, C> {
        until_free(|| lock.try_write())
    }
}
#[cfg(gaudi_kv_thread_sanitizer)]
pub(crate) use seen::{reading, writing};

impl<P> Planes<P> {
    pub(crate) fn mha(&self) -> Result<&RwLock<MhaCache<P>>, Failure> {
        match self {
            Self::Mha(cache) => Ok(cache),
            Self::Mla(_) => {
                Err(Failure::argument("the cache holds latents (MLA); keys and values (MHA) are needed"))
            }
        }
    }

    pub(crate) fn mla(&self) -> Result<&RwLock<MlaCache<P>>, Failure> {
        match self {
            Self::Mla(cache) => Ok(cache),
            Self::Mha(_) => {
                Err(Failure::argument("the cache holds keys and values (MHA); latents (MLA) are needed"))
            }
        }
    }
}

impl Store {
    /// What the cache's device is, for people.
    pub(crate) fn description(&self) -> String {
        on_store!(self, |device, _planes| device.description())
    }
}
