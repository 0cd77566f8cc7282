//! `retrograde-suite`: runs the suite on every backend, or exports the oracle's answers.

use retrograde::cpu::Isa;
use retrograde_suite::backend::{Backend, Cpu};
#[cfg(feature = "c")]
use retrograde_suite::c::CInterface;
#[cfg(feature = "cuda")]
use retrograde_suite::c_cuda::CCuda;
#[cfg(feature = "cuda")]
use retrograde_suite::cuda::Cuda;
use retrograde_suite::export;
#[cfg(feature = "cuda")]
use retrograde_suite::simulated::Simulated;
use retrograde_suite::suite::{FULL, QUICK, SAMPLE, run_all};
#[cfg(feature = "cuda")]
use retrograde_suite::suite::{ROWS, TIGHT};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

const USAGE: &str = "usage: retrograde-suite [best | quick | sample | c [quick | cuda] | cuda [quick | rows | tight | ptx] | simulated [quick] | levels | export FILE | types FILE]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => run_all(&backends(), &FULL),
        // Everything, but on one level only: the one that users get here.
        ["best"] => run_all(&[Box::new(Cpu::best())], &FULL),
        ["quick"] => run_all(&backends(), &QUICK),
        ["sample"] => run_all(&backends(), &SAMPLE),
        #[cfg(feature = "c")]
        ["c"] => run_all(&[Box::new(CInterface::thorough())], &FULL),
        #[cfg(feature = "c")]
        ["c", "quick"] => run_all(&[Box::new(CInterface::sampled())], &QUICK),
        #[cfg(feature = "cuda")]
        ["c", "cuda"] => run_all(&[Box::new(CCuda::open())], &QUICK),
        #[cfg(feature = "cuda")]
        ["cuda"] => run_all(&[Box::new(Cuda::open())], &FULL),
        #[cfg(feature = "cuda")]
        ["simulated"] => run_all(&[Box::new(Simulated::compiled())], &FULL),
        #[cfg(feature = "cuda")]
        ["simulated", "quick"] => run_all(&[Box::new(Simulated::compiled())], &QUICK),
        #[cfg(feature = "cuda")]
        ["cuda", "quick"] => run_all(&[Box::new(Cuda::open())], &QUICK),
        #[cfg(feature = "cuda")]
        ["cuda", "ptx"] => run_all(&[Box::new(Cuda::from_ptx())], &FULL),
        #[cfg(feature = "cuda")]
        ["cuda", "rows"] => run_all(&[Box::new(Cuda::open())], &ROWS),
        #[cfg(feature = "cuda")]
        ["cuda", "tight"] => run_all(&[Box::new(Cuda::tight())], &TIGHT),
        ["levels"] => {
            Isa::available().for_each(|isa| println!("{}", isa.name()));
            ExitCode::SUCCESS
        }
        ["export", path] => export_to(path, export::write),
        ["types", path] => export_to(path, export::write_types),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Every backend; those that cannot run here report why.
fn backends() -> Vec<Box<dyn Backend>> {
    let mut all: Vec<Box<dyn Backend>> = Vec::new();
    all.extend(Cpu::all().into_iter().map(|cpu| Box::new(cpu) as Box<dyn Backend>));
    #[cfg(feature = "c")]
    all.push(Box::new(CInterface::sampled()));
    #[cfg(feature = "cuda")]
    all.extend::<[Box<dyn Backend>; 2]>([Box::new(Cuda::open()), Box::new(Simulated::compiled())]);
    all
}

fn export_to(path: &str, write: fn(&mut BufWriter<File>) -> io::Result<usize>) -> ExitCode {
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        let lines = write(&mut out)?;
        out.flush()?;
        Ok(lines)
    });
    match written {
        Ok(lines) => {
            println!("{path}: {lines} lines");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {path}: {error}");
            ExitCode::FAILURE
        }
    }
}
