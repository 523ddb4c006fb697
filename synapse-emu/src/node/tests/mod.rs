//! Tests of the nodes.
