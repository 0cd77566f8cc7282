//! The command line of `retrograde-conformance`.

use clap::{Args, Parser, Subcommand, ValueEnum};
use retrograde_cli::Device;
use retrograde_kit::export;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

/// Tests runtimes against the rules of the reversal operators.
#[derive(Debug, Parser)]
#[command(name = "retrograde-conformance", bin_name = "retrograde conformance", version)]
pub(crate) struct Arguments {
    /// Print errors only: no summary of what was written, no progress bar
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Conformance,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Conformance {
    /// List the rules, who is known to break them, and how many cases each has
    Rules,
    /// Print a case: the request of the protocol, and what must come back
    Show {
        /// The id of the case
        #[arg(value_name = "CASE")]
        id: String,
        #[command(flatten)]
        set: Set,
    },
    /// Write the cases as files for other test runners
    Export(ExportArguments),
    /// Run the cases on runtimes and write a report
    #[command(
        after_help = "RUNTIMES\n  retrograde, retrograde-cuda, retrograde-simulated, retrograde-python, numpy, onnx-reference,\n  \
        onnxruntime, onnxruntime-plugin, openvino, openvino-gpu, tensorflow, tflite, jax, torch, tract,\n  \
        iree, or the command of an adapter in quotes (docs/conformance.md).\n\n\
        The folder keeps results.jsonl, from which an interrupted run continues, and gets report.html,\n\
        report.json, report.txt and junit.xml. The exit code is 0 if the runtimes ran, whatever they did;\n\
        with --strict it is 1 if a case failed."
    )]
    Run(RunKitArguments),
    /// Compare two reports: what got worse, what got better
    Diff {
        /// The older report.json
        old: PathBuf,
        /// The newer report.json
        new: PathBuf,
    },
    /// Join reports of several runs, such as those of several machines, into one
    Merge {
        /// The report.json files; of a runtime that is in several, the last counts
        #[arg(value_name = "REPORT", required = true, num_args = 1..)]
        reports: Vec<PathBuf>,
        /// The folder for the joined report
        #[arg(long, short = 'd', value_name = "DIR")]
        output_dir: PathBuf,
    },
    /// Print the source of a built-in adapter
    Adapter {
        /// The runtime
        name: String,
    },
    /// Answer requests of the protocol on stdin with this engine
    Serve {
        /// cpu, cuda, cuda:N, or simulated (the CUDA kernels on the CPU, in builds that have them)
        #[arg(long, value_name = "DEVICE", default_value_t = ServeOn::Cpu)]
        device: ServeOn,
    },
}

/// What answers requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServeOn {
    Cpu,
    /// A CUDA device by its number.
    Cuda(usize),
    /// The CUDA kernels, compiled for the CPU.
    Simulated,
}

impl ServeOn {
    /// The name of the runtime in a report.
    pub(crate) fn runtime(self) -> &'static str {
        match self {
            ServeOn::Cpu => "retrograde",
            ServeOn::Cuda(_) => "retrograde-cuda",
            ServeOn::Simulated => "retrograde-simulated",
        }
    }

    /// What to do where it is missing.
    pub(crate) fn install(self) -> &'static str {
        match self {
            ServeOn::Cpu => "it is always there",
            ServeOn::Cuda(_) => "needs an NVIDIA GPU and its driver",
            ServeOn::Simulated => "build with --features simulate, and have a C++ compiler",
        }
    }

    /// Those that `run` knows by name.
    pub(crate) const NAMED: [ServeOn; 3] = [ServeOn::Cpu, ServeOn::Cuda(0), ServeOn::Simulated];
}

impl FromStr for ServeOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("simulated", _) => Ok(ServeOn::Simulated),
            (_, Ok(Device::Cpu)) => Ok(ServeOn::Cpu),
            (_, Ok(Device::Cuda(number))) => Ok(ServeOn::Cuda(number)),
            _ => Err("expected cpu, cuda, cuda:N or simulated".to_owned()),
        }
    }
}

impl fmt::Display for ServeOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeOn::Cpu => f.write_str("cpu"),
            ServeOn::Cuda(number) => write!(f, "cuda:{number}"),
            ServeOn::Simulated => f.write_str("simulated"),
        }
    }
}

/// Which cases.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Set {
    /// Every type for every rule
    #[arg(long)]
    pub(crate) full: bool,
    /// The seed of the cases' values; names do not depend on it
    #[arg(long, value_name = "N", default_value_t = retrograde_truth::cases::SEED)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The folder, which is made if necessary
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// What to write
    #[arg(long, value_enum)]
    pub(crate) format: ExportFormat,
    /// For ONNX: the opset of the models
    #[arg(long, value_name = "N", default_value_t = 22, value_parser = clap::value_parser!(u64).range(10..=28))]
    pub(crate) opset: u64,
    #[command(flatten)]
    pub(crate) set: Set,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Every case as .npy files
    Npy,
    /// ONNX backend tests of ReverseSequence
    Onnx,
    /// OpenVINO IR of Reverse and ReverseSequence, with .npy files
    Openvino,
    /// StableHLO text of reverse
    Stablehlo,
    /// JSON tests of WebNN's reverse
    Webnn,
    /// ReverseSubsequences as .npy files with DirectML's names
    Directml,
}

impl From<ExportFormat> for export::Format {
    fn from(format: ExportFormat) -> Self {
        match format {
            ExportFormat::Npy => export::Format::Npy,
            ExportFormat::Onnx => export::Format::Onnx,
            ExportFormat::Openvino => export::Format::OpenVino,
            ExportFormat::Stablehlo => export::Format::StableHlo,
            ExportFormat::Webnn => export::Format::WebNn,
            ExportFormat::Directml => export::Format::DirectMl,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct RunKitArguments {
    /// A runtime; repeat it for several
    #[arg(long, value_name = "RUNTIME", required = true)]
    pub(crate) runtime: Vec<String>,
    /// The folder for results and reports
    #[arg(long, short = 'd', value_name = "DIR", default_value = "conformance-report")]
    pub(crate) output_dir: PathBuf,
    /// The Python that runs built-in adapters
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    pub(crate) python: String,
    /// Only cases whose ids begin with this, such as a rule; repeat it for several
    #[arg(long, value_name = "PREFIX")]
    pub(crate) case: Vec<String>,
    /// Processes at a time
    #[arg(long, short, value_name = "N", default_value = "1")]
    pub(crate) jobs: NonZeroUsize,
    /// Cases for each process
    #[arg(long, value_name = "N", default_value = "250")]
    pub(crate) batch: NonZeroUsize,
    /// Seconds to wait for an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    pub(crate) timeout: u64,
    /// Resident memory of a process in MiB (Linux)
    #[arg(long, value_name = "MIB", default_value_t = 8192)]
    pub(crate) memory: u64,
    /// Do not continue an earlier run in this folder
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Fail if a case fails
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) set: Set,
}
