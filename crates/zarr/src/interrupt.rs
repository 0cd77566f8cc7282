//! Ctrl-C and other signals that end the program: the first stops it between two chunks, the second
//! at once. Either way the next run goes on.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Set when the program should stop.
pub(crate) static STOP: AtomicBool = AtomicBool::new(false);
/// The exit code of a shell for Ctrl-C: 128 and the number of the signal.
const CTRL_C: u8 = 130;
/// The exit code for the signal that came first.
static CODE: AtomicU8 = AtomicU8::new(CTRL_C);

/// The exit code of an interrupted program.
pub(crate) fn code() -> u8 {
    CODE.load(Ordering::SeqCst)
}

/// What a signal does, whose exit code this is.
fn end(code: u8) {
    if STOP.load(Ordering::SeqCst) {
        std::process::exit(i32::from(code));
    }
    CODE.store(code, Ordering::SeqCst);
    STOP.store(true, Ordering::SeqCst);
}

/// Installs the handlers.
#[cfg(unix)]
pub(crate) fn handle() -> anyhow::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let watch = move || signals.forever().for_each(|signal| end(128 + signal as u8));
    std::thread::Builder::new().name("signals".to_owned()).spawn(watch)?;
    Ok(())
}

/// Installs the handlers.
#[cfg(not(unix))]
pub(crate) fn handle() -> anyhow::Result<()> {
    Ok(ctrlc::set_handler(|| end(CTRL_C))?)
}
