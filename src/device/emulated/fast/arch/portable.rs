//! Fast attention in portable Rust: the twin of every instruction set.

use gaudi_numerics::simd::Portable;

use super::super::lanes::{Lanes, Line};
use crate::fp8::bf16_from_f32;

#[inline(always)]
fn both(a: [f32; 16], b: [f32; 16], op: impl Fn(f32, f32) -> f32) -> [f32; 16] {
    std::array::from_fn(|i| op(a[i], b[i]))
}

impl Lanes for Portable {
    type V = [f32; 16];
    const PAIRS: bool = false;
    const GROUPED: bool = false;
    const ROWS: usize = 2;
    const LINES: usize = 1;

    #[inline(always)]
    fn splat_bits(self, bits: u32) -> [f32; 16] {
        [f32::from_bits(bits); 16]
    }
    #[inline(always)]
    fn load(self, from: &Line) -> [f32; 16] {
        from.floats()
    }
    #[inline(always)]
    fn store(self, v: [f32; 16], to: &mut Line) {
        *to = Line(v.map(f32::to_bits));
    }
    #[inline(always)]
    fn add(self, a: [f32; 16], b: [f32; 16]) -> [f32; 16] {
        both(a, b, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, a: [f32; 16], b: [f32; 16]) -> [f32; 16] {
        both(a, b, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, a: [f32; 16], b: [f32; 16]) -> [f32; 16] {
        both(a, b, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, a: [f32; 16], b: [f32; 16]) -> [f32; 16] {
        both(a, b, |a, b| a / b)
    }
    #[inline(always)]
    fn max(self, a: [f32; 16], b: [f32; 16]) -> [f32; 16] {
        both(a, b, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn min(self, a: [f32; 16], b: [f32; 16]) -> [f32; 16] {
        both(a, b, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn and(self, a: [f32; 16], b: [f32; 16]) -> [f32; 16] {
        both(a, b, |a, b| f32::from_bits(a.to_bits() & b.to_bits()))
    }
    #[inline(always)]
    fn truncate(self, a: [f32; 16]) -> [f32; 16] {
        a.map(|a| a as i32 as f32)
    }
    #[inline(always)]
    fn if_within(self, a: [f32; 16], b: [f32; 16], yes: [f32; 16], no: [f32; 16]) -> [f32; 16] {
        std::array::from_fn(|i| if a[i].abs() <= b[i] { yes[i] } else { no[i] })
    }
    #[inline(always)]
    fn times_power(self, a: [f32; 16], k: [f32; 16]) -> [f32; 16] {
        both(a, k, |a, k| {
            let power = |k: i32| f32::from_bits(((k + 127) as u32) << 23);
            // The first multiplication is exact.
            let k = k as i32;
            let most = k.max(-100);
            a * power(most) * power(k - most)
        })
    }
    #[inline(always)]
    fn round_bf16(self, a: [f32; 16]) -> [f32; 16] {
        a.map(|a| bf16_from_f32(a).to_f32())
    }
    #[inline(always)]
    fn only(self, from: usize, to: usize, a: [f32; 16], b: [f32; 16]) -> [f32; 16] {
        std::array::from_fn(|i| if (from..to).contains(&i) { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn mul_acc(self, acc: [f32; 16], a: [f32; 16], b: [f32; 16]) -> [f32; 16] {
        std::array::from_fn(|i| acc[i] + a[i] * b[i])
    }
    #[inline(always)]
    fn load_cells(self, cells: &[u32]) -> [f32; 16] {
        std::array::from_fn(|i| f32::from_bits(cells[i]))
    }
    #[inline(always)]
    fn store_cells(self, v: [f32; 16], cells: &mut [u32]) {
        cells[..16].copy_from_slice(&v.map(f32::to_bits));
    }
}
