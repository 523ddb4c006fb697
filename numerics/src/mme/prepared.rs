//! Operands that are prepared once for a product.

use super::decode::{Decoder, decoders};
use super::error::MmeError;
use super::matrix::{Matrix, Right};
use super::packed_a::PackedA;
use super::rules::Rules;
use super::source::{Rows, Source};
use super::sum::Sum;
use crate::generation::Generation;

/// What is prepared once for a product.
pub(super) struct Prepared<'a> {
    pub(super) sum: Sum,
    /// Rows and columns of the destination.
    pub(super) shape: [usize; 2],
    pub(super) a: PackedA,
    pub(super) b: Source<'a>,
}

impl<'a> Prepared<'a> {
    /// The state before any product.
    pub(super) fn empty() -> Self {
        let [_, decoder] = decoders(Rules::Gaudi3, None);
        Self {
            sum: Sum::Float,
            shape: [0; 2],
            a: PackedA::default(),
            b: Source { rows: Rows::default(), by_column: false, depth: 0, decoder },
        }
    }

    /// The state before any product, in the memory of this one.
    pub(super) fn emptied(self) -> Prepared<'static> {
        let Self { sum, shape, a, b } = self;
        Prepared { sum, shape, a, b: Source { rows: b.rows.emptied(), ..b } }
    }

    /// Bytes of the packed operand.
    pub(super) fn bytes(&self) -> usize {
        self.a.bytes()
    }

    /// Takes the operands of a product, in place of those it has.
    pub(super) fn set(
        &mut self,
        generation: Generation,
        a: &Matrix<'a>,
        b: &Right<'a>,
        exact: bool,
    ) -> Result<(), MmeError> {
        let first = b.blocks().first().map_or(a.format(), Matrix::format);
        let rules = if exact { Rules::of(generation, a.format(), first)? } else { Rules::Gaudi3 };
        let [decoder_a, decoder_b] = decoders(rules, a.format().zip(first));
        self.sum = if exact {
            Sum::Exact { rules, checked: !Decoder::products_are_normal(&decoder_a, &decoder_b) }
        } else {
            Sum::Float
        };
        self.shape = [a.rows(), b.shape()?.1];
        self.a.set(rules, &decoder_a, a);
        self.b.rows.set(b.blocks());
        (self.b.by_column, self.b.depth) = (matches!(b, Right::NByK(_)), a.cols());
        self.b.decoder = decoder_b;
        Ok(())
    }
}
