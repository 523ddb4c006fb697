#![doc = include_str!("../README.md")]
#![allow(non_snake_case, reason = "the library is called libSynapse.so, and its functions as in C")]

mod abi;
mod card;
mod config;
mod fault;
mod graph;
mod log;
mod node;
mod recipe;
mod state;

/// What a call comes to: a status other than success is its error.
type Outcome<T = ()> = Result<T, habana_sys::synStatus>;
