//! The algorithms, once for every instruction set.
//!
//! Everything here is inlined into the entry points of an instruction set and compiled with its features.

use super::super::format::{INF_BITS, NAN_BITS};
use super::super::{CodeScan, Rounding};
use super::lines::{Line, Plain, bytes_mut, lines_mut};
use super::plan::{CodeClass, EncodePlan, Recode, WordTable};
use super::simd::Simd;

const MAGNITUDE: u32 = 0x7FFF_FFFF;

/// Outputs of this many bytes no longer fit the caches usefully and are written around them.
const STREAM_MIN: usize = 8 << 20;
/// Elements of one step of a streaming loop: whole cache lines, whatever the types.
const STEP: usize = 64;

/// Where the registers of one group go.
pub(super) trait Sink<K: Simd> {
    fn put(&mut self, k: K, register: usize, bytes: K::B);
}

struct Store<'a>(&'a mut [u8]);

impl<K: Simd> Sink<K> for Store<'_> {
    #[inline(always)]
    fn put(&mut self, k: K, register: usize, bytes: K::B) {
        k.store(&mut self.0[register * K::GROUP..], bytes);
    }
}

struct Stream<'a> {
    lines: &'a mut [Line],
    from: usize,
}

impl<K: Simd> Sink<K> for Stream<'_> {
    #[inline(always)]
    fn put(&mut self, k: K, register: usize, bytes: K::B) {
        let at = self.from + register * K::GROUP;
        k.stream(&mut self.lines[at / 64], at % 64, bytes);
    }
}

/// A conversion of one group, element by element.
pub(super) trait Map<K: Simd> {
    type In: Plain;
    type Out: Plain;
    fn group(&self, k: K, from: &[Self::In], to: &mut impl Sink<K>);
}

/// Converts whole slices of equal length.
#[inline(always)]
pub(super) fn map<K: Simd, M: Map<K>>(k: K, m: &M, from: &[M::In], to: &mut [M::Out]) {
    let mut done = 0;
    if size_of_val(to) >= STREAM_MIN {
        let (head, lines, _) = lines_mut(to);
        done = head.len();
        plain(k, m, &from[..done], head);
        let steps = lines.chunks_exact_mut(size_of::<M::Out>()).zip(from[done..].chunks_exact(STEP));
        for (lines, from) in steps {
            for group in (0..STEP).step_by(K::GROUP) {
                let mut sink = Stream { lines: &mut *lines, from: group * size_of::<M::Out>() };
                m.group(k, &from[group..group + K::GROUP], &mut sink);
            }
            done += STEP;
        }
        k.fence();
    }
    plain(k, m, &from[done..], &mut to[done..]);
}

#[inline(always)]
fn plain<K: Simd, M: Map<K>>(k: K, m: &M, from: &[M::In], to: &mut [M::Out]) {
    let whole = from.len() - from.len() % K::GROUP;
    let (from, from_rest) = from.split_at(whole);
    let (to, to_rest) = to.split_at_mut(whole);
    for (from, to) in from.chunks_exact(K::GROUP).zip(to.chunks_exact_mut(K::GROUP)) {
        m.group(k, from, &mut Store(bytes_mut(to)));
    }
    if !from_rest.is_empty() {
        let (mut padded, mut out) = ([M::In::ZERO; STEP], [M::Out::ZERO; STEP]);
        padded[..from_rest.len()].copy_from_slice(from_rest);
        m.group(k, &padded[..K::GROUP], &mut Store(bytes_mut(&mut out[..K::GROUP])));
        to_rest.copy_from_slice(&out[..to_rest.len()]);
    }
}

/// The constants of an encoder in registers.
#[derive(Clone, Copy)]
struct EncodeRegs<K: Simd> {
    magnitude: K::V,
    /// What of a product is its magnitude: without the low half where it is rounded to bfloat16.
    product: K::V,
    inf: K::V,
    max_finite: K::V,
    min_normal: K::V,
    zero: K::V,
    /// The power of two that makes a step between denormals 1.
    steps: K::V,
    shift: K::V,
    overflow_above: K::V,
    overflow_code: K::V,
    nan_sign: u8,
    scale: K::V,
}

