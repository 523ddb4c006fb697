// Made from the header by the program `generate` of this crate: change that, not this file.

use crate::bindings::*;
use crate::symbols::Symbols;
/// Type of `synStatusGetBriefDescription`.
pub type synStatusGetBriefDescription_fn = unsafe extern "C" fn(
    status: synStatus,
    statusDescription: *mut ::core::ffi::c_char,
    len: u64,
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
/// Type of `synInitialize`.
pub type synInitialize_fn = unsafe extern "C" fn() -> synStatus;
/// Type of `synDestroy`.
pub type synDestroy_fn = unsafe extern "C" fn() -> synStatus;
/// Type of `synDriverGetVersion`.
pub type synDriverGetVersion_fn = unsafe extern "C" fn(
    pDriverVersion: *mut ::core::ffi::c_char,
    len: ::core::ffi::c_int,
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
/// Type of `synDeviceAcquire`.
pub type synDeviceAcquire_fn = unsafe extern "C" fn(
    pDeviceId: *mut synDeviceId,
    pciBus: *const ::core::ffi::c_char,
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
/// Type of `synDeviceRelease`.
pub type synDeviceRelease_fn = unsafe extern "C" fn(deviceId: synDeviceId) -> synStatus;
/// Type of `synDeviceSynchronize`.
pub type synDeviceSynchronize_fn = unsafe extern "C" fn(
    deviceId: synDeviceId,
) -> synStatus;
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
/// Type of `synSectionCreate`.
pub type synSectionCreate_fn = unsafe extern "C" fn(
    sectionHandle: *mut synSectionHandle,
    sectionDescriptor: u64,
    graph: synGraphHandle,
) -> synStatus;
/// Type of `synSectionDestroy`.
pub type synSectionDestroy_fn = unsafe extern "C" fn(
    sectionHandle: synSectionHandle,
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
/// Type of `synTensorHandleCreate`.
pub type synTensorHandleCreate_fn = unsafe extern "C" fn(
    tensor: *mut synTensor,
    graph: synGraphHandle,
    type_: synTensorType,
    tensorName: *const ::core::ffi::c_char,
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
/// Type of `synTensorDestroy`.
pub type synTensorDestroy_fn = unsafe extern "C" fn(tensor: synTensor) -> synStatus;
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
/// Type of `synTensorGetSection`.
pub type synTensorGetSection_fn = unsafe extern "C" fn(
    tensor: synTensor,
    section: *mut synSectionHandle,
    byteOffset: *mut u64,
) -> synStatus;
/// Type of `synTensorSetHostPtr`.
pub type synTensorSetHostPtr_fn = unsafe extern "C" fn(
    tensor: synTensor,
    hostPtr: *mut ::core::ffi::c_void,
    size: u64,
    dataType: synDataType,
    copyBuffer: bool,
) -> synStatus;
/// Type of `synTensorGetHostPtr`.
pub type synTensorGetHostPtr_fn = unsafe extern "C" fn(
    tensor: synTensor,
    hostPtr: *mut *mut ::core::ffi::c_void,
    size: *mut u64,
    dataType: *mut synDataType,
) -> synStatus;
/// Type of `synTensorSetQuantizationData`.
pub type synTensorSetQuantizationData_fn = unsafe extern "C" fn(
    tensor: synTensor,
    prop: synQuantizationProperty,
    propVal: *mut ::core::ffi::c_void,
    propSize: u64,
) -> synStatus;
/// Type of `synTensorGetQuantizationData`.
pub type synTensorGetQuantizationData_fn = unsafe extern "C" fn(
    tensor: synTensor,
    prop: synQuantizationProperty,
    propVal: *mut ::core::ffi::c_void,
    propSize: u64,
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
/// Type of `synTensorSetPermutation`.
pub type synTensorSetPermutation_fn = unsafe extern "C" fn(
    tensor: synTensor,
    permutation: *const synTensorPermutation,
) -> synStatus;
/// Type of `synTensorGetPermutation`.
pub type synTensorGetPermutation_fn = unsafe extern "C" fn(
    tensor: synTensor,
    permutation: *mut synTensorPermutation,
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
/// Type of `synTensorSetDeviceDataType`.
pub type synTensorSetDeviceDataType_fn = unsafe extern "C" fn(
    tensor: synTensor,
    deviceDataType: synDataType,
) -> synStatus;
/// Type of `synTensorGetDeviceDataType`.
pub type synTensorGetDeviceDataType_fn = unsafe extern "C" fn(
    tensor: synTensor,
    deviceDataType: *mut synDataType,
) -> synStatus;
/// Type of `synTensorSetDeviceFullLayout`.
pub type synTensorSetDeviceFullLayout_fn = unsafe extern "C" fn(
    tensor: synTensor,
    layout: *const synTensorDeviceFullLayout,
) -> synStatus;
/// Type of `synTensorGetDeviceFullLayout`.
pub type synTensorGetDeviceFullLayout_fn = unsafe extern "C" fn(
    tensor: synTensor,
    layout: *mut synTensorDeviceFullLayout,
) -> synStatus;
/// Type of `synTensorSetDeviceLayout`.
pub type synTensorSetDeviceLayout_fn = unsafe extern "C" fn(
    tensor: synTensor,
    layout: *const synTensorDeviceLayout,
) -> synStatus;
/// Type of `synTensorGetDeviceLayout`.
pub type synTensorGetDeviceLayout_fn = unsafe extern "C" fn(
    tensor: synTensor,
    layout: *mut synTensorDeviceLayout,
) -> synStatus;
/// Type of `synTensorSetExternal`.
pub type synTensorSetExternal_fn = unsafe extern "C" fn(
    tensor: synTensor,
    isExternal: bool,
) -> synStatus;
/// Type of `synTensorGetExternal`.
pub type synTensorGetExternal_fn = unsafe extern "C" fn(
    tensor: synTensor,
    isExternal: *mut bool,
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
/// Type of `synGraphCreate`.
pub type synGraphCreate_fn = unsafe extern "C" fn(
    pGraphHandle: *mut synGraphHandle,
    deviceType: synDeviceType,
) -> synStatus;
/// Type of `synGraphCreateEager`.
pub type synGraphCreateEager_fn = unsafe extern "C" fn(
    pGraphHandle: *mut synGraphHandle,
    deviceType: synDeviceType,
) -> synStatus;
/// Type of `synGraphDestroy`.
pub type synGraphDestroy_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
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
/// Type of `synGraphGetDeviceType`.
pub type synGraphGetDeviceType_fn = unsafe extern "C" fn(
    graphHandle: synGraphHandle,
    deviceType: *mut synDeviceType,
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
/// Type of `synGraphCompile`.
pub type synGraphCompile_fn = unsafe extern "C" fn(
    pRecipeHandle: *mut synRecipeHandle,
    graphHandle: synGraphHandle,
    pRecipeName: *const ::core::ffi::c_char,
    pBuildLog: *const ::core::ffi::c_char,
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
/// Type of `synMemCopyAsync`.
pub type synMemCopyAsync_fn = unsafe extern "C" fn(
    streamHandle: synStreamHandle,
    src: u64,
    size: u64,
    dst: u64,
    direction: synDmaDir,
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
/// Type of `synMemsetD32Async`.
pub type synMemsetD32Async_fn = unsafe extern "C" fn(
    pDeviceMem: u64,
    value: u32,
    numOfElements: u64,
    streamHandle: synStreamHandle,
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
/// Type of `synRecipeSectionGetProp`.
pub type synRecipeSectionGetProp_fn = unsafe extern "C" fn(
    pRecipeHandle: synRecipeHandle,
    sectionId: synSectionId,
    prop: synSectionProp,
    propertyPtr: *mut u64,
) -> synStatus;
/// Type of `synRecipeSectionHostBuffersClear`.
pub type synRecipeSectionHostBuffersClear_fn = unsafe extern "C" fn(
    recipeHandle: synRecipeHandle,
    sectionIds: *const synSectionId,
    numOfSections: u64,
) -> synStatus;
/// Type of `synWorkspaceGetSize`.
pub type synWorkspaceGetSize_fn = unsafe extern "C" fn(
    pWorkspaceSize: *mut u64,
    recipeHandle: synRecipeHandle,
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
/// Type of `synTensorExtExtractExecutionOrder`.
pub type synTensorExtExtractExecutionOrder_fn = unsafe extern "C" fn(
    recipeHandle: synRecipeHandle,
    numOfExternalTensors: u32,
    tensorIds: *mut u64,
) -> synStatus;
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
/// The functions of a loaded library: those that are required, and those that it may lack.
#[derive(Debug)]
pub struct Functions {
    /// Writes a short English text for a status into a buffer of len bytes; STATUS_DESCRIPTION_MAX_SIZE is enough.
    pub synStatusGetBriefDescription: synStatusGetBriefDescription_fn,
    /// Sets a named setting from text; affects what is compiled or started afterwards.
    pub synConfigurationSet: Option<synConfigurationSet_fn>,
    /// Writes the value of a named setting as text into a buffer of size bytes.
    pub synConfigurationGet: Option<synConfigurationGet_fn>,
    /// Starts the library; calls are counted, and each needs its synDestroy. Most other functions fail with synUninitialized before.
    pub synInitialize: synInitialize_fn,
    /// Undoes one synInitialize; the last one ends the library.
    pub synDestroy: synDestroy_fn,
    /// Writes the version text of the software into a buffer of len bytes; works before synInitialize.
    pub synDriverGetVersion: synDriverGetVersion_fn,
    /// Stores how many kernel libraries are loaded, which is the length of the arrays for synTPCLibraryGetVersions.
    pub synTPCLibraryGetVersionSize: Option<synTPCLibraryGetVersionSize_fn>,
    /// Fills in the names and versions of the loaded kernel libraries.
    pub synTPCLibraryGetVersions: Option<synTPCLibraryGetVersions_fn>,
    /// Stores the number of devices in this machine, of any generation.
    pub synDeviceGetCount: synDeviceGetCount_fn,
    /// Stores the number of devices of one generation in this machine.
    pub synDeviceGetCountByDeviceType: synDeviceGetCountByDeviceType_fn,
    /// Fills in the number of devices of each generation, indexed by synDeviceType.
    pub synDeviceCount: Option<synDeviceCount_fn>,
    /// Fills in the module ids of the devices; size is the capacity of the array on the way in, the number of ids on the way out.
    pub synDeviceGetModuleIDs: Option<synDeviceGetModuleIDs_fn>,
    /// Takes the device at a PCI address such as 0000:19:00.0 for this process.
    pub synDeviceAcquire: Option<synDeviceAcquire_fn>,
    /// Takes any free device of one generation for this process.
    pub synDeviceAcquireByDeviceType: synDeviceAcquireByDeviceType_fn,
    /// Takes the device in one position of the server for this process.
    pub synDeviceAcquireByModuleId: synDeviceAcquireByModuleId_fn,
    /// Gives an acquired device back; nothing that was made on it may be used afterwards.
    pub synDeviceRelease: synDeviceRelease_fn,
    /// Waits until all streams of a device have finished their work.
    pub synDeviceSynchronize: synDeviceSynchronize_fn,
    /// Stores the free and total device memory in bytes.
    pub synDeviceGetMemoryInfo: synDeviceGetMemoryInfo_fn,
    /// Fills in the description of an acquired device.
    pub synDeviceGetInfo: synDeviceGetInfo_fn,
    /// Fills in the longer description of an acquired device.
    pub synDeviceGetInfoV2: Option<synDeviceGetInfoV2_fn>,
    /// Answers querySize questions about an acquired device: retVal takes one number for each entry of deviceAttr.
    pub synDeviceGetAttribute: synDeviceGetAttribute_fn,
    /// Answers questions about the device in one position of the server, which need not be acquired.
    pub synDeviceGetAttributeByModuleId: Option<synDeviceGetAttributeByModuleId_fn>,
    /// Answers questions about a generation, without a device.
    pub synDeviceTypeGetAttribute: Option<synDeviceTypeGetAttribute_fn>,
    /// Writes the name of an acquired device into a buffer of len bytes.
    pub synDeviceGetName: synDeviceGetName_fn,
    /// Writes the PCI address of an acquired device into a buffer of len bytes.
    pub synDeviceGetPCIBusId: Option<synDeviceGetPCIBusId_fn>,
    /// Creates a section of a graph, persistent unless changed; sectionDescriptor is 0.
    pub synSectionCreate: synSectionCreate_fn,
    /// Destroys a section handle.
    pub synSectionDestroy: synSectionDestroy_fn,
    /// Puts a section into a group, from 1 to 255; only before a tensor uses it.
    pub synSectionSetGroup: Option<synSectionSetGroup_fn>,
    /// Stores the group of a section.
    pub synSectionGetGroup: Option<synSectionGetGroup_fn>,
    /// Says whether the caller owns the memory and gives its address at each launch; only before a tensor uses the section.
    pub synSectionSetPersistent: synSectionSetPersistent_fn,
    /// Stores whether a section is persistent.
    pub synSectionGetPersistent: Option<synSectionGetPersistent_fn>,
    /// Says whether the tensors of a section are constant, their data being part of the recipe.
    pub synSectionSetConst: Option<synSectionSetConst_fn>,
    /// Stores whether a section is constant.
    pub synSectionGetConst: Option<synSectionGetConst_fn>,
    /// Says whether nodes accumulate into a section in place; excludes a persistent one.
    pub synSectionSetRMW: Option<synSectionSetRMW_fn>,
    /// Stores whether nodes accumulate into a section in place.
    pub synSectionGetRMW: Option<synSectionGetRMW_fn>,
    /// Creates a tensor of a graph; a name used twice gives synNameIsAlreadyUsed and the earlier handle.
    pub synTensorHandleCreate: synTensorHandleCreate_fn,
    /// Deprecated: creates a tensor from a descriptor.
    pub synTensorCreate: Option<synTensorCreate_fn>,
    /// Deprecated: creates a constant tensor from a descriptor.
    pub synConstTensorCreate: Option<synConstTensorCreate_fn>,
    /// Destroys a tensor handle.
    pub synTensorDestroy: synTensorDestroy_fn,
    /// Places a tensor at a byte offset in a section; the setters of a tensor work until a node uses it.
    pub synTensorAssignToSection: synTensorAssignToSection_fn,
    /// Moves a tensor to another byte offset in its section.
    pub synTensorSetSectionOffset: Option<synTensorSetSectionOffset_fn>,
    /// Stores the section of a tensor and its byte offset there.
    pub synTensorGetSection: Option<synTensorGetSection_fn>,
    /// Gives the data of a constant or host tensor, size bytes of it; unless copied, it must stay valid.
    pub synTensorSetHostPtr: synTensorSetHostPtr_fn,
    /// Stores where the host data of a tensor is, its size in bytes and its type.
    pub synTensorGetHostPtr: Option<synTensorGetHostPtr_fn>,
    /// Sets quantization data: propVal points to the struct for prop, propSize is its size in bytes.
    pub synTensorSetQuantizationData: synTensorSetQuantizationData_fn,
    /// Reads quantization data into the struct for prop, of propSize bytes.
    pub synTensorGetQuantizationData: Option<synTensorGetQuantizationData_fn>,
    /// Sets the sizes of a tensor, or their lower or upper bounds.
    pub synTensorSetGeometry: synTensorSetGeometry_fn,
    /// Same as synTensorSetGeometry.
    pub synTensorSetGeometryExt: Option<synTensorSetGeometryExt_fn>,
    /// Reads the sizes of a tensor.
    pub synTensorGetGeometry: Option<synTensorGetGeometry_fn>,
    /// Same as synTensorGetGeometry.
    pub synTensorGetGeometryExt: Option<synTensorGetGeometryExt_fn>,
    /// Sets the order in which the dimensions of a persistent tensor lie in memory.
    pub synTensorSetPermutation: Option<synTensorSetPermutation_fn>,
    /// Reads the order in which the dimensions of a tensor lie in memory.
    pub synTensorGetPermutation: Option<synTensorGetPermutation_fn>,
    /// Says whether the compiler may choose that order for a persistent tensor: 0 or 1.
    pub synTensorSetAllowPermutation: Option<synTensorSetAllowPermutation_fn>,
    /// Stores whether the compiler may choose the order of the dimensions.
    pub synTensorGetAllowPermutation: Option<synTensorGetAllowPermutation_fn>,
    /// Sets the element type of a tensor on the device.
    pub synTensorSetDeviceDataType: synTensorSetDeviceDataType_fn,
    /// Stores the element type of a tensor on the device.
    pub synTensorGetDeviceDataType: Option<synTensorGetDeviceDataType_fn>,
    /// Sets element type and strides of a tensor on the device.
    pub synTensorSetDeviceFullLayout: Option<synTensorSetDeviceFullLayout_fn>,
    /// Reads element type and strides of a tensor on the device.
    pub synTensorGetDeviceFullLayout: Option<synTensorGetDeviceFullLayout_fn>,
    /// Sets element type and strides in the older form.
    pub synTensorSetDeviceLayout: Option<synTensorSetDeviceLayout_fn>,
    /// Reads element type and strides in the older form.
    pub synTensorGetDeviceLayout: Option<synTensorGetDeviceLayout_fn>,
    /// Says whether an event can be tied to a tensor within a launch.
    pub synTensorSetExternal: Option<synTensorSetExternal_fn>,
    /// Stores whether an event can be tied to a tensor.
    pub synTensorGetExternal: Option<synTensorGetExternal_fn>,
    /// Writes the name of a tensor into a buffer of size bytes; synInvalidArgument where it is too small.
    pub synTensorGetName: Option<synTensorGetName_fn>,
    /// Stores what a tensor carries.
    pub synTensorGetType: Option<synTensorGetType_fn>,
    /// Queues a run of a recipe; every persistent tensor needs its entry, pWorkspace is a device address. Pass 0 for flags.
    pub synLaunch: synLaunch_fn,
    /// Same as synLaunch, over synLaunchTensorInfoExt.
    pub synLaunchExt: Option<synLaunchExt_fn>,
    /// Same as synLaunch, and signals events as the external tensors they are tied to are done.
    pub synLaunchWithExternalEvents: Option<synLaunchWithExternalEvents_fn>,
    /// Same as synLaunchWithExternalEvents, over synLaunchTensorInfoExt.
    pub synLaunchWithExternalEventsExt: Option<synLaunchWithExternalEventsExt_fn>,
    /// Creates an event; flags are 0, or EVENT_COLLECT_TIME to measure time with it.
    pub synEventCreate: synEventCreate_fn,
    /// Destroys an event.
    pub synEventDestroy: synEventDestroy_fn,
    /// Marks the end of the work now in a stream; an earlier mark is forgotten.
    pub synEventRecord: synEventRecord_fn,
    /// Tells whether the recorded work has finished: synSuccess, or synBusy if not.
    pub synEventQuery: synEventQuery_fn,
    /// Waits until the recorded work has finished.
    pub synEventSynchronize: synEventSynchronize_fn,
    /// Stores the nanoseconds between two recorded events that collect time.
    pub synEventElapsedTime: synEventElapsedTime_fn,
    /// Ties events to external tensors of a recipe, in the same order, so that they are signalled within a launch.
    pub synEventMapTensor: Option<synEventMapTensor_fn>,
    /// Same as synEventMapTensor, over synLaunchTensorInfoExt.
    pub synEventMapTensorExt: Option<synEventMapTensorExt_fn>,
    /// Adds a node: an operation by its guid, over lists of tensors where a null stands for an absent one. User parameters are copied.
    pub synNodeCreate: synNodeCreate_fn,
    /// Same as synNodeCreate, and stores the id of the node.
    pub synNodeCreateWithId: synNodeCreateWithId_fn,
    /// Sets the element type in which all nodes of a guid compute, where the compiler is to choose types.
    pub synNodeTypeSetPrecision: Option<synNodeTypeSetPrecision_fn>,
    /// Orders nodes: every one of the first list runs before every one of the second.
    pub synNodeDependencySet: synNodeDependencySet_fn,
    /// Says whether a node must give the same bits in every run.
    pub synNodeSetDeterministic: synNodeSetDeterministic_fn,
    /// Stores whether a node must give the same bits in every run.
    pub synNodeGetDeterministic: Option<synNodeGetDeterministic_fn>,
    /// Sets the rounding of the results of a node.
    pub synNodeSetRoundingMode: Option<synNodeSetRoundingMode_fn>,
    /// Stores the rounding of the results of a node.
    pub synNodeGetRoundingMode: Option<synNodeGetRoundingMode_fn>,
    /// Replaces the parameters of a node, paramsSize bytes, which are copied.
    pub synNodeSetUserParams: Option<synNodeSetUserParams_fn>,
    /// Copies the parameters of a node out, and stores their size in bytes.
    pub synNodeGetUserParams: Option<synNodeGetUserParams_fn>,
    /// Creates a graph for a generation of devices; none need be acquired.
    pub synGraphCreate: synGraphCreate_fn,
    /// Creates a graph of few nodes that compiles quickly.
    pub synGraphCreateEager: Option<synGraphCreateEager_fn>,
    /// Destroys a graph with its tensors and sections; recipes made of it live on.
    pub synGraphDestroy: synGraphDestroy_fn,
    /// Copies a graph; the two maps take old and new handles, numTensors and numNodes of them.
    pub synGraphDuplicate: Option<synGraphDuplicate_fn>,
    /// Computes the sizes of all tensors from those of the inputs.
    pub synGraphInferShapes: Option<synGraphInferShapes_fn>,
    /// Stores the generation that a graph is for.
    pub synGraphGetDeviceType: Option<synGraphGetDeviceType_fn>,
    /// Sets size attributes to integers; synFail once the graph has a node.
    pub synGraphSetAttribute: synGraphSetAttribute_fn,
    /// Sets size attributes to integers or floats; synFail once the graph has a node.
    pub synGraphSetAttributes: Option<synGraphSetAttributes_fn>,
    /// Reads size attributes as integers.
    pub synGraphGetAttribute: Option<synGraphGetAttribute_fn>,
    /// Reads size attributes as integers or floats.
    pub synGraphGetAttributes: Option<synGraphGetAttributes_fn>,
    /// Compiles a graph to a recipe, which the caller then owns; the path of the build log may be null.
    pub synGraphCompile: synGraphCompile_fn,
    /// Allocates host memory that the device can reach, in bytes; freed by synHostFree. Pass 0 for flags.
    pub synHostMalloc: synHostMalloc_fn,
    /// Frees memory of synHostMalloc; pass 0 for flags.
    pub synHostFree: synHostFree_fn,
    /// Makes memory of the caller, size bytes of it, reachable for the device; it stays the caller's.
    pub synHostMap: Option<synHostMap_fn>,
    /// Undoes synHostMap.
    pub synHostUnmap: Option<synHostUnmap_fn>,
    /// Allocates device memory in bytes and stores its address; reqAddr asks for one, 0 for any. Pass 0 for flags.
    pub synDeviceMalloc: synDeviceMalloc_fn,
    /// Frees memory of synDeviceMalloc; pass 0 for flags.
    pub synDeviceFree: synDeviceFree_fn,
    /// Queues a copy of size bytes; host addresses must be mapped, and both sides stay untouched until it is done.
    pub synMemCopyAsync: synMemCopyAsync_fn,
    /// Queues numCopies copies of one direction; the three arrays have that many entries, sizes in bytes.
    pub synMemCopyAsyncMultiple: synMemCopyAsyncMultiple_fn,
    /// Queues a fill of device memory with an 8-bit value; the length counts elements.
    pub synMemsetD8Async: synMemsetD8Async_fn,
    /// Queues a fill of device memory with a 16-bit value; the length counts elements.
    pub synMemsetD16Async: synMemsetD16Async_fn,
    /// Queues a fill of device memory with a 32-bit value; the length counts elements.
    pub synMemsetD32Async: synMemsetD32Async_fn,
    /// Stores how many bytes of host memory a trace needs.
    pub synProfilerQueryRequiredMemory: Option<synProfilerQueryRequiredMemory_fn>,
    /// Gives the profiler memory for its trace; it stays the caller's.
    pub synProfilerSetUserBuffer: Option<synProfilerSetUserBuffer_fn>,
    /// Starts tracing.
    pub synProfilerStart: Option<synProfilerStart_fn>,
    /// Ends tracing.
    pub synProfilerStop: Option<synProfilerStop_fn>,
    /// Copies a trace out, and stores its size in bytes and its number of events.
    pub synProfilerGetTrace: Option<synProfilerGetTrace_fn>,
    /// Stores the time in nanoseconds on the clock of traces.
    pub synProfilerGetCurrentTimeNS: Option<synProfilerGetCurrentTimeNS_fn>,
    /// Adds an event of the caller that began at nanoTime.
    pub synProfilerAddCustomMeasurement: Option<synProfilerAddCustomMeasurement_fn>,
    /// Same as synProfilerAddCustomMeasurement, with names and values as alternating texts.
    pub synProfilerAddCustomMeasurementArgs: Option<
        synProfilerAddCustomMeasurementArgs_fn,
    >,
    /// Same as synProfilerAddCustomMeasurementArgs, on a named thread.
    pub synProfilerAddCustomMeasurementArgsAndThread: Option<
        synProfilerAddCustomMeasurementArgsAndThread_fn,
    >,
    /// Adds an event of the caller with its start and end time in nanoseconds.
    pub synProfilerAddCustomEvent: Option<synProfilerAddCustomEvent_fn>,
    /// Destroys a recipe.
    pub synRecipeDestroy: synRecipeDestroy_fn,
    /// Writes a recipe to a file.
    pub synRecipeSerialize: synRecipeSerialize_fn,
    /// Reads a recipe from a file that the same release wrote; the caller then owns it.
    pub synRecipeDeSerialize: synRecipeDeSerialize_fn,
    /// Answers querySize questions about a recipe: retVal takes one number for each entry of recipeAttr.
    pub synRecipeGetAttribute: synRecipeGetAttribute_fn,
    /// Stores a property of a section in a recipe, addresses as integers.
    pub synRecipeSectionGetProp: Option<synRecipeSectionGetProp_fn>,
    /// Frees the host copies of constant sections, once they are on the device.
    pub synRecipeSectionHostBuffersClear: Option<synRecipeSectionHostBuffersClear_fn>,
    /// Stores how many bytes of device memory a launch needs as its workspace.
    pub synWorkspaceGetSize: synWorkspaceGetSize_fn,
    /// Stores how many tensors a launch takes.
    pub synTensorRetrieveLaunchAmount: Option<synTensorRetrieveLaunchAmount_fn>,
    /// Fills in the ids of the tensors that a launch takes.
    pub synTensorRetrieveLaunchIds: Option<synTensorRetrieveLaunchIds_fn>,
    /// Fills in the description of each tensor; tensorId says which.
    pub synTensorRetrieveLaunchInfoById: Option<synTensorRetrieveLaunchInfoById_fn>,
    /// Same as synTensorRetrieveLaunchInfoById.
    pub synTensorRetrieveLaunchInfoByIdExt: Option<
        synTensorRetrieveLaunchInfoByIdExt_fn,
    >,
    /// Fills in every description that a recipe has of one tensor; numLaunchInfos is their number.
    pub synTensorRetrieveMultiLaunchInfosById: Option<
        synTensorRetrieveMultiLaunchInfosById_fn,
    >,
    /// Fills in the description of each persistent tensor whose name is set.
    pub synTensorRetrieveInfosByName: Option<synTensorRetrieveInfosByName_fn>,
    /// Same as synTensorRetrieveInfosByName.
    pub synTensorRetrieveInfosByNameExt: Option<synTensorRetrieveInfosByNameExt_fn>,
    /// Stores the number of persistent tensors.
    pub synTensorRetrievePersistentAmount: Option<synTensorRetrievePersistentAmount_fn>,
    /// Fills in the names of the persistent tensors.
    pub synTensorRetrieveNames: Option<synTensorRetrieveNames_fn>,
    /// Fills in the launch ids of tensors by name; a name unknown to the recipe gets TENSOR_INVALID_ID.
    pub synTensorRetrieveIds: synTensorRetrieveIds_fn,
    /// Fills in the ids of the external tensors in the order in which a launch finishes them.
    pub synTensorExtExtractExecutionOrder: Option<synTensorExtExtractExecutionOrder_fn>,
    /// Creates a stream for copies, fills and launches; pass 0 for flags.
    pub synStreamCreateGeneric: synStreamCreateGeneric_fn,
    /// Destroys a stream; synBusy while it has work.
    pub synStreamDestroy: synStreamDestroy_fn,
    /// Lets later work of a stream wait for an event that another stream has recorded; flags must be 0.
    pub synStreamWaitEvent: synStreamWaitEvent_fn,
    /// Waits until a stream has finished its work.
    pub synStreamSynchronize: synStreamSynchronize_fn,
    /// Tells whether a stream has finished its work: synSuccess, or synBusy if not.
    pub synStreamQuery: synStreamQuery_fn,
    /// Ties a stream to hardware queues by bit mask.
    pub synStreamSetAffinity: Option<synStreamSetAffinity_fn>,
    /// Stores the mask of hardware queues that a stream is tied to.
    pub synStreamGetAffinity: Option<synStreamGetAffinity_fn>,
    /// Stores the mask of all hardware queues that a stream may be tied to.
    pub synDeviceGetAffinityMaskRange: Option<synDeviceGetAffinityMaskRange_fn>,
    /// Stores a mask that spreads the next stream over the queues in turn.
    pub synDeviceGetNextStreamAffinity: Option<synDeviceGetNextStreamAffinity_fn>,
}
impl Functions {
    /// Names of the functions without which a library is refused.
    pub const REQUIRED: &'static [&'static str] = &[
        "synStatusGetBriefDescription",
        "synInitialize",
        "synDestroy",
        "synDriverGetVersion",
        "synDeviceGetCount",
        "synDeviceGetCountByDeviceType",
        "synDeviceAcquireByDeviceType",
        "synDeviceAcquireByModuleId",
        "synDeviceRelease",
        "synDeviceSynchronize",
        "synDeviceGetMemoryInfo",
        "synDeviceGetInfo",
        "synDeviceGetAttribute",
        "synDeviceGetName",
        "synSectionCreate",
        "synSectionDestroy",
        "synSectionSetPersistent",
        "synTensorHandleCreate",
        "synTensorDestroy",
        "synTensorAssignToSection",
        "synTensorSetHostPtr",
        "synTensorSetQuantizationData",
        "synTensorSetGeometry",
        "synTensorSetDeviceDataType",
        "synLaunch",
        "synEventCreate",
        "synEventDestroy",
        "synEventRecord",
        "synEventQuery",
        "synEventSynchronize",
        "synEventElapsedTime",
        "synNodeCreate",
        "synNodeCreateWithId",
        "synNodeDependencySet",
        "synNodeSetDeterministic",
        "synGraphCreate",
        "synGraphDestroy",
        "synGraphSetAttribute",
        "synGraphCompile",
        "synHostMalloc",
        "synHostFree",
        "synDeviceMalloc",
        "synDeviceFree",
        "synMemCopyAsync",
        "synMemCopyAsyncMultiple",
        "synMemsetD8Async",
        "synMemsetD16Async",
        "synMemsetD32Async",
        "synRecipeDestroy",
        "synRecipeSerialize",
        "synRecipeDeSerialize",
        "synRecipeGetAttribute",
        "synWorkspaceGetSize",
        "synTensorRetrieveIds",
        "synStreamCreateGeneric",
        "synStreamDestroy",
        "synStreamWaitEvent",
        "synStreamSynchronize",
        "synStreamQuery",
    ];
    /// Names of the functions that a library may lack; their fields are `None` then.
    pub const OPTIONAL: &'static [&'static str] = &[
        "synConfigurationSet",
        "synConfigurationGet",
        "synTPCLibraryGetVersionSize",
        "synTPCLibraryGetVersions",
        "synDeviceCount",
        "synDeviceGetModuleIDs",
        "synDeviceAcquire",
        "synDeviceGetInfoV2",
        "synDeviceGetAttributeByModuleId",
        "synDeviceTypeGetAttribute",
        "synDeviceGetPCIBusId",
        "synSectionSetGroup",
        "synSectionGetGroup",
        "synSectionGetPersistent",
        "synSectionSetConst",
        "synSectionGetConst",
        "synSectionSetRMW",
        "synSectionGetRMW",
        "synTensorCreate",
        "synConstTensorCreate",
        "synTensorSetSectionOffset",
        "synTensorGetSection",
        "synTensorGetHostPtr",
        "synTensorGetQuantizationData",
        "synTensorSetGeometryExt",
        "synTensorGetGeometry",
        "synTensorGetGeometryExt",
        "synTensorSetPermutation",
        "synTensorGetPermutation",
        "synTensorSetAllowPermutation",
        "synTensorGetAllowPermutation",
        "synTensorGetDeviceDataType",
        "synTensorSetDeviceFullLayout",
        "synTensorGetDeviceFullLayout",
        "synTensorSetDeviceLayout",
        "synTensorGetDeviceLayout",
        "synTensorSetExternal",
        "synTensorGetExternal",
        "synTensorGetName",
        "synTensorGetType",
        "synLaunchExt",
        "synLaunchWithExternalEvents",
        "synLaunchWithExternalEventsExt",
        "synEventMapTensor",
        "synEventMapTensorExt",
        "synNodeTypeSetPrecision",
        "synNodeGetDeterministic",
        "synNodeSetRoundingMode",
        "synNodeGetRoundingMode",
        "synNodeSetUserParams",
        "synNodeGetUserParams",
        "synGraphCreateEager",
        "synGraphDuplicate",
        "synGraphInferShapes",
        "synGraphGetDeviceType",
        "synGraphSetAttributes",
        "synGraphGetAttribute",
        "synGraphGetAttributes",
        "synHostMap",
        "synHostUnmap",
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
        "synRecipeSectionGetProp",
        "synRecipeSectionHostBuffersClear",
        "synTensorRetrieveLaunchAmount",
        "synTensorRetrieveLaunchIds",
        "synTensorRetrieveLaunchInfoById",
        "synTensorRetrieveLaunchInfoByIdExt",
        "synTensorRetrieveMultiLaunchInfosById",
        "synTensorRetrieveInfosByName",
        "synTensorRetrieveInfosByNameExt",
        "synTensorRetrievePersistentAmount",
        "synTensorRetrieveNames",
        "synTensorExtExtractExecutionOrder",
        "synStreamSetAffinity",
        "synStreamGetAffinity",
        "synDeviceGetAffinityMaskRange",
        "synDeviceGetNextStreamAffinity",
    ];
    /// Looks every function up; `None` where a required one is missing, which `symbols` then lists.
    ///
    /// # Safety
    ///
    /// The functions of the library have the types declared here.
    pub(crate) unsafe fn resolve(symbols: &mut Symbols<'_>) -> Option<Functions> {
        unsafe {
            let synStatusGetBriefDescription = symbols
                .required::<
                    synStatusGetBriefDescription_fn,
                >("synStatusGetBriefDescription");
            let synInitialize = symbols.required::<synInitialize_fn>("synInitialize");
            let synDestroy = symbols.required::<synDestroy_fn>("synDestroy");
            let synDriverGetVersion = symbols
                .required::<synDriverGetVersion_fn>("synDriverGetVersion");
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
            let synDeviceRelease = symbols
                .required::<synDeviceRelease_fn>("synDeviceRelease");
            let synDeviceSynchronize = symbols
                .required::<synDeviceSynchronize_fn>("synDeviceSynchronize");
            let synDeviceGetMemoryInfo = symbols
                .required::<synDeviceGetMemoryInfo_fn>("synDeviceGetMemoryInfo");
            let synDeviceGetInfo = symbols
                .required::<synDeviceGetInfo_fn>("synDeviceGetInfo");
            let synDeviceGetAttribute = symbols
                .required::<synDeviceGetAttribute_fn>("synDeviceGetAttribute");
            let synDeviceGetName = symbols
                .required::<synDeviceGetName_fn>("synDeviceGetName");
            let synSectionCreate = symbols
                .required::<synSectionCreate_fn>("synSectionCreate");
            let synSectionDestroy = symbols
                .required::<synSectionDestroy_fn>("synSectionDestroy");
            let synSectionSetPersistent = symbols
                .required::<synSectionSetPersistent_fn>("synSectionSetPersistent");
            let synTensorHandleCreate = symbols
                .required::<synTensorHandleCreate_fn>("synTensorHandleCreate");
            let synTensorDestroy = symbols
                .required::<synTensorDestroy_fn>("synTensorDestroy");
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
            let synLaunch = symbols.required::<synLaunch_fn>("synLaunch");
            let synEventCreate = symbols.required::<synEventCreate_fn>("synEventCreate");
            let synEventDestroy = symbols
                .required::<synEventDestroy_fn>("synEventDestroy");
            let synEventRecord = symbols.required::<synEventRecord_fn>("synEventRecord");
            let synEventQuery = symbols.required::<synEventQuery_fn>("synEventQuery");
            let synEventSynchronize = symbols
                .required::<synEventSynchronize_fn>("synEventSynchronize");
            let synEventElapsedTime = symbols
                .required::<synEventElapsedTime_fn>("synEventElapsedTime");
            let synNodeCreate = symbols.required::<synNodeCreate_fn>("synNodeCreate");
            let synNodeCreateWithId = symbols
                .required::<synNodeCreateWithId_fn>("synNodeCreateWithId");
            let synNodeDependencySet = symbols
                .required::<synNodeDependencySet_fn>("synNodeDependencySet");
            let synNodeSetDeterministic = symbols
                .required::<synNodeSetDeterministic_fn>("synNodeSetDeterministic");
            let synGraphCreate = symbols.required::<synGraphCreate_fn>("synGraphCreate");
            let synGraphDestroy = symbols
                .required::<synGraphDestroy_fn>("synGraphDestroy");
            let synGraphSetAttribute = symbols
                .required::<synGraphSetAttribute_fn>("synGraphSetAttribute");
            let synGraphCompile = symbols
                .required::<synGraphCompile_fn>("synGraphCompile");
            let synHostMalloc = symbols.required::<synHostMalloc_fn>("synHostMalloc");
            let synHostFree = symbols.required::<synHostFree_fn>("synHostFree");
            let synDeviceMalloc = symbols
                .required::<synDeviceMalloc_fn>("synDeviceMalloc");
            let synDeviceFree = symbols.required::<synDeviceFree_fn>("synDeviceFree");
            let synMemCopyAsync = symbols
                .required::<synMemCopyAsync_fn>("synMemCopyAsync");
            let synMemCopyAsyncMultiple = symbols
                .required::<synMemCopyAsyncMultiple_fn>("synMemCopyAsyncMultiple");
            let synMemsetD8Async = symbols
                .required::<synMemsetD8Async_fn>("synMemsetD8Async");
            let synMemsetD16Async = symbols
                .required::<synMemsetD16Async_fn>("synMemsetD16Async");
            let synMemsetD32Async = symbols
                .required::<synMemsetD32Async_fn>("synMemsetD32Async");
            let synRecipeDestroy = symbols
                .required::<synRecipeDestroy_fn>("synRecipeDestroy");
            let synRecipeSerialize = symbols
                .required::<synRecipeSerialize_fn>("synRecipeSerialize");
            let synRecipeDeSerialize = symbols
                .required::<synRecipeDeSerialize_fn>("synRecipeDeSerialize");
            let synRecipeGetAttribute = symbols
                .required::<synRecipeGetAttribute_fn>("synRecipeGetAttribute");
            let synWorkspaceGetSize = symbols
                .required::<synWorkspaceGetSize_fn>("synWorkspaceGetSize");
            let synTensorRetrieveIds = symbols
                .required::<synTensorRetrieveIds_fn>("synTensorRetrieveIds");
            let synStreamCreateGeneric = symbols
                .required::<synStreamCreateGeneric_fn>("synStreamCreateGeneric");
            let synStreamDestroy = symbols
                .required::<synStreamDestroy_fn>("synStreamDestroy");
            let synStreamWaitEvent = symbols
                .required::<synStreamWaitEvent_fn>("synStreamWaitEvent");
            let synStreamSynchronize = symbols
                .required::<synStreamSynchronize_fn>("synStreamSynchronize");
            let synStreamQuery = symbols.required::<synStreamQuery_fn>("synStreamQuery");
            Some(Functions {
                synStatusGetBriefDescription: synStatusGetBriefDescription?,
                synInitialize: synInitialize?,
                synDestroy: synDestroy?,
                synDriverGetVersion: synDriverGetVersion?,
                synDeviceGetCount: synDeviceGetCount?,
                synDeviceGetCountByDeviceType: synDeviceGetCountByDeviceType?,
                synDeviceAcquireByDeviceType: synDeviceAcquireByDeviceType?,
                synDeviceAcquireByModuleId: synDeviceAcquireByModuleId?,
                synDeviceRelease: synDeviceRelease?,
                synDeviceSynchronize: synDeviceSynchronize?,
                synDeviceGetMemoryInfo: synDeviceGetMemoryInfo?,
                synDeviceGetInfo: synDeviceGetInfo?,
                synDeviceGetAttribute: synDeviceGetAttribute?,
                synDeviceGetName: synDeviceGetName?,
                synSectionCreate: synSectionCreate?,
                synSectionDestroy: synSectionDestroy?,
                synSectionSetPersistent: synSectionSetPersistent?,
                synTensorHandleCreate: synTensorHandleCreate?,
                synTensorDestroy: synTensorDestroy?,
                synTensorAssignToSection: synTensorAssignToSection?,
                synTensorSetHostPtr: synTensorSetHostPtr?,
                synTensorSetQuantizationData: synTensorSetQuantizationData?,
                synTensorSetGeometry: synTensorSetGeometry?,
                synTensorSetDeviceDataType: synTensorSetDeviceDataType?,
                synLaunch: synLaunch?,
                synEventCreate: synEventCreate?,
                synEventDestroy: synEventDestroy?,
                synEventRecord: synEventRecord?,
                synEventQuery: synEventQuery?,
                synEventSynchronize: synEventSynchronize?,
                synEventElapsedTime: synEventElapsedTime?,
                synNodeCreate: synNodeCreate?,
                synNodeCreateWithId: synNodeCreateWithId?,
                synNodeDependencySet: synNodeDependencySet?,
                synNodeSetDeterministic: synNodeSetDeterministic?,
                synGraphCreate: synGraphCreate?,
                synGraphDestroy: synGraphDestroy?,
                synGraphSetAttribute: synGraphSetAttribute?,
                synGraphCompile: synGraphCompile?,
                synHostMalloc: synHostMalloc?,
                synHostFree: synHostFree?,
                synDeviceMalloc: synDeviceMalloc?,
                synDeviceFree: synDeviceFree?,
                synMemCopyAsync: synMemCopyAsync?,
                synMemCopyAsyncMultiple: synMemCopyAsyncMultiple?,
                synMemsetD8Async: synMemsetD8Async?,
                synMemsetD16Async: synMemsetD16Async?,
                synMemsetD32Async: synMemsetD32Async?,
                synRecipeDestroy: synRecipeDestroy?,
                synRecipeSerialize: synRecipeSerialize?,
                synRecipeDeSerialize: synRecipeDeSerialize?,
                synRecipeGetAttribute: synRecipeGetAttribute?,
                synWorkspaceGetSize: synWorkspaceGetSize?,
                synTensorRetrieveIds: synTensorRetrieveIds?,
                synStreamCreateGeneric: synStreamCreateGeneric?,
                synStreamDestroy: synStreamDestroy?,
                synStreamWaitEvent: synStreamWaitEvent?,
                synStreamSynchronize: synStreamSynchronize?,
                synStreamQuery: synStreamQuery?,
                synConfigurationSet: symbols.optional("synConfigurationSet"),
                synConfigurationGet: symbols.optional("synConfigurationGet"),
                synTPCLibraryGetVersionSize: symbols
                    .optional("synTPCLibraryGetVersionSize"),
                synTPCLibraryGetVersions: symbols.optional("synTPCLibraryGetVersions"),
                synDeviceCount: symbols.optional("synDeviceCount"),
                synDeviceGetModuleIDs: symbols.optional("synDeviceGetModuleIDs"),
                synDeviceAcquire: symbols.optional("synDeviceAcquire"),
                synDeviceGetInfoV2: symbols.optional("synDeviceGetInfoV2"),
                synDeviceGetAttributeByModuleId: symbols
                    .optional("synDeviceGetAttributeByModuleId"),
                synDeviceTypeGetAttribute: symbols.optional("synDeviceTypeGetAttribute"),
                synDeviceGetPCIBusId: symbols.optional("synDeviceGetPCIBusId"),
                synSectionSetGroup: symbols.optional("synSectionSetGroup"),
                synSectionGetGroup: symbols.optional("synSectionGetGroup"),
                synSectionGetPersistent: symbols.optional("synSectionGetPersistent"),
                synSectionSetConst: symbols.optional("synSectionSetConst"),
                synSectionGetConst: symbols.optional("synSectionGetConst"),
                synSectionSetRMW: symbols.optional("synSectionSetRMW"),
                synSectionGetRMW: symbols.optional("synSectionGetRMW"),
                synTensorCreate: symbols.optional("synTensorCreate"),
                synConstTensorCreate: symbols.optional("synConstTensorCreate"),
                synTensorSetSectionOffset: symbols.optional("synTensorSetSectionOffset"),
                synTensorGetSection: symbols.optional("synTensorGetSection"),
                synTensorGetHostPtr: symbols.optional("synTensorGetHostPtr"),
                synTensorGetQuantizationData: symbols
                    .optional("synTensorGetQuantizationData"),
                synTensorSetGeometryExt: symbols.optional("synTensorSetGeometryExt"),
                synTensorGetGeometry: symbols.optional("synTensorGetGeometry"),
                synTensorGetGeometryExt: symbols.optional("synTensorGetGeometryExt"),
                synTensorSetPermutation: symbols.optional("synTensorSetPermutation"),
                synTensorGetPermutation: symbols.optional("synTensorGetPermutation"),
                synTensorSetAllowPermutation: symbols
                    .optional("synTensorSetAllowPermutation"),
                synTensorGetAllowPermutation: symbols
                    .optional("synTensorGetAllowPermutation"),
                synTensorGetDeviceDataType: symbols
                    .optional("synTensorGetDeviceDataType"),
                synTensorSetDeviceFullLayout: symbols
                    .optional("synTensorSetDeviceFullLayout"),
                synTensorGetDeviceFullLayout: symbols
                    .optional("synTensorGetDeviceFullLayout"),
                synTensorSetDeviceLayout: symbols.optional("synTensorSetDeviceLayout"),
                synTensorGetDeviceLayout: symbols.optional("synTensorGetDeviceLayout"),
                synTensorSetExternal: symbols.optional("synTensorSetExternal"),
                synTensorGetExternal: symbols.optional("synTensorGetExternal"),
                synTensorGetName: symbols.optional("synTensorGetName"),
                synTensorGetType: symbols.optional("synTensorGetType"),
                synLaunchExt: symbols.optional("synLaunchExt"),
                synLaunchWithExternalEvents: symbols
                    .optional("synLaunchWithExternalEvents"),
                synLaunchWithExternalEventsExt: symbols
                    .optional("synLaunchWithExternalEventsExt"),
                synEventMapTensor: symbols.optional("synEventMapTensor"),
                synEventMapTensorExt: symbols.optional("synEventMapTensorExt"),
                synNodeTypeSetPrecision: symbols.optional("synNodeTypeSetPrecision"),
                synNodeGetDeterministic: symbols.optional("synNodeGetDeterministic"),
                synNodeSetRoundingMode: symbols.optional("synNodeSetRoundingMode"),
                synNodeGetRoundingMode: symbols.optional("synNodeGetRoundingMode"),
                synNodeSetUserParams: symbols.optional("synNodeSetUserParams"),
                synNodeGetUserParams: symbols.optional("synNodeGetUserParams"),
                synGraphCreateEager: symbols.optional("synGraphCreateEager"),
                synGraphDuplicate: symbols.optional("synGraphDuplicate"),
                synGraphInferShapes: symbols.optional("synGraphInferShapes"),
                synGraphGetDeviceType: symbols.optional("synGraphGetDeviceType"),
                synGraphSetAttributes: symbols.optional("synGraphSetAttributes"),
                synGraphGetAttribute: symbols.optional("synGraphGetAttribute"),
                synGraphGetAttributes: symbols.optional("synGraphGetAttributes"),
                synHostMap: symbols.optional("synHostMap"),
                synHostUnmap: symbols.optional("synHostUnmap"),
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
                synRecipeSectionGetProp: symbols.optional("synRecipeSectionGetProp"),
                synRecipeSectionHostBuffersClear: symbols
                    .optional("synRecipeSectionHostBuffersClear"),
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
                synTensorExtExtractExecutionOrder: symbols
                    .optional("synTensorExtExtractExecutionOrder"),
                synStreamSetAffinity: symbols.optional("synStreamSetAffinity"),
                synStreamGetAffinity: symbols.optional("synStreamGetAffinity"),
                synDeviceGetAffinityMaskRange: symbols
                    .optional("synDeviceGetAffinityMaskRange"),
                synDeviceGetNextStreamAffinity: symbols
                    .optional("synDeviceGetNextStreamAffinity"),
            })
        }
    }
}
