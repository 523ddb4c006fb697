// Made from the header by the program `generate` of this crate: change that, not this file.

pub const HABANA_DIM_MAX: u32 = 25;
pub const SYN_MAX_TENSOR_DIM: u32 = 5;
pub const ENQUEUE_TENSOR_NAME_MAX_SIZE: u32 = 1024;
pub const STATUS_DESCRIPTION_MAX_SIZE: u32 = 56;
pub const MAX_USER_PARAMS_SIZE: u32 = 128;
pub const SYN_FLAGS_TENSOR_NAME: u32 = 1;
pub const TENSOR_INVALID_ID: u64 = 18446744073709551615;
/// A device that this process has acquired.
pub type synDeviceId = u32;
/// Position of a device in its server, from 0 on.
pub type synModuleId = u32;
/// A section within one recipe.
pub type synSectionId = u32;
/// A node within one graph.
pub type synNodeId = u64;
/// A tensor dimension in elements.
pub type TSize = u64;
/// A distance in device memory.
pub type TStride = u64;
/// A signed offset in device memory.
pub type TOffset = i64;
/// A tensor size; same as TSize.
pub type tensor_size_t = u64;
#[repr(C)]
#[derive(Debug)]
pub struct internalTensor {
    _unused: [u8; 0],
}
/// A tensor of a graph; valid until its graph is destroyed.
pub type synTensor = *mut internalTensor;
#[repr(C)]
#[derive(Debug)]
pub struct SectionHandleExternal {
    _unused: [u8; 0],
}
/// A section of a graph: memory that holds persistent or constant tensors.
pub type synSectionHandle = *mut SectionHandleExternal;
#[repr(C)]
#[derive(Debug)]
pub struct InternalGraphHandle {
    _unused: [u8; 0],
}
/// A graph under construction; freed by synGraphDestroy.
pub type synGraphHandle = *mut InternalGraphHandle;
#[repr(C)]
#[derive(Debug)]
pub struct InternalRecipeHandle {
    _unused: [u8; 0],
}
/// A compiled graph; freed by synRecipeDestroy.
pub type synRecipeHandle = *mut InternalRecipeHandle;
#[repr(C)]
#[derive(Debug)]
pub struct InternalStreamHandle {
    _unused: [u8; 0],
}
/// A queue of work on a device; freed by synStreamDestroy.
pub type synStreamHandle = *mut InternalStreamHandle;
#[repr(C)]
#[derive(Debug)]
pub struct EventInterfaceExternal {
    _unused: [u8; 0],
}
/// A point in the work of a stream; freed by synEventDestroy.
pub type synEventHandle = *mut EventInterfaceExternal;
#[repr(C)]
#[derive(Debug)]
pub struct syn_cb_internal {
    _unused: [u8; 0],
}
/// A buffer of device commands; no function here takes one.
pub type synCommandBuffer = *mut syn_cb_internal;
#[repr(C)]
#[derive(Debug)]
pub struct InternalWaitHandle {
    _unused: [u8; 0],
}
/// Something to wait for; no function here takes one.
pub type synWaitHandle = *mut InternalWaitHandle;
/// Describes a tensor to the deprecated creation calls; opaque here.
#[repr(C)]
#[derive(Debug)]
pub struct synTensorDescriptor {
    _unused: [u8; 0],
}
/// Describes a tensor of many dimensions to calls that no longer exist; opaque here.
#[repr(C)]
#[derive(Debug)]
pub struct synTensorNDimDescriptor {
    _unused: [u8; 0],
}
impl synDataType {
    /// no type
    pub const syn_type_na: synDataType = synDataType(0);
    /// same as syn_type_int8
    pub const syn_type_fixed: synDataType = synDataType(1);
    pub const syn_type_int8: synDataType = synDataType(1);
    pub const syn_type_bf16: synDataType = synDataType(2);
    /// 32-bit float
    pub const syn_type_single: synDataType = synDataType(4);
    /// same as syn_type_single
    pub const syn_type_float: synDataType = synDataType(4);
    pub const syn_type_int16: synDataType = synDataType(8);
    pub const syn_type_int32: synDataType = synDataType(16);
    pub const syn_type_uint8: synDataType = synDataType(32);
    pub const syn_type_int4: synDataType = synDataType(64);
    pub const syn_type_uint4: synDataType = synDataType(128);
    pub const syn_type_fp16: synDataType = synDataType(256);
    pub const syn_type_uint16: synDataType = synDataType(512);
    pub const syn_type_uint32: synDataType = synDataType(1024);
    /// 19-bit float in 32 bits
    pub const syn_type_tf32: synDataType = synDataType(2048);
    pub const syn_type_hb_float: synDataType = synDataType(4096);
    /// 8-bit float: 4 bits of exponent, 3 of mantissa
    pub const syn_type_fp8_143: synDataType = synDataType(8192);
    /// 8-bit float: 5 bits of exponent, 2 of mantissa
    pub const syn_type_fp8_152: synDataType = synDataType(16384);
    pub const syn_type_int64: synDataType = synDataType(32768);
    pub const syn_type_uint64: synDataType = synDataType(65536);
    /// 16-bit float without a sign
    pub const syn_type_ufp16: synDataType = synDataType(131072);
    /// end of the list
    pub const syn_type_max: synDataType = synDataType(131073);
}
#[repr(transparent)]
/// Element types: one bit each, so that sets of them can be formed.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synDataType(pub ::core::ffi::c_uint);
impl synStatus {
    pub const synSuccess: synStatus = synStatus(0);
    pub const synInvalidArgument: synStatus = synStatus(1);
    pub const synCbFull: synStatus = synStatus(2);
    pub const synOutOfHostMemory: synStatus = synStatus(3);
    pub const synOutOfDeviceMemory: synStatus = synStatus(4);
    pub const synObjectAlreadyInitialized: synStatus = synStatus(5);
    pub const synObjectNotInitialized: synStatus = synStatus(6);
    pub const synCommandSubmissionFailure: synStatus = synStatus(7);
    pub const synNoDeviceFound: synStatus = synStatus(8);
    pub const synDeviceTypeMismatch: synStatus = synStatus(9);
    pub const synFailedToInitializeCb: synStatus = synStatus(10);
    pub const synFailedToFreeCb: synStatus = synStatus(11);
    pub const synFailedToMapCb: synStatus = synStatus(12);
    pub const synFailedToUnmapCb: synStatus = synStatus(13);
    pub const synFailedToAllocateDeviceMemory: synStatus = synStatus(14);
    pub const synFailedToFreeDeviceMemory: synStatus = synStatus(15);
    pub const synFailedNotEnoughDevicesFound: synStatus = synStatus(16);
    pub const synDeviceReset: synStatus = synStatus(17);
    pub const synUnsupported: synStatus = synStatus(18);
    pub const synWrongParamsFile: synStatus = synStatus(19);
    pub const synDeviceAlreadyAcquired: synStatus = synStatus(20);
    pub const synNameIsAlreadyUsed: synStatus = synStatus(21);
    pub const synBusy: synStatus = synStatus(22);
    pub const synAllResourcesTaken: synStatus = synStatus(23);
    pub const synUnavailable: synStatus = synStatus(24);
    pub const synInvalidTensorDimensions: synStatus = synStatus(25);
    pub const synFail: synStatus = synStatus(26);
    pub const synOutOfResources: synStatus = synStatus(27);
    pub const synUninitialized: synStatus = synStatus(28);
    pub const synAlreadyInitialized: synStatus = synStatus(29);
    pub const synFailedSectionValidation: synStatus = synStatus(30);
    pub const synSynapseTerminated: synStatus = synStatus(31);
    pub const synAssertAsync: synStatus = synStatus(32);
    pub const synInvalidEventHandle: synStatus = synStatus(33);
    pub const synMappingNotFound: synStatus = synStatus(34);
    pub const synFailedDynamicPatching: synStatus = synStatus(35);
    pub const synFailedStaticPatching: synStatus = synStatus(36);
    pub const synFailedToSubmitWorkload: synStatus = synStatus(37);
    pub const synInvalidSectionsDefinition: synStatus = synStatus(38);
    pub const synInvalidTensorProperties: synStatus = synStatus(39);
    pub const synFailHccl: synStatus = synStatus(40);
    pub const synFailedToCollectTime: synStatus = synStatus(41);
    pub const synTimeout: synStatus = synStatus(42);
    pub const synResourceBadUsage: synStatus = synStatus(43);
    /// the last status
    pub const synStatusLast: synStatus = synStatus(43);
}
#[repr(transparent)]
/// Outcome of a call; zero is success.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synStatus(pub ::core::ffi::c_uint);
impl synDeviceType {
    /// older name of synDeviceGreco
    pub const synDeviceGoya2: synDeviceType = synDeviceType(1);
    pub const synDeviceGreco: synDeviceType = synDeviceType(1);
    pub const synDeviceGaudi: synDeviceType = synDeviceType(2);
    pub const synDeviceGaudi2: synDeviceType = synDeviceType(4);
    pub const synDeviceGaudi3: synDeviceType = synDeviceType(5);
    /// no hardware
    pub const synDeviceEmulator: synDeviceType = synDeviceType(6);
    pub const synDeviceTypeInvalid: synDeviceType = synDeviceType(7);
    /// number of entries in arrays by type
    pub const synDeviceTypeSize: synDeviceType = synDeviceType(8);
}
#[repr(transparent)]
/// Generations of devices.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synDeviceType(pub ::core::ffi::c_uint);
impl synDeviceAttribute {
    pub const DEVICE_ATTRIBUTE_SRAM_BASE_ADDRESS: synDeviceAttribute = synDeviceAttribute(
        0,
    );
    pub const DEVICE_ATTRIBUTE_DRAM_BASE_ADDRESS: synDeviceAttribute = synDeviceAttribute(
        1,
    );
    /// bytes
    pub const DEVICE_ATTRIBUTE_SRAM_SIZE: synDeviceAttribute = synDeviceAttribute(2);
    /// bytes
    pub const DEVICE_ATTRIBUTE_DRAM_SIZE: synDeviceAttribute = synDeviceAttribute(3);
    /// bytes
    pub const DEVICE_ATTRIBUTE_DRAM_FREE_SIZE: synDeviceAttribute = synDeviceAttribute(
        4,
    );
    /// a bit for each engine
    pub const DEVICE_ATTRIBUTE_TPC_ENABLED_MASK: synDeviceAttribute = synDeviceAttribute(
        5,
    );
    pub const DEVICE_ATTRIBUTE_DRAM_ENABLED: synDeviceAttribute = synDeviceAttribute(6);
    /// a synDeviceType
    pub const DEVICE_ATTRIBUTE_DEVICE_TYPE: synDeviceAttribute = synDeviceAttribute(7);
    pub const DEVICE_ATTRIBUTE_CLK_RATE: synDeviceAttribute = synDeviceAttribute(8);
    /// bytes
    pub const DEVICE_ATTRIBUTE_MAX_RMW_SIZE: synDeviceAttribute = synDeviceAttribute(9);
    /// bytes
    pub const DEVICE_ATTRIBUTE_STREAMS_TOTAL_MEM_SIZE: synDeviceAttribute = synDeviceAttribute(
        10,
    );
    /// bytes
    pub const DEVICE_ATTRIBUTE_ADDRESS_ALIGNMENT_SIZE: synDeviceAttribute = synDeviceAttribute(
        11,
    );
    /// dimensions of a tensor at most
    pub const DEVICE_ATTRIBUTE_MAX_DIMS: synDeviceAttribute = synDeviceAttribute(12);
}
#[repr(transparent)]
/// What can be asked of a device; every answer is one 64-bit number.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synDeviceAttribute(pub ::core::ffi::c_uint);
impl synDevicePllIndex {
    pub const PLL_CPU: synDevicePllIndex = synDevicePllIndex(0);
    pub const PLL_IC: synDevicePllIndex = synDevicePllIndex(1);
    pub const PLL_MC: synDevicePllIndex = synDevicePllIndex(2);
    pub const PLL_MME: synDevicePllIndex = synDevicePllIndex(3);
    pub const PLL_PCI: synDevicePllIndex = synDevicePllIndex(4);
    pub const PLL_EMMC: synDevicePllIndex = synDevicePllIndex(5);
    pub const PLL_TPC: synDevicePllIndex = synDevicePllIndex(6);
    pub const PLL_SIZE: synDevicePllIndex = synDevicePllIndex(7);
}
#[repr(transparent)]
/// Clock generators of a device.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synDevicePllIndex(pub ::core::ffi::c_uint);
/// Memory and engines of an acquired device.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct synDeviceInfo {
    pub sramBaseAddress: u64,
    pub dramBaseAddress: u64,
    /// bytes
    pub sramSize: u32,
    /// bytes
    pub dramSize: u64,
    /// a bit for each engine
    pub tpcEnabledMask: u64,
    pub dramEnabled: u8,
    pub deviceId: u32,
    /// descriptor of the open device
    pub fd: u32,
    pub deviceType: synDeviceType,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synDeviceInfo"][::core::mem::size_of::<synDeviceInfo>() - 56usize];
    ["Alignment of synDeviceInfo"][::core::mem::align_of::<synDeviceInfo>() - 8usize];
    [
        "Offset of field: synDeviceInfo::sramBaseAddress",
    ][::core::mem::offset_of!(synDeviceInfo, sramBaseAddress) - 0usize];
    [
        "Offset of field: synDeviceInfo::dramBaseAddress",
    ][::core::mem::offset_of!(synDeviceInfo, dramBaseAddress) - 8usize];
    [
        "Offset of field: synDeviceInfo::sramSize",
    ][::core::mem::offset_of!(synDeviceInfo, sramSize) - 16usize];
    [
        "Offset of field: synDeviceInfo::dramSize",
    ][::core::mem::offset_of!(synDeviceInfo, dramSize) - 24usize];
    [
        "Offset of field: synDeviceInfo::tpcEnabledMask",
    ][::core::mem::offset_of!(synDeviceInfo, tpcEnabledMask) - 32usize];
    [
        "Offset of field: synDeviceInfo::dramEnabled",
    ][::core::mem::offset_of!(synDeviceInfo, dramEnabled) - 40usize];
    [
        "Offset of field: synDeviceInfo::deviceId",
    ][::core::mem::offset_of!(synDeviceInfo, deviceId) - 44usize];
    [
        "Offset of field: synDeviceInfo::fd",
    ][::core::mem::offset_of!(synDeviceInfo, fd) - 48usize];
    [
        "Offset of field: synDeviceInfo::deviceType",
    ][::core::mem::offset_of!(synDeviceInfo, deviceType) - 52usize];
};
impl Default for synDeviceInfo {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// Memory and engines of an acquired device, with its index among those of the driver.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct synDeviceInfoV2 {
    pub sramBaseAddress: u64,
    pub dramBaseAddress: u64,
    /// bytes
    pub sramSize: u32,
    /// bytes
    pub dramSize: u64,
    /// a bit for each engine
    pub tpcEnabledMask: u64,
    pub dramEnabled: u8,
    pub deviceId: u32,
    /// descriptor of the open device
    pub fd: u32,
    pub deviceType: synDeviceType,
    /// index of the device among those of the driver
    pub deviceIndex: u8,
    pub reserved: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synDeviceInfoV2"][::core::mem::size_of::<synDeviceInfoV2>() - 72usize];
    [
        "Alignment of synDeviceInfoV2",
    ][::core::mem::align_of::<synDeviceInfoV2>() - 8usize];
    [
        "Offset of field: synDeviceInfoV2::sramBaseAddress",
    ][::core::mem::offset_of!(synDeviceInfoV2, sramBaseAddress) - 0usize];
    [
        "Offset of field: synDeviceInfoV2::dramBaseAddress",
    ][::core::mem::offset_of!(synDeviceInfoV2, dramBaseAddress) - 8usize];
    [
        "Offset of field: synDeviceInfoV2::sramSize",
    ][::core::mem::offset_of!(synDeviceInfoV2, sramSize) - 16usize];
    [
        "Offset of field: synDeviceInfoV2::dramSize",
    ][::core::mem::offset_of!(synDeviceInfoV2, dramSize) - 24usize];
    [
        "Offset of field: synDeviceInfoV2::tpcEnabledMask",
    ][::core::mem::offset_of!(synDeviceInfoV2, tpcEnabledMask) - 32usize];
    [
        "Offset of field: synDeviceInfoV2::dramEnabled",
    ][::core::mem::offset_of!(synDeviceInfoV2, dramEnabled) - 40usize];
    [
        "Offset of field: synDeviceInfoV2::deviceId",
    ][::core::mem::offset_of!(synDeviceInfoV2, deviceId) - 44usize];
    [
        "Offset of field: synDeviceInfoV2::fd",
    ][::core::mem::offset_of!(synDeviceInfoV2, fd) - 48usize];
    [
        "Offset of field: synDeviceInfoV2::deviceType",
    ][::core::mem::offset_of!(synDeviceInfoV2, deviceType) - 52usize];
    [
        "Offset of field: synDeviceInfoV2::deviceIndex",
    ][::core::mem::offset_of!(synDeviceInfoV2, deviceIndex) - 56usize];
    [
        "Offset of field: synDeviceInfoV2::reserved",
    ][::core::mem::offset_of!(synDeviceInfoV2, reserved) - 64usize];
};
impl Default for synDeviceInfoV2 {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl synSectionProp {
    /// bytes
    pub const SECTION_SIZE: synSectionProp = synSectionProp(0);
    /// address on the host
    pub const SECTION_DATA: synSectionProp = synSectionProp(1);
    /// 0 or 1
    pub const IS_CONST: synSectionProp = synSectionProp(2);
}
#[repr(transparent)]
/// What can be asked of a section in a recipe.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synSectionProp(pub ::core::ffi::c_uint);
impl synTensorType {
    pub const DATA_TENSOR: synTensorType = synTensorType(0);
    /// sizes only
    pub const SHAPE_TENSOR: synTensorType = synTensorType(1);
    pub const OUTPUT_DESCRIBING_SHAPE_TENSOR: synTensorType = synTensorType(1);
    pub const INPUT_DESCRIBING_SHAPE_TENSOR: synTensorType = synTensorType(2);
    /// data whose sizes are given at launch, within bounds
    pub const DATA_TENSOR_DYNAMIC: synTensorType = synTensorType(3);
    pub const DEVICE_SHAPE_TENSOR: synTensorType = synTensorType(4);
    pub const HOST_SHAPE_TENSOR: synTensorType = synTensorType(5);
    /// host data that reaches the device with a launch
    pub const HOST_TO_DEVICE_TENSOR: synTensorType = synTensorType(6);
    pub const TENSOR_TYPE_MAX: synTensorType = synTensorType(7);
    /// same as TENSOR_TYPE_MAX
    pub const TENSOR_TYPE_INVALID: synTensorType = synTensorType(7);
}
#[repr(transparent)]
/// What a tensor carries.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synTensorType(pub ::core::ffi::c_uint);
impl synTensorProperty {
    pub const synTensorPropUnknown: synTensorProperty = synTensorProperty(0);
    pub const synTensorPropSection: synTensorProperty = synTensorProperty(1);
    pub const synTensorPropHostPtr: synTensorProperty = synTensorProperty(2);
    pub const synTensorPropQuantMetadata: synTensorProperty = synTensorProperty(4);
    pub const synTensorPropDynamicRange: synTensorProperty = synTensorProperty(8);
    pub const synTensorPropFlags: synTensorProperty = synTensorProperty(16);
    pub const synTensorPropDeviceLayout: synTensorProperty = synTensorProperty(32);
    pub const synTensorPropDeviceDataType: synTensorProperty = synTensorProperty(32);
    pub const synTensorPropName: synTensorProperty = synTensorProperty(64);
    pub const synTensorPropSectionOffset: synTensorProperty = synTensorProperty(128);
    pub const synTensorPropGeometryMin: synTensorProperty = synTensorProperty(256);
    pub const synTensorPropGeometryMax: synTensorProperty = synTensorProperty(512);
    pub const synTensorPropGeometryDim: synTensorProperty = synTensorProperty(1024);
    pub const synTensorPropType: synTensorProperty = synTensorProperty(2048);
    pub const synTensorPropPermutation: synTensorProperty = synTensorProperty(4096);
    pub const synTensorPropFpQuantMetadata: synTensorProperty = synTensorProperty(8192);
    pub const synTensorInternalNoProducer: synTensorProperty = synTensorProperty(16384);
    pub const synTensorPropPCDynamicRange: synTensorProperty = synTensorProperty(32768);
}
#[repr(transparent)]
/// Properties of a tensor, one bit each.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synTensorProperty(pub ::core::ffi::c_uint);
impl synGeometryType {
    /// lower bounds, of a dynamic tensor
    pub const synGeometryMinSizes: synGeometryType = synGeometryType(0);
    /// upper bounds
    pub const synGeometryMaxSizes: synGeometryType = synGeometryType(1);
    /// same as synGeometryMaxSizes: the sizes of a static tensor
    pub const synGeometrySizes: synGeometryType = synGeometryType(1);
    /// number of dimensions only
    pub const synGeometryDims: synGeometryType = synGeometryType(2);
}
#[repr(transparent)]
/// Which sizes of a tensor are meant.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synGeometryType(pub ::core::ffi::c_uint);
impl synQuantizationProperty {
    /// synQuantDynamicRange
    pub const SYN_QUANT_DYNAMIC_RANGE: synQuantizationProperty = synQuantizationProperty(
        0,
    );
    /// synQuantMetadata
    pub const SYN_QUANT_METADATA: synQuantizationProperty = synQuantizationProperty(1);
    /// synFpQuantMetadata
    pub const SYN_FP_QUANT_METADATA: synQuantizationProperty = synQuantizationProperty(
        2,
    );
    /// synQuantFlags
    pub const SYN_QUANT_FLAGS: synQuantizationProperty = synQuantizationProperty(3);
    /// synPerChannelDynamicRange
    pub const SYN_QUANT_PC_DYNAMIC_RANGE: synQuantizationProperty = synQuantizationProperty(
        4,
    );
}
#[repr(transparent)]
/// What kind of quantization data is set or read.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synQuantizationProperty(pub ::core::ffi::c_uint);
/// Sizes of a tensor in elements.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synTensorGeometry {
    /// fastest-changing dimension first
    pub sizes: [TSize; 25usize],
    /// how many of them count
    pub dims: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synTensorGeometry",
    ][::core::mem::size_of::<synTensorGeometry>() - 208usize];
    [
        "Alignment of synTensorGeometry",
    ][::core::mem::align_of::<synTensorGeometry>() - 8usize];
    [
        "Offset of field: synTensorGeometry::sizes",
    ][::core::mem::offset_of!(synTensorGeometry, sizes) - 0usize];
    [
        "Offset of field: synTensorGeometry::dims",
    ][::core::mem::offset_of!(synTensorGeometry, dims) - 200usize];
};
/// Same as synTensorGeometry.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synTensorGeometryExt {
    pub sizes: [TSize; 25usize],
    pub dims: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synTensorGeometryExt",
    ][::core::mem::size_of::<synTensorGeometryExt>() - 208usize];
    [
        "Alignment of synTensorGeometryExt",
    ][::core::mem::align_of::<synTensorGeometryExt>() - 8usize];
    [
        "Offset of field: synTensorGeometryExt::sizes",
    ][::core::mem::offset_of!(synTensorGeometryExt, sizes) - 0usize];
    [
        "Offset of field: synTensorGeometryExt::dims",
    ][::core::mem::offset_of!(synTensorGeometryExt, dims) - 200usize];
};
/// Older form of the layout on the device: one stride fewer, the fastest dimension having none.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct synTensorDeviceLayout {
    pub strides: [u32; 24usize],
    pub deviceDataType: synDataType,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synTensorDeviceLayout",
    ][::core::mem::size_of::<synTensorDeviceLayout>() - 100usize];
    [
        "Alignment of synTensorDeviceLayout",
    ][::core::mem::align_of::<synTensorDeviceLayout>() - 4usize];
    [
        "Offset of field: synTensorDeviceLayout::strides",
    ][::core::mem::offset_of!(synTensorDeviceLayout, strides) - 0usize];
    [
        "Offset of field: synTensorDeviceLayout::deviceDataType",
    ][::core::mem::offset_of!(synTensorDeviceLayout, deviceDataType) - 96usize];
};
impl Default for synTensorDeviceLayout {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// Layout of a tensor on the device: the strides of every dimension, and the element type.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct synTensorDeviceFullLayout {
    pub strides: [u32; 25usize],
    pub deviceDataType: synDataType,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synTensorDeviceFullLayout",
    ][::core::mem::size_of::<synTensorDeviceFullLayout>() - 104usize];
    [
        "Alignment of synTensorDeviceFullLayout",
    ][::core::mem::align_of::<synTensorDeviceFullLayout>() - 4usize];
    [
        "Offset of field: synTensorDeviceFullLayout::strides",
    ][::core::mem::offset_of!(synTensorDeviceFullLayout, strides) - 0usize];
    [
        "Offset of field: synTensorDeviceFullLayout::deviceDataType",
    ][::core::mem::offset_of!(synTensorDeviceFullLayout, deviceDataType) - 100usize];
};
impl Default for synTensorDeviceFullLayout {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// Order in which the dimensions lie in memory.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synTensorPermutation {
    pub permutation: [u8; 25usize],
    pub dims: u8,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synTensorPermutation",
    ][::core::mem::size_of::<synTensorPermutation>() - 26usize];
    [
        "Alignment of synTensorPermutation",
    ][::core::mem::align_of::<synTensorPermutation>() - 1usize];
    [
        "Offset of field: synTensorPermutation::permutation",
    ][::core::mem::offset_of!(synTensorPermutation, permutation) - 0usize];
    [
        "Offset of field: synTensorPermutation::dims",
    ][::core::mem::offset_of!(synTensorPermutation, dims) - 25usize];
};
/// Smallest and largest value that a tensor takes.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synQuantDynamicRange {
    pub min: f64,
    pub max: f64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synQuantDynamicRange",
    ][::core::mem::size_of::<synQuantDynamicRange>() - 16usize];
    [
        "Alignment of synQuantDynamicRange",
    ][::core::mem::align_of::<synQuantDynamicRange>() - 8usize];
    [
        "Offset of field: synQuantDynamicRange::min",
    ][::core::mem::offset_of!(synQuantDynamicRange, min) - 0usize];
    [
        "Offset of field: synQuantDynamicRange::max",
    ][::core::mem::offset_of!(synQuantDynamicRange, max) - 8usize];
};
/// Ranges of a tensor, one for each channel.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct synPerChannelDynamicRange {
    pub ranges: *mut synQuantDynamicRange,
    pub numChannels: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synPerChannelDynamicRange",
    ][::core::mem::size_of::<synPerChannelDynamicRange>() - 16usize];
    [
        "Alignment of synPerChannelDynamicRange",
    ][::core::mem::align_of::<synPerChannelDynamicRange>() - 8usize];
    [
        "Offset of field: synPerChannelDynamicRange::ranges",
    ][::core::mem::offset_of!(synPerChannelDynamicRange, ranges) - 0usize];
    [
        "Offset of field: synPerChannelDynamicRange::numChannels",
    ][::core::mem::offset_of!(synPerChannelDynamicRange, numChannels) - 8usize];
};
impl Default for synPerChannelDynamicRange {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// Zero point and scale of an integer type.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synQuantZPScale {
    pub zp: f64,
    pub scale: f64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synQuantZPScale"][::core::mem::size_of::<synQuantZPScale>() - 16usize];
    [
        "Alignment of synQuantZPScale",
    ][::core::mem::align_of::<synQuantZPScale>() - 8usize];
    [
        "Offset of field: synQuantZPScale::zp",
    ][::core::mem::offset_of!(synQuantZPScale, zp) - 0usize];
    [
        "Offset of field: synQuantZPScale::scale",
    ][::core::mem::offset_of!(synQuantZPScale, scale) - 8usize];
};
/// How integers of a tensor stand for real numbers: one zero point and scale, or one for each channel.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct synQuantMetadata {
    pub dataType: synDataType,
    pub zpScales: *mut synQuantZPScale,
    /// 1, or the number of channels
    pub numZPScales: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synQuantMetadata"][::core::mem::size_of::<synQuantMetadata>() - 24usize];
    [
        "Alignment of synQuantMetadata",
    ][::core::mem::align_of::<synQuantMetadata>() - 8usize];
    [
        "Offset of field: synQuantMetadata::dataType",
    ][::core::mem::offset_of!(synQuantMetadata, dataType) - 0usize];
    [
        "Offset of field: synQuantMetadata::zpScales",
    ][::core::mem::offset_of!(synQuantMetadata, zpScales) - 8usize];
    [
        "Offset of field: synQuantMetadata::numZPScales",
    ][::core::mem::offset_of!(synQuantMetadata, numZPScales) - 16usize];
};
impl Default for synQuantMetadata {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// Scale and exponent bias of an 8-bit float type.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synFpQuantParam {
    pub scale: f64,
    pub expBias: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synFpQuantParam"][::core::mem::size_of::<synFpQuantParam>() - 16usize];
    [
        "Alignment of synFpQuantParam",
    ][::core::mem::align_of::<synFpQuantParam>() - 8usize];
    [
        "Offset of field: synFpQuantParam::scale",
    ][::core::mem::offset_of!(synFpQuantParam, scale) - 0usize];
    [
        "Offset of field: synFpQuantParam::expBias",
    ][::core::mem::offset_of!(synFpQuantParam, expBias) - 8usize];
};
/// How 8-bit floats of a tensor stand for real numbers: one scale and bias, or one for each channel.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct synFpQuantMetadata {
    pub dataType: synDataType,
    pub fpQuantParams: *mut synFpQuantParam,
    /// 1, or the number of channels
    pub numFpQuantParams: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synFpQuantMetadata",
    ][::core::mem::size_of::<synFpQuantMetadata>() - 24usize];
    [
        "Alignment of synFpQuantMetadata",
    ][::core::mem::align_of::<synFpQuantMetadata>() - 8usize];
    [
        "Offset of field: synFpQuantMetadata::dataType",
    ][::core::mem::offset_of!(synFpQuantMetadata, dataType) - 0usize];
    [
        "Offset of field: synFpQuantMetadata::fpQuantParams",
    ][::core::mem::offset_of!(synFpQuantMetadata, fpQuantParams) - 8usize];
    [
        "Offset of field: synFpQuantMetadata::numFpQuantParams",
    ][::core::mem::offset_of!(synFpQuantMetadata, numFpQuantParams) - 16usize];
};
impl Default for synFpQuantMetadata {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// Hints for the quantization of a tensor; each is 0 or 1.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synQuantFlags {
    pub enablePerChannelQuant: u8,
    pub isSparsifiedWeights: u8,
    pub isWeights: u8,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synQuantFlags"][::core::mem::size_of::<synQuantFlags>() - 3usize];
    ["Alignment of synQuantFlags"][::core::mem::align_of::<synQuantFlags>() - 1usize];
    [
        "Offset of field: synQuantFlags::enablePerChannelQuant",
    ][::core::mem::offset_of!(synQuantFlags, enablePerChannelQuant) - 0usize];
    [
        "Offset of field: synQuantFlags::isSparsifiedWeights",
    ][::core::mem::offset_of!(synQuantFlags, isSparsifiedWeights) - 1usize];
    [
        "Offset of field: synQuantFlags::isWeights",
    ][::core::mem::offset_of!(synQuantFlags, isWeights) - 2usize];
};
/// Strides that a caller attaches to a tensor.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct TensorExUserContext {
    pub strides: *mut u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of TensorExUserContext",
    ][::core::mem::size_of::<TensorExUserContext>() - 8usize];
    [
        "Alignment of TensorExUserContext",
    ][::core::mem::align_of::<TensorExUserContext>() - 8usize];
    [
        "Offset of field: TensorExUserContext::strides",
    ][::core::mem::offset_of!(TensorExUserContext, strides) - 0usize];
};
impl Default for TensorExUserContext {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// A tensor of a launch: its address, and its actual sizes where they vary.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct synLaunchTensorInfo {
    /// may be null where the id is set
    pub tensorName: *const ::core::ffi::c_char,
    /// device address; host address of a host tensor
    pub pTensorAddress: u64,
    pub tensorType: synTensorType,
    /// actual sizes in elements; 1 for the second dimension of a vector
    pub tensorSize: [TSize; 25usize],
    /// as synTensorRetrieveIds gives it
    pub tensorId: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synLaunchTensorInfo",
    ][::core::mem::size_of::<synLaunchTensorInfo>() - 232usize];
    [
        "Alignment of synLaunchTensorInfo",
    ][::core::mem::align_of::<synLaunchTensorInfo>() - 8usize];
    [
        "Offset of field: synLaunchTensorInfo::tensorName",
    ][::core::mem::offset_of!(synLaunchTensorInfo, tensorName) - 0usize];
    [
        "Offset of field: synLaunchTensorInfo::pTensorAddress",
    ][::core::mem::offset_of!(synLaunchTensorInfo, pTensorAddress) - 8usize];
    [
        "Offset of field: synLaunchTensorInfo::tensorType",
    ][::core::mem::offset_of!(synLaunchTensorInfo, tensorType) - 16usize];
    [
        "Offset of field: synLaunchTensorInfo::tensorSize",
    ][::core::mem::offset_of!(synLaunchTensorInfo, tensorSize) - 24usize];
    [
        "Offset of field: synLaunchTensorInfo::tensorId",
    ][::core::mem::offset_of!(synLaunchTensorInfo, tensorId) - 224usize];
};
impl Default for synLaunchTensorInfo {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// Same as synLaunchTensorInfo.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct synLaunchTensorInfoExt {
    pub tensorName: *const ::core::ffi::c_char,
    pub pTensorAddress: u64,
    pub tensorType: synTensorType,
    pub tensorSize: [TSize; 25usize],
    pub tensorId: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synLaunchTensorInfoExt",
    ][::core::mem::size_of::<synLaunchTensorInfoExt>() - 232usize];
    [
        "Alignment of synLaunchTensorInfoExt",
    ][::core::mem::align_of::<synLaunchTensorInfoExt>() - 8usize];
    [
        "Offset of field: synLaunchTensorInfoExt::tensorName",
    ][::core::mem::offset_of!(synLaunchTensorInfoExt, tensorName) - 0usize];
    [
        "Offset of field: synLaunchTensorInfoExt::pTensorAddress",
    ][::core::mem::offset_of!(synLaunchTensorInfoExt, pTensorAddress) - 8usize];
    [
        "Offset of field: synLaunchTensorInfoExt::tensorType",
    ][::core::mem::offset_of!(synLaunchTensorInfoExt, tensorType) - 16usize];
    [
        "Offset of field: synLaunchTensorInfoExt::tensorSize",
    ][::core::mem::offset_of!(synLaunchTensorInfoExt, tensorSize) - 24usize];
    [
        "Offset of field: synLaunchTensorInfoExt::tensorId",
    ][::core::mem::offset_of!(synLaunchTensorInfoExt, tensorId) - 224usize];
};
impl Default for synLaunchTensorInfoExt {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl eventCreateFlags {
    /// the event measures time
    pub const EVENT_COLLECT_TIME: eventCreateFlags = eventCreateFlags(1);
}
#[repr(transparent)]
/// How an event is made.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct eventCreateFlags(pub ::core::ffi::c_uint);
impl synRoundingMode {
    pub const synRoundToNearest: synRoundingMode = synRoundingMode(0);
    pub const synRoundToZero: synRoundingMode = synRoundingMode(1);
    pub const synRoundUp: synRoundingMode = synRoundingMode(2);
    pub const synRoundDown: synRoundingMode = synRoundingMode(3);
    pub const synStochasticRounding: synRoundingMode = synRoundingMode(4);
    pub const synRoundAwayFromZero: synRoundingMode = synRoundingMode(5);
    pub const synStochasticRoundingAndNearest: synRoundingMode = synRoundingMode(6);
}
#[repr(transparent)]
/// Rounding of the results of a node of the matrix engine.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synRoundingMode(pub ::core::ffi::c_uint);
impl synGraphAttribute {
    /// no training; 0 or 1
    pub const GRAPH_ATTRIBUTE_INFERENCE: synGraphAttribute = synGraphAttribute(0);
    /// scales and biases of tensors count; 0 or 1
    pub const GRAPH_ATTRIBUTE_QUANTIZATION: synGraphAttribute = synGraphAttribute(1);
    /// head room of ranges
    pub const GRAPH_ATTRIBUTE_BACKOFF_FACTOR: synGraphAttribute = synGraphAttribute(2);
    pub const GRAPH_ATTRIBUTE_MAX: synGraphAttribute = synGraphAttribute(3);
}
#[repr(transparent)]
/// Attributes of a graph; set before its first node.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synGraphAttribute(pub ::core::ffi::c_uint);
/// Value of a graph attribute: an integer, or a float for the back-off factor.
#[repr(C)]
#[derive(Copy, Clone)]
pub union synGraphAttributeVal {
    pub iAttrVal: u64,
    pub dAttrVal: f64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synGraphAttributeVal",
    ][::core::mem::size_of::<synGraphAttributeVal>() - 8usize];
    [
        "Alignment of synGraphAttributeVal",
    ][::core::mem::align_of::<synGraphAttributeVal>() - 8usize];
    [
        "Offset of field: synGraphAttributeVal::iAttrVal",
    ][::core::mem::offset_of!(synGraphAttributeVal, iAttrVal) - 0usize];
    [
        "Offset of field: synGraphAttributeVal::dAttrVal",
    ][::core::mem::offset_of!(synGraphAttributeVal, dAttrVal) - 0usize];
};
impl Default for synGraphAttributeVal {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// A tensor of a graph and its counterpart in the copy.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct synTensorHandleMap {
    pub origHandle: synTensor,
    pub newHandle: synTensor,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synTensorHandleMap",
    ][::core::mem::size_of::<synTensorHandleMap>() - 16usize];
    [
        "Alignment of synTensorHandleMap",
    ][::core::mem::align_of::<synTensorHandleMap>() - 8usize];
    [
        "Offset of field: synTensorHandleMap::origHandle",
    ][::core::mem::offset_of!(synTensorHandleMap, origHandle) - 0usize];
    [
        "Offset of field: synTensorHandleMap::newHandle",
    ][::core::mem::offset_of!(synTensorHandleMap, newHandle) - 8usize];
};
impl Default for synTensorHandleMap {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// A node of a graph and its counterpart in the copy.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synNodeHandleMap {
    pub origHandle: synNodeId,
    pub newHandle: synNodeId,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synNodeHandleMap"][::core::mem::size_of::<synNodeHandleMap>() - 16usize];
    [
        "Alignment of synNodeHandleMap",
    ][::core::mem::align_of::<synNodeHandleMap>() - 8usize];
    [
        "Offset of field: synNodeHandleMap::origHandle",
    ][::core::mem::offset_of!(synNodeHandleMap, origHandle) - 0usize];
    [
        "Offset of field: synNodeHandleMap::newHandle",
    ][::core::mem::offset_of!(synNodeHandleMap, newHandle) - 8usize];
};
/// A 32-bit parameter that is a float or an integer, as the element type of the kernel says.
#[repr(C)]
#[derive(Copy, Clone)]
pub union fint_t {
    pub f: f32,
    pub i: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of fint_t"][::core::mem::size_of::<fint_t>() - 4usize];
    ["Alignment of fint_t"][::core::mem::align_of::<fint_t>() - 4usize];
    ["Offset of field: fint_t::f"][::core::mem::offset_of!(fint_t, f) - 0usize];
    ["Offset of field: fint_t::i"][::core::mem::offset_of!(fint_t, i) - 0usize];
};
impl Default for fint_t {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// Type of the tensor that holds k in a top-k.
pub type KTensorType_t = i32;
/// How a rotary embedding pairs elements.
pub type RotaryPosEmbeddingMode_t = i32;
/// How the gradient of an RMS norm is computed.
pub type RmsNormBwdMode_t = i32;
impl CastF32RoundMode_t {
    /// nearest, ties to even
    pub const CAST_ROUND_HALF_NE: CastF32RoundMode_t = CastF32RoundMode_t(0);
    pub const CAST_ROUND_DOWN: CastF32RoundMode_t = CastF32RoundMode_t(1);
    pub const CAST_ROUND_UP: CastF32RoundMode_t = CastF32RoundMode_t(2);
    /// stochastic
    pub const CAST_ROUND_SR: CastF32RoundMode_t = CastF32RoundMode_t(3);
    pub const CAST_ROUND_ZERO: CastF32RoundMode_t = CastF32RoundMode_t(4);
    pub const CAST_ROUND_DEFAULT: CastF32RoundMode_t = CastF32RoundMode_t(5);
    /// nearest, ties away from zero
    pub const CAST_ROUND_HALF_AZ: CastF32RoundMode_t = CastF32RoundMode_t(6);
    /// stochastic, small values to zero
    pub const CAST_ROUND_SFTZ: CastF32RoundMode_t = CastF32RoundMode_t(8);
}
#[repr(transparent)]
/// Rounding of a cast.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CastF32RoundMode_t(pub ::core::ffi::c_uint);
impl CastSatMode_t {
    /// infinity
    pub const CAST_NO_CLIP_NO_SAT: CastSatMode_t = CastSatMode_t(0);
    /// largest finite value
    pub const CAST_CLIP: CastSatMode_t = CastSatMode_t(1);
    pub const CAST_SAT: CastSatMode_t = CastSatMode_t(2);
}
#[repr(transparent)]
/// What a cast does with values out of range.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CastSatMode_t(pub ::core::ffi::c_uint);
/// Casts, and conversions to FP8: the rounding.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ns_CastKernel_Params {
    pub round_mode: CastF32RoundMode_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_CastKernel_Params",
    ][::core::mem::size_of::<ns_CastKernel_Params>() - 4usize];
    [
        "Alignment of ns_CastKernel_Params",
    ][::core::mem::align_of::<ns_CastKernel_Params>() - 4usize];
    [
        "Offset of field: ns_CastKernel_Params::round_mode",
    ][::core::mem::offset_of!(ns_CastKernel_Params, round_mode) - 0usize];
};
impl Default for ns_CastKernel_Params {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// Casts, with the seed of stochastic rounding.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ns_CastKernel_ParamsV2 {
    pub round_mode: CastF32RoundMode_t,
    pub seed: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_CastKernel_ParamsV2",
    ][::core::mem::size_of::<ns_CastKernel_ParamsV2>() - 8usize];
    [
        "Alignment of ns_CastKernel_ParamsV2",
    ][::core::mem::align_of::<ns_CastKernel_ParamsV2>() - 4usize];
    [
        "Offset of field: ns_CastKernel_ParamsV2::round_mode",
    ][::core::mem::offset_of!(ns_CastKernel_ParamsV2, round_mode) - 0usize];
    [
        "Offset of field: ns_CastKernel_ParamsV2::seed",
    ][::core::mem::offset_of!(ns_CastKernel_ParamsV2, seed) - 4usize];
};
impl Default for ns_CastKernel_ParamsV2 {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// Casts, with what happens out of range.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ns_CastKernel_ParamsV3 {
    pub round_mode: CastF32RoundMode_t,
    pub seed: ::core::ffi::c_uint,
    pub mode: CastSatMode_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_CastKernel_ParamsV3",
    ][::core::mem::size_of::<ns_CastKernel_ParamsV3>() - 12usize];
    [
        "Alignment of ns_CastKernel_ParamsV3",
    ][::core::mem::align_of::<ns_CastKernel_ParamsV3>() - 4usize];
    [
        "Offset of field: ns_CastKernel_ParamsV3::round_mode",
    ][::core::mem::offset_of!(ns_CastKernel_ParamsV3, round_mode) - 0usize];
    [
        "Offset of field: ns_CastKernel_ParamsV3::seed",
    ][::core::mem::offset_of!(ns_CastKernel_ParamsV3, seed) - 4usize];
    [
        "Offset of field: ns_CastKernel_ParamsV3::mode",
    ][::core::mem::offset_of!(ns_CastKernel_ParamsV3, mode) - 8usize];
};
impl Default for ns_CastKernel_ParamsV3 {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// Casts, with the choice to check them.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ns_CastKernel_ParamsV4 {
    pub round_mode: CastF32RoundMode_t,
    pub seed: ::core::ffi::c_uint,
    pub mode: CastSatMode_t,
    pub safeCastCheck: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_CastKernel_ParamsV4",
    ][::core::mem::size_of::<ns_CastKernel_ParamsV4>() - 16usize];
    [
        "Alignment of ns_CastKernel_ParamsV4",
    ][::core::mem::align_of::<ns_CastKernel_ParamsV4>() - 4usize];
    [
        "Offset of field: ns_CastKernel_ParamsV4::round_mode",
    ][::core::mem::offset_of!(ns_CastKernel_ParamsV4, round_mode) - 0usize];
    [
        "Offset of field: ns_CastKernel_ParamsV4::seed",
    ][::core::mem::offset_of!(ns_CastKernel_ParamsV4, seed) - 4usize];
    [
        "Offset of field: ns_CastKernel_ParamsV4::mode",
    ][::core::mem::offset_of!(ns_CastKernel_ParamsV4, mode) - 8usize];
    [
        "Offset of field: ns_CastKernel_ParamsV4::safeCastCheck",
    ][::core::mem::offset_of!(ns_CastKernel_ParamsV4, safeCastCheck) - 12usize];
};
impl Default for ns_CastKernel_ParamsV4 {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// constant: the value of every element.
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ns_ConstantKernel_Params {
    pub constant: fint_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_ConstantKernel_Params",
    ][::core::mem::size_of::<ns_ConstantKernel_Params>() - 4usize];
    [
        "Alignment of ns_ConstantKernel_Params",
    ][::core::mem::align_of::<ns_ConstantKernel_Params>() - 4usize];
    [
        "Offset of field: ns_ConstantKernel_Params::constant",
    ][::core::mem::offset_of!(ns_ConstantKernel_Params, constant) - 0usize];
};
impl Default for ns_ConstantKernel_Params {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// constant, for 64-bit elements: lower and upper half.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_ConstantKernel_Params_v2 {
    pub const_low: ::core::ffi::c_int,
    pub const_high: ::core::ffi::c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_ConstantKernel_Params_v2",
    ][::core::mem::size_of::<ns_ConstantKernel_Params_v2>() - 8usize];
    [
        "Alignment of ns_ConstantKernel_Params_v2",
    ][::core::mem::align_of::<ns_ConstantKernel_Params_v2>() - 4usize];
    [
        "Offset of field: ns_ConstantKernel_Params_v2::const_low",
    ][::core::mem::offset_of!(ns_ConstantKernel_Params_v2, const_low) - 0usize];
    [
        "Offset of field: ns_ConstantKernel_Params_v2::const_high",
    ][::core::mem::offset_of!(ns_ConstantKernel_Params_v2, const_high) - 4usize];
};
/// range: start, end (exclusive) and step.
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ns_RangeKernel_Params {
    pub start: fint_t,
    pub limit: fint_t,
    pub delta: fint_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_RangeKernel_Params",
    ][::core::mem::size_of::<ns_RangeKernel_Params>() - 12usize];
    [
        "Alignment of ns_RangeKernel_Params",
    ][::core::mem::align_of::<ns_RangeKernel_Params>() - 4usize];
    [
        "Offset of field: ns_RangeKernel_Params::start",
    ][::core::mem::offset_of!(ns_RangeKernel_Params, start) - 0usize];
    [
        "Offset of field: ns_RangeKernel_Params::limit",
    ][::core::mem::offset_of!(ns_RangeKernel_Params, limit) - 4usize];
    [
        "Offset of field: ns_RangeKernel_Params::delta",
    ][::core::mem::offset_of!(ns_RangeKernel_Params, delta) - 8usize];
};
impl Default for ns_RangeKernel_Params {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// relu: what is at or below the threshold becomes zero.
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ns_ReluKernel_Params {
    pub threshold: fint_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_ReluKernel_Params",
    ][::core::mem::size_of::<ns_ReluKernel_Params>() - 4usize];
    [
        "Alignment of ns_ReluKernel_Params",
    ][::core::mem::align_of::<ns_ReluKernel_Params>() - 4usize];
    [
        "Offset of field: ns_ReluKernel_Params::threshold",
    ][::core::mem::offset_of!(ns_ReluKernel_Params, threshold) - 0usize];
};
impl Default for ns_ReluKernel_Params {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// relu: what is at or below the threshold becomes the replacement.
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ns_ReluKernel_ParamsV2 {
    pub threshold: fint_t,
    pub replacementValue: fint_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_ReluKernel_ParamsV2",
    ][::core::mem::size_of::<ns_ReluKernel_ParamsV2>() - 8usize];
    [
        "Alignment of ns_ReluKernel_ParamsV2",
    ][::core::mem::align_of::<ns_ReluKernel_ParamsV2>() - 4usize];
    [
        "Offset of field: ns_ReluKernel_ParamsV2::threshold",
    ][::core::mem::offset_of!(ns_ReluKernel_ParamsV2, threshold) - 0usize];
    [
        "Offset of field: ns_ReluKernel_ParamsV2::replacementValue",
    ][::core::mem::offset_of!(ns_ReluKernel_ParamsV2, replacementValue) - 4usize];
};
impl Default for ns_ReluKernel_ParamsV2 {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl DataTypeSize_t {
    pub const DATA_8BIT: DataTypeSize_t = DataTypeSize_t(0);
    pub const DATA_16BIT: DataTypeSize_t = DataTypeSize_t(1);
    pub const DATA_32BIT: DataTypeSize_t = DataTypeSize_t(2);
}
#[repr(transparent)]
/// Width of elements.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct DataTypeSize_t(pub ::core::ffi::c_uint);
impl ScaledMaskedSoftmaxExpMode {
    pub const USE_LUT: ScaledMaskedSoftmaxExpMode = ScaledMaskedSoftmaxExpMode(0);
    pub const NO_LUT: ScaledMaskedSoftmaxExpMode = ScaledMaskedSoftmaxExpMode(1);
    pub const EXPERIMENTAL: ScaledMaskedSoftmaxExpMode = ScaledMaskedSoftmaxExpMode(15);
}
#[repr(transparent)]
/// How a fused softmax computes the exponential.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct ScaledMaskedSoftmaxExpMode(pub ::core::ffi::c_uint);
impl ScaledMaskedTriangularSoftmaxMode {
    pub const DEFAULT_MODE: ScaledMaskedTriangularSoftmaxMode = ScaledMaskedTriangularSoftmaxMode(
        0,
    );
    pub const SLICED_MODE: ScaledMaskedTriangularSoftmaxMode = ScaledMaskedTriangularSoftmaxMode(
        1,
    );
    pub const HF8_1B_MODE: ScaledMaskedTriangularSoftmaxMode = ScaledMaskedTriangularSoftmaxMode(
        2,
    );
    pub const HF8_1C_MODE: ScaledMaskedTriangularSoftmaxMode = ScaledMaskedTriangularSoftmaxMode(
        4,
    );
    pub const FUSED_MULT_INV_ATTN: ScaledMaskedTriangularSoftmaxMode = ScaledMaskedTriangularSoftmaxMode(
        8,
    );
    pub const SQUEEZED_FCD_RETAINED: ScaledMaskedTriangularSoftmaxMode = ScaledMaskedTriangularSoftmaxMode(
        16,
    );
    pub const CL_ALIGNED_PADDED_RETAINED: ScaledMaskedTriangularSoftmaxMode = ScaledMaskedTriangularSoftmaxMode(
        32,
    );
}
#[repr(transparent)]
/// How a fused causal softmax works; flags.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct ScaledMaskedTriangularSoftmaxMode(pub ::core::ffi::c_uint);
impl SoftmaxMode_t {
    pub const DEFAULT_SOFTMAX: SoftmaxMode_t = SoftmaxMode_t(0);
    pub const SOFTMAX_HF8_1B: SoftmaxMode_t = SoftmaxMode_t(1);
    pub const SOFTMAX_HF8_1C: SoftmaxMode_t = SoftmaxMode_t(2);
    pub const SOFTMAX_HF8_2: SoftmaxMode_t = SoftmaxMode_t(3);
}
#[repr(transparent)]
/// Precision of a softmax.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct SoftmaxMode_t(pub ::core::ffi::c_uint);
/// softmax: the dimension; the fastest-changing one is 0.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_Softmax_Params {
    pub dim: ::core::ffi::c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ns_Softmax_Params"][::core::mem::size_of::<ns_Softmax_Params>() - 4usize];
    [
        "Alignment of ns_Softmax_Params",
    ][::core::mem::align_of::<ns_Softmax_Params>() - 4usize];
    [
        "Offset of field: ns_Softmax_Params::dim",
    ][::core::mem::offset_of!(ns_Softmax_Params, dim) - 0usize];
};
/// softmax, with the width of the elements.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ns_Softmax_ParamsV3 {
    pub dim: ::core::ffi::c_int,
    pub dataTypeSize: DataTypeSize_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_Softmax_ParamsV3",
    ][::core::mem::size_of::<ns_Softmax_ParamsV3>() - 8usize];
    [
        "Alignment of ns_Softmax_ParamsV3",
    ][::core::mem::align_of::<ns_Softmax_ParamsV3>() - 4usize];
    [
        "Offset of field: ns_Softmax_ParamsV3::dim",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV3, dim) - 0usize];
    [
        "Offset of field: ns_Softmax_ParamsV3::dataTypeSize",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV3, dataTypeSize) - 4usize];
};
impl Default for ns_Softmax_ParamsV3 {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// softmax, with the axis that counts valid elements.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ns_Softmax_ParamsV4 {
    pub dim: ::core::ffi::c_int,
    pub dataTypeSize: DataTypeSize_t,
    pub validCountAxis: ::core::ffi::c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_Softmax_ParamsV4",
    ][::core::mem::size_of::<ns_Softmax_ParamsV4>() - 12usize];
    [
        "Alignment of ns_Softmax_ParamsV4",
    ][::core::mem::align_of::<ns_Softmax_ParamsV4>() - 4usize];
    [
        "Offset of field: ns_Softmax_ParamsV4::dim",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV4, dim) - 0usize];
    [
        "Offset of field: ns_Softmax_ParamsV4::dataTypeSize",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV4, dataTypeSize) - 4usize];
    [
        "Offset of field: ns_Softmax_ParamsV4::validCountAxis",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV4, validCountAxis) - 8usize];
};
impl Default for ns_Softmax_ParamsV4 {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// softmax, with the choice of a faster approximation.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ns_Softmax_ParamsV5 {
    pub dim: ::core::ffi::c_int,
    pub dataTypeSize: DataTypeSize_t,
    pub validCountAxis: ::core::ffi::c_int,
    pub is_approximation: ::core::ffi::c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_Softmax_ParamsV5",
    ][::core::mem::size_of::<ns_Softmax_ParamsV5>() - 16usize];
    [
        "Alignment of ns_Softmax_ParamsV5",
    ][::core::mem::align_of::<ns_Softmax_ParamsV5>() - 4usize];
    [
        "Offset of field: ns_Softmax_ParamsV5::dim",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV5, dim) - 0usize];
    [
        "Offset of field: ns_Softmax_ParamsV5::dataTypeSize",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV5, dataTypeSize) - 4usize];
    [
        "Offset of field: ns_Softmax_ParamsV5::validCountAxis",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV5, validCountAxis) - 8usize];
    [
        "Offset of field: ns_Softmax_ParamsV5::is_approximation",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV5, is_approximation) - 12usize];
};
impl Default for ns_Softmax_ParamsV5 {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// softmax, with the mode for causal masks.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ns_Softmax_ParamsV6 {
    pub dim: ::core::ffi::c_int,
    pub dataTypeSize: DataTypeSize_t,
    pub validCountAxis: ::core::ffi::c_int,
    pub is_approximation: ::core::ffi::c_int,
    pub triangularMode: ::core::ffi::c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_Softmax_ParamsV6",
    ][::core::mem::size_of::<ns_Softmax_ParamsV6>() - 20usize];
    [
        "Alignment of ns_Softmax_ParamsV6",
    ][::core::mem::align_of::<ns_Softmax_ParamsV6>() - 4usize];
    [
        "Offset of field: ns_Softmax_ParamsV6::dim",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV6, dim) - 0usize];
    [
        "Offset of field: ns_Softmax_ParamsV6::dataTypeSize",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV6, dataTypeSize) - 4usize];
    [
        "Offset of field: ns_Softmax_ParamsV6::validCountAxis",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV6, validCountAxis) - 8usize];
    [
        "Offset of field: ns_Softmax_ParamsV6::is_approximation",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV6, is_approximation) - 12usize];
    [
        "Offset of field: ns_Softmax_ParamsV6::triangularMode",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV6, triangularMode) - 16usize];
};
impl Default for ns_Softmax_ParamsV6 {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// softmax, with the precision.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ns_Softmax_ParamsV7 {
    pub dim: ::core::ffi::c_int,
    pub dataTypeSize: DataTypeSize_t,
    pub validCountAxis: ::core::ffi::c_int,
    pub is_approximation: ::core::ffi::c_int,
    pub triangularMode: ::core::ffi::c_int,
    pub mode: SoftmaxMode_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_Softmax_ParamsV7",
    ][::core::mem::size_of::<ns_Softmax_ParamsV7>() - 24usize];
    [
        "Alignment of ns_Softmax_ParamsV7",
    ][::core::mem::align_of::<ns_Softmax_ParamsV7>() - 4usize];
    [
        "Offset of field: ns_Softmax_ParamsV7::dim",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV7, dim) - 0usize];
    [
        "Offset of field: ns_Softmax_ParamsV7::dataTypeSize",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV7, dataTypeSize) - 4usize];
    [
        "Offset of field: ns_Softmax_ParamsV7::validCountAxis",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV7, validCountAxis) - 8usize];
    [
        "Offset of field: ns_Softmax_ParamsV7::is_approximation",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV7, is_approximation) - 12usize];
    [
        "Offset of field: ns_Softmax_ParamsV7::triangularMode",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV7, triangularMode) - 16usize];
    [
        "Offset of field: ns_Softmax_ParamsV7::mode",
    ][::core::mem::offset_of!(ns_Softmax_ParamsV7, mode) - 20usize];
};
impl Default for ns_Softmax_ParamsV7 {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// Reductions: the one dimension.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_Reduction_Params {
    pub reductionDimension: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_Reduction_Params",
    ][::core::mem::size_of::<ns_Reduction_Params>() - 4usize];
    [
        "Alignment of ns_Reduction_Params",
    ][::core::mem::align_of::<ns_Reduction_Params>() - 4usize];
    [
        "Offset of field: ns_Reduction_Params::reductionDimension",
    ][::core::mem::offset_of!(ns_Reduction_Params, reductionDimension) - 0usize];
};
/// Reductions: a bit for each dimension, the fastest-changing one being bit 0, and whether they stay with size 1.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_Reduction_ParamsV2 {
    pub reductionDimensionMask: ::core::ffi::c_uint,
    pub keepDim: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_Reduction_ParamsV2",
    ][::core::mem::size_of::<ns_Reduction_ParamsV2>() - 8usize];
    [
        "Alignment of ns_Reduction_ParamsV2",
    ][::core::mem::align_of::<ns_Reduction_ParamsV2>() - 4usize];
    [
        "Offset of field: ns_Reduction_ParamsV2::reductionDimensionMask",
    ][::core::mem::offset_of!(ns_Reduction_ParamsV2, reductionDimensionMask) - 0usize];
    [
        "Offset of field: ns_Reduction_ParamsV2::keepDim",
    ][::core::mem::offset_of!(ns_Reduction_ParamsV2, keepDim) - 4usize];
};
/// Dropout: the share of elements to drop, and a seed.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_DropoutKernel_Params {
    pub ratio: f32,
    pub seed: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_DropoutKernel_Params",
    ][::core::mem::size_of::<ns_DropoutKernel_Params>() - 8usize];
    [
        "Alignment of ns_DropoutKernel_Params",
    ][::core::mem::align_of::<ns_DropoutKernel_Params>() - 4usize];
    [
        "Offset of field: ns_DropoutKernel_Params::ratio",
    ][::core::mem::offset_of!(ns_DropoutKernel_Params, ratio) - 0usize];
    [
        "Offset of field: ns_DropoutKernel_Params::seed",
    ][::core::mem::offset_of!(ns_DropoutKernel_Params, seed) - 4usize];
};
/// Dropout, with the choice to give no mask.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_DropoutKernel_ParamsOptionalMaskOut {
    pub ratio: f32,
    pub seed: ::core::ffi::c_uint,
    pub disableMaskOut: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_DropoutKernel_ParamsOptionalMaskOut",
    ][::core::mem::size_of::<ns_DropoutKernel_ParamsOptionalMaskOut>() - 12usize];
    [
        "Alignment of ns_DropoutKernel_ParamsOptionalMaskOut",
    ][::core::mem::align_of::<ns_DropoutKernel_ParamsOptionalMaskOut>() - 4usize];
    [
        "Offset of field: ns_DropoutKernel_ParamsOptionalMaskOut::ratio",
    ][::core::mem::offset_of!(ns_DropoutKernel_ParamsOptionalMaskOut, ratio) - 0usize];
    [
        "Offset of field: ns_DropoutKernel_ParamsOptionalMaskOut::seed",
    ][::core::mem::offset_of!(ns_DropoutKernel_ParamsOptionalMaskOut, seed) - 4usize];
    [
        "Offset of field: ns_DropoutKernel_ParamsOptionalMaskOut::disableMaskOut",
    ][::core::mem::offset_of!(ns_DropoutKernel_ParamsOptionalMaskOut, disableMaskOut)
        - 8usize];
};
/// Dropout, with the choice to do nothing in inference.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_DropoutKernel_ParamsOptionalTrain {
    pub ratio: f32,
    pub seed: ::core::ffi::c_uint,
    pub disableMaskOut: bool,
    pub isTraining: ::core::ffi::c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_DropoutKernel_ParamsOptionalTrain",
    ][::core::mem::size_of::<ns_DropoutKernel_ParamsOptionalTrain>() - 16usize];
    [
        "Alignment of ns_DropoutKernel_ParamsOptionalTrain",
    ][::core::mem::align_of::<ns_DropoutKernel_ParamsOptionalTrain>() - 4usize];
    [
        "Offset of field: ns_DropoutKernel_ParamsOptionalTrain::ratio",
    ][::core::mem::offset_of!(ns_DropoutKernel_ParamsOptionalTrain, ratio) - 0usize];
    [
        "Offset of field: ns_DropoutKernel_ParamsOptionalTrain::seed",
    ][::core::mem::offset_of!(ns_DropoutKernel_ParamsOptionalTrain, seed) - 4usize];
    [
        "Offset of field: ns_DropoutKernel_ParamsOptionalTrain::disableMaskOut",
    ][::core::mem::offset_of!(ns_DropoutKernel_ParamsOptionalTrain, disableMaskOut)
        - 8usize];
    [
        "Offset of field: ns_DropoutKernel_ParamsOptionalTrain::isTraining",
    ][::core::mem::offset_of!(ns_DropoutKernel_ParamsOptionalTrain, isTraining)
        - 12usize];
};
/// gather: the axis; the fastest-changing dimension is 0.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_GatherKernel_Params {
    pub axis: ::core::ffi::c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_GatherKernel_Params",
    ][::core::mem::size_of::<ns_GatherKernel_Params>() - 4usize];
    [
        "Alignment of ns_GatherKernel_Params",
    ][::core::mem::align_of::<ns_GatherKernel_Params>() - 4usize];
    [
        "Offset of field: ns_GatherKernel_Params::axis",
    ][::core::mem::offset_of!(ns_GatherKernel_Params, axis) - 0usize];
};
/// gather, with the number of dimensions that data and indices share.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_GatherKernel_ParamsV2 {
    pub axis: ::core::ffi::c_int,
    pub batchDims: ::core::ffi::c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_GatherKernel_ParamsV2",
    ][::core::mem::size_of::<ns_GatherKernel_ParamsV2>() - 8usize];
    [
        "Alignment of ns_GatherKernel_ParamsV2",
    ][::core::mem::align_of::<ns_GatherKernel_ParamsV2>() - 4usize];
    [
        "Offset of field: ns_GatherKernel_ParamsV2::axis",
    ][::core::mem::offset_of!(ns_GatherKernel_ParamsV2, axis) - 0usize];
    [
        "Offset of field: ns_GatherKernel_ParamsV2::batchDims",
    ][::core::mem::offset_of!(ns_GatherKernel_ParamsV2, batchDims) - 4usize];
};
/// gather_elements: the axis; the fastest-changing dimension is 0.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_GatherElementsKernel_Params {
    pub axis: ::core::ffi::c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_GatherElementsKernel_Params",
    ][::core::mem::size_of::<ns_GatherElementsKernel_Params>() - 4usize];
    [
        "Alignment of ns_GatherElementsKernel_Params",
    ][::core::mem::align_of::<ns_GatherElementsKernel_Params>() - 4usize];
    [
        "Offset of field: ns_GatherElementsKernel_Params::axis",
    ][::core::mem::offset_of!(ns_GatherElementsKernel_Params, axis) - 0usize];
};
/// gather_elements, with the choice to sort the indices first.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_GatherElementsKernel_ParamsV2 {
    pub axis: ::core::ffi::c_int,
    pub isSort: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_GatherElementsKernel_ParamsV2",
    ][::core::mem::size_of::<ns_GatherElementsKernel_ParamsV2>() - 8usize];
    [
        "Alignment of ns_GatherElementsKernel_ParamsV2",
    ][::core::mem::align_of::<ns_GatherElementsKernel_ParamsV2>() - 4usize];
    [
        "Offset of field: ns_GatherElementsKernel_ParamsV2::axis",
    ][::core::mem::offset_of!(ns_GatherElementsKernel_ParamsV2, axis) - 0usize];
    [
        "Offset of field: ns_GatherElementsKernel_ParamsV2::isSort",
    ][::core::mem::offset_of!(ns_GatherElementsKernel_ParamsV2, isSort) - 4usize];
};
impl ScatterIndicesSizeControl_t {
    pub const CONTROL_IND_SIZE: ScatterIndicesSizeControl_t = ScatterIndicesSizeControl_t(
        0,
    );
    pub const NO_CONTROL_IND_SIZE: ScatterIndicesSizeControl_t = ScatterIndicesSizeControl_t(
        1,
    );
}
#[repr(transparent)]
/// Whether a scatter allows more indices than data.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct ScatterIndicesSizeControl_t(pub ::core::ffi::c_uint);
impl ScatterNdUpdateMode_t {
    /// any update may win
    pub const SCATTER_ND_UPDATE_MODE_NON_DETERMINISTIC: ScatterNdUpdateMode_t = ScatterNdUpdateMode_t(
        0,
    );
    /// the last update wins
    pub const SCATTER_ND_UPDATE_MODE_DETERMINISTIC: ScatterNdUpdateMode_t = ScatterNdUpdateMode_t(
        1,
    );
}
#[repr(transparent)]
/// What a scatter does with equal indices.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct ScatterNdUpdateMode_t(pub ::core::ffi::c_uint);
/// scatter: the axis.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_ScatterKernel_Params {
    pub axis: ::core::ffi::c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_ScatterKernel_Params",
    ][::core::mem::size_of::<ns_ScatterKernel_Params>() - 4usize];
    [
        "Alignment of ns_ScatterKernel_Params",
    ][::core::mem::align_of::<ns_ScatterKernel_Params>() - 4usize];
    [
        "Offset of field: ns_ScatterKernel_Params::axis",
    ][::core::mem::offset_of!(ns_ScatterKernel_Params, axis) - 0usize];
};
/// scatter, with the choice to allow more indices than data.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ns_ScatterKernel_ParamsIndices {
    pub axis: ::core::ffi::c_int,
    pub isIndicesLarger: ScatterIndicesSizeControl_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_ScatterKernel_ParamsIndices",
    ][::core::mem::size_of::<ns_ScatterKernel_ParamsIndices>() - 8usize];
    [
        "Alignment of ns_ScatterKernel_ParamsIndices",
    ][::core::mem::align_of::<ns_ScatterKernel_ParamsIndices>() - 4usize];
    [
        "Offset of field: ns_ScatterKernel_ParamsIndices::axis",
    ][::core::mem::offset_of!(ns_ScatterKernel_ParamsIndices, axis) - 0usize];
    [
        "Offset of field: ns_ScatterKernel_ParamsIndices::isIndicesLarger",
    ][::core::mem::offset_of!(ns_ScatterKernel_ParamsIndices, isIndicesLarger) - 4usize];
};
impl Default for ns_ScatterKernel_ParamsIndices {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// scatter, with the dimension.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ns_ScatterKernel_ParamsV2 {
    pub axis: ::core::ffi::c_int,
    pub isIndicesLarger: ScatterIndicesSizeControl_t,
    pub dim: ::core::ffi::c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_ScatterKernel_ParamsV2",
    ][::core::mem::size_of::<ns_ScatterKernel_ParamsV2>() - 12usize];
    [
        "Alignment of ns_ScatterKernel_ParamsV2",
    ][::core::mem::align_of::<ns_ScatterKernel_ParamsV2>() - 4usize];
    [
        "Offset of field: ns_ScatterKernel_ParamsV2::axis",
    ][::core::mem::offset_of!(ns_ScatterKernel_ParamsV2, axis) - 0usize];
    [
        "Offset of field: ns_ScatterKernel_ParamsV2::isIndicesLarger",
    ][::core::mem::offset_of!(ns_ScatterKernel_ParamsV2, isIndicesLarger) - 4usize];
    [
        "Offset of field: ns_ScatterKernel_ParamsV2::dim",
    ][::core::mem::offset_of!(ns_ScatterKernel_ParamsV2, dim) - 8usize];
};
impl Default for ns_ScatterKernel_ParamsV2 {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// scatter with reduction: whether the old value takes part.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ns_ScatterKernel_ParamsReduce {
    pub axis: ::core::ffi::c_int,
    pub isIndicesLarger: ScatterIndicesSizeControl_t,
    pub dim: ::core::ffi::c_int,
    pub include_self: ::core::ffi::c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_ScatterKernel_ParamsReduce",
    ][::core::mem::size_of::<ns_ScatterKernel_ParamsReduce>() - 16usize];
    [
        "Alignment of ns_ScatterKernel_ParamsReduce",
    ][::core::mem::align_of::<ns_ScatterKernel_ParamsReduce>() - 4usize];
    [
        "Offset of field: ns_ScatterKernel_ParamsReduce::axis",
    ][::core::mem::offset_of!(ns_ScatterKernel_ParamsReduce, axis) - 0usize];
    [
        "Offset of field: ns_ScatterKernel_ParamsReduce::isIndicesLarger",
    ][::core::mem::offset_of!(ns_ScatterKernel_ParamsReduce, isIndicesLarger) - 4usize];
    [
        "Offset of field: ns_ScatterKernel_ParamsReduce::dim",
    ][::core::mem::offset_of!(ns_ScatterKernel_ParamsReduce, dim) - 8usize];
    [
        "Offset of field: ns_ScatterKernel_ParamsReduce::include_self",
    ][::core::mem::offset_of!(ns_ScatterKernel_ParamsReduce, include_self) - 12usize];
};
impl Default for ns_ScatterKernel_ParamsReduce {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// scatter_nd: the shape of the indices before they were flattened.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_ScatterNDKernel_Params {
    pub origIndicesDims: ::core::ffi::c_int,
    pub origIndicesShape: [::core::ffi::c_int; 5usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_ScatterNDKernel_Params",
    ][::core::mem::size_of::<ns_ScatterNDKernel_Params>() - 24usize];
    [
        "Alignment of ns_ScatterNDKernel_Params",
    ][::core::mem::align_of::<ns_ScatterNDKernel_Params>() - 4usize];
    [
        "Offset of field: ns_ScatterNDKernel_Params::origIndicesDims",
    ][::core::mem::offset_of!(ns_ScatterNDKernel_Params, origIndicesDims) - 0usize];
    [
        "Offset of field: ns_ScatterNDKernel_Params::origIndicesShape",
    ][::core::mem::offset_of!(ns_ScatterNDKernel_Params, origIndicesShape) - 4usize];
};
/// scatter_nd, with a promise about the order of the indices.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_ScatterNDKernel_ParamsV2 {
    pub origIndicesDims: ::core::ffi::c_int,
    pub origIndicesShape: [::core::ffi::c_int; 5usize],
    pub isUnsorted: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_ScatterNDKernel_ParamsV2",
    ][::core::mem::size_of::<ns_ScatterNDKernel_ParamsV2>() - 28usize];
    [
        "Alignment of ns_ScatterNDKernel_ParamsV2",
    ][::core::mem::align_of::<ns_ScatterNDKernel_ParamsV2>() - 4usize];
    [
        "Offset of field: ns_ScatterNDKernel_ParamsV2::origIndicesDims",
    ][::core::mem::offset_of!(ns_ScatterNDKernel_ParamsV2, origIndicesDims) - 0usize];
    [
        "Offset of field: ns_ScatterNDKernel_ParamsV2::origIndicesShape",
    ][::core::mem::offset_of!(ns_ScatterNDKernel_ParamsV2, origIndicesShape) - 4usize];
    [
        "Offset of field: ns_ScatterNDKernel_ParamsV2::isUnsorted",
    ][::core::mem::offset_of!(ns_ScatterNDKernel_ParamsV2, isUnsorted) - 24usize];
};
/// scatter_nd_update: what happens with equal indices.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ns_ScatterNdUpdateKernel_Params {
    pub mode: ScatterNdUpdateMode_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_ScatterNdUpdateKernel_Params",
    ][::core::mem::size_of::<ns_ScatterNdUpdateKernel_Params>() - 4usize];
    [
        "Alignment of ns_ScatterNdUpdateKernel_Params",
    ][::core::mem::align_of::<ns_ScatterNdUpdateKernel_Params>() - 4usize];
    [
        "Offset of field: ns_ScatterNdUpdateKernel_Params::mode",
    ][::core::mem::offset_of!(ns_ScatterNdUpdateKernel_Params, mode) - 0usize];
};
impl Default for ns_ScatterNdUpdateKernel_Params {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// index_copy: the axis, counted from the slowest-changing dimension as Python does.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_IndexCopy_Params {
    pub axis: ::core::ffi::c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_IndexCopy_Params",
    ][::core::mem::size_of::<ns_IndexCopy_Params>() - 4usize];
    [
        "Alignment of ns_IndexCopy_Params",
    ][::core::mem::align_of::<ns_IndexCopy_Params>() - 4usize];
    [
        "Offset of field: ns_IndexCopy_Params::axis",
    ][::core::mem::offset_of!(ns_IndexCopy_Params, axis) - 0usize];
};
/// topk: how many elements.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_TopkNodeV2_Params {
    pub bsw: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_TopkNodeV2_Params",
    ][::core::mem::size_of::<ns_TopkNodeV2_Params>() - 4usize];
    [
        "Alignment of ns_TopkNodeV2_Params",
    ][::core::mem::align_of::<ns_TopkNodeV2_Params>() - 4usize];
    [
        "Offset of field: ns_TopkNodeV2_Params::bsw",
    ][::core::mem::offset_of!(ns_TopkNodeV2_Params, bsw) - 0usize];
};
/// topk, with the axis.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_TopkNodeV2_ParamsV2 {
    pub bsw: ::core::ffi::c_uint,
    pub axis: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_TopkNodeV2_ParamsV2",
    ][::core::mem::size_of::<ns_TopkNodeV2_ParamsV2>() - 8usize];
    [
        "Alignment of ns_TopkNodeV2_ParamsV2",
    ][::core::mem::align_of::<ns_TopkNodeV2_ParamsV2>() - 4usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV2::bsw",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV2, bsw) - 0usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV2::axis",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV2, axis) - 4usize];
};
/// topk, with the choice of the smallest.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_TopkNodeV2_ParamsV3 {
    pub bsw: ::core::ffi::c_uint,
    pub axis: ::core::ffi::c_uint,
    pub bottomK: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_TopkNodeV2_ParamsV3",
    ][::core::mem::size_of::<ns_TopkNodeV2_ParamsV3>() - 12usize];
    [
        "Alignment of ns_TopkNodeV2_ParamsV3",
    ][::core::mem::align_of::<ns_TopkNodeV2_ParamsV3>() - 4usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV3::bsw",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV3, bsw) - 0usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV3::axis",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV3, axis) - 4usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV3::bottomK",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV3, bottomK) - 8usize];
};
/// topk, with stable order, counts of valid elements, and k from a tensor.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_TopkNodeV2_ParamsV4 {
    pub bsw: ::core::ffi::c_uint,
    pub axis: ::core::ffi::c_uint,
    pub bottomK: bool,
    pub isStable: bool,
    pub isVcData: bool,
    pub kType: KTensorType_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_TopkNodeV2_ParamsV4",
    ][::core::mem::size_of::<ns_TopkNodeV2_ParamsV4>() - 16usize];
    [
        "Alignment of ns_TopkNodeV2_ParamsV4",
    ][::core::mem::align_of::<ns_TopkNodeV2_ParamsV4>() - 4usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV4::bsw",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV4, bsw) - 0usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV4::axis",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV4, axis) - 4usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV4::bottomK",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV4, bottomK) - 8usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV4::isStable",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV4, isStable) - 9usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV4::isVcData",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV4, isVcData) - 10usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV4::kType",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV4, kType) - 12usize];
};
/// topk, with the choice to treat NaN as any other value.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_TopkNodeV2_ParamsV5 {
    pub bsw: ::core::ffi::c_uint,
    pub axis: ::core::ffi::c_uint,
    pub bottomK: bool,
    pub isStable: bool,
    pub isVcData: bool,
    pub kType: KTensorType_t,
    pub avoidHandleNans: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_TopkNodeV2_ParamsV5",
    ][::core::mem::size_of::<ns_TopkNodeV2_ParamsV5>() - 20usize];
    [
        "Alignment of ns_TopkNodeV2_ParamsV5",
    ][::core::mem::align_of::<ns_TopkNodeV2_ParamsV5>() - 4usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV5::bsw",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV5, bsw) - 0usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV5::axis",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV5, axis) - 4usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV5::bottomK",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV5, bottomK) - 8usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV5::isStable",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV5, isStable) - 9usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV5::isVcData",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV5, isVcData) - 10usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV5::kType",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV5, kType) - 12usize];
    [
        "Offset of field: ns_TopkNodeV2_ParamsV5::avoidHandleNans",
    ][::core::mem::offset_of!(ns_TopkNodeV2_ParamsV5, avoidHandleNans) - 16usize];
};
/// Rotary embedding: the first position.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_RoPESt2_Params {
    pub offset: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ns_RoPESt2_Params"][::core::mem::size_of::<ns_RoPESt2_Params>() - 4usize];
    [
        "Alignment of ns_RoPESt2_Params",
    ][::core::mem::align_of::<ns_RoPESt2_Params>() - 4usize];
    [
        "Offset of field: ns_RoPESt2_Params::offset",
    ][::core::mem::offset_of!(ns_RoPESt2_Params, offset) - 0usize];
};
/// Rotary embedding, with how elements are paired.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_RoPESt2_ParamsV2 {
    pub offset: ::core::ffi::c_uint,
    pub mode: RotaryPosEmbeddingMode_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_RoPESt2_ParamsV2",
    ][::core::mem::size_of::<ns_RoPESt2_ParamsV2>() - 8usize];
    [
        "Alignment of ns_RoPESt2_ParamsV2",
    ][::core::mem::align_of::<ns_RoPESt2_ParamsV2>() - 4usize];
    [
        "Offset of field: ns_RoPESt2_ParamsV2::offset",
    ][::core::mem::offset_of!(ns_RoPESt2_ParamsV2, offset) - 0usize];
    [
        "Offset of field: ns_RoPESt2_ParamsV2::mode",
    ][::core::mem::offset_of!(ns_RoPESt2_ParamsV2, mode) - 4usize];
};
impl SdpaSoftmaxMode_t {
    pub const SDPA_DEFAULT_SOFTMAX: SdpaSoftmaxMode_t = SdpaSoftmaxMode_t(0);
    pub const SDPA_SOFTMAX_HF8_1B: SdpaSoftmaxMode_t = SdpaSoftmaxMode_t(1);
    pub const SDPA_SOFTMAX_HF8_1C: SdpaSoftmaxMode_t = SdpaSoftmaxMode_t(2);
}
#[repr(transparent)]
/// Precision of the softmax in fused attention.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct SdpaSoftmaxMode_t(pub ::core::ffi::c_uint);
impl SdpaFlags_t {
    /// output: largest softmax value
    pub const SDPA_FLAGS_AMAX_S: SdpaFlags_t = SdpaFlags_t(1);
    /// input: what q is multiplied by after reading
    pub const SDPA_FLAGS_D_SCALE_Q: SdpaFlags_t = SdpaFlags_t(256);
    /// input: what k is multiplied by after reading
    pub const SDPA_FLAGS_D_SCALE_K: SdpaFlags_t = SdpaFlags_t(512);
    /// input: what v is multiplied by after reading
    pub const SDPA_FLAGS_D_SCALE_V: SdpaFlags_t = SdpaFlags_t(1024);
    /// input: what the softmax is multiplied by before its conversion
    pub const SDPA_FLAGS_Q_SCALE_S: SdpaFlags_t = SdpaFlags_t(2048);
    /// input: what the output is multiplied by before its conversion
    pub const SDPA_FLAGS_Q_SCALE_O: SdpaFlags_t = SdpaFlags_t(4096);
}
#[repr(transparent)]
/// Which optional inputs and outputs fused FP8 attention has; flags.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct SdpaFlags_t(pub ::core::ffi::c_uint);
/// Fused attention: softmax scale, causal mask, dropout, and whether gradients are wanted.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_Sdpa_Params {
    pub scale: f32,
    pub is_causal: bool,
    pub dropout: ns_DropoutKernel_ParamsOptionalMaskOut,
    pub is_inference: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ns_Sdpa_Params"][::core::mem::size_of::<ns_Sdpa_Params>() - 24usize];
    ["Alignment of ns_Sdpa_Params"][::core::mem::align_of::<ns_Sdpa_Params>() - 4usize];
    [
        "Offset of field: ns_Sdpa_Params::scale",
    ][::core::mem::offset_of!(ns_Sdpa_Params, scale) - 0usize];
    [
        "Offset of field: ns_Sdpa_Params::is_causal",
    ][::core::mem::offset_of!(ns_Sdpa_Params, is_causal) - 4usize];
    [
        "Offset of field: ns_Sdpa_Params::dropout",
    ][::core::mem::offset_of!(ns_Sdpa_Params, dropout) - 8usize];
    [
        "Offset of field: ns_Sdpa_Params::is_inference",
    ][::core::mem::offset_of!(ns_Sdpa_Params, is_inference) - 20usize];
};
/// Fused attention, with the precision of the softmax.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ns_Sdpa_ParamsV2 {
    pub scale: f32,
    pub is_causal: bool,
    pub dropout: ns_DropoutKernel_ParamsOptionalMaskOut,
    pub is_inference: bool,
    pub softmax_mode: SdpaSoftmaxMode_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ns_Sdpa_ParamsV2"][::core::mem::size_of::<ns_Sdpa_ParamsV2>() - 28usize];
    [
        "Alignment of ns_Sdpa_ParamsV2",
    ][::core::mem::align_of::<ns_Sdpa_ParamsV2>() - 4usize];
    [
        "Offset of field: ns_Sdpa_ParamsV2::scale",
    ][::core::mem::offset_of!(ns_Sdpa_ParamsV2, scale) - 0usize];
    [
        "Offset of field: ns_Sdpa_ParamsV2::is_causal",
    ][::core::mem::offset_of!(ns_Sdpa_ParamsV2, is_causal) - 4usize];
    [
        "Offset of field: ns_Sdpa_ParamsV2::dropout",
    ][::core::mem::offset_of!(ns_Sdpa_ParamsV2, dropout) - 8usize];
    [
        "Offset of field: ns_Sdpa_ParamsV2::is_inference",
    ][::core::mem::offset_of!(ns_Sdpa_ParamsV2, is_inference) - 20usize];
    [
        "Offset of field: ns_Sdpa_ParamsV2::softmax_mode",
    ][::core::mem::offset_of!(ns_Sdpa_ParamsV2, softmax_mode) - 24usize];
};
impl Default for ns_Sdpa_ParamsV2 {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// Fused attention, with SdpaFlags_t.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ns_Sdpa_ParamsV3 {
    pub scale: f32,
    pub is_causal: bool,
    pub dropout: ns_DropoutKernel_ParamsOptionalMaskOut,
    pub is_inference: bool,
    pub softmax_mode: SdpaSoftmaxMode_t,
    pub flags: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ns_Sdpa_ParamsV3"][::core::mem::size_of::<ns_Sdpa_ParamsV3>() - 32usize];
    [
        "Alignment of ns_Sdpa_ParamsV3",
    ][::core::mem::align_of::<ns_Sdpa_ParamsV3>() - 4usize];
    [
        "Offset of field: ns_Sdpa_ParamsV3::scale",
    ][::core::mem::offset_of!(ns_Sdpa_ParamsV3, scale) - 0usize];
    [
        "Offset of field: ns_Sdpa_ParamsV3::is_causal",
    ][::core::mem::offset_of!(ns_Sdpa_ParamsV3, is_causal) - 4usize];
    [
        "Offset of field: ns_Sdpa_ParamsV3::dropout",
    ][::core::mem::offset_of!(ns_Sdpa_ParamsV3, dropout) - 8usize];
    [
        "Offset of field: ns_Sdpa_ParamsV3::is_inference",
    ][::core::mem::offset_of!(ns_Sdpa_ParamsV3, is_inference) - 20usize];
    [
        "Offset of field: ns_Sdpa_ParamsV3::softmax_mode",
    ][::core::mem::offset_of!(ns_Sdpa_ParamsV3, softmax_mode) - 24usize];
    [
        "Offset of field: ns_Sdpa_ParamsV3::flags",
    ][::core::mem::offset_of!(ns_Sdpa_ParamsV3, flags) - 28usize];
};
impl Default for ns_Sdpa_ParamsV3 {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// Gradient of an RMS norm: the stage, and the number of engines.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_RmsNorm_Params {
    pub bwdStage: ::core::ffi::c_uint,
    pub numTpc: ::core::ffi::c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ns_RmsNorm_Params"][::core::mem::size_of::<ns_RmsNorm_Params>() - 8usize];
    [
        "Alignment of ns_RmsNorm_Params",
    ][::core::mem::align_of::<ns_RmsNorm_Params>() - 4usize];
    [
        "Offset of field: ns_RmsNorm_Params::bwdStage",
    ][::core::mem::offset_of!(ns_RmsNorm_Params, bwdStage) - 0usize];
    [
        "Offset of field: ns_RmsNorm_Params::numTpc",
    ][::core::mem::offset_of!(ns_RmsNorm_Params, numTpc) - 4usize];
};
/// Gradient of an RMS norm, with the way it is computed.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_RmsNorm_ParamsV2 {
    pub bwdStage: ::core::ffi::c_uint,
    pub numTpc: ::core::ffi::c_int,
    pub bwdMode: RmsNormBwdMode_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_RmsNorm_ParamsV2",
    ][::core::mem::size_of::<ns_RmsNorm_ParamsV2>() - 12usize];
    [
        "Alignment of ns_RmsNorm_ParamsV2",
    ][::core::mem::align_of::<ns_RmsNorm_ParamsV2>() - 4usize];
    [
        "Offset of field: ns_RmsNorm_ParamsV2::bwdStage",
    ][::core::mem::offset_of!(ns_RmsNorm_ParamsV2, bwdStage) - 0usize];
    [
        "Offset of field: ns_RmsNorm_ParamsV2::numTpc",
    ][::core::mem::offset_of!(ns_RmsNorm_ParamsV2, numTpc) - 4usize];
    [
        "Offset of field: ns_RmsNorm_ParamsV2::bwdMode",
    ][::core::mem::offset_of!(ns_RmsNorm_ParamsV2, bwdMode) - 8usize];
};
/// Gradient of an RMS norm, with the choice of stages.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_RmsNorm_ParamsV3 {
    pub bwdStage: ::core::ffi::c_uint,
    pub numTpc: ::core::ffi::c_int,
    pub bwdMode: RmsNormBwdMode_t,
    pub useStages: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_RmsNorm_ParamsV3",
    ][::core::mem::size_of::<ns_RmsNorm_ParamsV3>() - 16usize];
    [
        "Alignment of ns_RmsNorm_ParamsV3",
    ][::core::mem::align_of::<ns_RmsNorm_ParamsV3>() - 4usize];
    [
        "Offset of field: ns_RmsNorm_ParamsV3::bwdStage",
    ][::core::mem::offset_of!(ns_RmsNorm_ParamsV3, bwdStage) - 0usize];
    [
        "Offset of field: ns_RmsNorm_ParamsV3::numTpc",
    ][::core::mem::offset_of!(ns_RmsNorm_ParamsV3, numTpc) - 4usize];
    [
        "Offset of field: ns_RmsNorm_ParamsV3::bwdMode",
    ][::core::mem::offset_of!(ns_RmsNorm_ParamsV3, bwdMode) - 8usize];
    [
        "Offset of field: ns_RmsNorm_ParamsV3::useStages",
    ][::core::mem::offset_of!(ns_RmsNorm_ParamsV3, useStages) - 12usize];
};
/// Gradient of an RMS norm, with the choice of faster arithmetic.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_RmsNorm_ParamsV4 {
    pub bwdStage: ::core::ffi::c_uint,
    pub numTpc: ::core::ffi::c_int,
    pub bwdMode: RmsNormBwdMode_t,
    pub useStages: bool,
    pub fastMath: bool,
    pub dummy: ::core::ffi::c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_RmsNorm_ParamsV4",
    ][::core::mem::size_of::<ns_RmsNorm_ParamsV4>() - 20usize];
    [
        "Alignment of ns_RmsNorm_ParamsV4",
    ][::core::mem::align_of::<ns_RmsNorm_ParamsV4>() - 4usize];
    [
        "Offset of field: ns_RmsNorm_ParamsV4::bwdStage",
    ][::core::mem::offset_of!(ns_RmsNorm_ParamsV4, bwdStage) - 0usize];
    [
        "Offset of field: ns_RmsNorm_ParamsV4::numTpc",
    ][::core::mem::offset_of!(ns_RmsNorm_ParamsV4, numTpc) - 4usize];
    [
        "Offset of field: ns_RmsNorm_ParamsV4::bwdMode",
    ][::core::mem::offset_of!(ns_RmsNorm_ParamsV4, bwdMode) - 8usize];
    [
        "Offset of field: ns_RmsNorm_ParamsV4::useStages",
    ][::core::mem::offset_of!(ns_RmsNorm_ParamsV4, useStages) - 12usize];
    [
        "Offset of field: ns_RmsNorm_ParamsV4::fastMath",
    ][::core::mem::offset_of!(ns_RmsNorm_ParamsV4, fastMath) - 13usize];
    [
        "Offset of field: ns_RmsNorm_ParamsV4::dummy",
    ][::core::mem::offset_of!(ns_RmsNorm_ParamsV4, dummy) - 16usize];
};
/// rms_norm: epsilon and axes; a block of another size is not read, and epsilon stays at its default.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct ns_LayerNormKernel_ParamsRmsNorm {
    pub epsValid: bool,
    pub eps: f32,
    pub NormAxisBmp: ::core::ffi::c_int,
    pub ParamAxisBmp: ::core::ffi::c_int,
    pub normalizedShapeDims: ::core::ffi::c_uint,
    pub fastMath: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of ns_LayerNormKernel_ParamsRmsNorm",
    ][::core::mem::size_of::<ns_LayerNormKernel_ParamsRmsNorm>() - 24usize];
    [
        "Alignment of ns_LayerNormKernel_ParamsRmsNorm",
    ][::core::mem::align_of::<ns_LayerNormKernel_ParamsRmsNorm>() - 4usize];
    [
        "Offset of field: ns_LayerNormKernel_ParamsRmsNorm::epsValid",
    ][::core::mem::offset_of!(ns_LayerNormKernel_ParamsRmsNorm, epsValid) - 0usize];
    [
        "Offset of field: ns_LayerNormKernel_ParamsRmsNorm::eps",
    ][::core::mem::offset_of!(ns_LayerNormKernel_ParamsRmsNorm, eps) - 4usize];
    [
        "Offset of field: ns_LayerNormKernel_ParamsRmsNorm::NormAxisBmp",
    ][::core::mem::offset_of!(ns_LayerNormKernel_ParamsRmsNorm, NormAxisBmp) - 8usize];
    [
        "Offset of field: ns_LayerNormKernel_ParamsRmsNorm::ParamAxisBmp",
    ][::core::mem::offset_of!(ns_LayerNormKernel_ParamsRmsNorm, ParamAxisBmp) - 12usize];
    [
        "Offset of field: ns_LayerNormKernel_ParamsRmsNorm::normalizedShapeDims",
    ][::core::mem::offset_of!(ns_LayerNormKernel_ParamsRmsNorm, normalizedShapeDims)
        - 16usize];
    [
        "Offset of field: ns_LayerNormKernel_ParamsRmsNorm::fastMath",
    ][::core::mem::offset_of!(ns_LayerNormKernel_ParamsRmsNorm, fastMath) - 20usize];
};
impl synDmaDir {
    pub const HOST_TO_DRAM: synDmaDir = synDmaDir(0);
    pub const DRAM_TO_HOST: synDmaDir = synDmaDir(1);
    pub const DRAM_TO_DRAM: synDmaDir = synDmaDir(2);
    pub const DIRECTION_ENUM_MAX: synDmaDir = synDmaDir(3);
}
#[repr(transparent)]
/// Direction of a copy.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synDmaDir(pub ::core::ffi::c_uint);
impl synMemFlags {
    pub const synMemHost: synMemFlags = synMemFlags(1);
    pub const synMemDevice: synMemFlags = synMemFlags(2);
}
#[repr(transparent)]
/// Where memory lies.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synMemFlags(pub ::core::ffi::c_uint);
impl synMemoryAttribute {
    pub const MEMORY_ATTRIBUTE_DEVICE: synMemoryAttribute = synMemoryAttribute(1);
    /// unsupported
    pub const MEMORY_ATTRIBUTE_HOST: synMemoryAttribute = synMemoryAttribute(2);
    /// unsupported
    pub const MEMORY_ATTRIBUTE_SRAM: synMemoryAttribute = synMemoryAttribute(4);
    pub const MEMORY_ATTRIBUTE_PERSISTENT: synMemoryAttribute = synMemoryAttribute(8);
}
#[repr(transparent)]
/// What memory is for; flags of older allocation calls.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synMemoryAttribute(pub ::core::ffi::c_uint);
/// One copy of a batch inside the library; no function here takes one.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct internalMemcopyParamEntry {
    pub src: u64,
    pub dst: u64,
    pub size: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of internalMemcopyParamEntry",
    ][::core::mem::size_of::<internalMemcopyParamEntry>() - 24usize];
    [
        "Alignment of internalMemcopyParamEntry",
    ][::core::mem::align_of::<internalMemcopyParamEntry>() - 8usize];
    [
        "Offset of field: internalMemcopyParamEntry::src",
    ][::core::mem::offset_of!(internalMemcopyParamEntry, src) - 0usize];
    [
        "Offset of field: internalMemcopyParamEntry::dst",
    ][::core::mem::offset_of!(internalMemcopyParamEntry, dst) - 8usize];
    [
        "Offset of field: internalMemcopyParamEntry::size",
    ][::core::mem::offset_of!(internalMemcopyParamEntry, size) - 16usize];
};
impl synConvParamIndex {
    pub const CONV_KERNEL_WIDTH: synConvParamIndex = synConvParamIndex(0);
    pub const CONV_KERNEL_HEIGHT: synConvParamIndex = synConvParamIndex(1);
    pub const CONV_KERNEL_DEPTH: synConvParamIndex = synConvParamIndex(2);
    pub const CONV_KERNEL_SIZE: synConvParamIndex = synConvParamIndex(3);
    pub const CONV_STRIDE_WIDTH: synConvParamIndex = synConvParamIndex(0);
    pub const CONV_STRIDE_HEIGHT: synConvParamIndex = synConvParamIndex(1);
    pub const CONV_STRIDE_DEPTH: synConvParamIndex = synConvParamIndex(2);
    pub const CONV_STRIDE_SIZE: synConvParamIndex = synConvParamIndex(3);
    pub const CONV_PAD_LEFT: synConvParamIndex = synConvParamIndex(0);
    pub const CONV_PAD_RIGHT: synConvParamIndex = synConvParamIndex(1);
    pub const CONV_PAD_TOP: synConvParamIndex = synConvParamIndex(2);
    pub const CONV_PAD_BOTTOM: synConvParamIndex = synConvParamIndex(3);
    pub const CONV_PAD_FRONT: synConvParamIndex = synConvParamIndex(4);
    pub const CONV_PAD_BACK: synConvParamIndex = synConvParamIndex(5);
    pub const CONV_PAD_SIZE: synConvParamIndex = synConvParamIndex(6);
    pub const CONV_DIL_WIDTH: synConvParamIndex = synConvParamIndex(0);
    pub const CONV_DIL_HEIGHT: synConvParamIndex = synConvParamIndex(1);
    pub const CONV_DIL_DEPTH: synConvParamIndex = synConvParamIndex(2);
    pub const CONV_DIL_SIZE: synConvParamIndex = synConvParamIndex(3);
}
#[repr(transparent)]
/// Indices into the arrays of convolution parameters.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synConvParamIndex(pub ::core::ffi::c_uint);
impl TransposePermutationDim {
    pub const TBD_4DimSize: TransposePermutationDim = TransposePermutationDim(4);
    pub const TBD_5DimSize: TransposePermutationDim = TransposePermutationDim(5);
    pub const TBD_6DimSize: TransposePermutationDim = TransposePermutationDim(6);
    pub const TBD_7DimSize: TransposePermutationDim = TransposePermutationDim(7);
    pub const TPD_Batch: TransposePermutationDim = TransposePermutationDim(4);
    pub const TPD_4Dim_Batch: TransposePermutationDim = TransposePermutationDim(3);
    pub const TPD_Depth: TransposePermutationDim = TransposePermutationDim(3);
    pub const TPD_Height: TransposePermutationDim = TransposePermutationDim(2);
    pub const TPD_Width: TransposePermutationDim = TransposePermutationDim(1);
    pub const TPD_Channel: TransposePermutationDim = TransposePermutationDim(0);
    pub const TPD_Weights_Q: TransposePermutationDim = TransposePermutationDim(4);
    pub const TPD_Weights_R: TransposePermutationDim = TransposePermutationDim(3);
    pub const TPD_Weights_S: TransposePermutationDim = TransposePermutationDim(2);
    pub const TPD_Weights_C: TransposePermutationDim = TransposePermutationDim(1);
    pub const TPD_Weights_K: TransposePermutationDim = TransposePermutationDim(0);
}
#[repr(transparent)]
/// Names of dimensions in permutations of activations and weights.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct TransposePermutationDim(pub ::core::ffi::c_uint);
/// gemm and batch_gemm, and the FP8 products: which operands are transposed.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synGEMMParams {
    pub transpose_a: bool,
    pub transpose_b: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synGEMMParams"][::core::mem::size_of::<synGEMMParams>() - 2usize];
    ["Alignment of synGEMMParams"][::core::mem::align_of::<synGEMMParams>() - 1usize];
    [
        "Offset of field: synGEMMParams::transpose_a",
    ][::core::mem::offset_of!(synGEMMParams, transpose_a) - 0usize];
    [
        "Offset of field: synGEMMParams::transpose_b",
    ][::core::mem::offset_of!(synGEMMParams, transpose_b) - 1usize];
};
/// transpose of up to five dimensions: output dimension i is input dimension permutation i.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct synTransposeParams {
    pub permutation: [TransposePermutationDim; 5usize],
    pub tensorDim: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synTransposeParams",
    ][::core::mem::size_of::<synTransposeParams>() - 24usize];
    [
        "Alignment of synTransposeParams",
    ][::core::mem::align_of::<synTransposeParams>() - 4usize];
    [
        "Offset of field: synTransposeParams::permutation",
    ][::core::mem::offset_of!(synTransposeParams, permutation) - 0usize];
    [
        "Offset of field: synTransposeParams::tensorDim",
    ][::core::mem::offset_of!(synTransposeParams, tensorDim) - 20usize];
};
impl Default for synTransposeParams {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// transpose of any number of dimensions.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synTransposeParamsNDims {
    pub tensorDim: ::core::ffi::c_uint,
    pub permutation: [u32; 25usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synTransposeParamsNDims",
    ][::core::mem::size_of::<synTransposeParamsNDims>() - 104usize];
    [
        "Alignment of synTransposeParamsNDims",
    ][::core::mem::align_of::<synTransposeParamsNDims>() - 4usize];
    [
        "Offset of field: synTransposeParamsNDims::tensorDim",
    ][::core::mem::offset_of!(synTransposeParamsNDims, tensorDim) - 0usize];
    [
        "Offset of field: synTransposeParamsNDims::permutation",
    ][::core::mem::offset_of!(synTransposeParamsNDims, permutation) - 4usize];
};
/// einsum: the equation as text.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct synEinsumParams {
    pub equation: [::core::ffi::c_char; 51usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synEinsumParams"][::core::mem::size_of::<synEinsumParams>() - 51usize];
    [
        "Alignment of synEinsumParams",
    ][::core::mem::align_of::<synEinsumParams>() - 1usize];
    [
        "Offset of field: synEinsumParams::equation",
    ][::core::mem::offset_of!(synEinsumParams, equation) - 0usize];
};
impl Default for synEinsumParams {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// Operations along one axis; the fastest-changing dimension is 0.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synAxisParams {
    pub axis: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synAxisParams"][::core::mem::size_of::<synAxisParams>() - 4usize];
    ["Alignment of synAxisParams"][::core::mem::align_of::<synAxisParams>() - 4usize];
    [
        "Offset of field: synAxisParams::axis",
    ][::core::mem::offset_of!(synAxisParams, axis) - 0usize];
};
/// concat: the axis to join along.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synConcatenateParams {
    pub axis: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synConcatenateParams",
    ][::core::mem::size_of::<synConcatenateParams>() - 4usize];
    [
        "Alignment of synConcatenateParams",
    ][::core::mem::align_of::<synConcatenateParams>() - 4usize];
    [
        "Offset of field: synConcatenateParams::axis",
    ][::core::mem::offset_of!(synConcatenateParams, axis) - 0usize];
};
/// split: the axis to cut along.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synSplitParams {
    pub axis: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synSplitParams"][::core::mem::size_of::<synSplitParams>() - 4usize];
    ["Alignment of synSplitParams"][::core::mem::align_of::<synSplitParams>() - 4usize];
    [
        "Offset of field: synSplitParams::axis",
    ][::core::mem::offset_of!(synSplitParams, axis) - 0usize];
};
/// flatten: the axis that separates the two remaining dimensions.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synFlattenParams {
    pub axis: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synFlattenParams"][::core::mem::size_of::<synFlattenParams>() - 4usize];
    [
        "Alignment of synFlattenParams",
    ][::core::mem::align_of::<synFlattenParams>() - 4usize];
    [
        "Offset of field: synFlattenParams::axis",
    ][::core::mem::offset_of!(synFlattenParams, axis) - 0usize];
};
/// expand_dims: where a dimension of size 1 is added.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synExpandDimsParams {
    pub axis: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synExpandDimsParams",
    ][::core::mem::size_of::<synExpandDimsParams>() - 4usize];
    [
        "Alignment of synExpandDimsParams",
    ][::core::mem::align_of::<synExpandDimsParams>() - 4usize];
    [
        "Offset of field: synExpandDimsParams::axis",
    ][::core::mem::offset_of!(synExpandDimsParams, axis) - 0usize];
};
/// squeeze: which dimension of size 1 is removed.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synSqueezeParams {
    pub axis: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synSqueezeParams"][::core::mem::size_of::<synSqueezeParams>() - 4usize];
    [
        "Alignment of synSqueezeParams",
    ][::core::mem::align_of::<synSqueezeParams>() - 4usize];
    [
        "Offset of field: synSqueezeParams::axis",
    ][::core::mem::offset_of!(synSqueezeParams, axis) - 0usize];
};
/// slice_axis: elements from begin up to but not including end.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synSliceAxisParams {
    pub axis: ::core::ffi::c_uint,
    pub begin: ::core::ffi::c_uint,
    pub end: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synSliceAxisParams",
    ][::core::mem::size_of::<synSliceAxisParams>() - 12usize];
    [
        "Alignment of synSliceAxisParams",
    ][::core::mem::align_of::<synSliceAxisParams>() - 4usize];
    [
        "Offset of field: synSliceAxisParams::axis",
    ][::core::mem::offset_of!(synSliceAxisParams, axis) - 0usize];
    [
        "Offset of field: synSliceAxisParams::begin",
    ][::core::mem::offset_of!(synSliceAxisParams, begin) - 4usize];
    [
        "Offset of field: synSliceAxisParams::end",
    ][::core::mem::offset_of!(synSliceAxisParams, end) - 8usize];
};
/// slice_axis with 64-bit bounds.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synSliceAxisParamsV2 {
    pub axis: ::core::ffi::c_uint,
    /// zero
    pub _structPadding: ::core::ffi::c_uint,
    pub begin: u64,
    pub end: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synSliceAxisParamsV2",
    ][::core::mem::size_of::<synSliceAxisParamsV2>() - 24usize];
    [
        "Alignment of synSliceAxisParamsV2",
    ][::core::mem::align_of::<synSliceAxisParamsV2>() - 8usize];
    [
        "Offset of field: synSliceAxisParamsV2::axis",
    ][::core::mem::offset_of!(synSliceAxisParamsV2, axis) - 0usize];
    [
        "Offset of field: synSliceAxisParamsV2::_structPadding",
    ][::core::mem::offset_of!(synSliceAxisParamsV2, _structPadding) - 4usize];
    [
        "Offset of field: synSliceAxisParamsV2::begin",
    ][::core::mem::offset_of!(synSliceAxisParamsV2, begin) - 8usize];
    [
        "Offset of field: synSliceAxisParamsV2::end",
    ][::core::mem::offset_of!(synSliceAxisParamsV2, end) - 16usize];
};
/// slice of up to five dimensions.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synSliceParams {
    pub axes: [::core::ffi::c_uint; 5usize],
    pub starts: [::core::ffi::c_uint; 5usize],
    pub ends: [::core::ffi::c_uint; 5usize],
    pub steps: [::core::ffi::c_uint; 5usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synSliceParams"][::core::mem::size_of::<synSliceParams>() - 80usize];
    ["Alignment of synSliceParams"][::core::mem::align_of::<synSliceParams>() - 4usize];
    [
        "Offset of field: synSliceParams::axes",
    ][::core::mem::offset_of!(synSliceParams, axes) - 0usize];
    [
        "Offset of field: synSliceParams::starts",
    ][::core::mem::offset_of!(synSliceParams, starts) - 20usize];
    [
        "Offset of field: synSliceParams::ends",
    ][::core::mem::offset_of!(synSliceParams, ends) - 40usize];
    [
        "Offset of field: synSliceParams::steps",
    ][::core::mem::offset_of!(synSliceParams, steps) - 60usize];
};
/// slice of any number of dimensions, 32-bit bounds.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synSliceParamsNDims {
    pub axes: [::core::ffi::c_uint; 25usize],
    pub starts: [::core::ffi::c_uint; 25usize],
    pub ends: [::core::ffi::c_uint; 25usize],
    pub steps: [::core::ffi::c_uint; 25usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synSliceParamsNDims",
    ][::core::mem::size_of::<synSliceParamsNDims>() - 400usize];
    [
        "Alignment of synSliceParamsNDims",
    ][::core::mem::align_of::<synSliceParamsNDims>() - 4usize];
    [
        "Offset of field: synSliceParamsNDims::axes",
    ][::core::mem::offset_of!(synSliceParamsNDims, axes) - 0usize];
    [
        "Offset of field: synSliceParamsNDims::starts",
    ][::core::mem::offset_of!(synSliceParamsNDims, starts) - 100usize];
    [
        "Offset of field: synSliceParamsNDims::ends",
    ][::core::mem::offset_of!(synSliceParamsNDims, ends) - 200usize];
    [
        "Offset of field: synSliceParamsNDims::steps",
    ][::core::mem::offset_of!(synSliceParamsNDims, steps) - 300usize];
};
/// slice of any number of dimensions, 64-bit bounds.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synSliceParamsV2 {
    pub axes: [::core::ffi::c_uint; 25usize],
    /// zero
    pub _structPadding: ::core::ffi::c_uint,
    pub starts: [TSize; 25usize],
    pub ends: [TSize; 25usize],
    pub steps: [TSize; 25usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synSliceParamsV2"][::core::mem::size_of::<synSliceParamsV2>() - 704usize];
    [
        "Alignment of synSliceParamsV2",
    ][::core::mem::align_of::<synSliceParamsV2>() - 8usize];
    [
        "Offset of field: synSliceParamsV2::axes",
    ][::core::mem::offset_of!(synSliceParamsV2, axes) - 0usize];
    [
        "Offset of field: synSliceParamsV2::_structPadding",
    ][::core::mem::offset_of!(synSliceParamsV2, _structPadding) - 100usize];
    [
        "Offset of field: synSliceParamsV2::starts",
    ][::core::mem::offset_of!(synSliceParamsV2, starts) - 104usize];
    [
        "Offset of field: synSliceParamsV2::ends",
    ][::core::mem::offset_of!(synSliceParamsV2, ends) - 304usize];
    [
        "Offset of field: synSliceParamsV2::steps",
    ][::core::mem::offset_of!(synSliceParamsV2, steps) - 504usize];
};
/// strided_view and strided_insert: offset and strides.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synStridedOpParams {
    pub baseOffset: u64,
    pub strides: [u64; 25usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synStridedOpParams",
    ][::core::mem::size_of::<synStridedOpParams>() - 208usize];
    [
        "Alignment of synStridedOpParams",
    ][::core::mem::align_of::<synStridedOpParams>() - 8usize];
    [
        "Offset of field: synStridedOpParams::baseOffset",
    ][::core::mem::offset_of!(synStridedOpParams, baseOffset) - 0usize];
    [
        "Offset of field: synStridedOpParams::strides",
    ][::core::mem::offset_of!(synStridedOpParams, strides) - 8usize];
};
/// Contents of the host tensor that steers a strided operation at run time.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synDynamicStridedDmaH2dTensor {
    pub num_strides: TSize,
    pub offset: TSize,
    pub strides: [TSize; 6usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synDynamicStridedDmaH2dTensor",
    ][::core::mem::size_of::<synDynamicStridedDmaH2dTensor>() - 64usize];
    [
        "Alignment of synDynamicStridedDmaH2dTensor",
    ][::core::mem::align_of::<synDynamicStridedDmaH2dTensor>() - 8usize];
    [
        "Offset of field: synDynamicStridedDmaH2dTensor::num_strides",
    ][::core::mem::offset_of!(synDynamicStridedDmaH2dTensor, num_strides) - 0usize];
    [
        "Offset of field: synDynamicStridedDmaH2dTensor::offset",
    ][::core::mem::offset_of!(synDynamicStridedDmaH2dTensor, offset) - 8usize];
    [
        "Offset of field: synDynamicStridedDmaH2dTensor::strides",
    ][::core::mem::offset_of!(synDynamicStridedDmaH2dTensor, strides) - 16usize];
};
/// Contents of the host tensor that steers a slice at run time.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synDynamicSliceDmaH2dTensor {
    pub dims: TSize,
    pub steps: [TSize; 5usize],
    pub starts: [TSize; 5usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synDynamicSliceDmaH2dTensor",
    ][::core::mem::size_of::<synDynamicSliceDmaH2dTensor>() - 88usize];
    [
        "Alignment of synDynamicSliceDmaH2dTensor",
    ][::core::mem::align_of::<synDynamicSliceDmaH2dTensor>() - 8usize];
    [
        "Offset of field: synDynamicSliceDmaH2dTensor::dims",
    ][::core::mem::offset_of!(synDynamicSliceDmaH2dTensor, dims) - 0usize];
    [
        "Offset of field: synDynamicSliceDmaH2dTensor::steps",
    ][::core::mem::offset_of!(synDynamicSliceDmaH2dTensor, steps) - 8usize];
    [
        "Offset of field: synDynamicSliceDmaH2dTensor::starts",
    ][::core::mem::offset_of!(synDynamicSliceDmaH2dTensor, starts) - 48usize];
};
/// Non-maximum suppression: thresholds for scores and overlap, and how many boxes remain at most.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synNMSParams {
    pub scoreTh: f32,
    pub iouTh: f32,
    pub maxOutSize: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synNMSParams"][::core::mem::size_of::<synNMSParams>() - 12usize];
    ["Alignment of synNMSParams"][::core::mem::align_of::<synNMSParams>() - 4usize];
    [
        "Offset of field: synNMSParams::scoreTh",
    ][::core::mem::offset_of!(synNMSParams, scoreTh) - 0usize];
    [
        "Offset of field: synNMSParams::iouTh",
    ][::core::mem::offset_of!(synNMSParams, iouTh) - 4usize];
    [
        "Offset of field: synNMSParams::maxOutSize",
    ][::core::mem::offset_of!(synNMSParams, maxOutSize) - 8usize];
};
/// Batch normalization: what is added to the variance.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synTfBatchNormalizationParams {
    pub variance_epsilon: f32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synTfBatchNormalizationParams",
    ][::core::mem::size_of::<synTfBatchNormalizationParams>() - 4usize];
    [
        "Alignment of synTfBatchNormalizationParams",
    ][::core::mem::align_of::<synTfBatchNormalizationParams>() - 4usize];
    [
        "Offset of field: synTfBatchNormalizationParams::variance_epsilon",
    ][::core::mem::offset_of!(synTfBatchNormalizationParams, variance_epsilon) - 0usize];
};
/// Assertion on the device: the number that is reported.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synAssertAsyncParams {
    pub msg_id: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synAssertAsyncParams",
    ][::core::mem::size_of::<synAssertAsyncParams>() - 8usize];
    [
        "Alignment of synAssertAsyncParams",
    ][::core::mem::align_of::<synAssertAsyncParams>() - 8usize];
    [
        "Offset of field: synAssertAsyncParams::msg_id",
    ][::core::mem::offset_of!(synAssertAsyncParams, msg_id) - 0usize];
};
impl synTraceType {
    pub const synTraceAll: synTraceType = synTraceType(1);
    pub const synTraceHost: synTraceType = synTraceType(2);
    pub const synTraceDevice: synTraceType = synTraceType(3);
    pub const synTraceTypeSize: synTraceType = synTraceType(4);
}
#[repr(transparent)]
/// What is traced.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synTraceType(pub ::core::ffi::c_uint);
impl synTraceFormat {
    pub const synTraceFormatTEF: synTraceFormat = synTraceFormat(1);
    pub const synTraceFormatSize: synTraceFormat = synTraceFormat(2);
}
#[repr(transparent)]
/// Form of a trace.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synTraceFormat(pub ::core::ffi::c_uint);
/// An argument of an event: its name, and a value that is text, an address, a number or a float as type says.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct synTraceEventArg {
    pub key: *const ::core::ffi::c_char,
    pub type_: i32,
    pub value: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synTraceEventArg"][::core::mem::size_of::<synTraceEventArg>() - 24usize];
    [
        "Alignment of synTraceEventArg",
    ][::core::mem::align_of::<synTraceEventArg>() - 8usize];
    [
        "Offset of field: synTraceEventArg::key",
    ][::core::mem::offset_of!(synTraceEventArg, key) - 0usize];
    [
        "Offset of field: synTraceEventArg::type_",
    ][::core::mem::offset_of!(synTraceEventArg, type_) - 8usize];
    [
        "Offset of field: synTraceEventArg::value",
    ][::core::mem::offset_of!(synTraceEventArg, value) - 16usize];
};
impl Default for synTraceEventArg {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// The arguments of an event.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct synTraceEventExtraArgs {
    pub count: u8,
    pub args: *const synTraceEventArg,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synTraceEventExtraArgs",
    ][::core::mem::size_of::<synTraceEventExtraArgs>() - 16usize];
    [
        "Alignment of synTraceEventExtraArgs",
    ][::core::mem::align_of::<synTraceEventExtraArgs>() - 8usize];
    [
        "Offset of field: synTraceEventExtraArgs::count",
    ][::core::mem::offset_of!(synTraceEventExtraArgs, count) - 0usize];
    [
        "Offset of field: synTraceEventExtraArgs::args",
    ][::core::mem::offset_of!(synTraceEventExtraArgs, args) - 8usize];
};
impl Default for synTraceEventExtraArgs {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// An event of a trace.
#[repr(C)]
#[repr(align(16))]
#[derive(Debug, Copy, Clone)]
pub struct synTraceEvent {
    pub name: *const ::core::ffi::c_char,
    pub category: *const ::core::ffi::c_char,
    pub type_: ::core::ffi::c_char,
    pub timestamp: u128,
    pub duration: u128,
    pub engineType: u32,
    pub engineIndex: u32,
    pub contextId: u64,
    pub arguments: [u64; 16usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synTraceEvent"][::core::mem::size_of::<synTraceEvent>() - 208usize];
    ["Alignment of synTraceEvent"][::core::mem::align_of::<synTraceEvent>() - 16usize];
    [
        "Offset of field: synTraceEvent::name",
    ][::core::mem::offset_of!(synTraceEvent, name) - 0usize];
    [
        "Offset of field: synTraceEvent::category",
    ][::core::mem::offset_of!(synTraceEvent, category) - 8usize];
    [
        "Offset of field: synTraceEvent::type_",
    ][::core::mem::offset_of!(synTraceEvent, type_) - 16usize];
    [
        "Offset of field: synTraceEvent::timestamp",
    ][::core::mem::offset_of!(synTraceEvent, timestamp) - 32usize];
    [
        "Offset of field: synTraceEvent::duration",
    ][::core::mem::offset_of!(synTraceEvent, duration) - 48usize];
    [
        "Offset of field: synTraceEvent::engineType",
    ][::core::mem::offset_of!(synTraceEvent, engineType) - 64usize];
    [
        "Offset of field: synTraceEvent::engineIndex",
    ][::core::mem::offset_of!(synTraceEvent, engineIndex) - 68usize];
    [
        "Offset of field: synTraceEvent::contextId",
    ][::core::mem::offset_of!(synTraceEvent, contextId) - 72usize];
    [
        "Offset of field: synTraceEvent::arguments",
    ][::core::mem::offset_of!(synTraceEvent, arguments) - 80usize];
};
impl Default for synTraceEvent {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl synRecipeAttribute {
    pub const RECIPE_ATTRIBUTE_WORKSPACE_SIZE: synRecipeAttribute = synRecipeAttribute(
        0,
    );
    pub const RECIPE_ATTRIBUTE_NUM_PERSISTENT_TENSORS: synRecipeAttribute = synRecipeAttribute(
        1,
    );
    pub const RECIPE_ATTRIBUTE_HOST_MEM_SIZE: synRecipeAttribute = synRecipeAttribute(2);
    pub const RECIPE_ATTRIBUTE_NUM_EXTERNAL_TENSORS: synRecipeAttribute = synRecipeAttribute(
        3,
    );
    pub const RECIPE_ATTRIBUTE_PERSISTENT_TENSORS_SIZE: synRecipeAttribute = synRecipeAttribute(
        4,
    );
    pub const RECIPE_ATTRIBUTE_CONST_SECTIONS_SIZE: synRecipeAttribute = synRecipeAttribute(
        5,
    );
    pub const RECIPE_ATTRIBUTE_DEVICE_MEMORY_SIZE: synRecipeAttribute = synRecipeAttribute(
        6,
    );
    pub const RECIPE_ATTRIBUTE_MAX: synRecipeAttribute = synRecipeAttribute(7);
}
#[repr(transparent)]
/// What can be asked of a recipe; every answer is one 64-bit number, sizes in bytes.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synRecipeAttribute(pub ::core::ffi::c_uint);
/// A persistent tensor of a recipe, asked for by name.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct TensorMetadataInfo {
    /// set by the caller
    pub tensorName: *const ::core::ffi::c_char,
    /// a synDataType
    pub elementType: u32,
    pub zp: f64,
    pub scale: f64,
    pub dimensions: u32,
    pub dimensionsSize: [TSize; 25usize],
    pub roiSizeInBytes: u64,
    pub batchSize: u16,
    pub isInput: u8,
    pub layout: [::core::ffi::c_char; 20usize],
    pub sectionId: u32,
    /// bytes
    pub offsetInSection: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of TensorMetadataInfo",
    ][::core::mem::size_of::<TensorMetadataInfo>() - 288usize];
    [
        "Alignment of TensorMetadataInfo",
    ][::core::mem::align_of::<TensorMetadataInfo>() - 8usize];
    [
        "Offset of field: TensorMetadataInfo::tensorName",
    ][::core::mem::offset_of!(TensorMetadataInfo, tensorName) - 0usize];
    [
        "Offset of field: TensorMetadataInfo::elementType",
    ][::core::mem::offset_of!(TensorMetadataInfo, elementType) - 8usize];
    [
        "Offset of field: TensorMetadataInfo::zp",
    ][::core::mem::offset_of!(TensorMetadataInfo, zp) - 16usize];
    [
        "Offset of field: TensorMetadataInfo::scale",
    ][::core::mem::offset_of!(TensorMetadataInfo, scale) - 24usize];
    [
        "Offset of field: TensorMetadataInfo::dimensions",
    ][::core::mem::offset_of!(TensorMetadataInfo, dimensions) - 32usize];
    [
        "Offset of field: TensorMetadataInfo::dimensionsSize",
    ][::core::mem::offset_of!(TensorMetadataInfo, dimensionsSize) - 40usize];
    [
        "Offset of field: TensorMetadataInfo::roiSizeInBytes",
    ][::core::mem::offset_of!(TensorMetadataInfo, roiSizeInBytes) - 240usize];
    [
        "Offset of field: TensorMetadataInfo::batchSize",
    ][::core::mem::offset_of!(TensorMetadataInfo, batchSize) - 248usize];
    [
        "Offset of field: TensorMetadataInfo::isInput",
    ][::core::mem::offset_of!(TensorMetadataInfo, isInput) - 250usize];
    [
        "Offset of field: TensorMetadataInfo::layout",
    ][::core::mem::offset_of!(TensorMetadataInfo, layout) - 251usize];
    [
        "Offset of field: TensorMetadataInfo::sectionId",
    ][::core::mem::offset_of!(TensorMetadataInfo, sectionId) - 272usize];
    [
        "Offset of field: TensorMetadataInfo::offsetInSection",
    ][::core::mem::offset_of!(TensorMetadataInfo, offsetInSection) - 280usize];
};
impl Default for TensorMetadataInfo {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// Same as TensorMetadataInfo.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct TensorMetadataInfoExt {
    pub tensorName: *const ::core::ffi::c_char,
    pub elementType: u32,
    pub zp: f64,
    pub scale: f64,
    pub dimensions: u32,
    pub dimensionsSize: [u64; 25usize],
    pub roiSizeInBytes: u64,
    pub batchSize: u16,
    pub isInput: u8,
    pub layout: [::core::ffi::c_char; 20usize],
    pub sectionId: u32,
    pub offsetInSection: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of TensorMetadataInfoExt",
    ][::core::mem::size_of::<TensorMetadataInfoExt>() - 288usize];
    [
        "Alignment of TensorMetadataInfoExt",
    ][::core::mem::align_of::<TensorMetadataInfoExt>() - 8usize];
    [
        "Offset of field: TensorMetadataInfoExt::tensorName",
    ][::core::mem::offset_of!(TensorMetadataInfoExt, tensorName) - 0usize];
    [
        "Offset of field: TensorMetadataInfoExt::elementType",
    ][::core::mem::offset_of!(TensorMetadataInfoExt, elementType) - 8usize];
    [
        "Offset of field: TensorMetadataInfoExt::zp",
    ][::core::mem::offset_of!(TensorMetadataInfoExt, zp) - 16usize];
    [
        "Offset of field: TensorMetadataInfoExt::scale",
    ][::core::mem::offset_of!(TensorMetadataInfoExt, scale) - 24usize];
    [
        "Offset of field: TensorMetadataInfoExt::dimensions",
    ][::core::mem::offset_of!(TensorMetadataInfoExt, dimensions) - 32usize];
    [
        "Offset of field: TensorMetadataInfoExt::dimensionsSize",
    ][::core::mem::offset_of!(TensorMetadataInfoExt, dimensionsSize) - 40usize];
    [
        "Offset of field: TensorMetadataInfoExt::roiSizeInBytes",
    ][::core::mem::offset_of!(TensorMetadataInfoExt, roiSizeInBytes) - 240usize];
    [
        "Offset of field: TensorMetadataInfoExt::batchSize",
    ][::core::mem::offset_of!(TensorMetadataInfoExt, batchSize) - 248usize];
    [
        "Offset of field: TensorMetadataInfoExt::isInput",
    ][::core::mem::offset_of!(TensorMetadataInfoExt, isInput) - 250usize];
    [
        "Offset of field: TensorMetadataInfoExt::layout",
    ][::core::mem::offset_of!(TensorMetadataInfoExt, layout) - 251usize];
    [
        "Offset of field: TensorMetadataInfoExt::sectionId",
    ][::core::mem::offset_of!(TensorMetadataInfoExt, sectionId) - 272usize];
    [
        "Offset of field: TensorMetadataInfoExt::offsetInSection",
    ][::core::mem::offset_of!(TensorMetadataInfoExt, offsetInSection) - 280usize];
};
impl Default for TensorMetadataInfoExt {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// A tensor that a launch of a recipe takes; the caller fills in tensorId.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct synRetrievedLaunchTensorInfo {
    pub tensorName: [::core::ffi::c_char; 1024usize],
    pub tensorId: u64,
    pub tensorType: synTensorType,
    pub tensorDataType: synDataType,
    pub tensorDims: u32,
    pub tensorMaxSize: [TSize; 25usize],
    pub tensorMinSize: [TSize; 25usize],
    pub tensorPermutation: [u8; 25usize],
    pub tensorSectionId: synSectionId,
    /// bytes
    pub tensorOffsetInSection: u64,
    /// 1 for an input, 0 for an output
    pub isInput: u8,
    pub reserved: [u32; 10usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synRetrievedLaunchTensorInfo",
    ][::core::mem::size_of::<synRetrievedLaunchTensorInfo>() - 1536usize];
    [
        "Alignment of synRetrievedLaunchTensorInfo",
    ][::core::mem::align_of::<synRetrievedLaunchTensorInfo>() - 8usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfo::tensorName",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfo, tensorName) - 0usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfo::tensorId",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfo, tensorId) - 1024usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfo::tensorType",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfo, tensorType) - 1032usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfo::tensorDataType",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfo, tensorDataType) - 1036usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfo::tensorDims",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfo, tensorDims) - 1040usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfo::tensorMaxSize",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfo, tensorMaxSize) - 1048usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfo::tensorMinSize",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfo, tensorMinSize) - 1248usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfo::tensorPermutation",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfo, tensorPermutation)
        - 1448usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfo::tensorSectionId",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfo, tensorSectionId)
        - 1476usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfo::tensorOffsetInSection",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfo, tensorOffsetInSection)
        - 1480usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfo::isInput",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfo, isInput) - 1488usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfo::reserved",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfo, reserved) - 1492usize];
};
impl Default for synRetrievedLaunchTensorInfo {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// Same as synRetrievedLaunchTensorInfo.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct synRetrievedLaunchTensorInfoExt {
    pub tensorName: [::core::ffi::c_char; 1024usize],
    pub tensorId: u64,
    pub tensorType: synTensorType,
    pub tensorDataType: synDataType,
    pub tensorDims: u32,
    pub tensorMaxSize: [TSize; 25usize],
    pub tensorMinSize: [TSize; 25usize],
    pub tensorPermutation: [u8; 25usize],
    pub tensorSectionId: synSectionId,
    pub tensorOffsetInSection: u64,
    pub isInput: u8,
    pub reserved: [u32; 10usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of synRetrievedLaunchTensorInfoExt",
    ][::core::mem::size_of::<synRetrievedLaunchTensorInfoExt>() - 1536usize];
    [
        "Alignment of synRetrievedLaunchTensorInfoExt",
    ][::core::mem::align_of::<synRetrievedLaunchTensorInfoExt>() - 8usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfoExt::tensorName",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfoExt, tensorName) - 0usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfoExt::tensorId",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfoExt, tensorId) - 1024usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfoExt::tensorType",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfoExt, tensorType) - 1032usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfoExt::tensorDataType",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfoExt, tensorDataType)
        - 1036usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfoExt::tensorDims",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfoExt, tensorDims) - 1040usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfoExt::tensorMaxSize",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfoExt, tensorMaxSize)
        - 1048usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfoExt::tensorMinSize",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfoExt, tensorMinSize)
        - 1248usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfoExt::tensorPermutation",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfoExt, tensorPermutation)
        - 1448usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfoExt::tensorSectionId",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfoExt, tensorSectionId)
        - 1476usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfoExt::tensorOffsetInSection",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfoExt, tensorOffsetInSection)
        - 1480usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfoExt::isInput",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfoExt, isInput) - 1488usize];
    [
        "Offset of field: synRetrievedLaunchTensorInfoExt::reserved",
    ][::core::mem::offset_of!(synRetrievedLaunchTensorInfoExt, reserved) - 1492usize];
};
impl Default for synRetrievedLaunchTensorInfoExt {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl synStreamPriority {
    pub const synStreamPriorityHigh: synStreamPriority = synStreamPriority(0);
    pub const synStreamPriorityLow: synStreamPriority = synStreamPriority(1);
    pub const synStreamPriorityNotSet: synStreamPriority = synStreamPriority(2);
}
#[repr(transparent)]
/// Urgency of a stream; no function here takes one.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct synStreamPriority(pub ::core::ffi::c_uint);
/// A hardware queue behind a stream; no function here takes one.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct synInternalQueue {
    pub queueIndex: u32,
    pub size: u32,
    pub address: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of synInternalQueue"][::core::mem::size_of::<synInternalQueue>() - 16usize];
    [
        "Alignment of synInternalQueue",
    ][::core::mem::align_of::<synInternalQueue>() - 8usize];
    [
        "Offset of field: synInternalQueue::queueIndex",
    ][::core::mem::offset_of!(synInternalQueue, queueIndex) - 0usize];
    [
        "Offset of field: synInternalQueue::size",
    ][::core::mem::offset_of!(synInternalQueue, size) - 4usize];
    [
        "Offset of field: synInternalQueue::address",
    ][::core::mem::offset_of!(synInternalQueue, address) - 8usize];
};
/// The name of a status, as in `synFail`; `None` for a value without one.
pub fn status_name(status: synStatus) -> Option<&'static str> {
    match status {
        synStatus::synSuccess => Some("synSuccess"),
        synStatus::synInvalidArgument => Some("synInvalidArgument"),
        synStatus::synCbFull => Some("synCbFull"),
        synStatus::synOutOfHostMemory => Some("synOutOfHostMemory"),
        synStatus::synOutOfDeviceMemory => Some("synOutOfDeviceMemory"),
        synStatus::synObjectAlreadyInitialized => Some("synObjectAlreadyInitialized"),
        synStatus::synObjectNotInitialized => Some("synObjectNotInitialized"),
        synStatus::synCommandSubmissionFailure => Some("synCommandSubmissionFailure"),
        synStatus::synNoDeviceFound => Some("synNoDeviceFound"),
        synStatus::synDeviceTypeMismatch => Some("synDeviceTypeMismatch"),
        synStatus::synFailedToInitializeCb => Some("synFailedToInitializeCb"),
        synStatus::synFailedToFreeCb => Some("synFailedToFreeCb"),
        synStatus::synFailedToMapCb => Some("synFailedToMapCb"),
        synStatus::synFailedToUnmapCb => Some("synFailedToUnmapCb"),
        synStatus::synFailedToAllocateDeviceMemory => {
            Some("synFailedToAllocateDeviceMemory")
        }
        synStatus::synFailedToFreeDeviceMemory => Some("synFailedToFreeDeviceMemory"),
        synStatus::synFailedNotEnoughDevicesFound => {
            Some("synFailedNotEnoughDevicesFound")
        }
        synStatus::synDeviceReset => Some("synDeviceReset"),
        synStatus::synUnsupported => Some("synUnsupported"),
        synStatus::synWrongParamsFile => Some("synWrongParamsFile"),
        synStatus::synDeviceAlreadyAcquired => Some("synDeviceAlreadyAcquired"),
        synStatus::synNameIsAlreadyUsed => Some("synNameIsAlreadyUsed"),
        synStatus::synBusy => Some("synBusy"),
        synStatus::synAllResourcesTaken => Some("synAllResourcesTaken"),
        synStatus::synUnavailable => Some("synUnavailable"),
        synStatus::synInvalidTensorDimensions => Some("synInvalidTensorDimensions"),
        synStatus::synFail => Some("synFail"),
        synStatus::synOutOfResources => Some("synOutOfResources"),
        synStatus::synUninitialized => Some("synUninitialized"),
        synStatus::synAlreadyInitialized => Some("synAlreadyInitialized"),
        synStatus::synFailedSectionValidation => Some("synFailedSectionValidation"),
        synStatus::synSynapseTerminated => Some("synSynapseTerminated"),
        synStatus::synAssertAsync => Some("synAssertAsync"),
        synStatus::synInvalidEventHandle => Some("synInvalidEventHandle"),
        synStatus::synMappingNotFound => Some("synMappingNotFound"),
        synStatus::synFailedDynamicPatching => Some("synFailedDynamicPatching"),
        synStatus::synFailedStaticPatching => Some("synFailedStaticPatching"),
        synStatus::synFailedToSubmitWorkload => Some("synFailedToSubmitWorkload"),
        synStatus::synInvalidSectionsDefinition => Some("synInvalidSectionsDefinition"),
        synStatus::synInvalidTensorProperties => Some("synInvalidTensorProperties"),
        synStatus::synFailHccl => Some("synFailHccl"),
        synStatus::synFailedToCollectTime => Some("synFailedToCollectTime"),
        synStatus::synTimeout => Some("synTimeout"),
        synStatus::synResourceBadUsage => Some("synResourceBadUsage"),
        _ => None,
    }
}
