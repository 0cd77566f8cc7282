//! The CUDA kernels under test without a device: compiled as C++ for the CPU, with the same choice
//! of kernels and the same arguments. Clusters and asynchronous copies need a device.

use crate::backend::{Backend, Outcome, layout, with_operator};
use crate::case::Case;
use retrograde_cuda::{Error, Simulator};

/// The kernels; if there is a compiler and they do not compile, that is a failure.
pub struct Simulated {
    simulator: Result<Simulator, String>,
    unavailable: Option<String>,
}

impl Simulated {
    /// Compiles them.
    pub fn compiled() -> Self {
        let folder = std::env::temp_dir().join(format!("retrograde-{}", std::process::id()));
        let made = std::fs::create_dir_all(&folder).map_err(|error| error.to_string());
        let simulator = made.and_then(|()| Simulator::compile(&folder));
        // The loaded library stays mapped.
        let _ = std::fs::remove_dir_all(&folder);
        Simulated { simulator, unavailable: Simulator::unavailable() }
    }
}

impl Backend for Simulated {
    fn name(&self) -> &str {
        "cuda kernels on this processor"
    }

    fn unavailable(&self) -> Option<String> {
        self.unavailable.clone()
    }

    fn is_thorough(&self) -> bool {
        false
    }

    fn unused(&self) -> Vec<String> {
        self.simulator.as_ref().map(Simulator::unused).unwrap_or_default()
    }

    fn run(&self, case: &Case, input: Option<&[u8]>, output: &mut [u8]) -> Outcome {
        let simulator = match &self.simulator {
            Ok(simulator) => simulator,
            Err(reason) => return Outcome::Refused(reason.clone()),
        };
        let mut failed = None;
        let outcome = with_operator(case, |operator| {
            let prepared = operator.prepare(&layout(&case.input)?, &layout(case.target())?)?;
            let (plan, lengths) = (prepared.plan(), prepared.lengths_memory());
            let simulator = simulator.looking_up(prepared.table());
            let done = match input {
                Some(input) => simulator.execute(plan, input, lengths, output),
                None => simulator.execute_in_place(plan, lengths, output),
            };
            match done {
                Ok(()) => Ok(()),
                Err(Error::Execute(error)) => Err(prepared.explain(error)),
                Err(error) => {
                    failed = Some(Outcome::Refused(error.to_string()));
                    Ok(())
                }
            }
        });
        failed.unwrap_or(outcome)
    }
}
