//! Element types that are computed with in float32.

use bytemuck::Pod;
use gaudi_numerics::fp8::bf16_from_f32;
use half::bf16;

/// An element that is computed with in float32.
pub(super) trait Real: Pod {
    fn widen(self) -> f32;
    /// To nearest even.
    fn narrow(value: f32) -> Self;
}

impl Real for f32 {
    fn widen(self) -> f32 {
        self
    }

    fn narrow(value: f32) -> Self {
        value
    }
}

impl Real for bf16 {
    fn widen(self) -> f32 {
        self.to_f32()
    }

    fn narrow(value: f32) -> Self {
        bf16_from_f32(value)
    }
}

/// Evaluates an expression with the Rust type of a float type: float32, else bfloat16.
macro_rules! with_real {
    ($dtype:expr, $name:ident => $body:expr) => {
        match $dtype {
            DataType::F32 => {
                type $name = f32;
                $body
            }
            _ => {
                type $name = half::bf16;
                $body
            }
        }
    };
}
pub(super) use with_real;
