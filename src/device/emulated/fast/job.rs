//! What is compiled for an instruction set: one of each kind of work.

use gaudi_numerics::simd::Work;

use super::lanes::{Lanes, Line};
use super::projection::Projection;
use super::softmax;
use super::task::Task;
use super::workspace::Workspace;

/// Work of a thread.
pub(super) enum Job<'w, 'k> {
    /// A task of attention.
    Attention(&'w Task<'k>, &'w mut Workspace),
    /// A task of a projection.
    Projection(&'w Projection<'k>, &'w mut Workspace),
    /// One operation on each number.
    Map(&'w mut [f32], Operation),
}

/// An operation of the softmax.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operation {
    /// `e^x` of numbers of at most 0.
    Exp,
    /// The rounding to e4m3, saturating at a maximum.
    #[cfg(test)]
    RoundE4m3(f32),
}

impl<L: Lanes> Work<L, ()> for Job<'_, '_> {
    #[inline(always)]
    fn run(self, l: L) {
        match self {
            Self::Attention(task, workspace) => task.run(l, workspace),
            Self::Projection(task, workspace) => task.run(l, workspace),
            Self::Map(numbers, operation) => {
                for numbers in numbers.chunks_mut(16) {
                    let mut line = Line::ZERO;
                    line.0.iter_mut().zip(&*numbers).for_each(|(to, x)| *to = x.to_bits());
                    let x = l.load(&line);
                    let y = match operation {
                        Operation::Exp => softmax::exp(l, x),
                        #[cfg(test)]
                        Operation::RoundE4m3(max) => softmax::round_e4m3(l, x, max),
                    };
                    l.store(y, &mut line);
                    numbers.iter_mut().zip(line.floats()).for_each(|(to, y)| *to = y);
                }
            }
        }
    }
}
