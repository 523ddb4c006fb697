use std::sync::Arc;

use habana_sys::{
    SYN_FLAGS_TENSOR_NAME, synEventHandle, synLaunchTensorInfo, synLaunchTensorInfoExt, synRecipeHandle,
    synStatus, synStreamHandle,
};

use super::{api, pointer};
use crate::outcome::Outcome;
use crate::recipe::bind::LaunchInfo;
use crate::recipe::executable::Recipe;
use crate::schedule::work::Work;
use crate::state::library::runtime;

// Both kinds are laid out alike, so that one function serves both.
const _: () = assert!(size_of::<synLaunchTensorInfo>() == size_of::<synLaunchTensorInfoExt>());

/// What a launch is asked for, apart from its tensors.
struct Request {
    stream: synStreamHandle,
    workspace: u64,
    recipe: synRecipeHandle,
    flags: u32,
}

impl Request {
    /// # Safety
    /// `infos` is null or valid for reads of `count` elements, whose names are strings where the flags say that they
    /// count. `events` is null or valid for reads of `event_count` elements.
    unsafe fn launch(
        &self,
        infos: *const synLaunchTensorInfo,
        count: u32,
        events: *const synEventHandle,
        event_count: u32,
    ) -> Outcome {
        let runtime = runtime()?;
        let stream = runtime.streams.get(pointer::number(self.stream))?;
        let recipe = runtime.recipes.get(pointer::number(self.recipe))?;
        if self.flags & !SYN_FLAGS_TENSOR_NAME != 0 {
            return Err(synStatus::synInvalidArgument);
        }
        // SAFETY: handed on.
        let infos = unsafe { pointer::list(infos, u64::from(count)) }?;
        // SAFETY: handed on.
        let events = unsafe { pointer::list(events, u64::from(event_count)) }?;
        let by_name = self.flags & SYN_FLAGS_TENSOR_NAME != 0;
        // SAFETY: handed on.
        let infos: Vec<_> = infos
            .iter()
            .map(|info| unsafe { launch_info(&recipe, info, by_name) })
            .collect::<Outcome<_>>()?;
        let events: Vec<_> =
            events.iter().map(|&event| runtime.events.get(pointer::number(event))).collect::<Outcome<_>>()?;
        let mapped: Vec<_> = events
            .iter()
            .map(|event| event.mapped_tensor().ok_or(synStatus::synInvalidEventHandle))
            .collect::<Outcome<_>>()?;
        stream.card().before_submission(&runtime.faults)?;
        // Nothing is recorded unless the launch is good.
        let mut launch = recipe.bind(&runtime.config, stream.card(), &infos, self.workspace)?;
        for (event, tensor) in events.iter().zip(mapped) {
            launch.signal(tensor, || event.record(&stream))?;
        }
        stream.submit([Work::Launch(Box::new(launch))])
    }
}

/// # Safety
/// The name is null or a string where it counts.
unsafe fn launch_info(
    recipe: &Arc<Recipe>,
    info: &synLaunchTensorInfo,
    by_name: bool,
) -> Outcome<LaunchInfo> {
    let id = if by_name {
        // SAFETY: handed on.
        recipe.id_of(&unsafe { pointer::text(info.tensorName) }?).ok_or(synStatus::synInvalidArgument)?
    } else {
        info.tensorId
    };
    Ok(LaunchInfo { id, address: info.pTensorAddress, sizes: info.tensorSize })
}

api! {
    /// Tensors are found by their ids, or by their names with the flag `SYN_FLAGS_TENSOR_NAME`.
    fn synLaunch(
        streamHandle: synStreamHandle,
        launchTensorsInfo: *const synLaunchTensorInfo,
        numberOfTensors: u32,
        pWorkspace: u64,
        pRecipeHandle: synRecipeHandle,
        flags: u32,
    ) {
        let request = Request { stream: streamHandle, workspace: pWorkspace, recipe: pRecipeHandle, flags };
        request.launch(launchTensorsInfo, numberOfTensors, std::ptr::null(), 0)
    }

    fn synLaunchExt(
        streamHandle: synStreamHandle,
        launchTensorsInfoExt: *const synLaunchTensorInfoExt,
        numberOfTensors: u32,
        pWorkspace: u64,
        pRecipeHandle: synRecipeHandle,
        flags: u32,
    ) {
        let request = Request { stream: streamHandle, workspace: pWorkspace, recipe: pRecipeHandle, flags };
        request.launch(launchTensorsInfoExt.cast(), numberOfTensors, std::ptr::null(), 0)
    }

    /// Each event must be mapped to an external tensor, and is recorded once that is computed.
    fn synLaunchWithExternalEvents(
        streamHandle: synStreamHandle,
        launchTensorsInfoExt: *const synLaunchTensorInfo,
        numberOfTensors: u32,
        pWorkspace: u64,
        pRecipeHandle: synRecipeHandle,
        eventHandleList: *mut synEventHandle,
        numberOfEvents: u32,
        flags: u32,
    ) {
        let request = Request { stream: streamHandle, workspace: pWorkspace, recipe: pRecipeHandle, flags };
        request.launch(launchTensorsInfoExt, numberOfTensors, eventHandleList, numberOfEvents)
    }

    fn synLaunchWithExternalEventsExt(
        streamHandle: synStreamHandle,
        launchTensorsInfoExt: *const synLaunchTensorInfoExt,
        numberOfTensors: u32,
        pWorkspace: u64,
        pRecipeHandle: synRecipeHandle,
        eventHandleList: *mut synEventHandle,
        numberOfEvents: u32,
        flags: u32,
    ) {
        let request = Request { stream: streamHandle, workspace: pWorkspace, recipe: pRecipeHandle, flags };
        request.launch(launchTensorsInfoExt.cast(), numberOfTensors, eventHandleList, numberOfEvents)
    }
}
