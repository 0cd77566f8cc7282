//! The bodies of the fuzz targets for Zarr stores and HDF5 files.
//!
//! A body panics if it finds a bug, and returns otherwise: an error that the library returns is not a
//! bug, unless it has several lines. `fuzz/any.rs` runs the bodies under libFuzzer, and `tests/replay.rs`
//! on every file in `fuzz/seeds/zarr` and `fuzz/seeds/hdf5`.

use retrograde_fuzz_bodies::{self as bodies, checked};
use retrograde_zarr::store::Local;
use retrograde_zarr::{Axes, Conversion, Job, Settings, Target, list_hdf5};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The targets, whose names are those of their folders of seeds.
pub const TARGETS: [bodies::Target; 2] = [
    bodies::Target { name: "zarr", body: zarr, base: MEMORY as usize, factor: 0 },
    bodies::Target { name: "hdf5", body: hdf5, base: MEMORY as usize, factor: 0 },
];

/// Ends the metadata of a store; what follows is the content of its chunks.
const END: u8 = 0xff;
/// The memory that the library may use: 24 MiB that it reserves for itself, and chunks.
const MEMORY: u64 = 32 << 20;
/// The most chunks that are looked at.
const CHUNKS: u64 = 16;

/// A store: its metadata, a byte 0xff, and the bytes of each of its chunks.
fn zarr(data: &[u8]) {
    let end = data.iter().position(|&byte| byte == END).unwrap_or(data.len());
    let (metadata, chunk) = (&data[..end], data.get(end + 1..).unwrap_or_default());
    let folder = tempfile::tempdir().expect("cannot create a temporary folder");
    let input = folder.path().join("in.zarr");
    let version = if contains(metadata, b"zarr_format\": 2") { ".zarray" } else { "zarr.json" };
    write(&input.join(version), metadata);
    let store = Local::new(&input);
    bounded(|settings| {
        let Some(job) = checked(Job::new(&store, &Axes::All.into())) else { return };
        for (array, _) in job.arrays() {
            // The first chunk, by the usual encodings of keys.
            let zeros = vec!["0"; array.grid.rank()];
            let (folders, dots) = (zeros.join("/"), zeros.join("."));
            match &zeros[..] {
                [] => ["c", "0"].iter().for_each(|key| write(&input.join(key), chunk)),
                _ => [format!("c/{folders}"), format!("c.{dots}"), folders, dots]
                    .iter()
                    .for_each(|key| write(&input.join(key), chunk)),
            }
        }
        checked(job.write(&Target::from(folder.path().join("out.zarr")), settings));
        let Some(job) = checked(Conversion::of_zarr(&store, &Axes::All.into())) else { return };
        if job.bytes() <= MEMORY {
            checked(job.write(&Target::from(folder.path().join("out.npy")), settings));
        }
    });
}

/// An HDF5 file: its first datasets, and all of them at once.
fn hdf5(data: &[u8]) {
    let folder = tempfile::tempdir().expect("cannot create a temporary folder");
    let input = folder.path().join("in.h5");
    write(&input, data);
    bounded(|settings| {
        for (number, line) in
            checked(list_hdf5(&input)).unwrap_or_default().iter().enumerate().take(3)
        {
            let name = line.split(": ").next().unwrap_or_default();
            let job = checked(Conversion::of_hdf5(&input, name, &Axes::All.into()));
            let Some(job) = job.filter(|job| job.bytes() <= MEMORY) else { continue };
            let output = folder.path().join(format!("{number}.npy"));
            checked(job.write(&Target::from(&output), settings));
        }
        let whole = checked(Conversion::of_hdf5(&input, "", &Axes::All.into()));
        if let Some(whole) = whole.filter(|whole| whole.bytes() <= MEMORY) {
            checked(whole.write(&Target::from(&folder.path().join("all.zarr")), settings));
        }
    });
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|part| part == text)
}

fn write(path: &Path, content: &[u8]) {
    let folder = path.parent().expect("a path of a file");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, content))
        .expect("cannot write a file");
}

/// Runs a body with settings that stop it after some chunks.
fn bounded(body: impl FnOnce(&Settings<'_>)) {
    let (stop, seen) = (AtomicBool::new(false), AtomicU64::new(0));
    let progress = |_, _| {
        if seen.fetch_add(1, Ordering::Relaxed) >= CHUNKS {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let (memory, progress) = (MEMORY, &progress);
    let usual = Settings::default();
    body(&Settings { memory, force: true, sync: false, stop: &stop, progress, ..usual });
}
