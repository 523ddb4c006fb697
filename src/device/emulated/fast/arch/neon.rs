//! Fast attention on NEON: four vectors of four for sixteen lanes.
#![allow(unsafe_code)]

use std::arch::aarch64::*;

use gaudi_numerics::simd::Neon;

use super::super::lanes::{Lanes, Line};

/// Methods that are an intrinsic on each quarter.
macro_rules! quarters {
    ($($name:ident($($arg:ident),*) = $value:expr;)*) => {
        $(#[inline(always)]
        fn $name(self, $($arg: [float32x4_t; 4]),*) -> [float32x4_t; 4] {
            // SAFETY: these NEON instructions touch registers only, and `self` is a token, which exists only where detection
            // found them.
            unsafe {
                let mut out = [vdupq_n_f32(0.0); 4];
                for (i, out) in out.iter_mut().enumerate() {
                    $(let $arg = $arg[i];)*
                    *out = $value;
                }
                out
            }
        })*
    };
}

impl Lanes for Neon {
    type V = [float32x4_t; 4];
    const PAIRS: bool = false;
    const GROUPED: bool = false;
    const ROWS: usize = 4;
    const LINES: usize = 1;

    quarters! {
        add(a, b) = vaddq_f32(a, b);
        sub(a, b) = vsubq_f32(a, b);
        mul(a, b) = vmulq_f32(a, b);
        div(a, b) = vdivq_f32(a, b);
        max(a, b) = vbslq_f32(vcgtq_f32(a, b), a, b);
        min(a, b) = vbslq_f32(vcltq_f32(a, b), a, b);
        and(a, b) = vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(a), vreinterpretq_u32_f32(b)));
        truncate(a) = vrndq_f32(a);
        if_within(a, b, yes, no) = vbslq_f32(vcleq_f32(vabsq_f32(a), b), yes, no);
        times_power(a, k) = {
            // The first multiplication is exact.
            let k = vcvtq_s32_f32(k);
            let most = vmaxq_s32(k, vdupq_n_s32(-100));
            let bias = vdupq_n_s32(127);
            let first = vshlq_n_s32::<23>(vaddq_s32(most, bias));
            let rest = vshlq_n_s32::<23>(vaddq_s32(vsubq_s32(k, most), bias));
            vmulq_f32(vmulq_f32(a, vreinterpretq_f32_s32(first)), vreinterpretq_f32_s32(rest))
        };
        round_bf16(a) = {
            let bits = vreinterpretq_u32_f32(a);
            let odd = vandq_u32(vshrq_n_u32::<16>(bits), vdupq_n_u32(1));
            let up = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7FFF)));
            let rounded = vandq_u32(up, vdupq_n_u32(0xFFFF_0000));
            vreinterpretq_f32_u32(vbslq_u32(vceqq_f32(a, a), rounded, vdupq_n_u32(0x7FFF_0000)))
        };
        mul_acc(acc, a, b) = vfmaq_f32(acc, a, b);
    }

    #[inline(always)]
    fn splat_bits(self, bits: u32) -> [float32x4_t; 4] {
        // SAFETY: a broadcast to a register; `self` proves NEON.
        [unsafe { vreinterpretq_f32_u32(vdupq_n_u32(bits)) }; 4]
    }

    #[inline(always)]
    fn load(self, from: &Line) -> [float32x4_t; 4] {
        self.load_cells(&from.0)
    }

    #[inline(always)]
    fn store(self, v: [float32x4_t; 4], to: &mut Line) {
        self.store_cells(v, &mut to.0);
    }

    #[inline(always)]
    fn only(self, from: usize, to: usize, a: [float32x4_t; 4], b: [float32x4_t; 4]) -> [float32x4_t; 4] {
        let (mut kept, mut others) = (Line::ZERO, Line::ZERO);
        self.store(a, &mut kept);
        self.store(b, &mut others);
        others.0[from..to].copy_from_slice(&kept.0[from..to]);
        self.load(&others)
    }

    #[inline(always)]
    fn load_cells(self, cells: &[u32]) -> [float32x4_t; 4] {
        let cells: &[u32; 16] = cells[..16].try_into().expect("16 cells");
        let from = cells.as_ptr().cast::<f32>();
        // SAFETY: the array has the 64 bytes that four loads read, aligned as a float is; `self` proves NEON.
        unsafe { [vld1q_f32(from), vld1q_f32(from.add(4)), vld1q_f32(from.add(8)), vld1q_f32(from.add(12))] }
    }

    #[inline(always)]
    fn store_cells(self, v: [float32x4_t; 4], cells: &mut [u32]) {
        let cells: &mut [u32; 16] = (&mut cells[..16]).try_into().expect("16 cells");
        let to = cells.as_mut_ptr().cast::<f32>();
        for (i, quarter) in v.into_iter().enumerate() {
            // SAFETY: the array is ours alone and has the 64 bytes that four stores write, aligned as a float is; `self`
            // proves NEON.
            unsafe { vst1q_f32(to.add(4 * i), quarter) }
        }
    }
}
