//! Tensors of a graph.

use std::sync::Arc;

use habana_sys::{synDataType, synGeometryType, synQuantizationProperty, synStatus, synTensorType};

use crate::log;
use crate::node::spec::{DataType, Spec};
use crate::outcome::Outcome;
use crate::sizes::MAX_DIMS;

/// A tensor with data of its own is this large at most outside a const section.
const MAX_CONST_BYTES: u64 = 1 << 20;

/// What a tensor holds from the start.
#[derive(Debug, Clone)]
pub(crate) struct HostData {
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) dtype: synDataType,
}

/// How FP8 elements are scaled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FpQuant {
    /// The type of the elements that it holds for; `syn_type_na` where nothing was set.
    pub(crate) dtype: synDataType,
    pub(crate) scale: f64,
    pub(crate) exp_bias: u32,
}

impl FpQuant {
    const UNSET: Self = Self { dtype: synDataType::syn_type_na, scale: 1.0, exp_bias: 0 };

    pub(crate) fn is_set(&self) -> bool {
        self.dtype != synDataType::syn_type_na
    }
}

/// A tensor of a graph, as far as it is described by now.
#[derive(Debug, Clone)]
pub(crate) struct Tensor {
    pub(crate) handle: u64,
    pub(crate) name: String,
    pub(crate) kind: synTensorType,
    pub(crate) dtype: synDataType,
    /// The fastest-changing dimension first.
    pub(crate) sizes: Vec<u64>,
    /// The smallest ones of a dynamic tensor.
    pub(crate) min_sizes: Option<Vec<u64>>,
    /// Section and offset in bytes.
    pub(crate) section: Option<(usize, u64)>,
    pub(crate) host: Option<HostData>,
    pub(crate) fp_quant: FpQuant,
    /// Other quantization data, which change nothing here and are kept to be read again.
    pub(crate) quantization: Vec<(synQuantizationProperty, Vec<u8>)>,
    pub(crate) is_external: bool,
    pub(crate) allow_permutation: i8,
    /// Whether a node has it: then it does not change any more.
    pub(crate) is_locked: bool,
}

impl Tensor {
    pub(super) fn new(handle: u64, kind: synTensorType, name: &str) -> Self {
        Self {
            handle,
            name: name.to_owned(),
            kind,
            dtype: synDataType::syn_type_na,
            sizes: Vec::new(),
            min_sizes: None,
            section: None,
            host: None,
            fp_quant: FpQuant::UNSET,
            quantization: Vec::new(),
            is_external: false,
            allow_permutation: 0,
            is_locked: false,
        }
    }

    /// To change it: `synObjectAlreadyInitialized` once a node has it.
    pub(crate) fn unlocked(&mut self) -> Outcome<&mut Self> {
        if self.is_locked {
            let reason = format_args!("tensor `{}` is used by a node", self.name);
            return Err(log::refusal(synStatus::synObjectAlreadyInitialized, reason));
        }
        Ok(self)
    }

    /// Whether it only has a shape.
    pub(crate) fn is_shape(&self) -> bool {
        matches!(self.kind, synTensorType::SHAPE_TENSOR | synTensorType::INPUT_DESCRIBING_SHAPE_TENSOR)
    }

    pub(crate) fn set_geometry(&mut self, sizes: &[u64], kind: synGeometryType) -> Outcome {
        let tensor = self.unlocked()?;
        if sizes.len() > MAX_DIMS {
            return Err(synStatus::synInvalidTensorDimensions);
        }
        match kind {
            synGeometryType::synGeometryMinSizes => {
                // Those of a static tensor are ignored.
                if tensor.kind == synTensorType::DATA_TENSOR_DYNAMIC {
                    tensor.min_sizes = Some(sizes.to_vec());
                }
            }
            synGeometryType::synGeometryMaxSizes => tensor.sizes = sizes.to_vec(),
            synGeometryType::synGeometryDims => tensor.sizes.resize(sizes.len(), 1),
            _ => return Err(synStatus::synInvalidArgument),
        }
        Ok(())
    }

    pub(crate) fn set_data_type(&mut self, dtype: synDataType) -> Outcome {
        let tensor = self.unlocked()?;
        if dtype.0 == 0 || dtype.0 >= synDataType::syn_type_max.0 || !dtype.0.is_power_of_two() {
            return Err(synStatus::synInvalidArgument);
        }
        DataType::of(dtype).ok_or(synStatus::synUnsupported)?;
        tensor.dtype = dtype;
        Ok(())
    }

    /// Whether it may start with this many bytes of data: more than a mebibyte only in a const section.
    pub(crate) fn check_host_bytes(&self, bytes: u64, is_in_const_section: bool) -> Outcome {
        if bytes > MAX_CONST_BYTES && !is_in_const_section {
            let reason = format_args!("tensor `{}`: large data belong into a const section", self.name);
            return Err(log::refusal(synStatus::synInvalidArgument, reason));
        }
        Ok(())
    }

    /// How FP8 elements are scaled: only the exponent biases that the device has.
    pub(crate) fn set_fp_quant(&mut self, quant: FpQuant) -> Outcome {
        let tensor = self.unlocked()?;
        let exists = match quant.dtype {
            synDataType::syn_type_fp8_143 => matches!(quant.exp_bias, 3 | 7 | 11 | 15),
            synDataType::syn_type_fp8_152 => quant.exp_bias < 32,
            _ => false,
        };
        if !exists {
            let reason = format_args!("tensor `{}`: exponent bias {}", tensor.name, quant.exp_bias);
            return Err(log::refusal(synStatus::synInvalidArgument, reason));
        }
        tensor.fp_quant = quant;
        Ok(())
    }

    fn exp_bias(&self, dtype: DataType) -> u32 {
        let of_format = match dtype {
            DataType::Fp8_143 => 7,
            DataType::Fp8_152 => 15,
            _ => 0,
        };
        if self.fp_quant.dtype == self.dtype { self.fp_quant.exp_bias } else { of_format }
    }

    /// How a node sees it. `None` while it has no sizes or no data type, or is too large to address.
    pub(crate) fn spec(&self) -> Option<Spec> {
        let dtype = match DataType::of(self.dtype) {
            Some(dtype) => dtype,
            None if self.is_shape() => DataType::U32,
            None => return None,
        };
        if self.sizes.is_empty() {
            return None;
        }
        let sizes: Vec<_> =
            self.sizes.iter().map(|&size| usize::try_from(size).ok()).collect::<Option<_>>()?;
        let elements = sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size))?;
        let bytes = elements.checked_mul(dtype.bytes())?;
        (bytes <= isize::MAX.unsigned_abs()).then(|| Spec { dtype, sizes, exp_bias: self.exp_bias(dtype) })
    }

    /// What it takes in memory; 0 for a shape, or while it is not described.
    pub(crate) fn bytes(&self) -> u64 {
        if self.is_shape() { 0 } else { self.spec().map_or(0, |spec| spec.bytes()) }
    }
}
