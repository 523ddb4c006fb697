//! The matrix engine: exact dot products and matrix products, bit for bit, and the fast float path.
