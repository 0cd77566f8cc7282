//! Processes of Unix: a group for each, and signals as they are by default.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

/// Signals that request termination, or that a limit of the shell raises.
const SIGNALS: [libc::c_int; 6] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGXFSZ, libc::SIGBUS];

/// Puts the process into a group of its own, with the default handlers: a signal that is ignored
/// stays ignored in every process that is started, and a shell cannot change that.
pub(crate) fn prepare(command: &mut Command) {
    command.process_group(0);
    let handlers = || {
        for signal in SIGNALS {
            // SAFETY: both are numbers of the system; no code of ours is installed.
            if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec it calls only `signal`, which is safe there, and allocates
    // nothing: an error of the system holds a number.
    unsafe { command.pre_exec(handlers) };
}

/// Kills the group of a child whose end has not been noticed yet.
pub(crate) fn kill(child: &mut Child) {
    let Ok(group) = libc::pid_t::try_from(child.id()) else { return };
    // SAFETY: `kill` has no preconditions. The number is that of the group that `prepare` made, and
    // no other has it until the child is waited for.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}
