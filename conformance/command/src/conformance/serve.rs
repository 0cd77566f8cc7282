//! `retrograde conformance serve`: the engine as an adapter of the conformance kit, on the CPU, on a
//! GPU, or with the kernels of a GPU on the CPU. Strings are always reversed on the CPU.

use super::args::ServeOn;
use anyhow::{Result, anyhow, bail};
use retrograde::{
    DType, Layout, LengthsOperator, Orient, Orientation, Prepared, Reversal, Reverse, ReverseMode,
    ReverseSegments, ReverseSequence, ReverseSubsequences, Table, TensorRef, WithLengths,
};
use retrograde_cuda::{Cuda, DeviceBuffer};
use retrograde_kit::protocol::{self, Outcome, PROTOCOL, answer};
use retrograde_program::report;
use retrograde_truth::call::{Call, OPERATORS};
use retrograde_truth::extras::{EXTRAS, Extras};
use retrograde_truth::tensor::{Data, Tensor};
use serde_json::{Value, json};
use std::io::BufRead;

/// The opset whose rules ReverseSequence has: the first with every type.
const OPSET: u32 = 28;

/// Answers until the input ends. Blank lines are no requests.
pub(crate) fn serve(on: ServeOn) -> Result<()> {
    let engine = Engine::on(on);
    for (at, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let request = Request::read(&line)
            .map_err(|reason| anyhow!("conformance serve: line {}: {reason}", at + 1))?;
        let reply = match (&engine, &request) {
            (Err(reason), _) => {
                json!({ "missing": format!("{on} ({reason})"), "install": on.install() })
            }
            (Ok(_), Request::Hello) => json!({
                "protocol": PROTOCOL,
                "runtime": on.runtime(),
                "version": env!("CARGO_PKG_VERSION"),
                "operators": OPERATORS,
                "operands": EXTRAS,
            }),
            (Ok(engine), Request::Case(id, case)) => answer(id, &outcome(engine, case)),
        };
        report::print(&format!("{reply}\n"))?;
        if engine.is_err() {
            break;
        }
    }
    Ok(())
}

/// A line of the input.
enum Request {
    Hello,
    /// A case, by its id.
    Case(String, Value),
}

impl Request {
    /// The error says what is wrong with the line. Which version of the protocol a greeting has
    /// does not matter: the answer says which one this is.
    fn read(line: &str) -> Result<Request, String> {
        let request: Value =
            serde_json::from_str(line).map_err(|error| format!("not JSON: {error}"))?;
        match request.get("id") {
            Some(Value::String(id)) => Ok(Request::Case(id.clone(), request)),
            Some(_) => Err("\"id\" is not a string".to_owned()),
            None if request.get("hello").is_some() => Ok(Request::Hello),
            None => Err(format!(
                "neither \"hello\" nor \"id\" is in it, expected {} or a case",
                protocol::hello()
            )),
        }
    }
}

/// What runs the plans.
enum Engine {
    Cpu,
    Cuda(Cuda),
    #[cfg(feature = "simulate")]
    Simulated(Box<retrograde_cuda::Simulator>),
}

impl Engine {
    /// The error says why it is not there.
    fn on(on: ServeOn) -> Result<Engine, String> {
        match on {
            ServeOn::Cpu => Ok(Engine::Cpu),
            ServeOn::Cuda(number) => {
                Cuda::device(number).map(Engine::Cuda).map_err(|error| error.to_string())
            }
            #[cfg(feature = "simulate")]
            ServeOn::Simulated => {
                use retrograde_cuda::Simulator;
                if let Some(reason) = Simulator::unavailable() {
                    return Err(reason);
                }
                let folder =
                    std::env::temp_dir().join(format!("retrograde-{}", std::process::id()));
                std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
                let simulator = Simulator::compile(&folder);
                // The loaded library stays mapped.
                let _ = std::fs::remove_dir_all(&folder);
                Ok(Engine::Simulated(Box::new(simulator?)))
            }
            #[cfg(not(feature = "simulate"))]
            ServeOn::Simulated => Err("this build has no simulated kernels".to_owned()),
        }
    }