impl<K: Simd> EncodeRegs<K> {
    #[inline(always)]
    fn new(k: K, plan: &EncodePlan, scale: f32, bf16_product: bool) -> Self {
        let bias = u32::from(plan.encoder.format.bias);
        Self {
            magnitude: k.splat(MAGNITUDE),
            product: k.splat(if bf16_product { MAGNITUDE & 0xFFFF_0000 } else { MAGNITUDE }),
            inf: k.splat(INF_BITS),
            max_finite: k.splat(plan.max_finite),
            min_normal: k.splat(plan.min_normal),
            zero: k.splat(0),
            steps: k.splat((126 + plan.man_bits + bias) << 23),
            shift: k.splat(23 - plan.man_bits),
            overflow_above: k.splat(plan.overflow_above),
            overflow_code: k.splat(u32::from(plan.overflow_code)),
            // A bfloat16 product loses the sign of a NaN.
            nan_sign: if bf16_product { 0 } else { plan.nan_sign },
            scale: k.splat(scale.to_bits()),
        }
    }

    /// The codes of the magnitudes of `product`, where that is not NaN.
    #[inline(always)]
    fn codes<const NEAREST: bool, const CLIP: bool>(&self, k: K, product: K::V) -> K::V {
        let magnitude = k.and(product, self.product);
        let capped = k.min(magnitude, self.max_finite);
        // Binades above the smallest normal, as an exponent field. Within a binade, and in all that lies below the
        // smallest normal, codes are evenly spaced: measured in these steps the magnitude only has to be rounded to an
        // integer, and the code is that integer plus the codes of the binades below.
        let binades = k.max(k.sub(k.and(capped, self.inf), self.min_normal), self.zero);
        let in_steps = k.mul(capped, k.sub(self.steps, binades));
        let kept = if NEAREST { k.to_int_nearest(in_steps) } else { k.to_int_truncated(in_steps) };
        let code = k.add(kept, k.shr_by(binades, self.shift));
        if CLIP { code } else { k.if_above(magnitude, self.overflow_above, self.overflow_code, code) }
    }

    /// [`codes`](Self::codes) with the sign and the NaNs of `value`.
    #[inline(always)]
    fn signed<const NEAREST: bool, const CLIP: bool>(&self, k: K, value: K::V, product: K::V) -> K::V {
        let code = self.codes::<NEAREST, CLIP>(k, product);
        let top = k.shr::<24>(value);
        let nan = k.or(k.and(top, k.splat(u32::from(self.nan_sign))), k.splat(0x7F));
        let signed = k.or(k.and(top, k.splat(0x80)), code);
        k.if_above(k.and(value, self.magnitude), self.inf, nan, signed)
    }
}

struct EncodeF32<K: Simd, const NEAREST: bool, const CLIP: bool>(EncodeRegs<K>);

impl<K: Simd, const NEAREST: bool, const CLIP: bool> Map<K> for EncodeF32<K, NEAREST, CLIP> {
    type In = f32;
    type Out = u8;
    #[inline(always)]
    fn group(&self, k: K, from: &[f32], to: &mut impl Sink<K>) {
        let mut lanes = k.load_f32(from);
        for v in &mut lanes {
            *v = self.0.signed::<NEAREST, CLIP>(k, *v, k.mul(*v, self.0.scale));
        }
        to.put(k, 0, k.pack_f32(lanes));
    }
}

struct EncodeBf16<K: Simd, const NEAREST: bool, const CLIP: bool, const SCALED: bool>(EncodeRegs<K>);

impl<K: Simd, const NEAREST: bool, const CLIP: bool, const SCALED: bool> Map<K>
    for EncodeBf16<K, NEAREST, CLIP, SCALED>
{
    type In = u16;
    type Out = u8;
    #[inline(always)]
    fn group(&self, k: K, from: &[u16], to: &mut impl Sink<K>) {
        let regs = &self.0;
        let mut lanes = k.load_bf16(from);
        for v in &mut lanes {
            let product = if SCALED { k.round_bf16(k.mul(*v, regs.scale)) } else { *v };
            *v = regs.codes::<NEAREST, CLIP>(k, product);
        }
        let codes = k.pack_bf16(lanes);
        // Signs and NaNs are those of the input, in whose bytes a NaN is a high byte of 0x7F, sign aside, over a low
        // one above 0x80.
        let [low, high] = k.load_split(from);
        let (magnitude, nan) = (k.and_bytes(high, k.splat_byte(0x7F)), k.splat_byte(0x7F));
        let zero = k.splat_byte(0);
        let over = k.sub_bytes(low, k.splat_byte(0x80));
        let is_nan = k.if_bytes_above(magnitude, k.splat_byte(0x7E), over, zero);
        let nan = k.or_bytes(k.and_bytes(high, k.splat_byte(regs.nan_sign)), nan);
        let signed = k.or_bytes(k.and_bytes(high, k.splat_byte(0x80)), codes);
        to.put(k, 0, k.if_bytes_above(is_nan, zero, nan, signed));
    }
}

