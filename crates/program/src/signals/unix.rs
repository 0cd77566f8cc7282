//! Unix signals. Those that were ignored when the command started stay ignored (`nohup`).

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::ptr;
use std::sync::OnceLock;
use std::thread;

/// Signals that request termination.
const ENDING: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// The callback for a mapped file that is lost.
static LOST: OnceLock<fn(PathBuf) -> !> = OnceLock::new();

/// Calls `end` with its number, on a separate thread, when a signal requests termination, and `lost`, on the thread
/// that accesses it, when a mapped file was truncated or its disk failed.
pub(crate) fn watch(end: fn(i32), lost: fn(PathBuf) -> !) -> Result<()> {
    // Exceeding the file size limit is then an error of the system call.
    set(libc::SIGXFSZ, libc::SIG_IGN)?;
    if LOST.set(lost).is_ok() {
        set(libc::SIGBUS, on_bus_error as extern "C" fn(_, _, _) as libc::sighandler_t)?;
    }
    let mut wanted = Vec::new();
    for signal in ENDING {
        if handler(signal)? != libc::SIG_IGN {
            wanted.push(signal);
        }
    }
    let mut signals = Signals::new(wanted).context("cannot handle signals")?;
    let watch = move || signals.forever().for_each(end);
    thread::Builder::new().name("signals".to_owned()).spawn(watch)?;
    Ok(())
}

/// The current handler of a signal.
fn handler(signal: i32) -> Result<libc::sighandler_t> {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: a null pointer queries the action without changing it, and the other pointer is valid
    // for writing one.
    let failed = unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) } != 0;
    if failed {
        return Err(io::Error::last_os_error()).context("cannot handle signals");
    }
    // SAFETY: the call has succeeded, so it has initialised the action.
    Ok(unsafe { action.assume_init() }.sa_sigaction)
}

/// Sets the handler of a signal.
fn set(signal: i32, handler: libc::sighandler_t) -> Result<()> {
    // SAFETY: all bytes zero is a valid action: the default handler, no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler;
    // Runs on the alternate stack that the runtime has for stack overflows; no effect without a
    // handler.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the action is fully initialised. Its handler is the default one, `SIG_IGN`, or
    // `on_bus_error`, which takes the three arguments that `SA_SIGINFO` passes.
    match unsafe { libc::sigaction(signal, &action, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()).context("cannot handle signals"),
    }
}

/// Handles an access to a mapped file that fails.
///
/// This signal is synchronous: it is raised by the access itself, in a kernel that reads or writes
/// elements. This thread holds no lock there and is not inside the allocator, so the code called
/// from here may lock and allocate.
extern "C" fn on_bus_error(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    // SAFETY: with `SA_SIGINFO` the system passes a valid pointer. The address is valid if the code
    // says that the signal was raised by an access, which is checked first.
    let address = unsafe {
        let raised = (*info).si_code > 0;
        raised.then(|| (*info).si_addr().addr())
    };
    let path = address.and_then(retrograde_io::mapped_at);
    if let (Some(path), Some(lost)) = (path, LOST.get()) {
        lost(path);
    }
    // Not one of our maps: restore the default action. The access is then repeated, which ends the
    // process; a signal sent by `kill` is raised again.
    let _ = set(signal, libc::SIG_DFL);
    if address.is_none() {
        // SAFETY: `raise` has no preconditions; the default handler is installed.
        unsafe { libc::raise(signal) };
    }
}
