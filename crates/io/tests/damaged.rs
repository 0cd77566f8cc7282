//! Files that were truncated, extended or changed at any byte: an error or a tensor, never a panic.

use retrograde_io::npy::{self, NpyArray};
use retrograde_io::{Error, Format, Location, Opening, Output, Saving, list, open};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// One small array in every format, stored and deflated.
fn files(folder: &Path) -> Vec<PathBuf> {
    let plain = folder.join("plain.npy");
    let data = (0..24).map(|at| at * 5).collect();
    npy::write(&plain, &NpyArray::new("<u2", &[3, 4], false, data).unwrap()).unwrap();
    let tensor = open(&Location::file(&plain), &Opening::default()).unwrap();
    let mut files = vec![plain.clone()];
    for name in ["stored.npz", "one.safetensors", "one.pb"] {
        let path = folder.join(name);
        let mut output = Output::like(&tensor, Location::file(&path), &Saving::default()).unwrap();
        output.data_mut().copy_from_slice(tensor.data());
        output.finish().unwrap();
        files.push(path);
    }
    let deflated = folder.join("deflated.npz");
    let mut archive = ZipWriter::new(fs::File::create(&deflated).unwrap());
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for name in ["a.npy", "b.npy"] {
        archive.start_file(name, options).unwrap();
        archive.write_all(&fs::read(&plain).unwrap()).unwrap();
    }
    archive.finish().unwrap();
    files.push(deflated);
    files
}

/// Opens the file by its extension.
fn opened(path: &Path) -> Result<Vec<u8>, Error> {
    let name = (path.file_stem().unwrap() == "deflated").then(|| "b".to_owned());
    let location = Location { path: path.to_owned(), name };
    // Must not panic either; its result is the same.
    let _ = list(&location, &Opening::default());
    open(&location, &Opening::default()).map(|tensor| tensor.data().to_vec())
}

#[test]
fn files_that_end_anywhere_too_early_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    for path in files(folder.path()) {
        let whole = fs::read(&path).unwrap();
        assert_eq!(opened(&path).unwrap().len(), 24);
        for end in 0..whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            let error = opened(&path).expect_err(&format!("{} cut at {end}", path.display()));
            let text = error.to_string();
            assert!(text.contains(path.to_str().unwrap()) && !text.contains('\n'), "{text}");
        }
    }
}

#[test]
fn files_with_something_appended_are_errors_where_the_format_can_tell() {
    let folder = tempfile::tempdir().unwrap();
    for path in files(folder.path()) {
        let mut longer = fs::read(&path).unwrap();
        longer.push(0);
        fs::write(&path, longer).unwrap();
        // A zip archive is located from its end, and may be followed by a comment.
        let tells = Format::of(&path) != Some(Format::Npz);
        assert_eq!(opened(&path).is_err(), tells, "{}", path.display());
    }
}

#[test]
fn a_changed_byte_anywhere_is_an_error_or_another_tensor() {
    let folder = tempfile::tempdir().unwrap();
    for path in files(folder.path()) {
        let whole = fs::read(&path).unwrap();
        let data = opened(&path).unwrap();
        for at in 0..whole.len() {
            for change in [0x01, 0x80] {
                let mut changed = whole.clone();
                changed[at] ^= change;
                fs::write(&path, &changed).unwrap();
                // Archives have a checksum, so a change to their data is detected.
                if let Ok(bytes) = opened(&path)
                    && Format::of(&path) == Some(Format::Npz)
                    && bytes.len() == data.len()
                {
                    assert_eq!(bytes, data, "{} changed at {at}", path.display());
                }
            }
        }
    }
}
