//! A cache of the plans of recent calls.
//!
//! For small tensors of libraries that describe them in C, and NumPy arrays, for which planning takes
//! longer than moving. The descriptions are compared exactly, so that checks are skipped only for a
//! tensor that equals one that was checked before, except for its address. A plan does not depend on
//! the values of lengths, which every run checks.

use crate::cuda;
use crate::dlpack::RawTensor;
use crate::errors::raised;
use crate::lengths::Lengths;
use crate::ndarray;
use crate::operand::Operand;
use crate::operation::{Asked, Visitor};
use crate::threads;
use crate::view::Place;
use dlpark::ffi::{DLDataType, DLDevice};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use retrograde::{
    DType, ExecuteError, LengthsMemory, Memory, MemoryMut, Plan, Reversal, Shape, TensorRef, cpu,
};
use retrograde_gpu::{CudaLengths, DeviceMut, DeviceRef, Error};
use std::cell::{OnceCell, RefCell};
use std::ffi::c_int;
use std::rc::Rc;

/// Tensors of higher rank are planned each time.
const MOST_AXES: usize = 8;
/// Cached plans per thread.
const MOST_PLANS: usize = 16;

thread_local! {
    static LATEST: RefCell<Latest> = const { RefCell::new(Latest { plans: Vec::new(), oldest: 0 }) };
}

struct Latest {
    plans: Vec<Rc<Kept>>,
    /// The entry to replace when the cache is full.
    oldest: usize,
}

/// A planned call, valid for any addresses.
pub(crate) struct Kept {
    asked: Asked,
    input: Facts,
    lengths: Option<CountFacts>,
    output: Facts,
    place: Place,
    plan: Plan,
    from: Span,
    counts: Span,
    to: Span,
    /// Bytes to move.
    pub(crate) work: usize,
    /// Arguments with which the library allocates another such output, by [`Order`].
    fresh: [OnceCell<Py<PyTuple>>; 2],
}

/// The memory order of new outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// That of the input.
    Input,
    /// Row-major.
    Rows,
}

impl Kept {
    /// Arguments with which the library allocates another output of this order.
    pub(crate) fn fresh(&self, order: Order) -> &OnceCell<Py<PyTuple>> {
        &self.fresh[order as usize]
    }
}

/// A library's description of a tensor, without its address.
#[derive(PartialEq, Eq)]
struct Facts {
    numpy: Option<c_int>,
    dtype: DLDataType,
    device: DLDevice,
    rank: usize,
    shape: [i64; MOST_AXES],
    strides: [i64; MOST_AXES],
}

/// The byte range that a tensor covers.
#[derive(Clone, Copy, Default)]
struct Span {
    /// The number of these bytes before element `[0, 0, ..]`.
    before: usize,
    len: usize,
}

/// The tensors of a call.
pub(crate) struct Tensors<'a, 'py> {
    x: &'a Bound<'py, PyAny>,
    input: RawTensor<'a>,
    lengths: Option<(&'a Bound<'py, PyAny>, Counts<'a>)>,
}

/// Lengths or offsets of a call, where they are read.
enum Counts<'a> {
    Device(RawTensor<'a>),
    /// A copy in host memory. In a box, because all calls move this type, also those without lengths.
    Host(Box<Lengths>),
}

/// What a plan knows about them.
#[derive(PartialEq, Eq)]
enum CountFacts {
    Device(Facts),
    Host(DType, Shape),
}

/// The description of a tensor or an array, if its plans can be cached.
fn describe<'a>(object: &'a Bound<'_, PyAny>) -> Option<RawTensor<'a>> {
    ndarray::described(object).or_else(|| RawTensor::at(object))
}

impl<'a, 'py> Tensors<'a, 'py> {
    /// `None` if the plan of this call cannot be cached.
    pub(crate) fn of(
        x: &'a Bound<'py, PyAny>,
        asked: &Asked,
        lengths: Option<&'a Bound<'py, PyAny>>,
    ) -> Option<Self> {
        Self::seen(x, describe(x)?, asked, lengths)
    }

    /// The same for an input that is already described.
    pub(crate) fn seen(
        x: &'a Bound<'py, PyAny>,
        input: RawTensor<'a>,
        asked: &Asked,
        lengths: Option<&'a Bound<'py, PyAny>>,
    ) -> Option<Self> {
        let lengths = match lengths {
            Some(lengths) => Some((lengths, Counts::of(lengths, asked, &input)?)),
            None => None,
        };
        Some(Tensors { x, input, lengths })
    }

    /// The size of the input's elements in bytes if they were dense.
    pub(crate) fn bytes(&self) -> usize {
        self.input.bytes()
    }

