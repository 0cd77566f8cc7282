//! Ctrl-C and other signals that end the program: the first stops it between two chunks, the second
//! at once. Either way the next run goes on.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set when the program should stop.
pub(crate) static STOP: AtomicBool = AtomicBool::new(false);

/// What a signal does.
fn end() {
    if STOP.swap(true, Ordering::SeqCst) {
        std::process::exit(i32::from(crate::INTERRUPTED));
    }
}

/// Installs the handlers.
#[cfg(unix)]
pub(crate) fn handle() -> anyhow::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let watch = move || signals.forever().for_each(|_| end());
    std::thread::Builder::new().name("signals".to_owned()).spawn(watch)?;
    Ok(())
}

/// Installs the handlers.
#[cfg(not(unix))]
pub(crate) fn handle() -> anyhow::Result<()> {
    Ok(ctrlc::set_handler(end)?)
}
