//! Reverses stores that are written and read here by hand, against a naive oracle: every shape,
//! chunk and mask of a table and many random ones, plain and with codecs, with missing chunks.

mod naive;

use naive::{Kind, Naive, Random};
use retrograde_zarr::store::Local;
use retrograde_zarr::{Axes, Axis, Counts, Error, Job, Settings, Summary};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Folders for an input and an output.
struct Folders {
    all: tempfile::TempDir,
    input: PathBuf,
    output: PathBuf,
}

impl Folders {
    /// With an array in the input.
    fn with(array: &Naive) -> Folders {
        let all = tempfile::tempdir().unwrap();
        let (input, output) = (all.path().join("in.zarr"), all.path().join("out.zarr"));
        array.write(&input);
        Folders { all, input, output }
    }

    fn run(&self, axes: &Axes, settings: &Settings<'_>) -> Result<Summary, Error> {
        reverse(&self.input, &self.output, axes, settings)
    }
}

/// Reverses a store with these axes.
fn reverse(
    input: &Path,
    output: &Path,
    axes: &Axes,
    settings: &Settings<'_>,
) -> Result<Summary, Error> {
    Job::new(&Local::new(input), &axes.clone().into())?.write(&output.into(), settings)
}

/// On one thread, without waiting for the disk.
fn quick() -> Settings<'static> {
    Settings { sync: false, ..Settings::default() }
}

/// Interrupts a job when this many chunks are complete.
fn interrupted(
    folders: &Folders,
    axes: &Axes,
    chunks: u64,
    verify: bool,
) -> Result<Summary, Error> {
    let (stop, seen) = (AtomicBool::new(false), AtomicU64::new(0));
    let progress = |_, _| {
        if seen.fetch_add(1, Ordering::Relaxed) + 1 == chunks {
            stop.store(true, Ordering::Relaxed);
        }
    };
    folders.run(axes, &Settings { verify, stop: &stop, progress: &progress, ..quick() })
}

/// Goes on with a job.
fn resumed(folders: &Folders, verify: bool) -> Counts {
    folders.run(&Axes::All, &Settings { verify, ..quick() }).unwrap().counts
}

fn list(axes: &[i64]) -> Axes {
    Axes::List { axes: axes.iter().map(|&axis| Axis::Number(axis)).collect(), distinct: false }
}

/// Writes an array, reverses it, and compares every chunk file with the oracle.
fn agrees(array: &Naive, mask: &[bool]) -> Counts {
    let folders = Folders::with(array);
    let Folders { all, input, output } = &folders;
    let settings = Settings { threads: 2, ..quick() };
    let summary = folders.run(&Axes::Mask(mask.to_vec()), &settings).unwrap();
    let expected = array.reversed(mask);
    assert_eq!(expected, Naive::read(output, array), "{array:?} {mask:?}");
    let name = array.kind.metadata_name();
    assert_eq!(fs::read(input.join(name)).unwrap(), fs::read(output.join(name)).unwrap());
    // Nothing but the output is left.
    assert_eq!(fs::read_dir(all.path()).unwrap().count(), 2);
    summary.counts
}

#[test]
fn stores_agree_with_the_oracle() {
    let mut random = Random(7);
    for kind in Kind::ALL {
        for round in 0..120 {
            let rank = 1 + random.below(3);
            let shape: Vec<u64> = (0..rank).map(|_| 1 + random.below(9) as u64).collect();
            let chunk: Vec<u64> = (0..rank).map(|_| 1 + random.below(5) as u64).collect();
            let width = [1, 2, 4, 8][random.below(4)];
            let mask: Vec<bool> = (0..rank).map(|_| random.below(2) == 1).collect();
            let missing = if round % 3 == 0 { 30 } else { 0 };
            let array = Naive::random(kind, &shape, &chunk, width, missing, &mut random);
            agrees(&array, &mask);
        }
    }
}

#[test]
fn ragged_chunks_read_two_and_no_more() {
    let mut random = Random(1);
    let ragged = Naive::random(Kind::Plain3, &[10, 4], &[4, 4], 4, 0, &mut random);
    // Three output chunks: 2 + 2 + 1 inputs.
    assert_eq!(agrees(&ragged, &[true, false]).reads, 5);
    let even = Naive::random(Kind::Plain3, &[12, 4], &[4, 4], 4, 0, &mut random);
    assert_eq!(agrees(&even, &[true, true]).reads, 3);
}

#[test]
fn chunks_that_only_move_are_not_decoded() {
    let mut random = Random(2);
    for kind in Kind::ALL {
        let array = Naive::random(kind, &[5, 6], &[1, 4], 2, 0, &mut random);
        let counts = agrees(&array, &[true, false]);
        assert_eq!((counts.copied, counts.reads), (10, 10));
        let counts = agrees(&array, &[false, false]);
        assert_eq!(counts.copied, 10);
        assert_eq!(agrees(&array, &[true, true]).copied, 0);
    }
}

