//! Arguments of `info`, `explain` and `show`.

use super::files::{Device, Input};
use super::operators::Operation;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The operator
    #[command(subcommand)]
    pub(crate) operation: Operation<Input>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// The device to run on: cpu, cuda or cuda:N
    #[arg(long, global = true, value_name = "DEVICE", default_value_t = Device::Cpu)]
    pub(crate) device: Device,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// The operator
    #[command(subcommand)]
    pub(crate) operation: Operation<Input>,
    /// Write the picture as SVG to this file (.svg, or - for stdout) instead
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Also replace a read-only image
    #[arg(long, global = true, requires = "svg")]
    pub(crate) force: bool,
}
