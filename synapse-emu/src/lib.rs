#![doc = include_str!("../README.md")]
#![allow(non_snake_case, reason = "the library is called libSynapse.so, and its functions as in C")]

mod abi;
mod card;
mod config;
mod fault;
mod generation;
mod graph;
mod lock;
mod log;
mod memory;
mod node;
mod outcome;
mod random;
mod recipe;
mod recording;
mod schedule;
mod sizes;
mod state;
mod variable;
