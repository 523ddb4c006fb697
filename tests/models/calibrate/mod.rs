//! `gaudi-kv calibrate`: values against an independent computation and against `check`, what is written and what is
//! refused.

mod as_good;
mod inc;
mod ranges;
mod refusals;
mod replacing;
mod support;
mod values;
mod writing;
