use std::ffi::{c_uchar, c_void};

use habana_sys::{synDeviceId, synDmaDir, synStatus, synStreamHandle};

use super::{api, pointer};
use crate::card::Card;
use crate::lock::lock;
use crate::outcome::Outcome;
use crate::schedule::work::{Pattern, Work};
use crate::state::library::runtime;

api! {
    /// `flags` is 0. `reqAddr`: where it must lie, or 0.
    fn synDeviceMalloc(deviceId: synDeviceId, size: u64, reqAddr: u64, flags: u32, buffer: *mut u64) {
        let runtime = runtime()?;
        let card = runtime.live_card(deviceId)?;
        if buffer.is_null() || flags != 0 {
            return Err(synStatus::synInvalidArgument);
        }
        if !runtime.faults.allows_allocation() {
            return Err(synStatus::synOutOfDeviceMemory);
        }
        let address = lock(&card.memory).allocate(size, reqAddr)?;
        pointer::write(buffer, address)
    }

    /// Works on a lost card.
    fn synDeviceFree(deviceId: synDeviceId, buffer: u64, flags: u32) {
        let card = runtime()?.card(deviceId)?;
        if flags != 0 {
            return Err(synStatus::synInvalidArgument);
        }
        lock(&card.memory).free(buffer)
    }

    fn synHostMalloc(deviceId: synDeviceId, size: u64, flags: u32, buffer: *mut *mut c_void) {
        let runtime = runtime()?;
        let card = runtime.live_card(deviceId)?;
        if buffer.is_null() || flags != 0 || size == 0 {
            return Err(synStatus::synInvalidArgument);
        }
        if !runtime.faults.allows_allocation() {
            return Err(synStatus::synOutOfHostMemory);
        }
        let bytes = usize::try_from(size).map_err(|_| synStatus::synOutOfHostMemory)?;
        let address = lock(&card.host).allocate(bytes)?;
        pointer::write(buffer, address.cast())
    }

    /// Works on a lost card.
    fn synHostFree(deviceId: synDeviceId, buffer: *const c_void, flags: u32) {
        let card = runtime()?.card(deviceId)?;
        if flags != 0 {
            return Err(synStatus::synInvalidArgument);
        }
        lock(&card.host).remove(buffer.addr(), true).map(drop)
    }

    fn synHostMap(deviceId: synDeviceId, size: u64, buffer: *const c_void) {
        let card = runtime()?.live_card(deviceId)?;
        if buffer.is_null() {
            return Err(synStatus::synInvalidArgument);
        }
        let bytes = usize::try_from(size).map_err(|_| synStatus::synInvalidArgument)?;
        lock(&card.host).map(buffer.expose_provenance(), bytes)
    }

    /// Waits for work that uses it. Works on a lost card.
    fn synHostUnmap(deviceId: synDeviceId, buffer: *const c_void) {
        let runtime = runtime()?;
        let removed = lock(&runtime.card(deviceId)?.host).remove(buffer.addr(), false)?;
        runtime.scheduler.finish_until(|| !removed.is_used());
        Ok(())
    }

    fn synMemCopyAsync(streamHandle: synStreamHandle, src: u64, size: u64, dst: u64, direction: synDmaDir) {
        copy(streamHandle, &[(src, size, dst)], direction)
    }

    fn synMemCopyAsyncMultiple(
        streamHandle: synStreamHandle,
        src: *const u64,
        size: *const u64,
        dst: *const u64,
        direction: synDmaDir,
        numCopies: u64,
    ) {
        let sources = pointer::list(src, numCopies)?;
        let sizes = pointer::list(size, numCopies)?;
        let targets = pointer::list(dst, numCopies)?;
        let copies: Vec<_> =
            sources.into_iter().zip(sizes).zip(targets).map(|((from, bytes), to)| (from, bytes, to)).collect();
        copy(streamHandle, &copies, direction)
    }

    fn synMemsetD32Async(pDeviceMem: u64, value: u32, numOfElements: u64, streamHandle: synStreamHandle) {
        fill(streamHandle, pDeviceMem, Pattern::D32(value), numOfElements)
    }

    fn synMemsetD16Async(pDeviceMem: u64, value: u16, numOfElements: u64, streamHandle: synStreamHandle) {
        fill(streamHandle, pDeviceMem, Pattern::D16(value), numOfElements)
    }

    fn synMemsetD8Async(pDeviceMem: u64, value: c_uchar, numOfElements: u64, streamHandle: synStreamHandle) {
        fill(streamHandle, pDeviceMem, Pattern::D8(value), numOfElements)
    }
}

/// Submits copies of (from, bytes, to). None is submitted unless all can be.
fn copy(stream: synStreamHandle, copies: &[(u64, u64, u64)], direction: synDmaDir) -> Outcome {
    let runtime = runtime()?;
    let stream = runtime.streams.get(pointer::number(stream))?;
    let card = stream.card();
    card.before_submission(&runtime.faults)?;
    let work: Vec<_> = copies.iter().map(|&copy| copy_work(card, copy, direction)).collect::<Outcome<_>>()?;
    stream.submit(work)
}

fn copy_work(card: &Card, (from, bytes, to): (u64, u64, u64), direction: synDmaDir) -> Outcome<Work> {
    let device = |address| lock(&card.memory).resolve(address, bytes);
    let host = |address| lock(&card.host).resolve(address, bytes);
    Ok(match direction {
        synDmaDir::HOST_TO_DRAM => Work::Upload { source: host(from)?, target: device(to)? },
        synDmaDir::DRAM_TO_HOST => Work::Download { source: device(from)?, target: host(to)? },
        synDmaDir::DRAM_TO_DRAM => Work::Move { source: device(from)?, target: device(to)? },
        _ => return Err(synStatus::synInvalidArgument),
    })
}

fn fill(stream: synStreamHandle, address: u64, pattern: Pattern, count: u64) -> Outcome {
    let runtime = runtime()?;
    let stream = runtime.streams.get(pointer::number(stream))?;
    let card = stream.card();
    card.before_submission(&runtime.faults)?;
    let bytes = count.checked_mul(pattern.bytes()).ok_or(synStatus::synInvalidArgument)?;
    let target = lock(&card.memory).resolve(address, bytes)?;
    stream.submit([Work::Fill { target, pattern }])
}
