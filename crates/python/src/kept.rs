//! A cache of the plans of recent calls.
//!
//! For small tensors of libraries that describe them in C, and NumPy arrays, for which planning takes
//! longer than moving. The descriptions are compared exactly, so that checks are skipped only for a
//! tensor that equals one that was checked before, except for its address. A plan does not depend on
//! the values of lengths, which every run checks.

use crate::cuda;
use crate::dlpack::{self, RawTensor};
use crate::errors::raised;
use crate::hint;
use crate::lengths::Lengths;
use crate::ndarray;
use crate::operand::Operand;
use crate::operation::{Asked, Visitor};
use crate::threads;
use crate::view::{Place, Shape, View};
use dlpark::ffi::{DLDataType, DLDevice};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use retrograde::cpu::Program;
use retrograde::{DType, LengthsMemory, Memory, MemoryMut, Reversal, TensorRef};
use retrograde_cuda::{CudaLengths, DeviceMut, DeviceRef, Error};
use std::cell::{OnceCell, RefCell};
use std::ffi::c_int;
use std::ops::Deref;
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
pub(crate) struct Known {
    asked: Asked,
    input: Facts,
    lengths: Option<CountFacts>,
    output: Facts,
    pub(crate) place: Place,
    program: Program,
    from: Span,
    counts: Span,
    to: Span,
    /// Bytes to move.
    pub(crate) work: usize,
}

/// A planned call in the cache of a thread.
pub(crate) struct Kept {
    known: Known,
    /// Arguments with which the library allocates another such output, by [`Order`].
    fresh: [OnceCell<Py<PyTuple>>; 2],
}

impl Deref for Kept {
    type Target = Known;

    fn deref(&self) -> &Known {
        &self.known
    }
}

/// The memory order of new outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// That of the input.
    Input,
    /// Row-major.
    Rows,
}

impl Known {
    /// Whether the plan is for such a call, whatever the output is.
    fn is_for(&self, asked: &Asked, input: &RawTensor<'_>, counts: Option<&Counts<'_>>) -> bool {
        self.input.fit(input)
            && self.asked == *asked
            && match (&self.lengths, counts) {
                (Some(known), Some(counts)) => known.fit(counts),
                (None, None) => true,
                _ => false,
            }
    }

    /// Whether its tensors have a type of which a library has only one.
    pub(crate) fn is_usual(&self) -> bool {
        dlpack::is_usual(self.input.dtype)
    }

    /// Whether the plan is for these tensors.
    fn fits(&self, asked: &Asked, tensors: &Tensors<'_>) -> bool {
        self.is_for(asked, &tensors.input, tensors.counts.as_ref())
            && self.output.fit(&tensors.output)
    }
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

/// A call whose lengths are converted.
///
/// Its tensors are described where they are compared with a plan, right before it runs: Python code
/// that ran since an earlier description may have resized them.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a, 'py> {
    pub(crate) x: &'a Bound<'py, PyAny>,
    pub(crate) asked: &'a Asked,
    pub(crate) counts: Option<&'a Lengths>,
    /// The object that they were converted from.
    pub(crate) lengths: Option<&'a Bound<'py, PyAny>>,
    /// Whether the output is uninitialised.
    pub(crate) fresh: bool,
}

/// The tensors of a call as they are now. Not to be held while Python code may run.
struct Tensors<'a> {
    input: RawTensor<'a>,
    counts: Option<Counts<'a>>,
    output: RawTensor<'a>,
}

impl Tensors<'_> {
    /// Whether one has elements but a null pointer.
    fn lack_memory(&self) -> bool {
        self.input.lacks_memory() || self.output.lacks_memory()
    }
}

/// The plan of such a call is not cached.
struct NeedsFullPath;

