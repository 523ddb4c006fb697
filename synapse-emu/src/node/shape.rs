//! Walking through tensors of different shapes together.

/// Elements from one index of each dimension to the next, in a dense tensor.
pub(super) fn dense_strides(sizes: &[usize]) -> Vec<usize> {
    sizes
        .iter()
        .scan(1, |next: &mut usize, size| {
            let stride = *next;
            *next = next.saturating_mul(*size);
            Some(stride)
        })
        .collect()
}

/// The number of elements before, in and after one dimension.
pub(super) fn around(sizes: &[usize], axis: usize) -> [usize; 3] {
    let product = |sizes: &[usize]| sizes.iter().product();
    [product(&sizes[..axis]), sizes[axis], product(&sizes[axis + 1..])]
}

/// The sizes of what two tensors make where sizes of 1, given or left out at the end, are repeated.
pub(super) fn broadcast_sizes(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    (0..a.len().max(b.len()))
        .map(|dim| {
            let (a, b) = (a.get(dim).copied().unwrap_or(1), b.get(dim).copied().unwrap_or(1));
            (a == b || a == 1 || b == 1).then_some(if a == 1 { b } else { a })
        })
        .collect()
}

/// A dense tensor walked through in order, together with `N` others.
#[derive(Debug)]
pub(super) struct Walk<const N: usize> {
    sizes: Vec<usize>,
    /// For each dimension, the elements to the next index in each of the others.
    strides: Vec<[usize; N]>,
    first: [usize; N],
}

/// Consecutive elements of the tensor that is walked through, and where the others are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<const N: usize> {
    /// The first element's number.
    pub(super) at: usize,
    pub(super) len: usize,
    /// The number of the first element of each other tensor.
    pub(super) first: [usize; N],
    /// The distance to the next.
    pub(super) step: [usize; N],
}

impl<const N: usize> Walk<N> {
    /// Others that are smaller where they repeat: sizes of 1, given or left out at the end. `None` if one is neither 1
    /// nor the size it should have.
    pub(super) fn broadcast(sizes: &[usize], others: [&[usize]; N]) -> Option<Self> {
        let mut strides = vec![[0; N]; sizes.len()];
        for (number, other) in others.into_iter().enumerate() {
            if other.len() > sizes.len() {
                return None;
            }
            for (dim, stride) in dense_strides(other).into_iter().enumerate() {
                if other[dim] == sizes[dim] {
                    strides[dim][number] = stride;
                } else if other[dim] != 1 {
                    return None;
                }
            }
        }
        Some(Self::strided(sizes, strides, [0; N]))
    }

    /// Others with any strides, from any first elements.
    pub(super) fn strided(sizes: &[usize], strides: Vec<[usize; N]>, first: [usize; N]) -> Self {
        let mut walk = Self { sizes: Vec::new(), strides: Vec::new(), first };
        for (size, stride) in sizes.iter().copied().zip(strides) {
            if size == 1 {
                continue;
            }
            // A dimension that continues the one before in every tensor becomes part of it.
            if let (Some(last), Some(before)) = (walk.sizes.last_mut(), walk.strides.last())
                && (0..N).all(|number| before[number].checked_mul(*last) == Some(stride[number]))
            {
                *last *= size;
                continue;
            }
            walk.sizes.push(size);
            walk.strides.push(stride);
        }
        walk
    }

    /// Calls `visit` for each run, in order.
    pub(super) fn for_each(&self, mut visit: impl FnMut(Run<N>)) {
        let len = self.sizes.first().copied().unwrap_or(1);
        let step = self.strides.first().copied().unwrap_or([0; N]);
        let mut run = Run { at: 0, len, first: self.first, step };
        let mut index = vec![0; self.sizes.len()];
        loop {
            visit(run);
            run.at += len;
            let mut dim = 1;
            loop {
                let Some(size) = self.sizes.get(dim) else { return };
                index[dim] += 1;
                for (first, stride) in run.first.iter_mut().zip(&self.strides[dim]) {
                    *first += stride;
                }
                if index[dim] < *size {
                    break;
                }
                for (first, stride) in run.first.iter_mut().zip(&self.strides[dim]) {
                    *first -= stride * size;
                }
                index[dim] = 0;
                dim += 1;
            }
        }
    }
}

impl Walk<1> {
    /// Copies each run's elements of the other tensor.
    pub(super) fn copy<T: Copy>(&self, from: &[T], to: &mut [T]) {
        self.for_each(|run| {
            let to = &mut to[run.at..run.at + run.len];
            match run.step {
                [1] => to.copy_from_slice(&from[run.first[0]..run.first[0] + run.len]),
                [0] => to.fill(from[run.first[0]]),
                [step] => {
                    let from = from[run.first[0]..].iter().step_by(step);
                    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
                }
            }
        });
    }

    /// [`copy`](Self::copy) of elements of `size` bytes.
    pub(super) fn copy_bytes(&self, size: usize, from: &[u8], to: &mut [u8]) {
        match size {
            1 => self.copy(from, to),
            2 => self.copy(from.as_chunks::<2>().0, to.as_chunks_mut::<2>().0),
            4 => self.copy(from.as_chunks::<4>().0, to.as_chunks_mut::<4>().0),
            _ => self.copy(from.as_chunks::<8>().0, to.as_chunks_mut::<8>().0),
        }
    }
}

impl Walk<2> {
    /// `out = f(a, b)` for each element.
    pub(super) fn zip<A: Copy, B: Copy, R>(&self, a: &[A], b: &[B], out: &mut [R], f: impl Fn(A, B) -> R) {
        self.for_each(|run| {
            let out = &mut out[run.at..run.at + run.len];
            let (a, b) = (&a[run.first[0]..], &b[run.first[1]..]);
            match run.step {
                [1, 1] => {
                    let pairs = a[..run.len].iter().zip(&b[..run.len]);
                    out.iter_mut().zip(pairs).for_each(|(out, (a, b))| *out = f(*a, *b));
                }
                [1, 0] => {
                    let b = b[0];
                    out.iter_mut().zip(a).for_each(|(out, a)| *out = f(*a, b));
                }
                [0, 1] => {
                    let a = a[0];
                    out.iter_mut().zip(b).for_each(|(out, b)| *out = f(a, *b));
                }
                [step_a, step_b] => {
                    for (i, out) in out.iter_mut().enumerate() {
                        *out = f(a[i * step_a], b[i * step_b]);
                    }
                }
            }
        });
    }
}
