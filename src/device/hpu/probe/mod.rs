//! What only a device can tell, asked of one.
//!
//! Each question is a graph or two, with operands that give other bytes for each answer that is thought possible. An
//! answer names the one that fits, and is compared with what the emulation computes. Recipes are compiled anew each time:
//! whether the compiler takes a graph is part of the answer. `docs/on-device.md` lists the questions.

mod answers;
mod broadcast;
mod completion;
mod convert_pairs;
mod dynamic;
mod functions;
mod mixed_product;
mod movers;
mod nan;
mod operand_range;
mod overflow;
mod product_rounding;
mod products;
mod question;
mod scale_shapes;
mod session;

pub use answers::ProbeAnswer;
pub(super) use answers::ask_all;
pub(super) use session::ProbeSession;
