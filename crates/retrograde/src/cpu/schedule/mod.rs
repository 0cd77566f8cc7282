//! How a call is shared among threads: from which size on, in which parts, and from which size
//! on stores bypass the caches. Knows plans, but no kernels.

mod caches;
mod hint;
mod parts;
pub(super) mod pool;
pub(super) mod shares;
pub(super) mod threads;
pub(super) mod tuning;
pub(super) mod workers;

pub use hint::Hint;
pub(in crate::cpu) use parts::{Cut, Window};
pub(in crate::cpu) use threads::Team;