#[test]
fn missing_chunks_stay_missing() {
    let mut random = Random(3);
    let array = Naive::random(Kind::Plain2, &[8, 8], &[4, 4], 4, 100, &mut random);
    let counts = agrees(&array, &[true, true]);
    assert_eq!((counts.missing, counts.chunks), (4, 4));
}

#[test]
fn bad_stores_are_errors_that_say_where() {
    let mut random = Random(4);
    let array = Naive::random(Kind::Plain3, &[8, 8], &[4, 4], 4, 0, &mut random);
    let folders = Folders::with(&array);
    let Folders { all, input, output } = &folders;
    let fails = |axes: &Axes| {
        let error = folders.run(axes, &quick()).unwrap_err();
        assert!(!output.exists());
        assert!(!all.path().join(".out.zarr.retrograde").exists(), "{error}");
        error.to_string()
    };
    let chunk = input.join("c/1/0");
    fs::write(&chunk, [0; 63]).unwrap();
    let error = fails(&list(&[0]));
    assert!(error.ends_with("c/1/0: chunk [1, 0]: has 63 bytes, expected 64"), "{error}");

    let error = fails(&list(&[0, 2]));
    assert!(error.contains("axes[1] is 2") && error.contains("[-2, 1]"), "{error}");
    let error = fails(&Axes::Mask(vec![true]));
    assert!(error.contains("the mask has 1 entries, expected 2"), "{error}");
    let named = Axes::List { axes: vec![Axis::Name("lat".to_owned())], distinct: false };
    let error = fails(&named);
    assert!(error.contains("axes[0] is \"lat\""), "{error}");

    let metadata = input.join("zarr.json");
    let good = fs::read_to_string(&metadata).unwrap();
    for (from, to, expected) in [
        ("\"regular\"", "\"spiral\"", "the chunk grid is \"spiral\""),
        ("[4,4]", "[4,0]", ""),
        ("[4,4]", "[4]", ""),
        ("[8,8]", "[8,-8]", ""),
        ("[8,8]", "[18446744073709551615,18446744073709551615]", "is not a grid"),
        ("\"bytes\"", "\"zip\"", "zip"),
        ("{", "", ""),
    ] {
        fs::write(&metadata, good.replacen(from, to, 1)).unwrap();
        let error = fails(&list(&[0]));
        assert!(error.contains("zarr.json") && error.contains(expected), "{error}");
    }
    fs::remove_file(&metadata).unwrap();
    assert!(fails(&list(&[0])).contains("not a Zarr array or group"));
}

#[test]
fn an_output_is_not_replaced_by_accident() {
    let mut random = Random(5);
    let folders = Folders::with(&Naive::random(Kind::Plain3, &[4], &[2], 1, 0, &mut random));
    let Folders { all, input, output } = &folders;
    fs::create_dir(output).unwrap();
    let failed = |output: &Path| reverse(input, output, &Axes::All, &quick()).unwrap_err();
    assert!(matches!(failed(output), Error::Exists { .. }));
    for place in [input.join("out.zarr"), input.clone(), all.path().to_owned()] {
        assert!(matches!(failed(&place), Error::Overlap { .. }), "{place:?}");
    }
}

#[test]
fn a_chunk_that_needs_too_much_memory_is_refused() {
    let mut random = Random(6);
    let folders = Folders::with(&Naive::random(Kind::Plain3, &[4], &[4], 1, 0, &mut random));
    let settings = Settings { memory: 1 << 20, ..quick() };
    let error = folders.run(&Axes::All, &settings).unwrap_err();
    assert!(matches!(error, Error::Memory { limit: 1048576, .. }), "{error}");
    assert!(!folders.output.exists());
}

#[test]
fn an_interrupted_job_goes_on() {
    let mut random = Random(8);
    let array = Naive::random(Kind::Plain2, &[23, 9], &[2, 4], 2, 20, &mut random);
    let folders = Folders::with(&array);
    let mut runs = 0;
    loop {
        // Stops after a few chunks; more in every run, because complete ones are counted too.
        match interrupted(&folders, &Axes::All, 4 * runs + 1, false) {
            Ok(summary) => {
                assert!(summary.counts.resumed > 0);
                break;
            }
            Err(Error::Interrupted { .. }) => assert!(!folders.output.exists()),
            Err(other) => panic!("{other}"),
        }
        runs += 1;
    }
    assert!(runs > 3);
    assert_eq!(array.reversed(&[true, true]), Naive::read(&folders.output, &array));
    assert!(!folders.all.path().join(".out.zarr.retrograde").exists());
}

#[test]
fn a_different_job_starts_anew() {
    let mut random = Random(9);
    let array = Naive::random(Kind::Plain3, &[8, 8], &[2, 2], 2, 0, &mut random);
    let folders = Folders::with(&array);
    let stopped = interrupted(&folders, &list(&[0]), 1, false);
    assert!(matches!(stopped, Err(Error::Interrupted { .. })));
    let summary = folders.run(&list(&[1]), &quick()).unwrap();
    assert_eq!(summary.counts.resumed, 0);
    assert_eq!(array.reversed(&[false, true]), Naive::read(&folders.output, &array));
}

