use std::sync::Arc;

use habana_sys::{synDeviceId, synEventHandle, synStatus, synStreamHandle};

use super::{api, pointer};
use crate::card::AFFINITIES;
use crate::schedule::stream::Stream;
use crate::schedule::work::Work;
use crate::state::library::runtime;

api! {
    fn synStreamCreateGeneric(pStreamHandle: *mut synStreamHandle, deviceId: synDeviceId, flags: u32) {
        let runtime = runtime()?;
        let card = runtime.live_card(deviceId)?;
        if pStreamHandle.is_null() || flags != 0 {
            return Err(synStatus::synInvalidArgument);
        }
        let stream = Arc::new(Stream::new(card, Arc::clone(&runtime.scheduler)));
        pointer::write(pStreamHandle, pointer::handle(runtime.streams.insert(stream)))
    }

    /// `synBusy` while it has work to do.
    fn synStreamDestroy(streamHandle: synStreamHandle) {
        let runtime = runtime()?;
        let handle = pointer::number(streamHandle);
        runtime.streams.get(handle)?.close_if_idle()?;
        runtime.streams.remove(handle).map(drop)
    }

    /// Work submitted to the stream from now on waits for the event's last recording, which is on another stream.
    fn synStreamWaitEvent(streamHandle: synStreamHandle, eventHandle: synEventHandle, flags: u32) {
        let runtime = runtime()?;
        let stream = runtime.streams.get(pointer::number(streamHandle))?;
        let event = runtime.events.get(pointer::number(eventHandle))?;
        stream.card().check()?;
        if flags != 0 {
            return Err(synStatus::synInvalidArgument);
        }
        match event.recording_for(&stream)? {
            Some(recording) => stream.submit([Work::Wait(recording)]),
            None => Ok(()),
        }
    }

    fn synStreamSynchronize(streamHandle: synStreamHandle) {
        let stream = runtime()?.streams.get(pointer::number(streamHandle))?;
        stream.card().check()?;
        stream.synchronize()
    }

    fn synStreamQuery(streamHandle: synStreamHandle) {
        let stream = runtime()?.streams.get(pointer::number(streamHandle))?;
        stream.card().check()?;
        stream.query()
    }

    fn synStreamSetAffinity(deviceId: synDeviceId, pStreamHandle: synStreamHandle, streamAffinityMask: u64) {
        let runtime = runtime()?;
        runtime.live_card(deviceId)?;
        let stream = runtime.streams.get(pointer::number(pStreamHandle))?;
        if streamAffinityMask == 0 || streamAffinityMask >> AFFINITIES != 0 {
            return Err(synStatus::synInvalidArgument);
        }
        stream.set_affinity(streamAffinityMask);
        Ok(())
    }

    fn synStreamGetAffinity(deviceId: synDeviceId, pStreamHandle: synStreamHandle, streamAffinityMask: *mut u64) {
        let runtime = runtime()?;
        runtime.live_card(deviceId)?;
        let stream = runtime.streams.get(pointer::number(pStreamHandle))?;
        pointer::write(streamAffinityMask, stream.affinity())
    }
}