    /// Runs a prepared call. Devices check the lengths themselves; `given` are those that are not made
    /// from a mask.
    fn run(&self, prepared: &Prepared<'_>, input: &[u8], given: Option<&[u8]>) -> Result<Vec<u8>> {
        let mut out = vec![0; input.len()];
        let done = match self {
            Engine::Cpu => return Ok(prepared.run(input, &mut out[..]).map(|()| out)?),
            Engine::Cuda(cuda) => on_cuda(cuda, prepared, input, given, &mut out),
            #[cfg(feature = "simulate")]
            Engine::Simulated(simulator) => simulator.looking_up(prepared.table()).execute(
                prepared.plan(),
                input,
                prepared.lengths_memory(),
                &mut out,
            ),
        };
        match done {
            Ok(()) => Ok(out),
            Err(retrograde_cuda::Error::Execute(error)) => Err(prepared.explain(error).into()),
            Err(error) => Err(error.into()),
        }
    }
}

fn on_cuda(
    cuda: &Cuda,
    prepared: &Prepared<'_>,
    input: &[u8],
    given: Option<&[u8]>,
    out: &mut [u8],
) -> Result<(), retrograde_cuda::Error> {
    let stream = cuda.stream()?;
    let dtype = prepared.lengths().map(|of| of.layout().dtype());
    let there = dtype.and(given).map(|bytes| DeviceBuffer::from_host(cuda, bytes)).transpose()?;
    let lengths = dtype.zip(there.as_ref()).map(|(dtype, at)| (dtype, at.view()).into());
    let input = DeviceBuffer::from_host(cuda, input)?;
    let mut output = DeviceBuffer::from_host(cuda, out)?;
    stream.run(prepared, input.view(), lengths, output.view_mut())?;
    stream.check()?;
    output.read(0, out)
}

fn outcome(engine: &Engine, request: &Value) -> Outcome {
    let read = || {
        let call = Call::from_json(request)?;
        let input = Tensor::from_json(&request["input"])?;
        let argument = Tensor::from_json(&request[call.argument_name()])?;
        Ok((call, input, argument, Extras::from_json(request)?))
    };
    match read() {
        Err(reason) => Outcome::Unsupported(reason),
        Ok((call, input, argument, extras)) => match run(engine, &call, &input, &argument, &extras)
        {
            Ok(tensor) => Outcome::Value(tensor),
            Err(error) => Outcome::Refused(error.to_string()),
        },
    }
}

/// Runs a call on the engine.
fn run(
    engine: &Engine,
    call: &Call,
    input: &Tensor,
    argument: &Tensor,
    extras: &Extras,
) -> Result<Tensor> {
    let table = extras.table.as_ref().map(|table| Table::new(bytes(table))).transpose()?;
    let mask = extras.mask.as_ref().map(view).transpose()?;
    let lengths = mask.is_none().then(|| bytes(argument));
    let operands = Operands { engine, input, lengths, table };
    let values = argument.to_integers();
    let argument = view(argument)?;
    match *call {
        Call::Reverse { mask: is_mask } => {
            let mode = if is_mask { ReverseMode::Mask } else { ReverseMode::Index };
            operands.of_axes(Reverse::from_tensor(mode, &argument)?, mask)
        }
        Call::Flip => {
            operands.of_axes(Reverse::from_tensor(ReverseMode::Index, &argument)?.distinct(), mask)
        }
        Call::Sequence { time, batch } => {
            let operator = ReverseSequence::onnx().opset(OPSET).time_axis(time).batch_axis(batch);
            if !input.dtype.is_text() {
                return operands.of_lengths(operator.lengths(argument), mask);
            }
            // Slices of strings have no type that an opset could list, so its other rules are
            // checked as for bytes.
            let bytes = Layout::dense(DType::U8, &input.shape)?;
            operator.plan(&bytes, argument.layout(), &bytes)?;
            let operator = ReverseSequence::onnx().time_axis(time).batch_axis(batch);
            operands.of_lengths(operator.lengths(argument), mask)
        }
        Call::AnySequence { time, batch } => {
            let operator = ReverseSequence::new().time_axis(time).batch_axis(batch);
            operands.of_lengths(operator.lengths(argument), mask)
        }
        Call::Subsequences { axis } => {
            operands.of_lengths(ReverseSubsequences::along(axis).lengths(argument), mask)
        }
        Call::Segments { axis } => {
            operands.of_lengths(ReverseSegments::along(axis).offsets(argument), mask)
        }
        Call::Orient { orientation } => {
            let &[rows, columns] = &values[..] else {
                bail!("Orient: axes has {} entries, expected 2", values.len());
            };
            let operator = Orient::new(Orientation::from_exif(orientation)?);
            operands.moved(&operator.axes(rows as i64, columns as i64))
        }
    }
}

/// The elements of a tensor that is no text.
fn bytes(tensor: &Tensor) -> &[u8] {
    match &tensor.data {
        Data::Bytes(bytes) => bytes,
        Data::Text(_) => &[],
    }
}

