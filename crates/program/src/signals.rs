//! Signals that end the command.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use other::watch;
#[cfg(unix)]
pub(crate) use unix::watch;