#[test]
fn a_changed_input_chunk_is_written_again() {
    let mut random = Random(10);
    let mut array = Naive::random(Kind::Plain3, &[8], &[2], 2, 0, &mut random);
    let folders = Folders::with(&array);
    let stopped = interrupted(&folders, &Axes::All, 2, false);
    assert!(matches!(stopped, Err(Error::Interrupted { done: 2, total: 4 })));
    std::thread::sleep(std::time::Duration::from_millis(20));
    array.elements[7] = vec![0xab, 0xcd];
    array.write(&folders.input);
    resumed(&folders, false);
    assert_eq!(array.reversed(&[true]), Naive::read(&folders.output, &array));
}

/// What happens to an input chunk between two runs.
type Change = fn(&Path, &Path);

/// Interrupts a job after three of four chunks, changes one that is complete, and goes on.
fn changed(kind: Kind, elements: usize, change: Change, replacement: Option<Vec<u8>>) {
    let mut random = Random(11);
    let mut array = Naive::random(kind, &[8], &[elements as u64], 2, 0, &mut random);
    let folders = Folders::with(&array);
    let last = 8 / elements - 1;
    let key = if kind == Kind::Plain2 { format!("{last}") } else { format!("c/{last}") };
    let stopped = interrupted(&folders, &Axes::All, last as u64, false);
    assert!(matches!(stopped, Err(Error::Interrupted { .. })), "{stopped:?}");
    let new = folders.all.path().join("new");
    let bytes = replacement.clone().unwrap_or_default();
    fs::write(&new, &bytes).unwrap();
    // Files have the time of the last tick of a clock.
    std::thread::sleep(std::time::Duration::from_millis(20));
    change(&folders.input.join(key), &new);
    for (at, place) in (last * elements..8).enumerate() {
        match &replacement {
            Some(bytes) => array.elements[place] = bytes[2 * at..2 * at + 2].to_vec(),
            None => array.elements[place] = array.missing(),
        }
    }
    array.exists[last] = replacement.is_some();
    let counts = resumed(&folders, false);
    let written = Naive::read(&folders.output, &array);
    assert_eq!(array.reversed(&[true]), written, "{kind:?} {elements}");
    assert_eq!(counts.resumed, last as u64 - 1, "the other chunks are kept");
}

#[test]
fn a_removed_input_chunk_is_removed_from_the_output() {
    // Chunks of one element are copied, others are put together.
    for kind in Kind::ALL {
        for elements in [1, 2] {
            changed(kind, elements, |chunk, _| fs::remove_file(chunk).unwrap(), None);
        }
    }
}

#[test]
fn a_replaced_chunk_with_an_older_or_restored_time_is_written_again() {
    fn time(path: &Path) -> std::time::SystemTime {
        fs::metadata(path).unwrap().modified().unwrap()
    }
    fn set(path: &Path, time: std::time::SystemTime) {
        fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }
    let mv: Change = |chunk, new| fs::rename(new, chunk).unwrap();
    let restored: Change = |chunk, new| {
        set(new, time(chunk));
        fs::rename(new, chunk).unwrap();
    };
    let in_place: Change = |chunk, new| {
        let before = time(chunk);
        fs::write(chunk, fs::read(new).unwrap()).unwrap();
        set(chunk, before);
    };
    let older: Change = |chunk, new| {
        set(new, std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1 << 30));
        fs::rename(new, chunk).unwrap();
    };
    for change in [mv, restored, in_place, older] {
        for elements in [1, 2] {
            let replacement = vec![0x5a; 2 * elements];
            changed(Kind::Plain3, elements, change, Some(replacement));
        }
    }
}

#[test]
fn checksums_tell_what_times_do_not() {
    let mut random = Random(12);
    for elements in [1u64, 2] {
        let mut array = Naive::random(Kind::Plain3, &[8], &[elements], 2, 0, &mut random);
        let folders = Folders::with(&array);
        let last = 8 / elements;
        assert!(interrupted(&folders, &Axes::All, last - 1, true).is_err());
        // The same bytes in new files are the same input; other bytes are not.
        std::thread::sleep(std::time::Duration::from_millis(20));
        array.elements[7] = vec![0xab, 0xcd];
        array.write(&folders.input);
        for at in 0..last {
            let path = folders.input.join(format!("c/{at}"));
            fs::write(&path, fs::read(&path).unwrap()).unwrap();
        }
        let counts = resumed(&folders, true);
        assert_eq!(counts.resumed, last - 2, "{counts:?}");
        assert_eq!(array.reversed(&[true]), Naive::read(&folders.output, &array));
    }
}

#[test]
fn a_run_with_checksums_trusts_none_without() {
    let mut random = Random(13);
    let array = Naive::random(Kind::Plain3, &[8], &[2], 2, 0, &mut random);
    let folders = Folders::with(&array);
    assert!(interrupted(&folders, &Axes::All, 3, false).is_err());
    assert_eq!(resumed(&folders, true).resumed, 0);
    assert_eq!(array.reversed(&[true]), Naive::read(&folders.output, &array));
}
