//! Processes of other systems, without groups or signals.

use std::process::{Child, Command};

pub(crate) fn prepare(_command: &mut Command) {}

pub(crate) fn kill(child: &mut Child) {
    // It may have ended.
    let _ = child.kill();
}
