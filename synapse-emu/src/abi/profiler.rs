//! The profiler. Nothing is measured: it can be started, stopped and fed, and has no trace to give.

use std::ffi::{c_char, c_void};
use std::sync::OnceLock;
use std::time::Instant;

use habana_sys::{synDeviceId, synStatus, synTraceFormat, synTraceType};

use super::{api, pointer};
use crate::outcome::Outcome;
use crate::state::library::runtime;

/// From here its clock counts.
static START: OnceLock<Instant> = OnceLock::new();

fn check_kind(kind: synTraceType) -> Outcome {
    let exists = (1..synTraceType::synTraceTypeSize.0).contains(&kind.0);
    if exists { Ok(()) } else { Err(synStatus::synInvalidArgument) }
}

api! {
    fn synProfilerQueryRequiredMemory(deviceId: synDeviceId, bytesRequired: *mut u32) {
        runtime()?.live_card(deviceId)?;
        pointer::write(bytesRequired, 0)
    }

    fn synProfilerSetUserBuffer(deviceId: synDeviceId, _userBuffer: *mut c_void) {
        runtime()?.live_card(deviceId).map(drop)
    }

    fn synProfilerStart(type_: synTraceType, deviceId: synDeviceId) {
        runtime()?.live_card(deviceId)?;
        check_kind(type_)
    }

    fn synProfilerStop(type_: synTraceType, deviceId: synDeviceId) {
        runtime()?.live_card(deviceId)?;
        check_kind(type_)
    }

    /// Not emulated.
    fn synProfilerGetTrace(
        type_: synTraceType,
        deviceId: synDeviceId,
        _format: synTraceFormat,
        _buffer: *mut c_void,
        _size: *mut u64,
        _numEntries: *mut u64,
    ) {
        runtime()?.live_card(deviceId)?;
        check_kind(type_)?;
        Err(synStatus::synUnsupported)
    }

    fn synProfilerGetCurrentTimeNS(nanoTime: *mut u64) {
        runtime()?;
        let elapsed = START.get_or_init(Instant::now).elapsed();
        pointer::write(nanoTime, u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
    }

    fn synProfilerAddCustomMeasurement(description: *const c_char, _nanoTime: u64) {
        runtime()?;
        pointer::text(description).map(drop)
    }

    fn synProfilerAddCustomMeasurementArgs(
        description: *const c_char,
        _nanoTime: u64,
        _args: *mut *const c_char,
        _argsSize: u64,
    ) {
        runtime()?;
        pointer::text(description).map(drop)
    }

    fn synProfilerAddCustomMeasurementArgsAndThread(
        description: *const c_char,
        _nanoTime: u64,
        _args: *mut *const c_char,
        _argsSize: u64,
        _threadName: *const c_char,
    ) {
        runtime()?;
        pointer::text(description).map(drop)
    }

    fn synProfilerAddCustomEvent(
        description: *const c_char,
        _startTime: u64,
        _endTime: u64,
        _args: *mut *const c_char,
        _argsSize: u64,
    ) {
        runtime()?;
        pointer::text(description).map(drop)
    }
}
