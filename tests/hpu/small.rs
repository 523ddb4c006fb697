//! A little of everything that a device does, for runs in which something goes wrong.

use gaudi_kv::device::emulated::{Emulated, Mode};
use gaudi_kv::device::hpu::{Hpu, HpuError, HpuOptions};
use gaudi_kv::device::{
    AttentionProblem, AttentionWorkspace, Device, DeviceError, Fp8Products, HeadScales, KeysAndValues,
    MhaShape, Modifiers, PlaneLayout, PlanePair, ProjectKernel, QueryScale, SequenceSpan, StorageDtype,
};
use gaudi_kv::{Generation, ScaleFactors};
use half::bf16;

const LAYOUT: PlaneLayout = PlaneLayout {
    num_blocks: 2,
    has_pad_block: true,
    block_size_tokens: 16,
    heads: 1,
    dim: 4,
    dtype: StorageDtype::Fp8,
};

fn numbers(len: usize) -> Vec<bf16> {
    (0..len).map(|number| bf16::from_f32((number as f32 * 0.37 - 1.0).sin())).collect()
}

/// Writes, reads, copies, moves, attends and projects, and gives everything that came out.
pub fn everything<D: Device>(device: &D) -> Result<Vec<u32>, DeviceError> {
    let (quant, dequant) = (HeadScales::One(40.0), HeadScales::One(0.025));
    let mut plane = device.allocate(&LAYOUT)?;
    device.write(&mut plane, &numbers(12), &[3, 17, 0], &quant)?;
    let mut read = vec![bf16::ZERO; 8];
    device.read(&plane, &[17, 3], &dequant, &mut read)?;
    let mut seen: Vec<u32> = read.iter().map(|value| u32::from(value.to_bits())).collect();
    device.copy_blocks(&mut plane, &[(0, 2)])?;
    let block = device.export_block(&plane, 2)?;
    seen.extend(block.iter().map(|byte| u32::from(*byte)));
    let moved: Vec<u8> = block.iter().map(|byte| byte.wrapping_add(3) & 0x3F).collect();
    device.import_block(&mut plane, 1, &moved)?;
    // Another block straight after, so that what comes late of the one would be taken for the other.
    seen.extend(device.export_block(&plane, 0)?.iter().map(|byte| u32::from(*byte)));
    let modifiers = Modifiers {
        softmax_scale: 0.5,
        logits_soft_cap: None,
        alibi_slopes: None,
        sliding_window: None,
        sinks: None,
    };
    let factors = ScaleFactors { quant, dequant };
    let problem = AttentionProblem {
        q: &numbers(8),
        shape: MhaShape { num_heads: 2, num_kv_heads: 1, head_dim: 4, v_head_dim: 3 },
        operands: KeysAndValues::Planes(PlanePair { key: &plane, value: &plane, blocks: &[2, 1] }),
        key_factors: &factors,
        value_factors: &factors,
        fp8: Some(Fp8Products { query_scale: &QueryScale::Dynamic, prob: ScaleFactors::from_quant(1.0) }),
        modifiers,
        sequences: &[SequenceSpan { first_token: 0, tokens: 1, len: 20, first_block: 0, first_row: 0 }],
    };
    let mut out = vec![0.0; 6];
    device.attend(&problem, &mut AttentionWorkspace::default(), &mut out)?;
    seen.extend(out.iter().map(|value| value.to_bits()));
    let kernel = ProjectKernel { rows: &numbers(6), weights: &numbers(9), heads: 1, k: 3 };
    let mut projected = vec![bf16::ZERO; 6];
    device.project(&kernel, &mut projected)?;
    // A call that does nothing itself reports what the last one could not give back.
    device.read(&plane, &[], &factors.dequant, &mut [])?;
    seen.extend(projected.iter().map(|value| u32::from(value.to_bits())));
    Ok(seen)
}

/// What the emulated device gives.
pub fn expected(generation: Generation) -> Vec<u32> {
    everything(&Emulated::new(generation, Mode::Exact)).unwrap()
}

/// Opens a device and does everything: the right results, or why not.
pub fn attempt(options: &HpuOptions) -> Result<(), Box<HpuError>> {
    let device = Hpu::open(options).map_err(Box::new)?;
    match everything(&device) {
        Ok(seen) => {
            assert_eq!(seen, expected(device.generation()));
            Ok(())
        }
        Err(DeviceError::Hardware(error)) => Err(error.downcast().unwrap()),
        Err(other) => panic!("{other}"),
    }
}
