//! The system's signals: which of them end the command.

#[cfg(not(unix))]
#[path = "signals/other.rs"]
mod system;
#[cfg(unix)]
#[path = "signals/unix.rs"]
mod system;

pub(crate) use system::watch;