    /// The cached plan of a call like this one.
    pub(crate) fn find(&self, asked: &Asked, fits: impl Fn(&Kept) -> bool) -> Option<Rc<Kept>> {
        let is_it = |kept: &&Rc<Kept>| {
            kept.input.fit(&self.input)
                && kept.asked == *asked
                && match (&kept.lengths, &self.lengths) {
                    (Some(known), Some((_, counts))) => known.fit(counts),
                    (None, None) => true,
                    _ => false,
                }
                && fits(kept)
        };
        LATEST.with_borrow(|latest| latest.plans.iter().find(is_it).cloned())
    }

    /// Runs a call into an output of the same library, planning it now if necessary. `None` if it
    /// needs the full path, which also gives the best errors.
    pub(crate) fn run(&self, asked: &Asked, out: &Bound<'py, PyAny>) -> PyResult<Option<Rc<Kept>>> {
        let Some(output) = describe(out).filter(|output| output.writable) else {
            return Ok(None);
        };
        let kept = match self.find(asked, |kept| kept.output.fit(&output)) {
            Some(kept) => kept,
            None => match self.plan(asked, out, &output) {
                Some(kept) => kept,
                None => return Ok(None),
            },
        };
        Ok(self.go(&kept, &output)?.then_some(kept))
    }

    /// Runs a plan that was found for these tensors, if the output fits it.
    pub(crate) fn go(&self, kept: &Kept, output: &RawTensor<'_>) -> PyResult<bool> {
        if !kept.output.fit(output) || self.input.lacks_memory() || output.lacks_memory() {
            return Ok(false);
        }
        let (from, to) = (kept.from.of(&self.input), kept.to.of(output));
        let device = match kept.place {
            Place::Host => return Ok(self.go_here(kept, from, to)?.is_ok()),
            Place::Cuda(device) => device,
        };
        // SAFETY: the library describes these tensors exactly as those that the plan was made for
        // and checked with, and frees them in the order of its stream, on which this runs.
        let (from, counts, to) = unsafe {
            let counts = match (&self.lengths, kept.plan.lengths()) {
                (Some((_, Counts::Device(raw))), Some(plan)) => {
                    let first = kept.counts.of(raw).addr() as u64;
                    let there = DeviceRef::from_raw(first, kept.counts.len);
                    // The plan was found by this type (`CountFacts`).
                    Some(CudaLengths::Device(plan.dtype, there))
                }
                _ => None,
            };
            let from = DeviceRef::from_raw(from.addr() as u64, kept.from.len);
            (from, counts, DeviceMut::from_raw(to.addr() as u64, kept.to.len))
        };
        match cuda::stream_of(self.x, device)?.execute(&kept.plan, from, counts, to) {
            Ok(()) => Ok(true),
            Err(Error::Execute(_)) => Ok(false),
            Err(error) => Err(cuda::failed(error)),
        }
    }

    /// On the CPU.
    fn go_here(
        &self,
        kept: &Kept,
        from: *mut u8,
        to: *mut u8,
    ) -> PyResult<Result<(), ExecuteError>> {
        // SAFETY: the library describes these tensors exactly as those that the plan was made for
        // and checked with. They are borrowed for the whole call; the caller is responsible for
        // other Python threads that modify them at the same time.
        let (from, to) = unsafe {
            let from = Memory::from_raw(from, kept.from.len);
            (from, MemoryMut::from_raw(to, kept.to.len, true))
        };
        let counts = match &self.lengths {
            Some((_, Counts::Host(lengths))) => lengths
                .copied_as()
                .zip(lengths.copy())
                .map(|((dtype, _), bytes)| LengthsMemory::new(dtype, bytes)),
            _ => None,
        };
        let (plan, work) = (&kept.plan, kept.work);
        let go = || cpu::execute(plan, from, counts, to);
        if work < threads::DETACH_FROM {
            Ok(go())
        } else {
            self.x.py().detach(|| threads::run(work, go))
        }
    }

    /// Plans a call with all checks and caches the plan. Errors are left to the full path.
    fn plan(&self, asked: &Asked, out: &Bound<'py, PyAny>, to: &RawTensor<'_>) -> Option<Rc<Kept>> {
        let (input, output) = (Facts::of(&self.input)?, Facts::of(to)?);
        let lengths = match &self.lengths {
            Some((_, counts)) => Some(CountFacts::of(counts)?),
            None => None,
        };
        let operand = Operand::of(self.x).ok()?;
        let view = operand.view();
        let counts = self.lengths.as_ref().map(|(lengths, _)| *lengths);
        let operation = asked.operation(counts, &view.shape).ok()?;
        if operation.lengths().is_some_and(|lengths| lengths.place() != view.place) {
            return None;
        }
        let (plan, [from, counts, to]) =
            operation.visit_anywhere(Make { input: &operand, out }).ok()?;
        let kept = Rc::new(Kept {
            asked: asked.clone(),
            input,
            lengths,
            output,
            place: view.place,
            plan,
            from,
            counts,
            to,
            work: operation.work_on(&view),
            fresh: [const { OnceCell::new() }; 2],
        });
        // The replaced entry is dropped after the borrow ends, because it may hold Python objects.
        let gone = LATEST.with_borrow_mut(|latest| latest.put(Rc::clone(&kept)));
        drop(gone);
        Some(kept)
    }
}

/// Makes the plan, and computes the byte ranges of the input, the lengths and the output.
struct Make<'a, 'py> {
    input: &'a Operand<'py>,
    out: &'a Bound<'py, PyAny>,
}

impl Visitor for Make<'_, '_> {
    type Output = (Plan, [Span; 3]);

