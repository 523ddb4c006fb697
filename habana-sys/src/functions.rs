// Made by `cargo run -p habana-sys --features bindgen --bin generate`: change the header, not this file.

use crate::bindings::*;
use crate::symbols::Symbols;
/// Type of `synStreamCreateGeneric`.
pub type synStreamCreateGeneric_fn = unsafe extern "C" fn(
    pStreamHandle: *mut synStreamHandle,
    deviceId: synDeviceId,
    flags: u32,
) -> synStatus;
/// Type of `synStreamDestroy`.
pub type synStreamDestroy_fn = unsafe extern "C" fn(
    streamHandle: synStreamHandle,
) -> synStatus;
/// Type of `synStreamWaitEvent`.
pub type synStreamWaitEvent_fn = unsafe extern "C" fn(
    streamHandle: synStreamHandle,
    eventHandle: synEventHandle,
    flags: u32,
) -> synStatus;
/// Type of `synStreamSynchronize`.
pub type synStreamSynchronize_fn = unsafe extern "C" fn(
    streamHandle: synStreamHandle,
) -> synStatus;
/// Type of `synStreamQuery`.
pub type synStreamQuery_fn = unsafe extern "C" fn(
    streamHandle: synStreamHandle,
) -> synStatus;
/// Type of `synEventCreate`.
pub type synEventCreate_fn = unsafe extern "C" fn(
    pEventHandler: *mut synEventHandle,
    deviceId: synDeviceId,
    flags: u32,
) -> synStatus;
/// Type of `synEventDestroy`.
pub type synEventDestroy_fn = unsafe extern "C" fn(
    eventHandle: synEventHandle,
) -> synStatus;
/// Type of `synEventRecord`.
pub type synEventRecord_fn = unsafe extern "C" fn(
    eventHandle: synEventHandle,
    streamHandle: synStreamHandle,
) -> synStatus;
/// Type of `synEventQuery`.
pub type synEventQuery_fn = unsafe extern "C" fn(
    eventHandle: synEventHandle,
) -> synStatus;
/// Type of `synEventSynchronize`.
pub type synEventSynchronize_fn = unsafe extern "C" fn(
    eventHandle: synEventHandle,
) -> synStatus;
/// Type of `synEventElapsedTime`.
pub type synEventElapsedTime_fn = unsafe extern "C" fn(
    pNanoSeconds: *mut u64,
    eventHandleStart: synEventHandle,
    eventHandleEnd: synEventHandle,
) -> synStatus;
/// Type of `synEventMapTensor`.
pub type synEventMapTensor_fn = unsafe extern "C" fn(
    eventHandles: *mut synEventHandle,
    numOfEvents: u64,
    launchTensorsInfo: *const synLaunchTensorInfo,
    recipeHandle: synRecipeHandle,
) -> synStatus;
/// Type of `synEventMapTensorExt`.
pub type synEventMapTensorExt_fn = unsafe extern "C" fn(
    eventHandles: *mut synEventHandle,
    numOfEvents: u64,
    launchTensorsInfoExt: *const synLaunchTensorInfoExt,
    recipeHandle: synRecipeHandle,
) -> synStatus;
/// Type of `synTensorExtExtractExecutionOrder`.
pub type synTensorExtExtractExecutionOrder_fn = unsafe extern "C" fn(
    recipeHandle: synRecipeHandle,
    numOfExternalTensors: u32,
    tensorIds: *mut u64,
) -> synStatus;
/// Type of `synRecipeDestroy`.
pub type synRecipeDestroy_fn = unsafe extern "C" fn(
    recipeHandle: synRecipeHandle,
) -> synStatus;
/// Type of `synRecipeSerialize`.
pub type synRecipeSerialize_fn = unsafe extern "C" fn(
    recipeHandle: synRecipeHandle,
    recipeFileName: *const ::core::ffi::c_char,
) -> synStatus;
/// Type of `synRecipeDeSerialize`.
pub type synRecipeDeSerialize_fn = unsafe extern "C" fn(
    pRecipeHandle: *mut synRecipeHandle,
    recipeFileName: *const ::core::ffi::c_char,
) -> synStatus;
/// Type of `synRecipeGetAttribute`.
pub type synRecipeGetAttribute_fn = unsafe extern "C" fn(
    retVal: *mut u64,
    recipeAttr: *const synRecipeAttribute,
    querySize: ::core::ffi::c_uint,
    recipeHandle: synRecipeHandle,
) -> synStatus;
/// Type of `synSectionCreate`.
pub type synSectionCreate_fn = unsafe extern "C" fn(
    sectionHandle: *mut synSectionHandle,
    sectionDescriptor: u64,
    graph: synGraphHandle,
) -> synStatus;
/// Type of `synSectionSetGroup`.
pub type synSectionSetGroup_fn = unsafe extern "C" fn(
    sectionHandle: synSectionHandle,
    sectionGroup: u64,
) -> synStatus;
/// Type of `synSectionGetGroup`.
pub type synSectionGetGroup_fn = unsafe extern "C" fn(
    sectionHandle: synSectionHandle,
    sectionGroup: *mut u64,
) -> synStatus;
/// Type of `synSectionSetPersistent`.
pub type synSectionSetPersistent_fn = unsafe extern "C" fn(
    sectionHandle: synSectionHandle,
    sectionIsPersistent: bool,
) -> synStatus;
/// Type of `synSectionGetPersistent`.
pub type synSectionGetPersistent_fn = unsafe extern "C" fn(
    sectionHandle: synSectionHandle,
    sectionIsPersistent: *mut bool,
) -> synStatus;
/// Type of `synSectionSetConst`.
pub type synSectionSetConst_fn = unsafe extern "C" fn(
    sectionHandle: synSectionHandle,
    sectionIsConst: bool,
) -> synStatus;
/// Type of `synSectionGetConst`.
pub type synSectionGetConst_fn = unsafe extern "C" fn(
    sectionHandle: synSectionHandle,
    sectionIsConst: *mut bool,
) -> synStatus;
/// Type of `synRecipeSectionGetProp`.
pub type synRecipeSectionGetProp_fn = unsafe extern "C" fn(
    pRecipeHandle: synRecipeHandle,
    sectionId: synSectionId,
    prop: synSectionProp,
    propertyPtr: *mut u64,
) -> synStatus;
/// Type of `synSectionSetRMW`.
pub type synSectionSetRMW_fn = unsafe extern "C" fn(
    sectionHandle: synSectionHandle,
    sectionIsRMW: bool,
) -> synStatus;
/// Type of `synSectionGetRMW`.
pub type synSectionGetRMW_fn = unsafe extern "C" fn(
    sectionHandle: synSectionHandle,
    sectionIsRMW: *mut bool,
) -> synStatus;
/// Type of `synRecipeSectionHostBuffersClear`.
pub type synRecipeSectionHostBuffersClear_fn = unsafe extern "C" fn(
    recipeHandle: synRecipeHandle,
    sectionIds: *const synSectionId,
    numOfSections: u64,
) -> synStatus;
/// Type of `synLaunch`.
pub type synLaunch_fn = unsafe extern "C" fn(
    streamHandle: synStreamHandle,
    launchTensorsInfo: *const synLaunchTensorInfo,
    numberOfTensors: u32,
    pWorkspace: u64,
    pRecipeHandle: synRecipeHandle,
    flags: u32,
) -> synStatus;
/// Type of `synLaunchExt`.
pub type synLaunchExt_fn = unsafe extern "C" fn(
    streamHandle: synStreamHandle,
    launchTensorsInfoExt: *const synLaunchTensorInfoExt,
    numberOfTensors: u32,
    pWorkspace: u64,
    pRecipeHandle: synRecipeHandle,
    flags: u32,
) -> synStatus;
/// Type of `synLaunchWithExternalEvents`.
pub type synLaunchWithExternalEvents_fn = unsafe extern "C" fn(
    streamHandle: synStreamHandle,
    launchTensorsInfoExt: *const synLaunchTensorInfo,
    numberOfTensors: u32,
    pWorkspace: u64,
    pRecipeHandle: synRecipeHandle,
    eventHandleList: *mut synEventHandle,
    numberOfEvents: u32,
    flags: u32,
) -> synStatus;
/// Type of `synLaunchWithExternalEventsExt`.
pub type synLaunchWithExternalEventsExt_fn = unsafe extern "C" fn(
    streamHandle: synStreamHandle,
    launchTensorsInfoExt: *const synLaunchTensorInfoExt,
    numberOfTensors: u32,
    pWorkspace: u64,
    pRecipeHandle: synRecipeHandle,
    eventHandleList: *mut synEventHandle,
    numberOfEvents: u32,
    flags: u32,
) -> synStatus;
/// Type of `synSectionDestroy`.
pub type synSectionDestroy_fn = unsafe extern "C" fn(
    sectionHandle: synSectionHandle,
) -> synStatus;
/// Type of `synWorkspaceGetSize`.
pub type synWorkspaceGetSize_fn = unsafe extern "C" fn(
    pWorkspaceSize: *mut u64,
    recipeHandle: synRecipeHandle,
) -> synStatus;
/// Type of `synMemCopyAsyncMultiple`.
pub type synMemCopyAsyncMultiple_fn = unsafe extern "C" fn(
    streamHandle: synStreamHandle,
    src: *const u64,
    size: *const u64,
    dst: *const u64,
    direction: synDmaDir,
    numCopies: u64,
) -> synStatus;
/// Type of `synMemCopyAsync`.
pub type synMemCopyAsync_fn = unsafe extern "C" fn(
    streamHandle: synStreamHandle,
    src: u64,
    size: u64,
    dst: u64,
    direction: synDmaDir,
) -> synStatus;
/// Type of `synDeviceGetCount`.
pub type synDeviceGetCount_fn = unsafe extern "C" fn(pCount: *mut u32) -> synStatus;
/// Type of `synDeviceGetCountByDeviceType`.
pub type synDeviceGetCountByDeviceType_fn = unsafe extern "C" fn(
    pCount: *mut u32,
    deviceType: synDeviceType,
) -> synStatus;
/// Type of `synDeviceCount`.
pub type synDeviceCount_fn = unsafe extern "C" fn(count: *mut u32) -> synStatus;
/// Type of `synDeviceGetModuleIDs`.
pub type synDeviceGetModuleIDs_fn = unsafe extern "C" fn(
    pDeviceModuleIds: *mut u32,
    size: *mut u32,
) -> synStatus;
/// Type of `synDeviceAcquireByDeviceType`.
pub type synDeviceAcquireByDeviceType_fn = unsafe extern "C" fn(
    pDeviceId: *mut synDeviceId,
    deviceType: synDeviceType,
) -> synStatus;
/// Type of `synDeviceAcquireByModuleId`.
pub type synDeviceAcquireByModuleId_fn = unsafe extern "C" fn(
    pDeviceId: *mut synDeviceId,
    moduleId: synModuleId,
) -> synStatus;
/// Type of `synDeviceAcquire`.
pub type synDeviceAcquire_fn = unsafe extern "C" fn(
    pDeviceId: *mut synDeviceId,
    pciBus: *const ::core::ffi::c_char,
) -> synStatus;
/// Type of `synDeviceSynchronize`.
pub type synDeviceSynchronize_fn = unsafe extern "C" fn(
    deviceId: synDeviceId,
) -> synStatus;
/// Type of `synDriverGetVersion`.
pub type synDriverGetVersion_fn = unsafe extern "C" fn(
    pDriverVersion: *mut ::core::ffi::c_char,
    len: ::core::ffi::c_int,
) -> synStatus;
/// Type of `synDeviceGetName`.
pub type synDeviceGetName_fn = unsafe extern "C" fn(
    pName: *mut ::core::ffi::c_char,
    len: ::core::ffi::c_int,
    deviceId: synDeviceId,
) -> synStatus;
/// Type of `synDeviceGetPCIBusId`.
pub type synDeviceGetPCIBusId_fn = unsafe extern "C" fn(
    pPciBusId: *mut ::core::ffi::c_char,
    len: ::core::ffi::c_int,
    deviceId: synDeviceId,
) -> synStatus;
/// Type of `synTensorCreate`.
pub type synTensorCreate_fn = unsafe extern "C" fn(
    pTensor: *mut synTensor,
    descriptor: *const synTensorDescriptor,
    pSectionHandle: synSectionHandle,
    sectionOffset: u64,
) -> synStatus;
/// Type of `synConstTensorCreate`.
pub type synConstTensorCreate_fn = unsafe extern "C" fn(
    pTensor: *mut synTensor,
    descriptor: *const synTensorDescriptor,
) -> synStatus;
/// Type of `synTensorRetrieveLaunchAmount`.
pub type synTensorRetrieveLaunchAmount_fn = unsafe extern "C" fn(
    pRecipeHandle: synRecipeHandle,
    numOfTensors: *mut u32,
) -> synStatus;
/// Type of `synTensorRetrieveLaunchIds`.
pub type synTensorRetrieveLaunchIds_fn = unsafe extern "C" fn(
    pRecipeHandle: synRecipeHandle,
    tensorsIds: *mut u64,
    numOfTensors: u32,
) -> synStatus;
/// Type of `synTensorRetrieveLaunchInfoById`.
pub type synTensorRetrieveLaunchInfoById_fn = unsafe extern "C" fn(
    pRecipeHandle: synRecipeHandle,
    numOfTensors: u32,
    tensorsLaunchInfo: *mut synRetrievedLaunchTensorInfo,
) -> synStatus;
/// Type of `synTensorRetrieveLaunchInfoByIdExt`.
pub type synTensorRetrieveLaunchInfoByIdExt_fn = unsafe extern "C" fn(
    pRecipeHandle: synRecipeHandle,
    numOfTensors: u32,
    tensorsLaunchInfoExt: *mut synRetrievedLaunchTensorInfoExt,
) -> synStatus;
/// Type of `synTensorRetrieveMultiLaunchInfosById`.
pub type synTensorRetrieveMultiLaunchInfosById_fn = unsafe extern "C" fn(
    pRecipeHandle: synRecipeHandle,
    tensorId: u64,
    tensorLaunchInfo: *mut synRetrievedLaunchTensorInfo,
    numLaunchInfos: *mut u32,
) -> synStatus;
/// Type of `synTensorRetrieveInfosByName`.
pub type synTensorRetrieveInfosByName_fn = unsafe extern "C" fn(
    pRecipeHandle: synRecipeHandle,
    numOfTensors: u32,
    tensorsMetadataInfo: *mut TensorMetadataInfo,
) -> synStatus;
/// Type of `synTensorRetrieveInfosByNameExt`.
pub type synTensorRetrieveInfosByNameExt_fn = unsafe extern "C" fn(
    pRecipeHandle: synRecipeHandle,
    numOfTensors: u32,
    tensorsMetadataInfoExt: *mut TensorMetadataInfoExt,
) -> synStatus;
/// Type of `synTensorRetrievePersistentAmount`.
pub type synTensorRetrievePersistentAmount_fn = unsafe extern "C" fn(
    pRecipeHandle: synRecipeHandle,
    numOfTensors: *mut u32,
) -> synStatus;
/// Type of `synTensorRetrieveNames`.
pub type synTensorRetrieveNames_fn = unsafe extern "C" fn(
    pRecipeHandle: synRecipeHandle,
    tensorsName: *mut [::core::ffi::c_char; 1024usize],
    numOfTensors: u32,
) -> synStatus;
/// Type of `synTensorRetrieveIds`.
pub type synTensorRetrieveIds_fn = unsafe extern "C" fn(
    pRecipeHandle: synRecipeHandle,
    tensorNames: *mut *const ::core::ffi::c_char,
    tensorIds: *mut u64,
    numOfTensors: u32,
) -> synStatus;
/// Type of `synTensorDestroy`.
pub type synTensorDestroy_fn = unsafe extern "C" fn(tensor: synTensor) -> synStatus;
/// Type of `synNodeCreate`.
pub type synNodeCreate_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
    pInputsTensorList: *const synTensor,
    pOutputsTensorList: *const synTensor,
    numberInputs: u32,
    numberOutputs: u32,
    pUserParams: *const ::core::ffi::c_void,
    paramsSize: ::core::ffi::c_uint,
    pGuid: *const ::core::ffi::c_char,
    pName: *const ::core::ffi::c_char,
    inputLayouts: *mut *const ::core::ffi::c_char,
    outputLayouts: *mut *const ::core::ffi::c_char,
) -> synStatus;
/// Type of `synNodeCreateWithId`.
pub type synNodeCreateWithId_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
    pInputsTensorList: *const synTensor,
    pOutputsTensorList: *const synTensor,
    numberInputs: u32,
    numberOutputs: u32,
    pUserParams: *const ::core::ffi::c_void,
    paramsSize: ::core::ffi::c_uint,
    pGuid: *const ::core::ffi::c_char,
    pName: *const ::core::ffi::c_char,
    nodeUniqueId: *mut synNodeId,
    inputLayouts: *mut *const ::core::ffi::c_char,
    outputLayouts: *mut *const ::core::ffi::c_char,
) -> synStatus;
/// Type of `synNodeTypeSetPrecision`.
pub type synNodeTypeSetPrecision_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
    guid: *const ::core::ffi::c_char,
    precision: synDataType,
) -> synStatus;
/// Type of `synNodeDependencySet`.
pub type synNodeDependencySet_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
    pBlockingNodesIdList: *const synNodeId,
    pBlockedNodesIdList: *const synNodeId,
    numberblocking: u32,
    numberblocked: u32,
) -> synStatus;
/// Type of `synNodeSetDeterministic`.
pub type synNodeSetDeterministic_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
    nodeId: synNodeId,
    useDeterministic: bool,
) -> synStatus;
/// Type of `synNodeGetDeterministic`.
pub type synNodeGetDeterministic_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
    nodeId: synNodeId,
    useDeterministic: *mut bool,
) -> synStatus;
/// Type of `synNodeSetRoundingMode`.
pub type synNodeSetRoundingMode_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
    nodeId: synNodeId,
    roundingMode: synRoundingMode,
) -> synStatus;
/// Type of `synNodeGetRoundingMode`.
pub type synNodeGetRoundingMode_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
    nodeId: synNodeId,
    pRoundingMode: *mut synRoundingMode,
) -> synStatus;
/// Type of `synGraphCompile`.
pub type synGraphCompile_fn = unsafe extern "C" fn(
    pRecipeHandle: *mut synRecipeHandle,
    graphHandle: synGraphHandle,
    pRecipeName: *const ::core::ffi::c_char,
    pBuildLog: *const ::core::ffi::c_char,
) -> synStatus;
/// Type of `synGraphCreate`.
pub type synGraphCreate_fn = unsafe extern "C" fn(
    pGraphHandle: *mut synGraphHandle,
    deviceType: synDeviceType,
) -> synStatus;
/// Type of `synGraphSetAttribute`.
pub type synGraphSetAttribute_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
    attributes: *const synGraphAttribute,
    values: *const u64,
    size: u32,
) -> synStatus;
/// Type of `synGraphSetAttributes`.
pub type synGraphSetAttributes_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
    attributes: *const synGraphAttribute,
    values: *const synGraphAttributeVal,
    size: u32,
) -> synStatus;
/// Type of `synGraphGetAttribute`.
pub type synGraphGetAttribute_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
    attributes: *const synGraphAttribute,
    values: *mut u64,
    size: u32,
) -> synStatus;
/// Type of `synGraphGetAttributes`.
pub type synGraphGetAttributes_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
    attributes: *const synGraphAttribute,
    values: *mut synGraphAttributeVal,
    size: u32,
) -> synStatus;
/// Type of `synGraphCreateEager`.
pub type synGraphCreateEager_fn = unsafe extern "C" fn(
    pGraphHandle: *mut synGraphHandle,
    deviceType: synDeviceType,
) -> synStatus;
/// Type of `synGraphDuplicate`.
pub type synGraphDuplicate_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
    newGraphHandle: *mut synGraphHandle,
    tensorsMap: *mut synTensorHandleMap,
    numTensors: *mut u32,
    nodesMap: *mut synNodeHandleMap,
    numNodes: *mut u32,
) -> synStatus;
/// Type of `synGraphInferShapes`.
pub type synGraphInferShapes_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
) -> synStatus;
/// Type of `synGraphDestroy`.
pub type synGraphDestroy_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
) -> synStatus;
/// Type of `synGraphGetDeviceType`.
pub type synGraphGetDeviceType_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
    deviceType: *mut synDeviceType,
) -> synStatus;
/// Type of `synMemsetD32Async`.
pub type synMemsetD32Async_fn = unsafe extern "C" fn(
    pDeviceMem: u64,
    value: u32,
    numOfElements: u64,
    streamHandle: synStreamHandle,
) -> synStatus;
/// Type of `synMemsetD8Async`.
pub type synMemsetD8Async_fn = unsafe extern "C" fn(
    pDeviceMem: u64,
    value: ::core::ffi::c_uchar,
    numOfElements: u64,
    streamHandle: synStreamHandle,
) -> synStatus;
/// Type of `synMemsetD16Async`.
pub type synMemsetD16Async_fn = unsafe extern "C" fn(
    pDeviceMem: u64,
    value: u16,
    numOfElements: u64,
    streamHandle: synStreamHandle,
) -> synStatus;
/// Type of `synHostMalloc`.
pub type synHostMalloc_fn = unsafe extern "C" fn(
    deviceId: synDeviceId,
    size: u64,
    flags: u32,
    buffer: *mut *mut ::core::ffi::c_void,
) -> synStatus;
/// Type of `synHostFree`.
pub type synHostFree_fn = unsafe extern "C" fn(
    deviceId: synDeviceId,
    buffer: *const ::core::ffi::c_void,
    flags: u32,
) -> synStatus;
/// Type of `synHostMap`.
pub type synHostMap_fn = unsafe extern "C" fn(
    deviceId: synDeviceId,
    size: u64,
    buffer: *const ::core::ffi::c_void,
) -> synStatus;
/// Type of `synHostUnmap`.
pub type synHostUnmap_fn = unsafe extern "C" fn(
    deviceId: synDeviceId,
    buffer: *const ::core::ffi::c_void,
) -> synStatus;
/// Type of `synDeviceMalloc`.
pub type synDeviceMalloc_fn = unsafe extern "C" fn(
    deviceId: synDeviceId,
    size: u64,
    reqAddr: u64,
    flags: u32,
    buffer: *mut u64,
) -> synStatus;
/// Type of `synDeviceFree`.
pub type synDeviceFree_fn = unsafe extern "C" fn(
    deviceId: synDeviceId,
    buffer: u64,
    flags: u32,
) -> synStatus;
/// Type of `synInitialize`.
pub type synInitialize_fn = unsafe extern "C" fn() -> synStatus;
/// Type of `synDestroy`.
pub type synDestroy_fn = unsafe extern "C" fn() -> synStatus;
/// Type of `synDeviceRelease`.
pub type synDeviceRelease_fn = unsafe extern "C" fn(deviceId: synDeviceId) -> synStatus;
/// Type of `synDeviceGetMemoryInfo`.
pub type synDeviceGetMemoryInfo_fn = unsafe extern "C" fn(
    deviceId: synDeviceId,
    free: *mut u64,
    total: *mut u64,
) -> synStatus;
/// Type of `synDeviceGetInfo`.
pub type synDeviceGetInfo_fn = unsafe extern "C" fn(
    deviceId: synDeviceId,
    pDeviceInfo: *mut synDeviceInfo,
) -> synStatus;
/// Type of `synDeviceGetInfoV2`.
pub type synDeviceGetInfoV2_fn = unsafe extern "C" fn(
    deviceId: synDeviceId,
    pDeviceInfo: *mut synDeviceInfoV2,
) -> synStatus;
/// Type of `synDeviceGetAttribute`.
pub type synDeviceGetAttribute_fn = unsafe extern "C" fn(
    retVal: *mut u64,
    deviceAttr: *const synDeviceAttribute,
    querySize: ::core::ffi::c_uint,
    deviceId: synDeviceId,
) -> synStatus;
/// Type of `synDeviceGetAttributeByModuleId`.
pub type synDeviceGetAttributeByModuleId_fn = unsafe extern "C" fn(
    retVal: *mut u64,
    deviceAttr: *const synDeviceAttribute,
    querySize: ::core::ffi::c_uint,
    moduleId: synModuleId,
) -> synStatus;
/// Type of `synDeviceTypeGetAttribute`.
pub type synDeviceTypeGetAttribute_fn = unsafe extern "C" fn(
    retVal: *mut u64,
    deviceAttr: *const synDeviceAttribute,
    querySize: ::core::ffi::c_uint,
    deviceType: synDeviceType,
) -> synStatus;
/// Type of `synConfigurationSet`.
pub type synConfigurationSet_fn = unsafe extern "C" fn(
    configurationName: *const ::core::ffi::c_char,
    configurationValue: *const ::core::ffi::c_char,
) -> synStatus;
/// Type of `synConfigurationGet`.
pub type synConfigurationGet_fn = unsafe extern "C" fn(
    configurationName: *const ::core::ffi::c_char,
    configurationValue: *mut ::core::ffi::c_char,
    size: u64,
) -> synStatus;
/// Type of `synProfilerQueryRequiredMemory`.
pub type synProfilerQueryRequiredMemory_fn = unsafe extern "C" fn(
    deviceId: synDeviceId,
    bytesRequired: *mut u32,
) -> synStatus;
/// Type of `synProfilerSetUserBuffer`.
pub type synProfilerSetUserBuffer_fn = unsafe extern "C" fn(
    deviceId: synDeviceId,
    userBuffer: *mut ::core::ffi::c_void,
) -> synStatus;
/// Type of `synProfilerStart`.
pub type synProfilerStart_fn = unsafe extern "C" fn(
    type_: synTraceType,
    deviceId: synDeviceId,
) -> synStatus;
/// Type of `synProfilerStop`.
pub type synProfilerStop_fn = unsafe extern "C" fn(
    type_: synTraceType,
    deviceId: synDeviceId,
) -> synStatus;
/// Type of `synProfilerGetTrace`.
pub type synProfilerGetTrace_fn = unsafe extern "C" fn(
    type_: synTraceType,
    deviceId: synDeviceId,
    format: synTraceFormat,
    buffer: *mut ::core::ffi::c_void,
    size: *mut u64,
    numEntries: *mut u64,
) -> synStatus;
/// Type of `synProfilerGetCurrentTimeNS`.
pub type synProfilerGetCurrentTimeNS_fn = unsafe extern "C" fn(
    nanoTime: *mut u64,
) -> synStatus;
/// Type of `synProfilerAddCustomMeasurement`.
pub type synProfilerAddCustomMeasurement_fn = unsafe extern "C" fn(
    description: *const ::core::ffi::c_char,
    nanoTime: u64,
) -> synStatus;
/// Type of `synProfilerAddCustomMeasurementArgs`.
pub type synProfilerAddCustomMeasurementArgs_fn = unsafe extern "C" fn(
    description: *const ::core::ffi::c_char,
    nanoTime: u64,
    args: *mut *const ::core::ffi::c_char,
    argsSize: u64,
) -> synStatus;
/// Type of `synProfilerAddCustomMeasurementArgsAndThread`.
pub type synProfilerAddCustomMeasurementArgsAndThread_fn = unsafe extern "C" fn(
    description: *const ::core::ffi::c_char,
    nanoTime: u64,
    args: *mut *const ::core::ffi::c_char,
    argsSize: u64,
    threadName: *const ::core::ffi::c_char,
) -> synStatus;
/// Type of `synProfilerAddCustomEvent`.
pub type synProfilerAddCustomEvent_fn = unsafe extern "C" fn(
    description: *const ::core::ffi::c_char,
    startTime: u64,
    endTime: u64,
    args: *mut *const ::core::ffi::c_char,
    argsSize: u64,
) -> synStatus;
/// Type of `synTensorHandleCreate`.
pub type synTensorHandleCreate_fn = unsafe extern "C" fn(
    tensor: *mut synTensor,
    graph: synGraphHandle,
    type_: synTensorType,
    tensorName: *const ::core::ffi::c_char,
) -> synStatus;
/// Type of `synTensorAssignToSection`.
pub type synTensorAssignToSection_fn = unsafe extern "C" fn(
    tensor: synTensor,
    section: synSectionHandle,
    byteOffset: u64,
) -> synStatus;
/// Type of `synTensorSetSectionOffset`.
pub type synTensorSetSectionOffset_fn = unsafe extern "C" fn(
    tensor: synTensor,
    byteOffset: u64,
) -> synStatus;
/// Type of `synTensorSetHostPtr`.
pub type synTensorSetHostPtr_fn = unsafe extern "C" fn(
    tensor: synTensor,
    hostPtr: *mut ::core::ffi::c_void,
    size: u64,
    dataType: synDataType,
    copyBuffer: bool,
) -> synStatus;
/// Type of `synTensorSetQuantizationData`.
pub type synTensorSetQuantizationData_fn = unsafe extern "C" fn(
    tensor: synTensor,
    prop: synQuantizationProperty,
    propVal: *mut ::core::ffi::c_void,
    propSize: u64,
) -> synStatus;
/// Type of `synTensorSetExternal`.
pub type synTensorSetExternal_fn = unsafe extern "C" fn(
    tensor: synTensor,
    isExternal: bool,
) -> synStatus;
/// Type of `synTensorSetGeometry`.
pub type synTensorSetGeometry_fn = unsafe extern "C" fn(
    tensor: synTensor,
    geometry: *const synTensorGeometry,
    geometryType: synGeometryType,
) -> synStatus;
/// Type of `synTensorSetGeometryExt`.
pub type synTensorSetGeometryExt_fn = unsafe extern "C" fn(
    tensor: synTensor,
    geometry: *const synTensorGeometryExt,
    geometryType: synGeometryType,
) -> synStatus;
/// Type of `synTensorSetPermutation`.
pub type synTensorSetPermutation_fn = unsafe extern "C" fn(
    tensor: synTensor,
    permutation: *const synTensorPermutation,
) -> synStatus;
/// Type of `synTensorSetDeviceDataType`.
pub type synTensorSetDeviceDataType_fn = unsafe extern "C" fn(
    tensor: synTensor,
    deviceDataType: synDataType,
) -> synStatus;
/// Type of `synTensorSetDeviceFullLayout`.
pub type synTensorSetDeviceFullLayout_fn = unsafe extern "C" fn(
    tensor: synTensor,
    layout: *const synTensorDeviceFullLayout,
) -> synStatus;
/// Type of `synTensorSetDeviceLayout`.
pub type synTensorSetDeviceLayout_fn = unsafe extern "C" fn(
    tensor: synTensor,
    layout: *const synTensorDeviceLayout,
) -> synStatus;
/// Type of `synTensorSetAllowPermutation`.
pub type synTensorSetAllowPermutation_fn = unsafe extern "C" fn(
    tensor: synTensor,
    allowPermutation: i8,
) -> synStatus;
/// Type of `synTensorGetAllowPermutation`.
pub type synTensorGetAllowPermutation_fn = unsafe extern "C" fn(
    tensor: synTensor,
    allowPermutation: *mut i8,
) -> synStatus;
/// Type of `synTensorGetSection`.
pub type synTensorGetSection_fn = unsafe extern "C" fn(
    tensor: synTensor,
    section: *mut synSectionHandle,
    byteOffset: *mut u64,
) -> synStatus;
/// Type of `synTensorGetHostPtr`.
pub type synTensorGetHostPtr_fn = unsafe extern "C" fn(
    tensor: synTensor,
    hostPtr: *mut *mut ::core::ffi::c_void,
    size: *mut u64,
    dataType: *mut synDataType,
) -> synStatus;
/// Type of `synTensorGetQuantizationData`.
pub type synTensorGetQuantizationData_fn = unsafe extern "C" fn(
    tensor: synTensor,
    prop: synQuantizationProperty,
    propVal: *mut ::core::ffi::c_void,
    propSize: u64,
) -> synStatus;
/// Type of `synTensorGetGeometry`.
pub type synTensorGetGeometry_fn = unsafe extern "C" fn(
    tensor: synTensor,
    geometry: *mut synTensorGeometry,
    geometryType: synGeometryType,
) -> synStatus;
/// Type of `synTensorGetGeometryExt`.
pub type synTensorGetGeometryExt_fn = unsafe extern "C" fn(
    tensor: synTensor,
    geometry: *mut synTensorGeometryExt,
    geometryType: synGeometryType,
) -> synStatus;
/// Type of `synTensorGetExternal`.
pub type synTensorGetExternal_fn = unsafe extern "C" fn(
    tensor: synTensor,
    isExternal: *mut bool,
) -> synStatus;
/// Type of `synTensorGetPermutation`.
pub type synTensorGetPermutation_fn = unsafe extern "C" fn(
    tensor: synTensor,
    permutation: *mut synTensorPermutation,
) -> synStatus;
/// Type of `synTensorGetDeviceDataType`.
pub type synTensorGetDeviceDataType_fn = unsafe extern "C" fn(
    tensor: synTensor,
    deviceDataType: *mut synDataType,
) -> synStatus;
/// Type of `synTensorGetDeviceLayout`.
pub type synTensorGetDeviceLayout_fn = unsafe extern "C" fn(
    tensor: synTensor,
    layout: *mut synTensorDeviceLayout,
) -> synStatus;
/// Type of `synTensorGetDeviceFullLayout`.
pub type synTensorGetDeviceFullLayout_fn = unsafe extern "C" fn(
    tensor: synTensor,
    layout: *mut synTensorDeviceFullLayout,
) -> synStatus;
/// Type of `synTensorGetName`.
pub type synTensorGetName_fn = unsafe extern "C" fn(
    tensor: synTensor,
    size: u64,
    name: *mut ::core::ffi::c_char,
) -> synStatus;
/// Type of `synTensorGetType`.
pub type synTensorGetType_fn = unsafe extern "C" fn(
    tensor: synTensor,
    type_: *mut synTensorType,
) -> synStatus;
/// Type of `synTPCLibraryGetVersionSize`.
pub type synTPCLibraryGetVersionSize_fn = unsafe extern "C" fn(
    size: *mut u32,
) -> synStatus;
/// Type of `synTPCLibraryGetVersions`.
pub type synTPCLibraryGetVersions_fn = unsafe extern "C" fn(
    libs: *mut *const ::core::ffi::c_char,
    versions: *mut u32,
) -> synStatus;
/// Type of `synStreamSetAffinity`.
pub type synStreamSetAffinity_fn = unsafe extern "C" fn(
    deviceId: synDeviceId,
    pStreamHandle: synStreamHandle,
    streamAffinityMask: u64,
) -> synStatus;
/// Type of `synStreamGetAffinity`.
pub type synStreamGetAffinity_fn = unsafe extern "C" fn(
    deviceId: synDeviceId,
    pStreamHandle: synStreamHandle,
    streamAffinityMask: *mut u64,
) -> synStatus;
/// Type of `synDeviceGetAffinityMaskRange`.
pub type synDeviceGetAffinityMaskRange_fn = unsafe extern "C" fn(
    deviceId: synDeviceId,
    deviceAffinityMaskRange: *mut u64,
) -> synStatus;
/// Type of `synDeviceGetNextStreamAffinity`.
pub type synDeviceGetNextStreamAffinity_fn = unsafe extern "C" fn(
    deviceId: synDeviceId,
    nextDeviceAffinity: *mut u64,
) -> synStatus;
/// Type of `synNodeSetUserParams`.
pub type synNodeSetUserParams_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
    nodeId: synNodeId,
    userParams: *const ::core::ffi::c_void,
    paramsSize: ::core::ffi::c_uint,
) -> synStatus;
/// Type of `synNodeGetUserParams`.
pub type synNodeGetUserParams_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
    nodeId: synNodeId,
    userParams: *mut ::core::ffi::c_void,
    paramsSize: *mut ::core::ffi::c_uint,
) -> synStatus;
/// Type of `synStatusGetBriefDescription`.
pub type synStatusGetBriefDescription_fn = unsafe extern "C" fn(
    status: synStatus,
    statusDescription: *mut ::core::ffi::c_char,
    len: u64,
) -> synStatus;
/// The functions of a loaded library: those that are required, and those that it may lack.
#[derive(Debug)]
pub struct Functions {
    pub synStreamCreateGeneric: synStreamCreateGeneric_fn,
    pub synStreamDestroy: synStreamDestroy_fn,
    pub synStreamWaitEvent: synStreamWaitEvent_fn,
    pub synStreamSynchronize: synStreamSynchronize_fn,
    pub synStreamQuery: synStreamQuery_fn,
    pub synEventCreate: synEventCreate_fn,
    pub synEventDestroy: synEventDestroy_fn,
    pub synEventRecord: synEventRecord_fn,
    pub synEventQuery: synEventQuery_fn,
    pub synEventSynchronize: synEventSynchronize_fn,
    pub synEventElapsedTime: synEventElapsedTime_fn,
    pub synEventMapTensor: Option<synEventMapTensor_fn>,
    pub synEventMapTensorExt: Option<synEventMapTensorExt_fn>,
    pub synTensorExtExtractExecutionOrder: Option<synTensorExtExtractExecutionOrder_fn>,
    pub synRecipeDestroy: synRecipeDestroy_fn,
    pub synRecipeSerialize: synRecipeSerialize_fn,
    pub synRecipeDeSerialize: synRecipeDeSerialize_fn,
    pub synRecipeGetAttribute: synRecipeGetAttribute_fn,
    pub synSectionCreate: synSectionCreate_fn,
    pub synSectionSetGroup: Option<synSectionSetGroup_fn>,
    pub synSectionGetGroup: Option<synSectionGetGroup_fn>,
    pub synSectionSetPersistent: synSectionSetPersistent_fn,
    pub synSectionGetPersistent: Option<synSectionGetPersistent_fn>,
    pub synSectionSetConst: Option<synSectionSetConst_fn>,
    pub synSectionGetConst: Option<synSectionGetConst_fn>,
    pub synRecipeSectionGetProp: Option<synRecipeSectionGetProp_fn>,
    pub synSectionSetRMW: Option<synSectionSetRMW_fn>,
    pub synSectionGetRMW: Option<synSectionGetRMW_fn>,
    pub synRecipeSectionHostBuffersClear: Option<synRecipeSectionHostBuffersClear_fn>,
    pub synLaunch: synLaunch_fn,
    pub synLaunchExt: Option<synLaunchExt_fn>,
    pub synLaunchWithExternalEvents: Option<synLaunchWithExternalEvents_fn>,
    pub synLaunchWithExternalEventsExt: Option<synLaunchWithExternalEventsExt_fn>,
    pub synSectionDestroy: synSectionDestroy_fn,
    pub synWorkspaceGetSize: synWorkspaceGetSize_fn,
    pub synMemCopyAsyncMultiple: synMemCopyAsyncMultiple_fn,
    pub synMemCopyAsync: synMemCopyAsync_fn,
    pub synDeviceGetCount: synDeviceGetCount_fn,
    pub synDeviceGetCountByDeviceType: synDeviceGetCountByDeviceType_fn,
    pub synDeviceCount: Option<synDeviceCount_fn>,
    pub synDeviceGetModuleIDs: Option<synDeviceGetModuleIDs_fn>,
    pub synDeviceAcquireByDeviceType: synDeviceAcquireByDeviceType_fn,
    pub synDeviceAcquireByModuleId: synDeviceAcquireByModuleId_fn,
    pub synDeviceAcquire: Option<synDeviceAcquire_fn>,
    pub synDeviceSynchronize: synDeviceSynchronize_fn,
    pub synDriverGetVersion: synDriverGetVersion_fn,
    pub synDeviceGetName: synDeviceGetName_fn,
    pub synDeviceGetPCIBusId: Option<synDeviceGetPCIBusId_fn>,
    pub synTensorCreate: Option<synTensorCreate_fn>,
    pub synConstTensorCreate: Option<synConstTensorCreate_fn>,
    pub synTensorRetrieveLaunchAmount: Option<synTensorRetrieveLaunchAmount_fn>,
    pub synTensorRetrieveLaunchIds: Option<synTensorRetrieveLaunchIds_fn>,
    pub synTensorRetrieveLaunchInfoById: Option<synTensorRetrieveLaunchInfoById_fn>,
    pub synTensorRetrieveLaunchInfoByIdExt: Option<
        synTensorRetrieveLaunchInfoByIdExt_fn,
    >,
    pub synTensorRetrieveMultiLaunchInfosById: Option<
        synTensorRetrieveMultiLaunchInfosById_fn,
    >,
    pub synTensorRetrieveInfosByName: Option<synTensorRetrieveInfosByName_fn>,
    pub synTensorRetrieveInfosByNameExt: Option<synTensorRetrieveInfosByNameExt_fn>,
    pub synTensorRetrievePersistentAmount: Option<synTensorRetrievePersistentAmount_fn>,
    pub synTensorRetrieveNames: Option<synTensorRetrieveNames_fn>,
    pub synTensorRetrieveIds: synTensorRetrieveIds_fn,
    pub synTensorDestroy: synTensorDestroy_fn,
    pub synNodeCreate: synNodeCreate_fn,
    pub synNodeCreateWithId: synNodeCreateWithId_fn,
    pub synNodeTypeSetPrecision: Option<synNodeTypeSetPrecision_fn>,
    pub synNodeDependencySet: synNodeDependencySet_fn,
    pub synNodeSetDeterministic: synNodeSetDeterministic_fn,
    pub synNodeGetDeterministic: Option<synNodeGetDeterministic_fn>,
    pub synNodeSetRoundingMode: Option<synNodeSetRoundingMode_fn>,
    pub synNodeGetRoundingMode: Option<synNodeGetRoundingMode_fn>,
    pub synGraphCompile: synGraphCompile_fn,
    pub synGraphCreate: synGraphCreate_fn,
    pub synGraphSetAttribute: synGraphSetAttribute_fn,
    pub synGraphSetAttributes: Option<synGraphSetAttributes_fn>,
    pub synGraphGetAttribute: Option<synGraphGetAttribute_fn>,
    pub synGraphGetAttributes: Option<synGraphGetAttributes_fn>,
    pub synGraphCreateEager: Option<synGraphCreateEager_fn>,
    pub synGraphDuplicate: Option<synGraphDuplicate_fn>,
    pub synGraphInferShapes: Option<synGraphInferShapes_fn>,
    pub synGraphDestroy: synGraphDestroy_fn,
    pub synGraphGetDeviceType: Option<synGraphGetDeviceType_fn>,
    pub synMemsetD32Async: synMemsetD32Async_fn,
    pub synMemsetD8Async: synMemsetD8Async_fn,
    pub synMemsetD16Async: synMemsetD16Async_fn,
    pub synHostMalloc: synHostMalloc_fn,
    pub synHostFree: synHostFree_fn,
    pub synHostMap: Option<synHostMap_fn>,
    pub synHostUnmap: Option<synHostUnmap_fn>,
    pub synDeviceMalloc: synDeviceMalloc_fn,
    pub synDeviceFree: synDeviceFree_fn,
    pub synInitialize: synInitialize_fn,
    pub synDestroy: synDestroy_fn,
    pub synDeviceRelease: synDeviceRelease_fn,
    pub synDeviceGetMemoryInfo: synDeviceGetMemoryInfo_fn,
    pub synDeviceGetInfo: synDeviceGetInfo_fn,
    pub synDeviceGetInfoV2: Option<synDeviceGetInfoV2_fn>,
    pub synDeviceGetAttribute: synDeviceGetAttribute_fn,
    pub synDeviceGetAttributeByModuleId: Option<synDeviceGetAttributeByModuleId_fn>,
    pub synDeviceTypeGetAttribute: Option<synDeviceTypeGetAttribute_fn>,
    pub synConfigurationSet: Option<synConfigurationSet_fn>,
    pub synConfigurationGet: Option<synConfigurationGet_fn>,
    pub synProfilerQueryRequiredMemory: Option<synProfilerQueryRequiredMemory_fn>,
    pub synProfilerSetUserBuffer: Option<synProfilerSetUserBuffer_fn>,
    pub synProfilerStart: Option<synProfilerStart_fn>,
    pub synProfilerStop: Option<synProfilerStop_fn>,
    pub synProfilerGetTrace: Option<synProfilerGetTrace_fn>,
    pub synProfilerGetCurrentTimeNS: Option<synProfilerGetCurrentTimeNS_fn>,
    pub synProfilerAddCustomMeasurement: Option<synProfilerAddCustomMeasurement_fn>,
    pub synProfilerAddCustomMeasurementArgs: Option<
        synProfilerAddCustomMeasurementArgs_fn,
    >,
    pub synProfilerAddCustomMeasurementArgsAndThread: Option<
        synProfilerAddCustomMeasurementArgsAndThread_fn,
    >,
    pub synProfilerAddCustomEvent: Option<synProfilerAddCustomEvent_fn>,
    pub synTensorHandleCreate: synTensorHandleCreate_fn,
    pub synTensorAssignToSection: synTensorAssignToSection_fn,
    pub synTensorSetSectionOffset: Option<synTensorSetSectionOffset_fn>,
    pub synTensorSetHostPtr: synTensorSetHostPtr_fn,
    pub synTensorSetQuantizationData: synTensorSetQuantizationData_fn,
    pub synTensorSetExternal: Option<synTensorSetExternal_fn>,
    pub synTensorSetGeometry: synTensorSetGeometry_fn,
    pub synTensorSetGeometryExt: Option<synTensorSetGeometryExt_fn>,
    pub synTensorSetPermutation: Option<synTensorSetPermutation_fn>,
    pub synTensorSetDeviceDataType: synTensorSetDeviceDataType_fn,
    pub synTensorSetDeviceFullLayout: Option<synTensorSetDeviceFullLayout_fn>,
    pub synTensorSetDeviceLayout: Option<synTensorSetDeviceLayout_fn>,
    pub synTensorSetAllowPermutation: Option<synTensorSetAllowPermutation_fn>,
    pub synTensorGetAllowPermutation: Option<synTensorGetAllowPermutation_fn>,
    pub synTensorGetSection: Option<synTensorGetSection_fn>,
    pub synTensorGetHostPtr: Option<synTensorGetHostPtr_fn>,
    pub synTensorGetQuantizationData: Option<synTensorGetQuantizationData_fn>,
    pub synTensorGetGeometry: Option<synTensorGetGeometry_fn>,
    pub synTensorGetGeometryExt: Option<synTensorGetGeometryExt_fn>,
    pub synTensorGetExternal: Option<synTensorGetExternal_fn>,
    pub synTensorGetPermutation: Option<synTensorGetPermutation_fn>,
    pub synTensorGetDeviceDataType: Option<synTensorGetDeviceDataType_fn>,
    pub synTensorGetDeviceLayout: Option<synTensorGetDeviceLayout_fn>,
    pub synTensorGetDeviceFullLayout: Option<synTensorGetDeviceFullLayout_fn>,
    pub synTensorGetName: Option<synTensorGetName_fn>,
    pub synTensorGetType: Option<synTensorGetType_fn>,
    pub synTPCLibraryGetVersionSize: Option<synTPCLibraryGetVersionSize_fn>,
    pub synTPCLibraryGetVersions: Option<synTPCLibraryGetVersions_fn>,
    pub synStreamSetAffinity: Option<synStreamSetAffinity_fn>,
    pub synStreamGetAffinity: Option<synStreamGetAffinity_fn>,
    pub synDeviceGetAffinityMaskRange: Option<synDeviceGetAffinityMaskRange_fn>,
    pub synDeviceGetNextStreamAffinity: Option<synDeviceGetNextStreamAffinity_fn>,
    pub synNodeSetUserParams: Option<synNodeSetUserParams_fn>,
    pub synNodeGetUserParams: Option<synNodeGetUserParams_fn>,
    pub synStatusGetBriefDescription: synStatusGetBriefDescription_fn,
}
impl Functions {
    /// Names of the functions without which a library is refused.
    pub const REQUIRED: &'static [&'static str] = &[
        "synStreamCreateGeneric",
        "synStreamDestroy",
        "synStreamWaitEvent",
        "synStreamSynchronize",
        "synStreamQuery",
        "synEventCreate",
        "synEventDestroy",
        "synEventRecord",
        "synEventQuery",
        "synEventSynchronize",
        "synEventElapsedTime",
        "synRecipeDestroy",
        "synRecipeSerialize",
        "synRecipeDeSerialize",
        "synRecipeGetAttribute",
        "synSectionCreate",
        "synSectionSetPersistent",
        "synLaunch",
        "synSectionDestroy",
        "synWorkspaceGetSize",
        "synMemCopyAsyncMultiple",
        "synMemCopyAsync",
        "synDeviceGetCount",
        "synDeviceGetCountByDeviceType",
        "synDeviceAcquireByDeviceType",
        "synDeviceAcquireByModuleId",
        "synDeviceSynchronize",
        "synDriverGetVersion",
        "synDeviceGetName",
        "synTensorRetrieveIds",
        "synTensorDestroy",
        "synNodeCreate",
        "synNodeCreateWithId",
        "synNodeDependencySet",
        "synNodeSetDeterministic",
        "synGraphCompile",
        "synGraphCreate",
        "synGraphSetAttribute",
        "synGraphDestroy",
        "synMemsetD32Async",
        "synMemsetD8Async",
        "synMemsetD16Async",
        "synHostMalloc",
        "synHostFree",
        "synDeviceMalloc",
        "synDeviceFree",
        "synInitialize",
        "synDestroy",
        "synDeviceRelease",
        "synDeviceGetMemoryInfo",
        "synDeviceGetInfo",
        "synDeviceGetAttribute",
        "synTensorHandleCreate",
        "synTensorAssignToSection",
        "synTensorSetHostPtr",
        "synTensorSetQuantizationData",
        "synTensorSetGeometry",
        "synTensorSetDeviceDataType",
        "synStatusGetBriefDescription",
    ];
    /// Names of the functions that a library may lack; their fields are `None` then.
    pub const OPTIONAL: &'static [&'static str] = &[
        "synEventMapTensor",
        "synEventMapTensorExt",
        "synTensorExtExtractExecutionOrder",
        "synSectionSetGroup",
        "synSectionGetGroup",
        "synSectionGetPersistent",
        "synSectionSetConst",
        "synSectionGetConst",
        "synRecipeSectionGetProp",
        "synSectionSetRMW",
        "synSectionGetRMW",
        "synRecipeSectionHostBuffersClear",
        "synLaunchExt",
        "synLaunchWithExternalEvents",
        "synLaunchWithExternalEventsExt",
        "synDeviceCount",
        "synDeviceGetModuleIDs",
        "synDeviceAcquire",
        "synDeviceGetPCIBusId",
        "synTensorCreate",
        "synConstTensorCreate",
        "synTensorRetrieveLaunchAmount",
        "synTensorRetrieveLaunchIds",
        "synTensorRetrieveLaunchInfoById",
        "synTensorRetrieveLaunchInfoByIdExt",
        "synTensorRetrieveMultiLaunchInfosById",
        "synTensorRetrieveInfosByName",
        "synTensorRetrieveInfosByNameExt",
        "synTensorRetrievePersistentAmount",
        "synTensorRetrieveNames",
        "synNodeTypeSetPrecision",
        "synNodeGetDeterministic",
        "synNodeSetRoundingMode",
        "synNodeGetRoundingMode",
        "synGraphSetAttributes",
        "synGraphGetAttribute",
        "synGraphGetAttributes",
        "synGraphCreateEager",
        "synGraphDuplicate",
        "synGraphInferShapes",
        "synGraphGetDeviceType",
        "synHostMap",
        "synHostUnmap",
        "synDeviceGetInfoV2",
        "synDeviceGetAttributeByModuleId",
        "synDeviceTypeGetAttribute",
        "synConfigurationSet",
        "synConfigurationGet",
        "synProfilerQueryRequiredMemory",
        "synProfilerSetUserBuffer",
        "synProfilerStart",
        "synProfilerStop",
        "synProfilerGetTrace",
        "synProfilerGetCurrentTimeNS",
        "synProfilerAddCustomMeasurement",
        "synProfilerAddCustomMeasurementArgs",
        "synProfilerAddCustomMeasurementArgsAndThread",
        "synProfilerAddCustomEvent",
        "synTensorSetSectionOffset",
        "synTensorSetExternal",
        "synTensorSetGeometryExt",
        "synTensorSetPermutation",
        "synTensorSetDeviceFullLayout",
        "synTensorSetDeviceLayout",
        "synTensorSetAllowPermutation",
        "synTensorGetAllowPermutation",
        "synTensorGetSection",
        "synTensorGetHostPtr",
        "synTensorGetQuantizationData",
        "synTensorGetGeometry",
        "synTensorGetGeometryExt",
        "synTensorGetExternal",
        "synTensorGetPermutation",
        "synTensorGetDeviceDataType",
        "synTensorGetDeviceLayout",
        "synTensorGetDeviceFullLayout",
        "synTensorGetName",
        "synTensorGetType",
        "synTPCLibraryGetVersionSize",
        "synTPCLibraryGetVersions",
        "synStreamSetAffinity",
        "synStreamGetAffinity",
        "synDeviceGetAffinityMaskRange",
        "synDeviceGetNextStreamAffinity",
        "synNodeSetUserParams",
        "synNodeGetUserParams",
    ];
    /// Looks every function up; `None` where a required one is missing, which `symbols` then lists.
    ///
    /// # Safety
    ///
    /// The functions of the library have the types declared here.
    pub(crate) unsafe fn resolve(symbols: &mut Symbols<'_>) -> Option<Functions> {
        unsafe {
            let synStreamCreateGeneric = symbols
                .required::<synStreamCreateGeneric_fn>("synStreamCreateGeneric");
            let synStreamDestroy = symbols
                .required::<synStreamDestroy_fn>("synStreamDestroy");
            let synStreamWaitEvent = symbols
                .required::<synStreamWaitEvent_fn>("synStreamWaitEvent");
            let synStreamSynchronize = symbols
                .required::<synStreamSynchronize_fn>("synStreamSynchronize");
            let synStreamQuery = symbols.required::<synStreamQuery_fn>("synStreamQuery");
            let synEventCreate = symbols.required::<synEventCreate_fn>("synEventCreate");
            let synEventDestroy = symbols
                .required::<synEventDestroy_fn>("synEventDestroy");
            let synEventRecord = symbols.required::<synEventRecord_fn>("synEventRecord");
            let synEventQuery = symbols.required::<synEventQuery_fn>("synEventQuery");
            let synEventSynchronize = symbols
                .required::<synEventSynchronize_fn>("synEventSynchronize");
            let synEventElapsedTime = symbols
                .required::<synEventElapsedTime_fn>("synEventElapsedTime");
            let synRecipeDestroy = symbols
                .required::<synRecipeDestroy_fn>("synRecipeDestroy");
            let synRecipeSerialize = symbols
                .required::<synRecipeSerialize_fn>("synRecipeSerialize");
            let synRecipeDeSerialize = symbols
                .required::<synRecipeDeSerialize_fn>("synRecipeDeSerialize");
            let synRecipeGetAttribute = symbols
                .required::<synRecipeGetAttribute_fn>("synRecipeGetAttribute");
            let synSectionCreate = symbols
                .required::<synSectionCreate_fn>("synSectionCreate");
            let synSectionSetPersistent = symbols
                .required::<synSectionSetPersistent_fn>("synSectionSetPersistent");
            let synLaunch = symbols.required::<synLaunch_fn>("synLaunch");
            let synSectionDestroy = symbols
                .required::<synSectionDestroy_fn>("synSectionDestroy");
            let synWorkspaceGetSize = symbols
                .required::<synWorkspaceGetSize_fn>("synWorkspaceGetSize");
            let synMemCopyAsyncMultiple = symbols
                .required::<synMemCopyAsyncMultiple_fn>("synMemCopyAsyncMultiple");
            let synMemCopyAsync = symbols
                .required::<synMemCopyAsync_fn>("synMemCopyAsync");
            let synDeviceGetCount = symbols
                .required::<synDeviceGetCount_fn>("synDeviceGetCount");
            let synDeviceGetCountByDeviceType = symbols
                .required::<
                    synDeviceGetCountByDeviceType_fn,
                >("synDeviceGetCountByDeviceType");
            let synDeviceAcquireByDeviceType = symbols
                .required::<
                    synDeviceAcquireByDeviceType_fn,
                >("synDeviceAcquireByDeviceType");
            let synDeviceAcquireByModuleId = symbols
                .required::<synDeviceAcquireByModuleId_fn>("synDeviceAcquireByModuleId");
            let synDeviceSynchronize = symbols
                .required::<synDeviceSynchronize_fn>("synDeviceSynchronize");
            let synDriverGetVersion = symbols
                .required::<synDriverGetVersion_fn>("synDriverGetVersion");
            let synDeviceGetName = symbols
                .required::<synDeviceGetName_fn>("synDeviceGetName");
            let synTensorRetrieveIds = symbols
                .required::<synTensorRetrieveIds_fn>("synTensorRetrieveIds");
            let synTensorDestroy = symbols
                .required::<synTensorDestroy_fn>("synTensorDestroy");
            let synNodeCreate = symbols.required::<synNodeCreate_fn>("synNodeCreate");
            let synNodeCreateWithId = symbols
                .required::<synNodeCreateWithId_fn>("synNodeCreateWithId");
            let synNodeDependencySet = symbols
                .required::<synNodeDependencySet_fn>("synNodeDependencySet");
            let synNodeSetDeterministic = symbols
                .required::<synNodeSetDeterministic_fn>("synNodeSetDeterministic");
            let synGraphCompile = symbols
                .required::<synGraphCompile_fn>("synGraphCompile");
            let synGraphCreate = symbols.required::<synGraphCreate_fn>("synGraphCreate");
            let synGraphSetAttribute = symbols
                .required::<synGraphSetAttribute_fn>("synGraphSetAttribute");
            let synGraphDestroy = symbols
                .required::<synGraphDestroy_fn>("synGraphDestroy");
            let synMemsetD32Async = symbols
                .required::<synMemsetD32Async_fn>("synMemsetD32Async");
            let synMemsetD8Async = symbols
                .required::<synMemsetD8Async_fn>("synMemsetD8Async");
            let synMemsetD16Async = symbols
                .required::<synMemsetD16Async_fn>("synMemsetD16Async");
            let synHostMalloc = symbols.required::<synHostMalloc_fn>("synHostMalloc");
            let synHostFree = symbols.required::<synHostFree_fn>("synHostFree");
            let synDeviceMalloc = symbols
                .required::<synDeviceMalloc_fn>("synDeviceMalloc");
            let synDeviceFree = symbols.required::<synDeviceFree_fn>("synDeviceFree");
            let synInitialize = symbols.required::<synInitialize_fn>("synInitialize");
            let synDestroy = symbols.required::<synDestroy_fn>("synDestroy");
            let synDeviceRelease = symbols
                .required::<synDeviceRelease_fn>("synDeviceRelease");
            let synDeviceGetMemoryInfo = symbols
                .required::<synDeviceGetMemoryInfo_fn>("synDeviceGetMemoryInfo");
            let synDeviceGetInfo = symbols
                .required::<synDeviceGetInfo_fn>("synDeviceGetInfo");
            let synDeviceGetAttribute = symbols
                .required::<synDeviceGetAttribute_fn>("synDeviceGetAttribute");
            let synTensorHandleCreate = symbols
                .required::<synTensorHandleCreate_fn>("synTensorHandleCreate");
            let synTensorAssignToSection = symbols
                .required::<synTensorAssignToSection_fn>("synTensorAssignToSection");
            let synTensorSetHostPtr = symbols
                .required::<synTensorSetHostPtr_fn>("synTensorSetHostPtr");
            let synTensorSetQuantizationData = symbols
                .required::<
                    synTensorSetQuantizationData_fn,
                >("synTensorSetQuantizationData");
            let synTensorSetGeometry = symbols
                .required::<synTensorSetGeometry_fn>("synTensorSetGeometry");
            let synTensorSetDeviceDataType = symbols
                .required::<synTensorSetDeviceDataType_fn>("synTensorSetDeviceDataType");
            let synStatusGetBriefDescription = symbols
                .required::<
                    synStatusGetBriefDescription_fn,
                >("synStatusGetBriefDescription");
            Some(Functions {
                synStreamCreateGeneric: synStreamCreateGeneric?,
                synStreamDestroy: synStreamDestroy?,
                synStreamWaitEvent: synStreamWaitEvent?,
                synStreamSynchronize: synStreamSynchronize?,
                synStreamQuery: synStreamQuery?,
                synEventCreate: synEventCreate?,
                synEventDestroy: synEventDestroy?,
                synEventRecord: synEventRecord?,
                synEventQuery: synEventQuery?,
                synEventSynchronize: synEventSynchronize?,
                synEventElapsedTime: synEventElapsedTime?,
                synRecipeDestroy: synRecipeDestroy?,
                synRecipeSerialize: synRecipeSerialize?,
                synRecipeDeSerialize: synRecipeDeSerialize?,
                synRecipeGetAttribute: synRecipeGetAttribute?,
                synSectionCreate: synSectionCreate?,
                synSectionSetPersistent: synSectionSetPersistent?,
                synLaunch: synLaunch?,
                synSectionDestroy: synSectionDestroy?,
                synWorkspaceGetSize: synWorkspaceGetSize?,
                synMemCopyAsyncMultiple: synMemCopyAsyncMultiple?,
                synMemCopyAsync: synMemCopyAsync?,
                synDeviceGetCount: synDeviceGetCount?,
                synDeviceGetCountByDeviceType: synDeviceGetCountByDeviceType?,
                synDeviceAcquireByDeviceType: synDeviceAcquireByDeviceType?,
                synDeviceAcquireByModuleId: synDeviceAcquireByModuleId?,
                synDeviceSynchronize: synDeviceSynchronize?,
                synDriverGetVersion: synDriverGetVersion?,
                synDeviceGetName: synDeviceGetName?,
                synTensorRetrieveIds: synTensorRetrieveIds?,
                synTensorDestroy: synTensorDestroy?,
                synNodeCreate: synNodeCreate?,
                synNodeCreateWithId: synNodeCreateWithId?,
                synNodeDependencySet: synNodeDependencySet?,
                synNodeSetDeterministic: synNodeSetDeterministic?,
                synGraphCompile: synGraphCompile?,
                synGraphCreate: synGraphCreate?,
                synGraphSetAttribute: synGraphSetAttribute?,
                synGraphDestroy: synGraphDestroy?,
                synMemsetD32Async: synMemsetD32Async?,
                synMemsetD8Async: synMemsetD8Async?,
                synMemsetD16Async: synMemsetD16Async?,
                synHostMalloc: synHostMalloc?,
                synHostFree: synHostFree?,
                synDeviceMalloc: synDeviceMalloc?,
                synDeviceFree: synDeviceFree?,
                synInitialize: synInitialize?,
                synDestroy: synDestroy?,
                synDeviceRelease: synDeviceRelease?,
                synDeviceGetMemoryInfo: synDeviceGetMemoryInfo?,
                synDeviceGetInfo: synDeviceGetInfo?,
                synDeviceGetAttribute: synDeviceGetAttribute?,
                synTensorHandleCreate: synTensorHandleCreate?,
                synTensorAssignToSection: synTensorAssignToSection?,
                synTensorSetHostPtr: synTensorSetHostPtr?,
                synTensorSetQuantizationData: synTensorSetQuantizationData?,
                synTensorSetGeometry: synTensorSetGeometry?,
                synTensorSetDeviceDataType: synTensorSetDeviceDataType?,
                synStatusGetBriefDescription: synStatusGetBriefDescription?,
                synEventMapTensor: symbols.optional("synEventMapTensor"),
                synEventMapTensorExt: symbols.optional("synEventMapTensorExt"),
                synTensorExtExtractExecutionOrder: symbols
                    .optional("synTensorExtExtractExecutionOrder"),
                synSectionSetGroup: symbols.optional("synSectionSetGroup"),
                synSectionGetGroup: symbols.optional("synSectionGetGroup"),
                synSectionGetPersistent: symbols.optional("synSectionGetPersistent"),
                synSectionSetConst: symbols.optional("synSectionSetConst"),
                synSectionGetConst: symbols.optional("synSectionGetConst"),
                synRecipeSectionGetProp: symbols.optional("synRecipeSectionGetProp"),
                synSectionSetRMW: symbols.optional("synSectionSetRMW"),
                synSectionGetRMW: symbols.optional("synSectionGetRMW"),
                synRecipeSectionHostBuffersClear: symbols
                    .optional("synRecipeSectionHostBuffersClear"),
                synLaunchExt: symbols.optional("synLaunchExt"),
                synLaunchWithExternalEvents: symbols
                    .optional("synLaunchWithExternalEvents"),
                synLaunchWithExternalEventsExt: symbols
                    .optional("synLaunchWithExternalEventsExt"),
                synDeviceCount: symbols.optional("synDeviceCount"),
                synDeviceGetModuleIDs: symbols.optional("synDeviceGetModuleIDs"),
                synDeviceAcquire: symbols.optional("synDeviceAcquire"),
                synDeviceGetPCIBusId: symbols.optional("synDeviceGetPCIBusId"),
                synTensorCreate: symbols.optional("synTensorCreate"),
                synConstTensorCreate: symbols.optional("synConstTensorCreate"),
                synTensorRetrieveLaunchAmount: symbols
                    .optional("synTensorRetrieveLaunchAmount"),
                synTensorRetrieveLaunchIds: symbols
                    .optional("synTensorRetrieveLaunchIds"),
                synTensorRetrieveLaunchInfoById: symbols
                    .optional("synTensorRetrieveLaunchInfoById"),
                synTensorRetrieveLaunchInfoByIdExt: symbols
                    .optional("synTensorRetrieveLaunchInfoByIdExt"),
                synTensorRetrieveMultiLaunchInfosById: symbols
                    .optional("synTensorRetrieveMultiLaunchInfosById"),
                synTensorRetrieveInfosByName: symbols
                    .optional("synTensorRetrieveInfosByName"),
                synTensorRetrieveInfosByNameExt: symbols
                    .optional("synTensorRetrieveInfosByNameExt"),
                synTensorRetrievePersistentAmount: symbols
                    .optional("synTensorRetrievePersistentAmount"),
                synTensorRetrieveNames: symbols.optional("synTensorRetrieveNames"),
                synNodeTypeSetPrecision: symbols.optional("synNodeTypeSetPrecision"),
                synNodeGetDeterministic: symbols.optional("synNodeGetDeterministic"),
                synNodeSetRoundingMode: symbols.optional("synNodeSetRoundingMode"),
                synNodeGetRoundingMode: symbols.optional("synNodeGetRoundingMode"),
                synGraphSetAttributes: symbols.optional("synGraphSetAttributes"),
                synGraphGetAttribute: symbols.optional("synGraphGetAttribute"),
                synGraphGetAttributes: symbols.optional("synGraphGetAttributes"),
                synGraphCreateEager: symbols.optional("synGraphCreateEager"),
                synGraphDuplicate: symbols.optional("synGraphDuplicate"),
                synGraphInferShapes: symbols.optional("synGraphInferShapes"),
                synGraphGetDeviceType: symbols.optional("synGraphGetDeviceType"),
                synHostMap: symbols.optional("synHostMap"),
                synHostUnmap: symbols.optional("synHostUnmap"),
                synDeviceGetInfoV2: symbols.optional("synDeviceGetInfoV2"),
                synDeviceGetAttributeByModuleId: symbols
                    .optional("synDeviceGetAttributeByModuleId"),
                synDeviceTypeGetAttribute: symbols.optional("synDeviceTypeGetAttribute"),
                synConfigurationSet: symbols.optional("synConfigurationSet"),
                synConfigurationGet: symbols.optional("synConfigurationGet"),
                synProfilerQueryRequiredMemory: symbols
                    .optional("synProfilerQueryRequiredMemory"),
                synProfilerSetUserBuffer: symbols.optional("synProfilerSetUserBuffer"),
                synProfilerStart: symbols.optional("synProfilerStart"),
                synProfilerStop: symbols.optional("synProfilerStop"),
                synProfilerGetTrace: symbols.optional("synProfilerGetTrace"),
                synProfilerGetCurrentTimeNS: symbols
                    .optional("synProfilerGetCurrentTimeNS"),
                synProfilerAddCustomMeasurement: symbols
                    .optional("synProfilerAddCustomMeasurement"),
                synProfilerAddCustomMeasurementArgs: symbols
                    .optional("synProfilerAddCustomMeasurementArgs"),
                synProfilerAddCustomMeasurementArgsAndThread: symbols
                    .optional("synProfilerAddCustomMeasurementArgsAndThread"),
                synProfilerAddCustomEvent: symbols.optional("synProfilerAddCustomEvent"),
                synTensorSetSectionOffset: symbols.optional("synTensorSetSectionOffset"),
                synTensorSetExternal: symbols.optional("synTensorSetExternal"),
                synTensorSetGeometryExt: symbols.optional("synTensorSetGeometryExt"),
                synTensorSetPermutation: symbols.optional("synTensorSetPermutation"),
                synTensorSetDeviceFullLayout: symbols
                    .optional("synTensorSetDeviceFullLayout"),
                synTensorSetDeviceLayout: symbols.optional("synTensorSetDeviceLayout"),
                synTensorSetAllowPermutation: symbols
                    .optional("synTensorSetAllowPermutation"),
                synTensorGetAllowPermutation: symbols
                    .optional("synTensorGetAllowPermutation"),
                synTensorGetSection: symbols.optional("synTensorGetSection"),
                synTensorGetHostPtr: symbols.optional("synTensorGetHostPtr"),
                synTensorGetQuantizationData: symbols
                    .optional("synTensorGetQuantizationData"),
                synTensorGetGeometry: symbols.optional("synTensorGetGeometry"),
                synTensorGetGeometryExt: symbols.optional("synTensorGetGeometryExt"),
                synTensorGetExternal: symbols.optional("synTensorGetExternal"),
                synTensorGetPermutation: symbols.optional("synTensorGetPermutation"),
                synTensorGetDeviceDataType: symbols
                    .optional("synTensorGetDeviceDataType"),
                synTensorGetDeviceLayout: symbols.optional("synTensorGetDeviceLayout"),
                synTensorGetDeviceFullLayout: symbols
                    .optional("synTensorGetDeviceFullLayout"),
                synTensorGetName: symbols.optional("synTensorGetName"),
                synTensorGetType: symbols.optional("synTensorGetType"),
                synTPCLibraryGetVersionSize: symbols
                    .optional("synTPCLibraryGetVersionSize"),
                synTPCLibraryGetVersions: symbols.optional("synTPCLibraryGetVersions"),
                synStreamSetAffinity: symbols.optional("synStreamSetAffinity"),
                synStreamGetAffinity: symbols.optional("synStreamGetAffinity"),
                synDeviceGetAffinityMaskRange: symbols
                    .optional("synDeviceGetAffinityMaskRange"),
                synDeviceGetNextStreamAffinity: symbols
                    .optional("synDeviceGetNextStreamAffinity"),
                synNodeSetUserParams: symbols.optional("synNodeSetUserParams"),
                synNodeGetUserParams: symbols.optional("synNodeGetUserParams"),
            })
        }
    }
}