#[inline(always)]
pub(super) fn encode_f32<K: Simd>(k: K, plan: &EncodePlan, scale: f32, from: &[f32], to: &mut [u8]) {
    let regs = EncodeRegs::new(k, plan, scale, false);
    match (plan.encoder.rounding, plan.encoder.clip) {
        (Rounding::NearestEven, true) => map(k, &EncodeF32::<K, true, true>(regs), from, to),
        (Rounding::NearestEven, false) => map(k, &EncodeF32::<K, true, false>(regs), from, to),
        (Rounding::TowardZero, true) => map(k, &EncodeF32::<K, false, true>(regs), from, to),
        (Rounding::TowardZero, false) => map(k, &EncodeF32::<K, false, false>(regs), from, to),
    }
}

#[inline(always)]
pub(super) fn encode_bf16<K: Simd>(k: K, plan: &EncodePlan, scale: Option<f32>, from: &[u16], to: &mut [u8]) {
    let regs = EncodeRegs::new(k, plan, scale.unwrap_or(1.0), scale.is_some());
    match (plan.encoder.rounding, plan.encoder.clip, scale.is_some()) {
        (Rounding::NearestEven, true, true) => map(k, &EncodeBf16::<K, true, true, true>(regs), from, to),
        (Rounding::NearestEven, false, true) => map(k, &EncodeBf16::<K, true, false, true>(regs), from, to),
        (Rounding::TowardZero, true, true) => map(k, &EncodeBf16::<K, false, true, true>(regs), from, to),
        (Rounding::TowardZero, false, true) => map(k, &EncodeBf16::<K, false, false, true>(regs), from, to),
        (Rounding::NearestEven, true, false) => map(k, &EncodeBf16::<K, true, true, false>(regs), from, to),
        (Rounding::NearestEven, false, false) => map(k, &EncodeBf16::<K, true, false, false>(regs), from, to),
        (Rounding::TowardZero, true, false) => map(k, &EncodeBf16::<K, false, true, false>(regs), from, to),
        (Rounding::TowardZero, false, false) => map(k, &EncodeBf16::<K, false, false, false>(regs), from, to),
    }
}

struct RoundBf16;

impl<K: Simd> Map<K> for RoundBf16 {
    type In = f32;
    type Out = u16;
    #[inline(always)]
    fn group(&self, k: K, from: &[f32], to: &mut impl Sink<K>) {
        let mut lanes = k.load_f32(from);
        for v in &mut lanes {
            let magnitude = k.and(*v, k.splat(MAGNITUDE));
            *v = k.if_above(magnitude, k.splat(INF_BITS), k.splat(NAN_BITS), k.round_bf16(*v));
        }
        let [low, high] = k.pack_high_halves(lanes);
        to.put(k, 0, low);
        to.put(k, 1, high);
    }
}

#[inline(always)]
pub(super) fn round_bf16<K: Simd>(k: K, from: &[f32], to: &mut [u16]) {
    map(k, &RoundBf16, from, to);
}

/// A [`WordTable`] in registers.
struct Words<K: Simd> {
    low: K::Table,
    high: K::Table,
    nan_above: K::B,
    magnitude: K::B,
    sign: K::B,
}

impl<K: Simd> Words<K> {
    #[inline(always)]
    fn new(k: K, table: &WordTable) -> Self {
        Self {
            low: k.table(&table.low),
            high: k.table(&table.high),
            nan_above: k.splat_byte(table.nan_above),
            magnitude: k.splat_byte(0x7F),
            sign: k.splat_byte(0x80),
        }
    }

    #[inline(always)]
    fn get(&self, k: K, codes: &[u8]) -> [K::B; 2] {
        let codes = k.load(codes);
        let magnitude = k.and_bytes(codes, self.magnitude);
        let high = k.or_bytes(k.lookup(self.high, magnitude), k.and_bytes(codes, self.sign));
        // The word of every NaN is 0x7FFF: the table has its low byte, and the sign must not reach the high one.
        let high = k.if_bytes_above(magnitude, self.nan_above, self.magnitude, high);
        k.zip(k.lookup(self.low, magnitude), high)
    }
}

struct DequantBf16<K: Simd>(Words<K>);

impl<K: Simd> Map<K> for DequantBf16<K> {
    type In = u8;
    type Out = u16;
    #[inline(always)]
    fn group(&self, k: K, from: &[u8], to: &mut impl Sink<K>) {
        let [low, high] = self.0.get(k, from);
        to.put(k, 0, low);
        to.put(k, 1, high);
    }
}