    fn visit(self, operator: &(impl Reversal + Sync)) -> PyResult<Self::Output> {
        let name = operator.operator();
        let output = Operand::output(name, self.out)?;
        output.check_output(name, self.input)?;
        // SAFETY: the operands are borrowed for the whole call, and only their layouts are used
        // here.
        let (from, to) = unsafe { (self.input.view().tensor(name)?, output.view().tensor(name)?) };
        let prepared = operator.prepare(from.layout(), to.layout()).map_err(raised)?;
        let counts = prepared.lengths().map_or(Span::default(), Span::new);
        Ok((prepared.plan().clone(), [Span::new(&from), counts, Span::new(&to)]))
    }
}

impl Latest {
    /// Caches a plan, and returns the one that it replaces.
    fn put(&mut self, kept: Rc<Kept>) -> Option<Rc<Kept>> {
        if self.plans.len() < MOST_PLANS {
            self.plans.push(kept);
            return None;
        }
        let gone = std::mem::replace(&mut self.plans[self.oldest], kept);
        self.oldest = (self.oldest + 1) % MOST_PLANS;
        Some(gone)
    }
}

impl<'a> Counts<'a> {
    /// `None` for lengths that need the full path: long ones, which are not copied, those that are
    /// not where the input is, and those that NumPy has to convert.
    fn of(lengths: &'a Bound<'_, PyAny>, asked: &Asked, input: &RawTensor<'_>) -> Option<Self> {
        let described = describe(lengths);
        let is_described = described.is_some();
        if let Some(raw) = described
            && raw.place() != Some(Place::Host)
        {
            return matches!(raw.place(), Some(Place::Cuda(_))).then_some(Counts::Device(raw));
        }
        let list = lengths.is_exact_instance_of::<PyList>();
        let plain = is_described || list || lengths.is_exact_instance_of::<PyTuple>();
        if !plain || input.place() != Some(Place::Host) {
            return None;
        }
        let size = |&size: &i64| usize::try_from(size).ok();
        let shape = input.shape().iter().map(size).collect::<Option<Shape>>()?;
        let lengths = asked.lengths(lengths, &shape).ok()?;
        lengths.copied_as().is_some().then(|| Counts::Host(Box::new(lengths)))
    }
}

impl CountFacts {
    fn of(counts: &Counts<'_>) -> Option<Self> {
        match counts {
            Counts::Device(raw) => Facts::of(raw).map(CountFacts::Device),
            Counts::Host(lengths) => {
                let (dtype, shape) = lengths.copied_as()?;
                Some(CountFacts::Host(dtype, Shape::from_slice(shape)))
            }
        }
    }

    /// Whether others have the same description.
    fn fit(&self, counts: &Counts<'_>) -> bool {
        match (self, counts) {
            (CountFacts::Device(facts), Counts::Device(raw)) => facts.fit(raw),
            (CountFacts::Host(dtype, shape), Counts::Host(lengths)) => {
                lengths.copied_as() == Some((*dtype, &shape[..]))
            }
            _ => false,
        }
    }
}

impl Facts {
    fn of(raw: &RawTensor<'_>) -> Option<Self> {
        let (mut shape, mut strides) = ([0; MOST_AXES], [0; MOST_AXES]);
        let rank = raw.shape().len();
        shape.get_mut(..rank)?.copy_from_slice(raw.shape());
        strides.get_mut(..rank)?.copy_from_slice(raw.strides());
        let (dtype, device) = (raw.dtype(), raw.device());
        Some(Facts { numpy: raw.numpy(), dtype, device, rank, shape, strides })
    }

    /// Whether another tensor has the same description.
    fn fit(&self, raw: &RawTensor<'_>) -> bool {
        let rank = raw.shape().len();
        self.rank == rank
            && self.numpy == raw.numpy()
            && self.dtype == raw.dtype()
            && self.device == raw.device()
            && self.shape[..rank] == *raw.shape()
            && self.strides[..rank] == *raw.strides()
    }
}

impl Span {
    fn new(tensor: &TensorRef<'_>) -> Self {
        // Elements are whole bytes: a `RawTensor` excludes others.
        Span { before: tensor.layout().reach().origin, len: tensor.memory().len() }
    }

    /// The address at which these bytes begin.
    fn of(self, raw: &RawTensor<'_>) -> *mut u8 {
        raw.origin().wrapping_sub(self.before)
    }
}
