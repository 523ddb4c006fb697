//! The table of guids.

use std::sync::Arc;

use super::cast::Cast;
use super::compare::{Compare, Relation};
use super::concat::Parts;
use super::constant::{Constant, Memset};
use super::convert::{FromFp8, ToFp8};
use super::copy::Copy;
use super::elementwise::{Arithmetic, Binary, Function, Unary};
use super::gather::Gather;
use super::gemm::MatrixProduct;
use super::index_copy::IndexCopy;
use super::machine::Machine;
use super::norm::RmsNorm;
use super::operation::Operation;
use super::permute::{Broadcast, Transpose};
use super::reduce::{Reduce, Reduction};
use super::scatter::{Form, Scatter};
use super::sdpa::Sdpa;
use super::select::Where;
use super::slice::Slice;
use super::softmax::Softmax;
use super::spec::DataType;

/// The operation of a guid; `None` for one that the compiler does not know.
pub(crate) fn find(guid: &str, machine: &Machine) -> Option<Arc<dyn Operation>> {
    Some(match guid {
        "memcpy" | "identity" => Arc::new(Copy::Same),
        "reshape" => Arc::new(Copy::Reshape),
        "flatten" => Arc::new(Copy::Flatten),
        "expand_dims" => Arc::new(Copy::ExpandDims),
        "squeeze" => Arc::new(Copy::Squeeze),
        "reinterpret_cast" => Arc::new(Copy::Reinterpret),
        "transpose" => Arc::new(Transpose),
        "broadcast" => Arc::new(Broadcast),
        "slice" => Arc::new(Slice::Any),
        "slice_axis" => Arc::new(Slice::Axis),
        "concat" => Arc::new(Parts::Concat),
        "split" => Arc::new(Parts::Split),
        "memset" => Arc::new(Memset),
        "gemm" | "batch_gemm" => Arc::new(MatrixProduct::plain()),
        _ => {
            let (stem, suffix) = guid.rsplit_once('_')?;
            return of_type(stem, DataType::from_suffix(suffix)?, machine);
        }
    })
}

/// The operation of a guid that ends in a type's name.
fn of_type(stem: &str, dtype: DataType, machine: &Machine) -> Option<Arc<dyn Operation>> {
    Some(match stem {
        "add_fwd" => Arc::new(Binary::new(Arithmetic::Add, dtype)?),
        "sub_fwd" => Arc::new(Binary::new(Arithmetic::Sub, dtype)?),
        "mult_fwd" => Arc::new(Binary::new(Arithmetic::Mult, dtype)?),
        "div_fwd" => Arc::new(Binary::new(Arithmetic::Div, dtype)?),
        "max_fwd" => Arc::new(Binary::new(Arithmetic::Max, dtype)?),
        "min_fwd" => Arc::new(Binary::new(Arithmetic::Min, dtype)?),
        "abs_fwd" => Arc::new(Unary::new(Function::Abs, dtype)?),
        "exp_fwd" => Arc::new(Unary::new(Function::Exp, dtype)?),
        "neg_fwd" => Arc::new(Unary::new(Function::Neg, dtype)?),
        "tanh_fwd" => Arc::new(Unary::new(Function::Tanh, dtype)?),
        "less_fwd" => Arc::new(Compare::new(Relation::Less, dtype)?),
        "less_equal_fwd" => Arc::new(Compare::new(Relation::LessEqual, dtype)?),
        "greater_fwd" => Arc::new(Compare::new(Relation::Greater, dtype)?),
        "greater_equal_fwd" => Arc::new(Compare::new(Relation::GreaterEqual, dtype)?),
        "equal_fwd" => Arc::new(Compare::new(Relation::Equal, dtype)?),
        "where_fwd" => Arc::new(Where::new(dtype)?),
        "reduce_sum_fwd" | "reduce_sum_multi_dim_fwd" => Arc::new(Reduce::new(Reduction::Sum, dtype)?),
        "reduce_max_fwd" | "reduce_max_multi_dim_fwd" => Arc::new(Reduce::new(Reduction::Max, dtype)?),
        "softmax_fwd" => Arc::new(Softmax::new(dtype)?),
        "rms_norm_fwd" => Arc::new(RmsNorm::new(dtype)?),
        "constant" => Arc::new(Constant::new(dtype)?),
        "gather_fwd" => Arc::new(Gather::new(dtype, machine)?),
        "index_copy_fwd" => Arc::new(IndexCopy::new(dtype, machine)?),
        "scatter_nd_update_fwd" => Arc::new(Scatter::new(Form::Update, dtype, machine)?),
        "scatter_nd_onnx_fwd" => Arc::new(Scatter::new(Form::Onnx, dtype, machine)?),
        "convert_to_fp8" => Arc::new(ToFp8::new(dtype)?),
        "convert_from_fp8" => Arc::new(FromFp8::new(dtype)?),
        "fp8_gemm" => Arc::new(MatrixProduct::scaled(dtype)?),
        "sdpa_fwd" | "sdpa_recomp_fwd" => Arc::new(Sdpa::new(dtype)?),
        _ => {
            let from = stem.strip_prefix("cast_")?.strip_suffix("_to")?;
            Arc::new(Cast::new(DataType::from_suffix(from)?, dtype)?)
        }
    })
}
