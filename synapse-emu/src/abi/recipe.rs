use std::ffi::{c_char, c_uint};
use std::path::Path;
use std::sync::Arc;

use habana_sys::{
    TensorMetadataInfo, TensorMetadataInfoExt, synDataType, synRecipeAttribute, synRecipeHandle,
    synRetrievedLaunchTensorInfo, synRetrievedLaunchTensorInfoExt, synSectionId, synSectionProp, synStatus,
    synTensorType,
};

use super::{api, pointer};
use crate::outcome::Outcome;
use crate::recipe::executable::Recipe;
use crate::recipe::plan::{Place, PlanTensor};
use crate::sizes::MAX_DIMS;
use crate::state::library::runtime;

/// The bytes of a name, with its zero.
const NAME_BYTES: usize = habana_sys::ENQUEUE_TENSOR_NAME_MAX_SIZE as usize;
/// The id of a tensor that does not exist.
const INVALID_ID: u64 = u64::MAX;

fn find(handle: synRecipeHandle) -> Outcome<Arc<Recipe>> {
    runtime()?.recipes.get(pointer::number(handle))
}

fn name_of(tensor: &PlanTensor) -> [c_char; NAME_BYTES] {
    let mut name = [0; NAME_BYTES];
    // The last byte stays zero.
    let bytes = tensor.name.bytes().take(NAME_BYTES - 1);
    name.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = c_char::from_ne_bytes([byte]));
    name
}

fn all_dims(sizes: &[u64]) -> [u64; MAX_DIMS] {
    let mut all = [0; MAX_DIMS];
    all.iter_mut().zip(sizes).for_each(|(slot, &size)| *slot = size);
    all
}

fn section_of(tensor: &PlanTensor) -> (u32, u64) {
    match tensor.place {
        Place::Persistent { section, offset } => (section, offset),
        _ => (u32::MAX, 0),
    }
}

fn launch_info(id: u64, tensor: &PlanTensor) -> synRetrievedLaunchTensorInfo {
    let (section, offset) = section_of(tensor);
    let mut permutation = [0; MAX_DIMS];
    permutation.iter_mut().zip(0..).take(tensor.sizes.len()).for_each(|(slot, dim)| *slot = dim);
    synRetrievedLaunchTensorInfo {
        tensorName: name_of(tensor),
        tensorId: id,
        tensorType: synTensorType(tensor.kind),
        tensorDataType: synDataType(tensor.dtype),
        tensorDims: tensor.sizes.len() as u32,
        tensorMaxSize: all_dims(&tensor.sizes),
        tensorMinSize: all_dims(&tensor.min_sizes),
        tensorPermutation: permutation,
        tensorSectionId: section,
        tensorOffsetInSection: offset,
        isInput: u8::from(tensor.is_input),
        reserved: [0; 10],
    }
}

/// Fills in what belongs to the ids that are there.
///
/// # Safety
/// `infos` is null or valid for `count` elements, of which the ids can be read.
unsafe fn retrieve_infos(
    recipe: synRecipeHandle,
    count: u32,
    infos: *mut synRetrievedLaunchTensorInfo,
) -> Outcome {
    let recipe = find(recipe)?;
    // SAFETY: handed on.
    let asked = unsafe { pointer::list(infos, u64::from(count)) }?;
    let mut found = Vec::with_capacity(asked.len());
    for info in asked {
        let (_, tensor) = recipe.by_id(info.tensorId).ok_or(synStatus::synInvalidArgument)?;
        found.push(launch_info(info.tensorId, tensor));
    }
    // SAFETY: handed on.
    unsafe { pointer::write_list(infos, &found) }
}

/// Fills in what belongs to the names that are there.
///
/// # Safety
/// `infos` is null or valid for `count` elements, whose names are strings.
unsafe fn retrieve_metadata(recipe: synRecipeHandle, count: u32, infos: *mut TensorMetadataInfo) -> Outcome {
    let recipe = find(recipe)?;
    // SAFETY: handed on.
    let mut infos_found = unsafe { pointer::list(infos, u64::from(count)) }?;
    for info in &mut infos_found {
        // SAFETY: handed on.
        let name = unsafe { pointer::text(info.tensorName) }?;
        let (_, tensor) =
            recipe.launched().find(|(_, tensor)| tensor.name == name).ok_or(synStatus::synInvalidArgument)?;
        let (section, offset) = section_of(tensor);
        *info = TensorMetadataInfo {
            tensorName: info.tensorName,
            elementType: tensor.dtype,
            zp: 0.0,
            scale: 1.0,
            dimensions: tensor.sizes.len() as u32,
            dimensionsSize: all_dims(&tensor.sizes),
            roiSizeInBytes: tensor.bytes().unwrap_or(0),
            batchSize: 0,
            isInput: u8::from(tensor.is_input),
            layout: [0; 20],
            sectionId: section,
            offsetInSection: offset,
        };
    }
    // SAFETY: handed on.
    unsafe { pointer::write_list(infos, &infos_found) }
}