fn view(tensor: &Tensor) -> Result<TensorRef<'_>> {
    Ok(TensorRef::dense(dtype(tensor)?, bytes(tensor), &tensor.shape)?)
}

/// What a reversal runs on.
struct Operands<'a> {
    engine: &'a Engine,
    input: &'a Tensor,
    /// Lengths or offsets, if the operator has them, and no mask.
    lengths: Option<&'a [u8]>,
    table: Option<Table>,
}

impl Operands<'_> {
    /// With a mask of the entries of axis 0.
    fn of_axes(&self, reverse: Reverse, mask: Option<TensorRef<'_>>) -> Result<Tensor> {
        match mask {
            Some(mask) => self.moved(&reverse.batch(0).where_(mask)),
            None => self.moved(&reverse),
        }
    }

    fn of_lengths<'r, O: LengthsOperator>(
        &self,
        reversal: WithLengths<'r, O>,
        mask: Option<TensorRef<'r>>,
    ) -> Result<Tensor> {
        match mask {
            Some(mask) => self.moved(&reversal.where_(mask)),
            None => self.moved(&reversal),
        }
    }

    fn moved<'r>(&self, reversal: &impl Reversal<'r>) -> Result<Tensor> {
        match &self.table {
            Some(table) => self.done(&reversal.table(table)),
            None => self.done(reversal),
        }
    }

    fn done<'r>(&self, reversal: &impl Reversal<'r>) -> Result<Tensor> {
        let input = self.input;
        let shape = reversal.output_shape(&input.shape)?;
        let data = match &input.data {
            // References move: clones are exchanged in place, where no image is turned.
            Data::Text(texts) => {
                let texts: Vec<_> = texts.iter().collect();
                let moved = reversal.to_vec(&texts, &input.shape)?;
                Data::Text(moved.into_iter().cloned().collect())
            }
            Data::Bytes(bytes) => {
                let dtype = dtype(input)?;
                let (src, dst) =
                    (Layout::dense(dtype, &input.shape)?, Layout::dense(dtype, &shape)?);
                let prepared = reversal.prepare(&src, &dst)?;
                Data::Bytes(self.engine.run(&prepared, bytes, self.lengths)?)
            }
        };
        Ok(Tensor { data, shape, dtype: input.dtype })
    }
}

/// The engine's type of the same name.
fn dtype(tensor: &Tensor) -> Result<DType> {
    let name = tensor.dtype.name;
    name.parse().map_err(|_| anyhow!("the engine has no type {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrograde_kit::verdict::{Verdict, judge};
    use retrograde_truth::types::TYPES;

    /// Every case through an engine.
    fn passes(engine: &Engine) {
        let mut failures = Vec::new();
        for case in retrograde_truth::cases::all(retrograde_truth::cases::SEED, false) {
            let request = case.request();
            let result = judge(&case, outcome(engine, &request));
            if result.verdict != Verdict::Pass {
                failures.push(format!("{}: {:?} {}", case.id, result.verdict, result.message));
            }
        }
        assert!(
            failures.is_empty(),
            "{} failures: {:#?}",
            failures.len(),
            &failures[..failures.len().min(20)]
        );
    }

    #[test]
    fn the_engine_passes_every_case() {
        passes(&Engine::Cpu);
    }

    #[cfg(feature = "simulate")]
    #[test]
    fn the_cuda_kernels_pass_every_case_on_this_processor() {
        match Engine::on(ServeOn::Simulated) {
            Ok(engine) => passes(&engine),
            Err(reason) => println!("skipped: {reason}"),
        }
    }

    #[test]
    fn a_cuda_device_passes_every_case() {
        match Engine::on(ServeOn::Cuda(0)) {
            Ok(engine) => passes(&engine),
            Err(reason) => println!("skipped: {reason}"),
        }
    }

    #[test]
    fn the_table_of_types_agrees_with_the_engine() {
        for row in TYPES {
            let dtype: DType = row.name.parse().unwrap();
            let names = dtype.names().unwrap();
            assert_eq!(names.bits.unwrap_or(0), row.bits, "{}", row.name);
            assert_eq!(names.onnx.map(|(code, _)| code as u64), row.onnx, "{}", row.name);
            assert_eq!(names.openvino, row.openvino, "{}", row.name);
            assert_eq!(names.directml.map(|(_, name)| name), row.directml, "{}", row.name);
        }
        let listed = DType::ALL.iter().filter_map(|dtype| dtype.names()).count();
        assert_eq!(listed, TYPES.len());
    }
}
