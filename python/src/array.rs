//! Where the elements of a NumPy array or a CPU torch tensor are.

use std::sync::{Mutex, PoisonError};

use half::bf16;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::Failure;

/// The type of an array's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    F32,
    Bf16,
    Code,
    I32,
    I64,
}

impl Element {
    /// The element type of that name in torch, NumPy or `ml_dtypes`. NumPy has no bfloat16: `uint16` stands for its bits.
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "float32" => Self::F32,
            "bfloat16" | "uint16" => Self::Bf16,
            "uint8" | "float8_e4m3fn" => Self::Code,
            "int32" => Self::I32,
            "int64" => Self::I64,
            _ => return None,
        })
    }

    /// The element type of a `dtype` of torch, NumPy or `ml_dtypes`. Asking an object for its name costs as much as a small kernel, so
    /// those that were asked are remembered.
    fn of(dtype: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        /// Types are few, but nothing says that they are.
        const MOST: usize = 32;
        static KNOWN: Mutex<Vec<(Py<PyAny>, Element)>> = Mutex::new(Vec::new());
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, element)) = known().iter().find(|(known, _)| known.is(dtype)) {
            return Ok(Some(*element));
        }
        let name = dtype.str()?;
        let name = name.to_cow()?;
        let element = Self::named(name.strip_prefix("torch.").unwrap_or(&name));
        if let Some(element) = element
            && known().len() < MOST
        {
            known().push((dtype.clone().unbind(), element));
        }
        Ok(element)
    }

    /// The type's name, for people.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::F32 => "float32",
            Self::Bf16 => "bfloat16 (in NumPy its bits as uint16)",
            Self::Code => "uint8 or float8_e4m3fn",
            Self::I32 => "int32",
            Self::I64 => "int64",
        }
    }

    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::Code => 1,
            Self::Bf16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::I64 => 8,
        }
    }
}

/// The Rust type of an element: every bit pattern is a value of it.
pub(crate) trait Plain: bytemuck::Pod + Send + Sync {
    const ELEMENT: Element;
}

impl Plain for f32 {
    const ELEMENT: Element = Element::F32;
}

impl Plain for bf16 {
    const ELEMENT: Element = Element::Bf16;
}

impl Plain for u8 {
    const ELEMENT: Element = Element::Code;
}

impl Plain for i32 {
    const ELEMENT: Element = Element::I32;
}

impl Plain for i64 {
    const ELEMENT: Element = Element::I64;
}

/// A contiguous array: its place, shape and type. It is valid as long as the object lives and keeps its memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Array {
    pub(crate) what: &'static str,
    pub(crate) address: usize,
    pub(crate) shape: Vec<usize>,
    pub(crate) element: Element,
    pub(crate) is_writable: bool,
    /// Elements from one row, of the first dimension, to the next.
    row_stride: usize,
}