// Both kinds are laid out alike, so that one function serves both.
const _: () = assert!(
    size_of::<synRetrievedLaunchTensorInfo>() == size_of::<synRetrievedLaunchTensorInfoExt>()
        && size_of::<TensorMetadataInfo>() == size_of::<TensorMetadataInfoExt>()
);

api! {
    /// Launches in flight keep it.
    fn synRecipeDestroy(recipeHandle: synRecipeHandle) {
        runtime()?.recipes.remove(pointer::number(recipeHandle)).map(drop)
    }

    fn synRecipeSerialize(recipeHandle: synRecipeHandle, recipeFileName: *const c_char) {
        let recipe = find(recipeHandle)?;
        recipe.write(Path::new(&pointer::text(recipeFileName)?))
    }

    /// `synWrongParamsFile` for a file that is damaged, `synDeviceTypeMismatch` for one of another device.
    fn synRecipeDeSerialize(pRecipeHandle: *mut synRecipeHandle, recipeFileName: *const c_char) {
        let runtime = runtime()?;
        let path = pointer::text(recipeFileName)?;
        if pRecipeHandle.is_null() {
            return Err(synStatus::synInvalidArgument);
        }
        let recipe = Recipe::read(&runtime.config, Path::new(&path))?;
        pointer::write(pRecipeHandle, pointer::handle(runtime.recipes.insert(Arc::new(recipe))))
    }

    fn synRecipeGetAttribute(
        retVal: *mut u64,
        recipeAttr: *const synRecipeAttribute,
        querySize: c_uint,
        recipeHandle: synRecipeHandle,
    ) {
        let recipe = find(recipeHandle)?;
        let attributes = pointer::list(recipeAttr, u64::from(querySize))?;
        let values: Vec<_> =
            attributes.iter().map(|&attribute| recipe.attribute(attribute)).collect::<Outcome<_>>()?;
        pointer::write_list(retVal, &values)
    }

    fn synRecipeSectionGetProp(
        pRecipeHandle: synRecipeHandle,
        sectionId: synSectionId,
        prop: synSectionProp,
        propertyPtr: *mut u64,
    ) {
        let recipe = find(pRecipeHandle)?;
        let section = recipe.section(sectionId)?;
        let value = match prop {
            synSectionProp::SECTION_SIZE => section.bytes,
            synSectionProp::SECTION_DATA => recipe.section_data(sectionId)?.expose_provenance() as u64,
            synSectionProp::IS_CONST => u64::from(section.is_const),
            _ => return Err(synStatus::synInvalidArgument),
        };
        pointer::write(propertyPtr, value)
    }

    fn synRecipeSectionHostBuffersClear(
        recipeHandle: synRecipeHandle,
        sectionIds: *const synSectionId,
        numOfSections: u64,
    ) {
        let recipe = find(recipeHandle)?;
        pointer::list(sectionIds, numOfSections)?.into_iter().try_for_each(|section| recipe.clear_section(section))
    }

    fn synWorkspaceGetSize(pWorkspaceSize: *mut u64, recipeHandle: synRecipeHandle) {
        let recipe = find(recipeHandle)?;
        pointer::write(pWorkspaceSize, recipe.plan.workspace_bytes)
    }

    fn synTensorExtExtractExecutionOrder(
        recipeHandle: synRecipeHandle,
        numOfExternalTensors: u32,
        tensorIds: *mut u64,
    ) {
        let ids = find(recipeHandle)?.external_ids();
        if ids.len() != numOfExternalTensors as usize {
            return Err(synStatus::synInvalidArgument);
        }
        pointer::write_list(tensorIds, &ids)
    }

    fn synTensorRetrieveLaunchAmount(pRecipeHandle: synRecipeHandle, numOfTensors: *mut u32) {
        let recipe = find(pRecipeHandle)?;
        pointer::write(numOfTensors, recipe.plan.launched.len() as u32)
    }

    fn synTensorRetrieveLaunchIds(pRecipeHandle: synRecipeHandle, tensorsIds: *mut u64, numOfTensors: u32) {
        let recipe = find(pRecipeHandle)?;
        let ids: Vec<_> = recipe.launched().map(|(id, _)| id).collect();
        if ids.len() != numOfTensors as usize {
            return Err(synStatus::synInvalidArgument);
        }
        pointer::write_list(tensorsIds, &ids)
    }

    fn synTensorRetrieveLaunchInfoById(
        pRecipeHandle: synRecipeHandle,
        numOfTensors: u32,
        tensorsLaunchInfo: *mut synRetrievedLaunchTensorInfo,
    ) {
        retrieve_infos(pRecipeHandle, numOfTensors, tensorsLaunchInfo)
    }

    fn synTensorRetrieveLaunchInfoByIdExt(
        pRecipeHandle: synRecipeHandle,
        numOfTensors: u32,
        tensorsLaunchInfoExt: *mut synRetrievedLaunchTensorInfoExt,
    ) {
        retrieve_infos(pRecipeHandle, numOfTensors, tensorsLaunchInfoExt.cast())
    }

    /// One for each tensor. Without a list only the number comes back; else it is the room in it.
    fn synTensorRetrieveMultiLaunchInfosById(
        pRecipeHandle: synRecipeHandle,
        tensorId: u64,
        tensorLaunchInfo: *mut synRetrievedLaunchTensorInfo,
        numLaunchInfos: *mut u32,
    ) {
        let recipe = find(pRecipeHandle)?;
        let (_, tensor) = recipe.by_id(tensorId).ok_or(synStatus::synInvalidArgument)?;
        let room = pointer::read(numLaunchInfos)?;
        pointer::write(numLaunchInfos, 1)?;
        if tensorLaunchInfo.is_null() {
            return Ok(());
        }
        if room == 0 {
            return Err(synStatus::synInvalidArgument);
        }
        pointer::write(tensorLaunchInfo, launch_info(tensorId, tensor))
    }

    fn synTensorRetrieveInfosByName(
        pRecipeHandle: synRecipeHandle,
        numOfTensors: u32,
        tensorsMetadataInfo: *mut TensorMetadataInfo,
    ) {
        retrieve_metadata(pRecipeHandle, numOfTensors, tensorsMetadataInfo)
    }

    fn synTensorRetrieveInfosByNameExt(
        pRecipeHandle: synRecipeHandle,
        numOfTensors: u32,
        tensorsMetadataInfoExt: *mut TensorMetadataInfoExt,
    ) {
        retrieve_metadata(pRecipeHandle, numOfTensors, tensorsMetadataInfoExt.cast())
    }

    fn synTensorRetrievePersistentAmount(pRecipeHandle: synRecipeHandle, numOfTensors: *mut u32) {
        let recipe = find(pRecipeHandle)?;
        pointer::write(numOfTensors, recipe.plan.launched.len() as u32)
    }

    fn synTensorRetrieveNames(
        pRecipeHandle: synRecipeHandle,
        tensorsName: *mut [c_char; NAME_BYTES],
        numOfTensors: u32,
    ) {
        let recipe = find(pRecipeHandle)?;
        let names: Vec<_> = recipe.launched().map(|(_, tensor)| name_of(tensor)).collect();
        if names.len() != numOfTensors as usize {
            return Err(synStatus::synInvalidArgument);
        }
        pointer::write_list(tensorsName, &names)
    }

    /// A name that no launched tensor has gets `TENSOR_INVALID_ID`, and the call returns `synInvalidArgument`.
    fn synTensorRetrieveIds(
        pRecipeHandle: synRecipeHandle,
        tensorNames: *mut *const c_char,
        tensorIds: *mut u64,
        numOfTensors: u32,
    ) {
        let recipe = find(pRecipeHandle)?;
        let mut ids = Vec::new();
        for name in pointer::list(tensorNames, u64::from(numOfTensors))? {
            ids.push(recipe.id_of(&pointer::text(name)?).unwrap_or(INVALID_ID));
        }
        pointer::write_list(tensorIds, &ids)?;
        if ids.contains(&INVALID_ID) { Err(synStatus::synInvalidArgument) } else { Ok(()) }
    }
}
