//! Other programs of the project, which do what would make this one large: they have the same
//! command line, and take over with all arguments.

use anyhow::{Result, anyhow};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Another program.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// The command that installs it.
    pub(crate) install: &'static str,
}

impl Program {
    /// Runs it with these arguments, the first of which is our own name, and returns its exit code.
    /// On Unix a program that was found replaces this one and does not return. `needed` is the
    /// start of the error: what needs it.
    pub(crate) fn run(&self, needed: &str, arguments: &[OsString]) -> Result<u8> {
        let Program { name, install } = self;
        let program = self.find().ok_or_else(|| {
            anyhow!(
                "{needed} the program {name}, which is neither beside this one nor in PATH: \
                 install it with `{install}`"
            )
        })?;
        let mut command = Command::new(&program);
        command.args(arguments.iter().skip(1));
        let failed = |error| anyhow!("cannot run {}: {error}", program.display());
        #[cfg(unix)]
        return Err(failed(std::os::unix::process::CommandExt::exec(&mut command)));
        #[cfg(not(unix))]
        {
            let code = command.status().map_err(failed)?.code();
            Ok(code.and_then(|code| code.try_into().ok()).unwrap_or(crate::FAILED))
        }
    }

    /// Beside this program, or in `PATH`.
    fn find(&self) -> Option<PathBuf> {
        let name = format!("{}{}", self.name, std::env::consts::EXE_SUFFIX);
        let own = std::env::current_exe().ok();
        let beside = own.as_deref().and_then(Path::parent).map(Path::to_owned);
        let path = std::env::var_os("PATH").unwrap_or_default();
        // An empty entry would mean the current directory.
        let listed = std::env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty());
        let folders = beside.into_iter().chain(listed);
        folders.map(|folder| folder.join(&name)).find(|path| path.is_file())
    }
}
