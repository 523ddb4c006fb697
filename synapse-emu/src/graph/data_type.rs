use habana_sys::synDataType;

use crate::node::DataType;

/// The element type that nodes compute with; `None` for those that the emulator does not have.
pub(crate) fn node_type(dtype: synDataType) -> Option<DataType> {
    Some(match dtype {
        synDataType::syn_type_int8 => DataType::I8,
        synDataType::syn_type_uint8 => DataType::U8,
        synDataType::syn_type_int16 => DataType::I16,
        synDataType::syn_type_uint16 => DataType::U16,
        synDataType::syn_type_int32 => DataType::I32,
        synDataType::syn_type_uint32 => DataType::U32,
        synDataType::syn_type_int64 => DataType::I64,
        synDataType::syn_type_uint64 => DataType::U64,
        synDataType::syn_type_bf16 => DataType::Bf16,
        synDataType::syn_type_fp16 => DataType::F16,
        synDataType::syn_type_single => DataType::F32,
        synDataType::syn_type_fp8_143 => DataType::Fp8_143,
        synDataType::syn_type_fp8_152 => DataType::Fp8_152,
        _ => return None,
    })
}
