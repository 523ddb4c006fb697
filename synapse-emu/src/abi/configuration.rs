use std::ffi::c_char;

use habana_sys::synStatus;

use super::{api, pointer};
use crate::lock::lock;
use crate::state::library::runtime;
use crate::variable::{PREFIX, Variables};

/// Settings in all, and bytes of one.
const MAX_SETTINGS: usize = 1024;

api! {
    /// Before initialization a setting of this library, which holds for the next initialization; else one that is kept to
    /// be read again, and changes nothing.
    fn synConfigurationSet(configurationName: *const c_char, configurationValue: *const c_char) {
        let runtime = runtime();
        let (name, value) = (pointer::text(configurationName)?, pointer::text(configurationValue)?);
        if runtime.is_err() && name.starts_with(PREFIX) {
            return Variables::give(&name, &value);
        }
        let runtime = runtime?;
        let mut settings = lock(&runtime.settings);
        if settings.len() >= MAX_SETTINGS && !settings.contains_key(&name) {
            return Err(synStatus::synOutOfResources);
        }
        settings.insert(name, value);
        Ok(())
    }

    /// `synFail` for a setting that was not set.
    fn synConfigurationGet(configurationName: *const c_char, configurationValue: *mut c_char, size: u64) {
        let runtime = runtime()?;
        let name = pointer::text(configurationName)?;
        let value = lock(&runtime.settings).get(&name).cloned().ok_or(synStatus::synFail)?;
        pointer::write_text(configurationValue, size, &value)
    }
}
