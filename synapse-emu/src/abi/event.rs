use std::sync::Arc;

use habana_sys::{
    eventCreateFlags, synDeviceId, synEventHandle, synLaunchTensorInfo, synLaunchTensorInfoExt,
    synRecipeHandle, synStatus, synStreamHandle,
};

use super::{api, pointer};
use crate::outcome::Outcome;
use crate::schedule::event::Event;
use crate::schedule::work::Work;
use crate::state::library::runtime;

api! {
    /// `flags`: 0, or `EVENT_COLLECT_TIME`.
    fn synEventCreate(pEventHandler: *mut synEventHandle, deviceId: synDeviceId, flags: u32) {
        let runtime = runtime()?;
        let card = runtime.live_card(deviceId)?;
        let collects_time = flags == eventCreateFlags::EVENT_COLLECT_TIME.0;
        if pEventHandler.is_null() || (flags != 0 && !collects_time) {
            return Err(synStatus::synInvalidArgument);
        }
        let event = Arc::new(Event::new(card, Arc::clone(&runtime.scheduler), collects_time));
        pointer::write(pEventHandler, pointer::handle(runtime.events.insert(event)))
    }

    fn synEventDestroy(eventHandle: synEventHandle) {
        runtime()?.events.remove(pointer::number(eventHandle)).map(drop)
    }

    fn synEventRecord(eventHandle: synEventHandle, streamHandle: synStreamHandle) {
        let runtime = runtime()?;
        let event = runtime.events.get(pointer::number(eventHandle))?;
        let stream = runtime.streams.get(pointer::number(streamHandle))?;
        stream.card().check()?;
        if !Arc::ptr_eq(event.card(), stream.card()) {
            return Err(synStatus::synInvalidArgument);
        }
        let recording = event.record(&stream);
        stream.submit([Work::Record(Arc::clone(&recording))]).inspect_err(|&status| recording.pass(0, Some(status)))
    }

    fn synEventQuery(eventHandle: synEventHandle) {
        let event = runtime()?.events.get(pointer::number(eventHandle))?;
        event.card().check()?;
        event.query()
    }

    fn synEventSynchronize(eventHandle: synEventHandle) {
        let event = runtime()?.events.get(pointer::number(eventHandle))?;
        event.card().check()?;
        event.synchronize()
    }

    fn synEventElapsedTime(
        pNanoSeconds: *mut u64,
        eventHandleStart: synEventHandle,
        eventHandleEnd: synEventHandle,
    ) {
        let runtime = runtime()?;
        let start = runtime.events.get(pointer::number(eventHandleStart))?;
        let end = runtime.events.get(pointer::number(eventHandleEnd))?;
        let elapsed = start.elapsed_until(&end)?;
        pointer::write(pNanoSeconds, u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Each event stands for the external tensor at its place in the list.
    fn synEventMapTensor(
        eventHandles: *mut synEventHandle,
        numOfEvents: u64,
        launchTensorsInfo: *const synLaunchTensorInfo,
        recipeHandle: synRecipeHandle,
    ) {
        let events = pointer::list(eventHandles, numOfEvents)?;
        let tensors: Vec<_> =
            pointer::list(launchTensorsInfo, numOfEvents)?.iter().map(|info| info.tensorId).collect();
        map(&events, &tensors, recipeHandle)
    }

    fn synEventMapTensorExt(
        eventHandles: *mut synEventHandle,
        numOfEvents: u64,
        launchTensorsInfoExt: *const synLaunchTensorInfoExt,
        recipeHandle: synRecipeHandle,
    ) {
        let events = pointer::list(eventHandles, numOfEvents)?;
        let tensors: Vec<_> =
            pointer::list(launchTensorsInfoExt, numOfEvents)?.iter().map(|info| info.tensorId).collect();
        map(&events, &tensors, recipeHandle)
    }
}

fn map(events: &[synEventHandle], tensors: &[u64], recipe: synRecipeHandle) -> Outcome {
    let runtime = runtime()?;
    let recipe = runtime.recipes.get(pointer::number(recipe))?;
    let events: Vec<_> =
        events.iter().map(|&event| runtime.events.get(pointer::number(event))).collect::<Outcome<_>>()?;
    for tensor in tensors {
        recipe
            .by_id(*tensor)
            .filter(|(_, tensor)| tensor.is_external)
            .ok_or(synStatus::synInvalidArgument)?;
    }
    events.iter().zip(tensors).for_each(|(event, &tensor)| event.map_to(tensor));
    Ok(())
}
