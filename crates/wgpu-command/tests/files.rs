//! The program on files: what it writes on a GPU is what the command writes on the CPU. Without an
//! adapter, that is printed as skipped.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, words: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_retrograde-wgpu"));
    program.args(words).current_dir(folder).env("RETROGRADE_WGPU_PIECE", "4096");
    retrograde_deadline::output(&mut program).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn files_are_those_of_the_cpu() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let bytes: Vec<u8> =
        (0..60_000usize).map(|i| (i.wrapping_mul(2654435761) >> 7) as u8).collect();
    fs::write(at("x.bin"), &bytes).unwrap();
    fs::write(at("table.bin"), (0..256).map(|byte| (byte * 5 + 1) as u8).collect::<Vec<_>>())
        .unwrap();
    let lanes = (0..150).map(|lane| (lane * 3 % 51).to_string()).collect::<Vec<_>>().join(",");
    let lengths = format!("--lengths={lanes}");
    let cases: &[&[&str]] = &[
        &["reverse", "--dtype=f32", "--shape=150,100", "--axes=1"],
        &["reverse", "--dtype=u8", "--shape=200,100,3", "--axes=0,1"],
        &["reverse", "--dtype=i4", "--shape=120000"],
        &["reverse-sequence", "--dtype=f64", "--shape=50,150", &lengths],
        &["reverse-segments", "--dtype=u16", "--shape=300,100", "--offsets=0,7,7,200"],
        &[
            "reverse-segments",
            "--dtype=u8",
            "--shape=60000",
            "--offsets=0,7,7,20001,59999",
            "--where=1,0,0,1",
        ],
        &[
            "reverse-complement",
            "--dtype=u8",
            "--shape=60000",
            "--offsets=0,9,40000",
            "--where=1,1",
        ],
        &["reverse", "--dtype=u8", "--shape=6,10000", "--axes=1", "--where=1,0,1,0,1,1"],
        &["reverse", "--dtype=u8", "--shape=60000", "--axes=", "--table=table.bin"],
    ];
    for words in cases {
        let with = |more: &[&str]| {
            let mut all = words.to_vec();
            all.extend(["x.bin", "--to=raw"]);
            all.extend(more);
            run(folder.path(), &all)
        };
        let gpu = with(&["--device=gpu", "-o", "gpu.bin"]);
        if stderr(&gpu).starts_with("error: no GPU: ") {
            eprintln!("SKIPPED: {}", stderr(&gpu));
            assert!(!at("gpu.bin").exists());
            return;
        }
        assert_eq!(gpu.status.code(), Some(0), "{words:?}: {}", stderr(&gpu));
        let cpu = with(&["-o", "cpu.bin"]);
        assert_eq!(cpu.status.code(), Some(0), "{words:?}: {}", stderr(&cpu));
        assert!(fs::read(at("gpu.bin")).unwrap() == fs::read(at("cpu.bin")).unwrap(), "{words:?}");
        assert!(fs::read(at("gpu.bin")).unwrap() != bytes, "{words:?}");
        assert!(stderr(&gpu).contains("gpu: "), "{}", stderr(&gpu));
    }
}

#[test]
fn wrong_arguments_write_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.bin"), [0; 12]).unwrap();
    let raw = ["--dtype=u8", "--shape=3,4", "x.bin"];
    let cases: &[(&[&str], &str)] = &[
        (&["reverse", "--device=gpu"], "--device gpu needs an output"),
        (
            &["reverse-sequence", "--lengths=1,9,1,1", "--device=gpu", "--to=raw", "-o", "y.bin"],
            "lengths[1] is 9, outside [0, 3]",
        ),
        (&["reverse", "--device=gpu:99", "--to=raw", "-o", "y.bin"], "no adapter number 99"),
    ];
    for (words, expected) in cases {
        let all: Vec<&str> = words.iter().chain(&raw).copied().collect();
        let output = run(folder.path(), &all);
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
        assert!(!folder.path().join("y.bin").exists());
    }
}
