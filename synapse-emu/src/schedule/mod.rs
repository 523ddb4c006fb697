//! Work of streams on a virtual clock: a simulation of discrete events.
//!
//! Submitted work waits in its stream's queue, with a duration that the seed draws. Nothing is done until the host calls:
//! a call that waits goes from event to event, in the order of their times, until what it waits for has happened; a
//! call that asks goes some events further; one that submits does what is due by then. So the order in which streams
//! get on follows from the seed and the calls alone. A host that makes no call for a while is taken over by
//! [`watch`].

pub(crate) mod event;
mod queue;
pub(crate) mod scheduler;
pub(crate) mod stream;
mod timing;
pub(crate) mod watch;
pub(crate) mod work;
