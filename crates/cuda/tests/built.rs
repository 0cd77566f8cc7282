//! The embedded kernels match what `scripts/build kernels` built from the current sources.

use lzma_rust2::XzReader;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels")
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The line of the stamp that starts with this word.
fn stamp(word: &str) -> String {
    let stamp = fs::read_to_string(kernels().join("built/stamp.txt")).unwrap();
    let line = stamp.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("stamp.txt has no line {word}")).to_owned()
}

#[test]
fn sources_are_those_that_were_compiled() {
    let mut sources: Vec<PathBuf> = fs::read_dir(kernels())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "cu" || ext == "cuh"))
        .collect();
    sources.sort();
    assert!(sources.len() > 5, "kernels are in {}", kernels().display());
    let mut hash = Sha256::new();
    for path in sources {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        hash.update(name.as_bytes());
        hash.update([0]);
        hash.update(fs::read(path).unwrap());
        hash.update([0]);
    }
    assert_eq!(hex(hash), stamp("sources"), "a kernel changed: run scripts/build kernels");
}

#[test]
fn embedded_files_are_what_the_compiler_gave() {
    for target in [
        "sm_75.cubin",
        "sm_80.cubin",
        "sm_90.cubin",
        "sm_100.cubin",
        "sm_120.cubin",
        "compute_75.ptx",
    ] {
        let packed = fs::read(kernels().join(format!("built/{target}.xz"))).unwrap();
        let mut image = Vec::new();
        XzReader::new(&packed[..], false).read_to_end(&mut image).unwrap();
        let mut hash = Sha256::new();
        hash.update(&image);
        assert_eq!(
            hex(hash),
            stamp(target),
            "{target} does not match the stamp: run scripts/build kernels"
        );
    }
}

#[test]
fn the_script_still_compiles_as_the_stamp_says() {
    let script =
        fs::read_to_string(kernels().join("../../../scripts/parts/build/kernels")).unwrap();
    assert!(script.contains(&format!("COMPILER = \"{}\"", stamp("compiler"))));
    let flags: Vec<String> = stamp("flags").split(' ').map(|flag| format!("\"{flag}\"")).collect();
    assert!(script.contains(&format!("FLAGS = [{}]", flags.join(", "))));
}
