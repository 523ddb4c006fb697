//! Whose memory a plane lies in.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Memory that somebody else owns and lends to a plane, such as a tensor of an engine.
///
/// Both methods give the same elements every time. No `unsafe` is needed for memory that Rust knows; who lends other
/// memory answers for it where the slices are made.
pub trait LentMemory<T>: fmt::Debug + Send + Sync {
    /// The elements.
    fn elements(&self) -> &[T];

    /// The elements to change.
    fn elements_mut(&mut self) -> &mut [T];
}

/// The elements of a plane: its own, or lent.
#[derive(Debug)]
pub enum PlaneMemory<T> {
    /// Freed with the plane.
    Owned(Vec<T>),
    /// Somebody else's.
    Lent(Box<dyn LentMemory<T>>),
}

impl<T> Deref for PlaneMemory<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Owned(elements) => elements,
            Self::Lent(memory) => memory.elements(),
        }
    }
}

impl<T> DerefMut for PlaneMemory<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::Owned(elements) => elements,
            Self::Lent(memory) => memory.elements_mut(),
        }
    }
}
