//! Signals of Unix. Those that were ignored when the command started stay ignored (`nohup`).

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::ptr;
use std::sync::OnceLock;
use std::thread;

/// Signals that ask for the end.
const ENDING: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// What to do about a mapped file that is lost.
static LOST: OnceLock<fn(PathBuf) -> !> = OnceLock::new();

/// Has `end` called, on a thread of its own, when a signal asks for the end; and `lost` when a
/// mapped file has become shorter or its disk has failed, on the thread that reads it.
pub(crate) fn watch(end: fn(), lost: fn(PathBuf) -> !) -> Result<()> {
    // A limit on the size of files is then an error of the call that goes beyond it.
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
    let watch = move || signals.forever().for_each(|_| end());
    thread::Builder::new().name("signals".to_owned()).spawn(watch)?;
    Ok(())
}

/// What happens on a signal now.
fn handler(signal: i32) -> Result<libc::sighandler_t> {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: a null pointer asks for the action without a change, and the other one points to
    // room for it.
    let failed = unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) } != 0;
    if failed {
        return Err(io::Error::last_os_error()).context("cannot handle signals");
    }
    // SAFETY: the call has not failed, so it has filled the action.
    Ok(unsafe { action.assume_init() }.sa_sigaction)
}

/// Says what happens on a signal from now on.
fn set(signal: i32, handler: libc::sighandler_t) -> Result<()> {
    // SAFETY: all bytes zero is a valid action: the default handler, no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler;
    // On the stack that the runtime has for overflows; ignored for what is no handler.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the action is whole, and its handler is the default one, to ignore it, or
    // `on_bus_error`, which takes the three arguments that `SA_SIGINFO` promises.
    match unsafe { libc::sigaction(signal, &action, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()).context("cannot handle signals"),
    }
}

/// An access to a mapped file that is not there.
///
/// This is no handler that may come at any time: the signal is raised by the access itself, where
/// a kernel reads or writes elements. No lock is held there and no allocation is under way on
/// this thread, so that what is called here may do both.
extern "C" fn on_bus_error(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    // SAFETY: with `SA_SIGINFO` the system passes a valid pointer; the address means something
    // if the code says that the signal came from an access, which is looked at first.
    let address = unsafe {
        let raised = (*info).si_code > 0;
        raised.then(|| (*info).si_addr().addr())
    };
    let path = address.and_then(retrograde_io::mapped_at);
    if let (Some(path), Some(lost)) = (path, LOST.get()) {
        lost(path);
    }
    // Not ours. As if there were no handler: the access is tried again, or `kill` was it.
    let _ = set(signal, libc::SIG_DFL);
    if address.is_none() {
        // SAFETY: has no conditions; the default handler is in place.
        unsafe { libc::raise(signal) };
    }
}
