//! What the codes of an FP8 tensor mean.

use gaudi_numerics::Generation;
use gaudi_numerics::fp8::{Format, InfNan, Layout};

use super::machine::Machine;
use super::operation::Refusal;
use super::spec::{DataType, Spec};

impl Spec {
    /// What an FP8 tensor's codes mean on a machine: e4m3 of Gaudi3 has its casts' Inf/NaN mode, all others the full
    /// one.
    pub(super) fn format(&self, machine: &Machine) -> Result<Format, Refusal> {
        let layout = match self.dtype {
            DataType::Fp8_143 => Layout::E4M3,
            DataType::Fp8_152 => Layout::E5M2,
            other => return Err(Refusal::rejected(format!("{other:?} is not an FP8 type"))),
        };
        let inf_nan = match (machine.generation, layout) {
            (Generation::Gaudi3, Layout::E4M3) => InfNan::Minimal,
            _ => InfNan::Full,
        };
        let bias = u8::try_from(self.exp_bias)
            .map_err(|_| Refusal::rejected(format!("no exponent bias {}", self.exp_bias)))?;
        Format::on(machine.generation, layout, bias, inf_nan)
            .map_err(|error| Refusal::rejected(error.to_string()))
    }
}