impl Array {
    /// Resolves an object whose rows may be apart, as those of a slice of wider rows are; each of them is contiguous.
    ///
    /// # Errors
    /// [`of`](Self::of) lists them.
    pub(crate) fn of_rows(what: &'static str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        match object.getattr_opt(intern!(py, "data_ptr"))? {
            Some(data_ptr) => Self::of_tensor(what, object, &data_ptr, true),
            None => Self::of(what, object),
        }
    }

    /// Resolves an object.
    ///
    /// # Errors
    /// It is no array, its memory is not the CPU's, it is not contiguous or not aligned, or has another type of
    /// elements than those that this module takes.
    pub(crate) fn of(what: &'static str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        if let Some(data_ptr) = object.getattr_opt(intern!(py, "data_ptr"))? {
            return Self::of_tensor(what, object, &data_ptr, false);
        }
        match object.getattr_opt(intern!(py, "__array_interface__"))? {
            Some(interface) => Self::of_numpy(what, object, interface.cast_into()?),
            None => Err(Failure::Dtype(format!(
                "{what} is a {}; a NumPy array or a CPU torch tensor is needed",
                object.get_type().name()?
            ))
            .into()),
        }
    }

    fn of_tensor(
        what: &'static str,
        tensor: &Bound<'_, PyAny>,
        data_ptr: &Bound<'_, PyAny>,
        may_be_apart: bool,
    ) -> PyResult<Self> {
        let py = tensor.py();
        if !tensor.getattr(intern!(py, "is_cpu"))?.is_truthy()? {
            let device = tensor.getattr(intern!(py, "device"))?;
            return Err(
                Failure::Dtype(format!("{what} is on the device {device}; it must be on the CPU")).into()
            );
        }
        let is_contiguous: bool = tensor.call_method0(intern!(py, "is_contiguous"))?.extract()?;
        let shape: Vec<usize> = tensor.getattr(intern!(py, "shape"))?.extract()?;
        let row_stride = if is_contiguous {
            Some(row_len(&shape))
        } else if may_be_apart {
            let strides: Vec<usize> = tensor.call_method0(intern!(py, "stride"))?.extract()?;
            stride_of_rows(&shape, &strides)
        } else {
            None
        };
        Self::checked(what, tensor, data_ptr.call0()?.extract()?, shape, row_stride, true)
    }

    fn of_numpy(
        what: &'static str,
        array: &Bound<'_, PyAny>,
        interface: Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let py = array.py();
        let missing = || Failure::Dtype(format!("the __array_interface__ of {what} is incomplete"));
        let data = interface.get_item(intern!(py, "data"))?.ok_or_else(missing)?;
        let (address, is_readonly): (usize, bool) = data.extract()?;
        let shape: Vec<usize> = interface.get_item(intern!(py, "shape"))?.ok_or_else(missing)?.extract()?;
        // NumPy gives strides exactly where the array is not contiguous.
        let strides = interface.get_item(intern!(py, "strides"))?;
        let is_contiguous = strides.is_none_or(|strides| strides.is_none());
        let row_stride = is_contiguous.then(|| row_len(&shape));
        Self::checked(what, array, address, shape, row_stride, !is_readonly)
    }

    fn checked(
        what: &'static str,
        object: &Bound<'_, PyAny>,
        address: usize,
        shape: Vec<usize>,
        row_stride: Option<usize>,
        is_writable: bool,
    ) -> PyResult<Self> {
        let dtype = object.getattr(intern!(object.py(), "dtype"))?;
        let Some(element) = Element::of(&dtype)? else {
            return Err(Failure::Dtype(format!(
                "{what} is {}; this module takes float32, bfloat16 (in NumPy uint16), uint8, float8_e4m3fn, int32 \
                 and int64, in the byte order of this machine",
                dtype.str()?
            ))
            .into());
        };
        let Some(row_stride) = row_stride else {
            return Err(Failure::Shape(format!("{what} of shape {shape:?} is not contiguous")).into());
        };
        if !address.is_multiple_of(element.bytes()) {
            return Err(Failure::Shape(format!("{what} is not aligned to its elements")).into());
        }
        Ok(Self { what, address, shape, element, is_writable, row_stride })
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Elements of a row, and from one row to the next.
    pub(crate) fn row(&self) -> (usize, usize) {
        (row_len(&self.shape), self.row_stride)
    }

    /// Elements from the first to the last, those between rows included.
    pub(crate) fn span(&self) -> usize {
        match self.shape.first() {
            Some(rows) if self.len() > 0 => (rows - 1) * self.row_stride + row_len(&self.shape),
            _ => self.len(),
        }
    }

    /// Checks that this is `[rows, factors..]` or `[rows, product of factors]`, with any number of rows where `None`
    /// is given, and returns the rows.
    ///
    /// # Errors
    /// It has another shape.
    pub(crate) fn rows(&self, rows: Option<usize>, factors: &[usize]) -> Result<usize, Failure> {
        if let Some((first, rest)) = self.shape.split_first() {
            let is_row =
                rest == factors || matches!(rest, [row] if *row == factors.iter().product::<usize>());
            if is_row && rows.is_none_or(|rows| rows == *first) {
                return Ok(*first);
            }
        }
        let first = rows.map_or_else(|| "rows".to_owned(), |rows| rows.to_string());
        let factors: Vec<String> = factors.iter().map(ToString::to_string).collect();
        let expected = format!("[{first}, {}]", factors.join(", "));
        Err(Failure::Shape(format!("{} has the shape {:?}; {expected} is needed", self.what, self.shape)))
    }

    /// Checks the type of the elements.
    ///
    /// # Errors
    /// It is another.
    pub(crate) fn expect(&self, element: Element) -> Result<(), Failure> {
        if self.element == element {
            return Ok(());
        }
        Err(Failure::Dtype(format!("{} is {}; {} is needed", self.what, self.element.name(), element.name())))
    }
}

/// Elements of a row: all dimensions but the first.
fn row_len(shape: &[usize]) -> usize {
    shape.iter().skip(1).product()
}

/// Elements from row to row where each row is contiguous and no two share any; `None` elsewhere.
fn stride_of_rows(shape: &[usize], strides: &[usize]) -> Option<usize> {
    let mut inner = 1;
    for (size, stride) in shape.iter().zip(strides).skip(1).rev() {
        if *size != 1 && *stride != inner {
            return None;
        }
        inner *= size;
    }
    strides.first().copied().filter(|stride| *stride >= inner)
}
