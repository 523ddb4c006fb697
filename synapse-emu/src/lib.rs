//! A drop-in `libSynapse.so` that computes on the CPU what a Gaudi computes.

#![allow(non_snake_case, reason = "the library is called libSynapse.so")]

mod node;
