//! Compilers of C and C++ for the tests. Without one, a test says that it was skipped.
#![allow(dead_code, reason = "each test uses a part of it")]

use retrograde_deadline::output;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a program is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// C.
    C,
    /// C++.
    Cpp,
}

/// How a program is linked with the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linkage {
    /// With `libretrograde_c.a`.
    Static,
    /// With `libretrograde_c.so`.
    Shared,
}

/// A call of a compiler.
pub(crate) struct Compiler {
    program: String,
    language: Language,
    flags: Vec<String>,
}

/// The folder of this crate.
pub(crate) fn crate_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The folder in which cargo put the library: the one of this test.
pub(crate) fn library_folder() -> PathBuf {
    let test = std::env::current_exe().expect("the path of the test");
    test.parent().expect("its folder").to_path_buf()
}

impl Compiler {
    /// `CC` or `CXX`, or else `cc` or `c++`.
    pub(crate) fn new(language: Language) -> Self {
        let (variable, usual) = match language {
            Language::C => ("CC", "cc"),
            Language::Cpp => ("CXX", "c++"),
        };
        let program = std::env::var(variable).unwrap_or_else(|_| usual.to_owned());
        let include = crate_folder().join("include");
        let flags = vec![format!("-I{}", include.display())];
        Compiler { program, language, flags }
    }

    /// Every warning is an error.
    #[must_use]
    pub(crate) fn strict(self) -> Self {
        ["-Wall", "-Wextra", "-Wpedantic", "-Werror"].into_iter().fold(self, Self::flag)
    }

    /// Adds a flag.
    #[must_use]
    pub(crate) fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self
    }

    /// Whether there is such a compiler. If not, says so.
    pub(crate) fn exists(&self) -> bool {
        let found = output(Command::new(&self.program).arg("--version")).is_ok();
        if !found {
            println!("SKIPPED: there is no compiler {}", self.program);
        }
        found
    }

    /// Compiles a text, and fails if the compiler does.
    pub(crate) fn check(&self, text: &str) {
        if !self.exists() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let source = folder.path().join(match self.language {
            Language::C => "text.c",
            Language::Cpp => "text.cpp",
        });
        std::fs::write(&source, text).expect("a file");
        let mut compile = Command::new(&self.program);
        compile.args(&self.flags).args(["-fsyntax-only".as_ref(), source.as_os_str()]);
        let output = output(&mut compile).expect("the compiler starts");
        succeeded(&format!("{} {:?}", self.program, self.flags), &output);
    }

    /// Compiles a program, links it with the library and runs it; its output. `None` without a
    /// compiler.
    pub(crate) fn run(&self, source: &Path, linkage: Linkage) -> Option<String> {
        if !self.exists() {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("program");
        let libraries = library_folder();
        let mut compile = Command::new(&self.program);
        compile.args(&self.flags).arg(source).arg("-o").arg(&program);
        match linkage {
            Linkage::Static => {
                compile.arg(libraries.join("libretrograde_c.a"));
                compile.args(["-lpthread", "-ldl", "-lm"]);
            }
            Linkage::Shared => {
                // Programs look for it by the name that installed libraries have.
                let library = libraries.join("libretrograde_c.so");
                let named = concat!("libretrograde.so.", env!("CARGO_PKG_VERSION_MAJOR"));
                for name in ["libretrograde.so", named] {
                    std::fs::copy(&library, folder.path().join(name)).expect("the library");
                }
                compile.arg("-L").arg(folder.path()).arg("-lretrograde");
            }
        }
        succeeded("the compiler", &output(&mut compile).expect("the compiler starts"));
        let mut compiled = Command::new(&program);
        compiled.env("LD_LIBRARY_PATH", folder.path());
        let output = output(&mut compiled).expect("the program starts");
        succeeded(&source.display().to_string(), &output);
        Some(String::from_utf8(output.stdout).expect("text"))
    }
}

fn succeeded(what: &str, output: &Output) {
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{what}: {}\n{out}{err}", output.status);
}