#[inline(always)]
pub(super) fn dequant_bf16<K: Simd>(k: K, table: &WordTable, from: &[u8], to: &mut [u16]) {
    map(k, &DequantBf16(Words::new(k, table)), from, to);
}

struct DequantF32<K: Simd>(Words<K>, K::V);

impl<K: Simd> Map<K> for DequantF32<K> {
    type In = u8;
    type Out = f32;
    #[inline(always)]
    fn group(&self, k: K, from: &[u8], to: &mut impl Sink<K>) {
        let [low, high] = self.0.get(k, from);
        let ([a, b], [c, d]) = (k.widen_words(low), k.widen_words(high));
        for (register, v) in [a, b, c, d].into_iter().enumerate() {
            let magnitude = k.and(v, k.splat(MAGNITUDE));
            let value = k.if_above(magnitude, k.splat(INF_BITS), k.splat(NAN_BITS), k.mul(v, self.1));
            to.put(k, register, k.as_bytes(value));
        }
    }
}

#[inline(always)]
pub(super) fn dequant_f32<K: Simd>(k: K, table: &WordTable, scale: f32, from: &[u8], to: &mut [f32]) {
    map(k, &DequantF32(Words::new(k, table), k.splat(scale.to_bits())), from, to);
}

/// A [`Recode`] in registers, and how many codes had a class above each class.
struct Recoder<K: Simd> {
    codes: K::Table,
    classes: K::Table,
    magnitude: K::B,
    sign: K::B,
    above: [u64; CodeClass::COUNT],
}

impl<K: Simd> Recoder<K> {
    #[inline(always)]
    fn group(&mut self, k: K, codes: &mut [u8]) {
        let old = k.load(codes);
        let index = k.and_bytes(old, self.magnitude);
        k.store(codes, k.or_bytes(k.lookup(self.codes, index), k.and_bytes(old, self.sign)));
        let class = k.lookup(self.classes, index);
        for limit in 0..CodeClass::COUNT - 1 {
            self.above[limit] += u64::from(k.count_above(class, k.splat_byte(limit as u8)));
        }
    }
}

#[inline(always)]
pub(super) fn recode<K: Simd>(k: K, recode: &Recode, codes: &mut [u8]) -> [u64; CodeClass::COUNT] {
    let mut recoder = Recoder {
        codes: k.table(&recode.codes),
        classes: k.table(&recode.classes),
        magnitude: k.splat_byte(0x7F),
        sign: k.splat_byte(0x80),
        above: [0; CodeClass::COUNT],
    };
    let total = codes.len() as u64;
    let mut groups = codes.chunks_exact_mut(K::GROUP);
    for codes in &mut groups {
        recoder.group(k, codes);
    }
    // Padding with code 0 adds nothing: zero stays zero, exactly.
    let rest = groups.into_remainder();
    let mut padded = [0; STEP];
    padded[..rest.len()].copy_from_slice(rest);
    recoder.group(k, &mut padded[..K::GROUP]);
    rest.copy_from_slice(&padded[..rest.len()]);
    let above = recoder.above;
    let mut counts = [total - above[0], 0, 0, 0, 0];
    for class in 1..CodeClass::COUNT {
        counts[class] = above[class - 1] - above[class];
    }
    counts
}

#[inline(always)]
fn count<K: Simd>(k: K, magnitudes: K::B, found: &mut CodeScan) {
    found.above_gaudi2_max += u64::from(k.count_above(magnitudes, k.splat_byte(0x77)));
    found.nan += u64::from(k.count_above(magnitudes, k.splat_byte(0x7E)));
}

#[inline(always)]
pub(super) fn scan<K: Simd>(k: K, codes: &[u8]) -> CodeScan {
    let magnitude = k.splat_byte(0x7F);
    let mut found = CodeScan::default();
    let mut blocks = codes.chunks_exact(4 * K::GROUP);
    for block in &mut blocks {
        let mut groups = [magnitude; 4];
        for (i, group) in groups.iter_mut().enumerate() {
            *group = k.and_bytes(k.load(&block[i * K::GROUP..]), magnitude);
        }
        // Nearly every block holds nothing, which one comparison of the maxima shows.
        let [a, b, c, d] = groups;
        let max = k.max_bytes(k.max_bytes(a, b), k.max_bytes(c, d));
        if k.count_above(max, k.splat_byte(0x77)) > 0 {
            for group in groups {
                count(k, group, &mut found);
            }
        }
    }
    for rest in blocks.remainder().chunks(K::GROUP) {
        let mut padded = [0; STEP];
        padded[..rest.len()].copy_from_slice(rest);
        count(k, k.and_bytes(k.load(&padded), magnitude), &mut found);
    }
    found
}