/// Lengths or offsets of a call, where they are read.
enum Counts<'a> {
    Device(RawTensor<'a>),
    /// A copy in host memory.
    Host(&'a Lengths),
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

impl<'a, 'py> Call<'a, 'py> {
    /// The size of the input's elements in bytes if they were dense. `None` if the plan of this call
    /// cannot be cached.
    pub(crate) fn bytes(&self) -> Option<usize> {
        let input = describe(self.x)?;
        self.counts(&input).ok()?;
        Some(input.bytes())
    }

    /// The lengths, if there are any; an error for those that need the full path: long ones, which
    /// are not copied, and those that are not where the input is.
    fn counts(&self, input: &RawTensor<'_>) -> Result<Option<Counts<'a>>, NeedsFullPath> {
        let Some(lengths) = self.counts else { return Ok(None) };
        // Whether a mask fits the tensor is not known from its lengths.
        if lengths.mask().is_some() {
            return Err(NeedsFullPath);
        }
        match (lengths.place(), input.place()) {
            (Place::Host, Some(Place::Host)) if lengths.copy().is_some() => {
                Ok(Some(Counts::Host(lengths)))
            }
            (Place::Cuda(_), _) => {
                let raw = lengths.raw(self.x.py()).ok_or(NeedsFullPath)?;
                Ok(Some(Counts::Device(raw)))
            }
            _ => Err(NeedsFullPath),
        }
    }

    /// Describes the tensors, without running Python code.
    fn tensors<'b>(&self, out: &'b Bound<'py, PyAny>) -> Option<Tensors<'b>>
    where
        'a: 'b,
    {
        let input = describe(self.x)?;
        let counts = self.counts(&input).ok()?;
        let output = describe(out).filter(|output| output.writable)?;
        Some(Tensors { input, counts, output })
    }

    /// A cached plan of a call like this one, into an output that is not known yet.
    pub(crate) fn find(&self, fits: impl Fn(&Kept) -> bool) -> Option<Rc<Kept>> {
        let input = describe(self.x)?;
        let counts = self.counts(&input).ok()?;
        find(|kept| kept.is_for(self.asked, &input, counts.as_ref()) && fits(kept))
    }

    /// Runs a call into an output of the same library, planning it now if necessary. `None` if it
    /// needs the full path, which also gives the best errors.
    pub(crate) fn run(&self, out: &Bound<'py, PyAny>) -> PyResult<Option<Rc<Kept>>> {
        let Some(tensors) = self.tensors(out) else { return Ok(None) };
        let kept = match find(|kept| kept.fits(self.asked, &tensors)) {
            // Nothing ran since they were described.
            Some(kept) if kept.place == Place::Host => {
                return Ok(self.go_here(&kept, &tensors)?.then_some(kept));
            }
            Some(kept) => kept,
            None => match self.plan(out, &tensors) {
                Some(kept) => kept,
                None => return Ok(None),
            },
        };
        Ok(self.run_with(&kept, out)?.then_some(kept))
    }

    /// Runs a plan, if it is for these tensors as they are now.
    pub(crate) fn run_with(&self, kept: &Known, out: &Bound<'py, PyAny>) -> PyResult<bool> {
        let stream = match kept.place {
            Place::Host => None,
            // Asks the libraries, which may run Python code.
            Place::Cuda(device) => {
                let is_there = matches!(kept.lengths, Some(CountFacts::Device(_)));
                let lengths = self.lengths.filter(|_| is_there);
                let call = cuda::Call { x: self.x, device, lengths, out, fresh: self.fresh };
                Some(call.ready()?)
            }
        };
        let Some(tensors) = self.tensors(out) else { return Ok(false) };
        if !kept.fits(self.asked, &tensors) {
            return Ok(false);
        }
        match stream {
            None => self.go_here(kept, &tensors),
            Some(stream) => go_there(self.x.py(), kept, &tensors, &stream),
        }
    }

    /// On the CPU. Whether the lengths were valid.
    fn go_here(&self, kept: &Known, tensors: &Tensors<'_>) -> PyResult<bool> {
        if tensors.lack_memory() {
            return Ok(false);
        }
        let (from, to) = (kept.from.of(&tensors.input), kept.to.of(&tensors.output));
        // SAFETY: the library describes these tensors exactly as those that the plan was made for
        // and checked with, and no Python code of this thread ran since. They are borrowed for the
        // whole call; the caller is responsible for other threads that modify them at the same time.
        let (from, to) = unsafe {
            let from = Memory::from_raw(from, kept.from.len);
            (from, MemoryMut::from_raw(to, kept.to.len, true))
        };
        let counts = match &tensors.counts {
            Some(Counts::Host(lengths)) => lengths
                .copied_as()
                .zip(lengths.copy())
                .map(|((dtype, _), bytes)| LengthsMemory::new(dtype, bytes)),
            _ => None,
        };
        let (program, work) = (hint::of_kept(&kept.program), kept.work);
        let go = || program.execute(from, counts, to);
        let done = if work < threads::DETACH_FROM {
            go()
        } else {
            self.x.py().detach(|| threads::run(work, go))
        };
        Ok(done.is_ok())
    }

    /// The plan of a call into such an output, for a caller who keeps it.
    pub(crate) fn known(&self, out: &Bound<'py, PyAny>) -> Option<Known> {
        self.planned(out, &self.tensors(out)?)
    }

    /// Plans a call and caches the plan.
    fn plan(&self, out: &Bound<'py, PyAny>, tensors: &Tensors<'_>) -> Option<Rc<Kept>> {
        let known = self.planned(out, tensors)?;
        let kept = Rc::new(Kept { known, fresh: [const { OnceCell::new() }; 2] });
        // The replaced entry is dropped after the borrow ends, because it may hold Python objects.
        let gone = LATEST.with_borrow_mut(|latest| latest.put(Rc::clone(&kept)));
        drop(gone);
        Some(kept)
    }

    /// Plans a call with all checks. Errors are left to the full path.
    fn planned(&self, out: &Bound<'py, PyAny>, tensors: &Tensors<'_>) -> Option<Known> {
        let (input, output) = (Facts::of(&tensors.input)?, Facts::of(&tensors.output)?);
        let lengths = match &tensors.counts {
            Some(counts) => Some(CountFacts::of(counts)?),
            None => None,
        };
        let operand = Operand::of(self.x).ok()?;
        let view = self.asked.turned(operand.view()).ok()?;
        // Those on a device may have been described long ago.
        let again = match &tensors.counts {
            Some(Counts::Device(_)) => Some(self.counts?.again(self.x.py()).ok()??),
            _ => None,
        };
        let operation = self.asked.operation(again.as_ref().or(self.counts), &view.shape).ok()?;
        if operation.lengths().is_some_and(|lengths| lengths.place() != view.place) {
            return None;
        }
        let (program, [from, counts, to]) =
            operation.visit_anywhere(Make { input: &operand, view: &view, out }).ok()?;
        let known = Known {
            asked: self.asked.clone(),
            input,
            lengths,
            output,
            place: view.place,
            program,
            from,
            counts,
            to,
            work: operation.work_on(&view),
        };
        // The plan is for the tensors as they were described before it was made.
        known.fits(self.asked, &self.tensors(out)?).then_some(known)
    }
}

/// On a device. The library frees tensors in the order of its stream.
fn go_there(
    py: Python<'_>,
    kept: &Known,
    tensors: &Tensors<'_>,
    stream: &cuda::Ready,
) -> PyResult<bool> {
    if tensors.lack_memory() {
        return Ok(false);
    }
    let (from, to) = (kept.from.of(&tensors.input), kept.to.of(&tensors.output));
    // SAFETY: the library describes these tensors exactly as those that the plan was made for and
    // checked with, and frees them in the order of its stream, on which this runs.
    let (from, counts, to) = unsafe {
        let counts = match (&tensors.counts, kept.program.plan().lengths()) {
            (Some(Counts::Device(raw)), Some(plan)) => {
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
    match stream.launch(py, |stream| stream.execute(kept.program.plan(), from, counts, to))? {
        Ok(()) => Ok(true),
        Err(Error::Execute(_)) => Ok(false),
        Err(error) => Err(cuda::failed(error)),
    }
}

/// The cached plan for which this is true.
fn find(fits: impl Fn(&Kept) -> bool) -> Option<Rc<Kept>> {
    LATEST.with_borrow(|latest| latest.plans.iter().find(|kept| fits(kept)).cloned())
}

/// Makes the plan, and computes the byte ranges of the input, the lengths and the output.
struct Make<'a, 'py> {
    input: &'a Operand<'py>,
    view: &'a View,
    out: &'a Bound<'py, PyAny>,
}

impl Visitor for Make<'_, '_> {
    type Output = (Program, [Span; 3]);

    fn visit<'r>(self, operator: &(impl Reversal<'r> + Sync)) -> PyResult<Self::Output> {
        let name = operator.operator();
        let output = Operand::output(name, self.out)?;
        output.check_output(name, self.input)?;
        // SAFETY: the operands are borrowed for the whole call, and only their layouts are used
        // here.
        let (from, to) = unsafe { (self.view.tensor(name)?, output.view().tensor(name)?) };
        let prepared = operator.prepare(from.layout(), to.layout()).map_err(raised)?;
        let counts = prepared.lengths().as_ref().map_or(Span::default(), Span::new);
        Ok((prepared.program().clone(), [Span::new(&from), counts, Span::new(&to)]))
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
