//! Loops over slices: a group of elements at a time, into registers that are stored or streamed.

use crate::fp8::lines::{Line, Plain, bytes_mut, lines_mut};
use crate::fp8::ops::ConvertOps;

/// The bits of a float32 without the sign.
pub(in crate::fp8) const MAGNITUDE: u32 = 0x7FFF_FFFF;

/// Outputs of this many bytes no longer fit the caches usefully and are written around them.
const STREAM_MIN: usize = 8 << 20;
/// Elements of one step of a streaming loop: whole cache lines, whatever the types.
pub(in crate::fp8) const STEP: usize = 64;

/// Where the registers of one group go.
pub(in crate::fp8) trait Sink<K: ConvertOps> {
    fn put(&mut self, k: K, register: usize, bytes: K::B);
}

struct Store<'a>(&'a mut [u8]);

impl<K: ConvertOps> Sink<K> for Store<'_> {
    #[inline(always)]
    fn put(&mut self, k: K, register: usize, bytes: K::B) {
        k.store(&mut self.0[register * K::GROUP..], bytes);
    }
}

struct Stream<'a> {
    lines: &'a mut [Line],
    from: usize,
}

impl<K: ConvertOps> Sink<K> for Stream<'_> {
    #[inline(always)]
    fn put(&mut self, k: K, register: usize, bytes: K::B) {
        let at = self.from + register * K::GROUP;
        k.stream(&mut self.lines[at / 64], at % 64, bytes);
    }
}

/// A conversion of one group, element by element.
pub(in crate::fp8) trait Map<K: ConvertOps> {
    type In: Plain;
    type Out: Plain;
    fn group(&self, k: K, from: &[Self::In], to: &mut impl Sink<K>);
}

/// Converts whole slices of equal length.
#[inline(always)]
pub(in crate::fp8) fn map<K: ConvertOps, M: Map<K>>(k: K, m: &M, from: &[M::In], to: &mut [M::Out]) {
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
fn plain<K: ConvertOps, M: Map<K>>(k: K, m: &M, from: &[M::In], to: &mut [M::Out]) {
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
