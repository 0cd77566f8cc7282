//! Operators: made by kind, given their attributes one by one, lowered to plans by the engine.

use crate::guard::guarded;
use crate::pointer::{Tag, Tagged, destroy, handle_mut, slice, write};
use crate::status::{Failure, Status};
use retrograde::cpu::Program;
use retrograde::{
    Align, Layout, LengthPolicy, LengthsOperator, Orient, Orientation, Plan, Reverse,
    ReverseSegments, ReverseSequence, ReverseSubsequences, Table, Tail,
};

/// A kind of operator.
pub type OperatorKind = u32;

/// Whole axes (OpenVINO Reverse-1). Needs `set_axes`, `set_mask` or `set_all_axes`.
pub const RETROGRADE_REVERSE: OperatorKind = 1;
/// The first steps of each sequence of a batch (ONNX ReverseSequence). Time is axis 0 and the batch
/// axis 1; a length beyond the time axis is an error.
pub const RETROGRADE_REVERSE_SEQUENCE: OperatorKind = 2;
/// The first elements of each lane (DirectML ReverseSubsequences). Needs `set_axis`; a length
/// beyond the axis is clamped.
pub const RETROGRADE_REVERSE_SUBSEQUENCES: OperatorKind = 3;
/// Segments of one axis, cut by offsets (cu_seqlens). Needs `set_axis`.
pub const RETROGRADE_REVERSE_SEGMENTS: OperatorKind = 4;
/// The orientations of images (EXIF). Needs `set_orientation`; `set_axes` names the axes of rows and
/// columns, 0 and 1 by default. The output has their sizes exchanged from orientation 5 on.
pub const RETROGRADE_ORIENT: OperatorKind = 5;

/// What happens to a length beyond the axis. A negative one is always an error.
pub type Policy = u32;

/// It is an error, and nothing is written.
pub const RETROGRADE_STRICT: Policy = 0;
/// It is clamped to the size of the axis.
pub const RETROGRADE_CLAMP: Policy = 1;

/// At which end of the axis sequences are.
pub type Alignment = u32;

/// They start at step 0: the first steps are reversed.
pub const RETROGRADE_ALIGN_START: Alignment = 0;
/// They end at the last step (left-padded batches): the last steps are reversed.
pub const RETROGRADE_ALIGN_END: Alignment = 1;

/// What happens to the steps beyond a length.
pub type Padding = u32;

/// They stay as they are.
pub const RETROGRADE_TAIL_KEEP: Padding = 0;
/// They become zero bytes.
pub const RETROGRADE_TAIL_ZERO: Padding = 1;

/// What happens to an axis that is named twice.
pub type Duplicates = u32;

/// It is reversed once.
pub const RETROGRADE_DUPLICATES_ALLOW: Duplicates = 0;
/// It is an error.
pub const RETROGRADE_DUPLICATES_ERROR: Duplicates = 1;

/// An operator and its attributes.
// The tag comes first, as `Tagged` promises. `cfg_attr` hides that from cbindgen, which would write
// the fields into the header.
#[cfg_attr(true, repr(C))]
#[derive(Debug)]
pub struct Operator {
    tag: Tag,
    kind: Kind,
    table: Option<Table>,
}

#[derive(Debug, Clone)]
enum Kind {
    Reverse(Whole),
    Sequence(Sequence),
    Subsequences { axis: Option<i64>, rule: Rule },
    Segments { axis: Option<i64>, marked: bool },
    Orient { orientation: Option<Orientation>, axes: [i64; 2] },
}

/// Whole axes.
#[derive(Debug, Clone)]
struct Whole {
    axes: Axes,
    distinct: bool,
}

/// A batch of sequences.
#[derive(Debug, Clone, Copy)]
struct Sequence {
    time: i64,
    batch: i64,
    rules: Rules,
    rule: Rule,
}

#[derive(Debug, Clone)]
enum Axes {
    Missing,
    Index(Vec<i64>),
    Mask(Vec<bool>),
    All,
}

#[derive(Debug, Clone, Copy)]
enum Rules {
    /// Any two axes, any element type.
    Ours,
    Onnx(u32),
}

/// How lengths are read.
#[derive(Debug, Clone, Copy)]
struct Rule {
    policy: LengthPolicy,
    align: Align,
    tail: Tail,
}

impl Rule {
    fn new(policy: LengthPolicy) -> Self {
        Rule { policy, align: Align::Start, tail: Tail::Keep }
    }
}

// SAFETY: `repr(C)`, begins with a tag, and is only made with its own
// (`retrograde_operator_create`).
unsafe impl Tagged for Operator {
    const TAG: u64 = u64::from_ne_bytes(*b"rgOperat");
    const NAME: &'static str = "operator";
}

impl Kind {
    fn name(&self) -> retrograde::Operator {
        match self {
            Kind::Reverse(_) => retrograde::Operator::Reverse,
            Kind::Sequence(_) => retrograde::Operator::ReverseSequence,
            Kind::Subsequences { .. } => retrograde::Operator::ReverseSubsequences,
            Kind::Segments { .. } => retrograde::Operator::ReverseSegments,
            Kind::Orient { .. } => retrograde::Operator::Orient,
        }
    }

    fn has_no(&self, attribute: &str) -> Failure {
        Failure::argument(format!("{} has no attribute {attribute}", self.name()))
    }

    fn rule(&mut self, attribute: &str) -> Result<&mut Rule, Failure> {
        match self {
            Kind::Sequence(Sequence { rule, .. }) | Kind::Subsequences { rule, .. } => Ok(rule),
            other => Err(other.has_no(attribute)),
        }
    }

    fn reverse(&mut self, attribute: &str) -> Result<&mut Whole, Failure> {
        match self {
            Kind::Reverse(whole) => Ok(whole),
            other => Err(other.has_no(attribute)),
        }
    }

    fn sequence(&mut self, attribute: &str) -> Result<&mut Sequence, Failure> {
        match self {
            Kind::Sequence(sequence) => Ok(sequence),
            other => Err(other.has_no(attribute)),
        }
    }

    fn needs(&self, attribute: &str) -> Failure {
        Failure::argument(format!("{}: {attribute} has not been set", self.name()))
    }
}

impl Operator {
    /// Which operator it is, for errors.
    pub(crate) fn name(&self) -> retrograde::Operator {
        self.kind.name()
    }

    /// The program of a call, with the table.
    pub(crate) fn program(
        &self,
        input: &Layout,
        lengths: Option<&Layout>,
        output: &Layout,
    ) -> Result<Program, Failure> {
        let program = Program::new(self.plan(input, lengths, output)?);
        Ok(match &self.table {
            Some(table) => program.looking_up(table, self.name(), input.dtype())?,
            None => program,
        })
    }

    /// Lowers a call to a plan. All operators but Reverse and Orient need lengths.
    pub(crate) fn plan(
        &self,
        input: &Layout,
        lengths: Option<&Layout>,
        output: &Layout,
    ) -> Result<Plan, Failure> {
        let lengths = match (&self.kind, lengths) {
            (Kind::Reverse(Whole { axes, distinct }), None) => {
                let reverse = match axes {
                    Axes::Missing => return Err(self.kind.needs("axes")),
                    Axes::Index(axes) => Reverse::axes(axes.iter().copied()),
                    Axes::Mask(mask) => Reverse::mask(mask.iter().copied()),
                    Axes::All => Reverse::all(),
                };
                let reverse = if *distinct { reverse.distinct() } else { reverse };
                return Ok(reverse.plan(input, output)?);
            }
            (&Kind::Orient { orientation, axes: [rows, columns] }, None) => {
                let orientation = orientation.ok_or_else(|| self.kind.needs("orientation"))?;
                return Ok(Orient::new(orientation).axes(rows, columns).plan(input, output)?);
            }
            (Kind::Reverse(_) | Kind::Orient { .. }, Some(_)) => {
                let text = format!("{} takes no lengths: pass a null pointer", self.name());
                return Err(Failure::argument(text));
            }
            (_, Some(lengths)) => lengths,
            (Kind::Segments { .. }, None) => {
                return Err(Failure::argument("ReverseSegments: offsets are missing"));
            }
            (_, None) => {
                return Err(Failure::argument(format!("{}: lengths are missing", self.name())));
            }
        };
        let plan = match &self.kind {
            Kind::Reverse(_) | Kind::Orient { .. } => unreachable!("planned above"),
            &Kind::Sequence(Sequence { time, batch, rules, rule }) => {
                let Rule { policy, align, tail } = rule;
                let sequence = match rules {
                    Rules::Ours => ReverseSequence::new(),
                    Rules::Onnx(opset) => ReverseSequence::onnx().opset(opset),
                };
                let sequence = sequence.time_axis(time).batch_axis(batch);
                self.lower(&sequence.policy(policy).align(align).tail(tail), input, lengths, output)
            }
            &Kind::Subsequences { axis: Some(axis), rule: Rule { policy, align, tail } } => {
                let lanes = ReverseSubsequences::along(axis).policy(policy);
                self.lower(&lanes.align(align).tail(tail), input, lengths, output)
            }
            &Kind::Segments { axis: Some(axis), marked } => {
                let segments = ReverseSegments::along(axis);
                let segments = if marked { segments.marked() } else { segments };
                self.lower(&segments, input, lengths, output)
            }
            kind => return Err(kind.needs("axis")),
        };
        Ok(plan?)
    }

    fn lower(
        &self,
        operator: &impl LengthsOperator,
        input: &Layout,
        lengths: &Layout,
        output: &Layout,
    ) -> Result<Plan, retrograde::Error> {
        match self.table {
            Some(_) => operator.plan_for_table(input, lengths, output),
            None => operator.plan(input, lengths, output),
        }
    }
}

/// Makes an operator with its defaults. Destroy it with `retrograde_operator_destroy`.
///
/// # Safety
/// `result` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_operator_create(
    kind: OperatorKind,
    result: *mut *mut Operator,
) -> Status {
    guarded(|| {
        // SAFETY: as the caller promises. Null until the call succeeds.
        unsafe { write(result, std::ptr::null_mut(), "result")? };
        let kind = match kind {
            RETROGRADE_REVERSE => Kind::Reverse(Whole { axes: Axes::Missing, distinct: false }),
            RETROGRADE_REVERSE_SEQUENCE => {
                let rule = Rule::new(LengthPolicy::Strict);
                Kind::Sequence(Sequence { time: 0, batch: 1, rules: Rules::Ours, rule })
            }
            RETROGRADE_REVERSE_SUBSEQUENCES => {
                Kind::Subsequences { axis: None, rule: Rule::new(LengthPolicy::Clamp) }
            }
            RETROGRADE_REVERSE_SEGMENTS => Kind::Segments { axis: None, marked: false },
            RETROGRADE_ORIENT => Kind::Orient { orientation: None, axes: [0, 1] },
            other => {
                let text = format!("kind is {other}, which is no operator: expected 1 to 5");
                return Err(Failure::argument(text));
            }
        };
        let operator = Operator { tag: Tag::of::<Operator>(), kind, table: None };
        let operator = Box::into_raw(Box::new(operator));
        // SAFETY: as the caller promises.
        unsafe { write(result, operator, "result") }
    })
}

/// Destroys an operator. Calls that were prepared from it stay valid. Null is ignored.
///
/// # Safety
/// `op` is null or came from `retrograde_operator_create`, is destroyed once, and no other
/// thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_operator_destroy(op: *mut Operator) {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { destroy(op) });
}

/// Changes an operator.
///
/// # Safety
/// As for [`handle_mut`].
unsafe fn change(
    op: *mut Operator,
    change: impl FnOnce(&mut Kind) -> Result<(), Failure>,
) -> Status {
    guarded(|| {
        // SAFETY: as the caller promises.
        change(&mut unsafe { handle_mut(op)? }.kind)
    })
}

/// Reverse: the axes to reverse. Negative ones count from the end. None at all copies the tensor.
/// Orient: the axes of rows and columns, which are two.
///
/// # Safety
/// `op` is null or valid, and no other thread uses it; `axes` is null or has `count` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_operator_set_axes(
    op: *mut Operator,
    axes: *const i64,
    count: usize,
) -> Status {
    let set = |kind: &mut Kind| {
        // SAFETY: as the caller promises.
        let given = unsafe { slice(axes, count, "axes")? };
        if let Kind::Orient { axes, .. } = kind {
            *axes = given.try_into().map_err(|_| {
                Failure::argument(format!("Orient: axes has {count} entries, expected 2"))
            })?;
            return Ok(());
        }
        kind.reverse("axes")?.axes = Axes::Index(given.to_vec());
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { change(op, set) }
}

/// Reverse: one entry per axis; axes whose entry is not 0 are reversed.
///
/// # Safety
/// `op` is null or valid, and no other thread uses it; `mask` is null or has `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_operator_set_mask(
    op: *mut Operator,
    mask: *const u8,
    count: usize,
) -> Status {
    let set = |kind: &mut Kind| {
        // SAFETY: as the caller promises.
        let given = unsafe { slice(mask, count, "mask")? };
        let mask = given.iter().map(|&entry| entry != 0).collect();
        kind.reverse("mask")?.axes = Axes::Mask(mask);
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { change(op, set) }
}

/// Reverse: all axes.
///
/// # Safety
/// `op` is null or valid, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_operator_set_all_axes(op: *mut Operator) -> Status {
    let set = |kind: &mut Kind| {
        kind.reverse("axes")?.axes = Axes::All;
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { change(op, set) }
}

/// Reverse: whether an axis may be named twice (the default) or that is an error.
///
/// # Safety
/// `op` is null or valid, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_operator_set_duplicates(
    op: *mut Operator,
    duplicates: Duplicates,
) -> Status {
    let set = |kind: &mut Kind| {
        let given = choice("duplicates", duplicates, [false, true])?;
        kind.reverse("duplicates")?.distinct = given;
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { change(op, set) }
}

/// ReverseSequence: the axis that is reversed, 0 by default. Negative ones count from the end.
///
/// # Safety
/// `op` is null or valid, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_operator_set_time_axis(op: *mut Operator, axis: i64) -> Status {
    let set = |kind: &mut Kind| {
        kind.sequence("time_axis")?.time = axis;
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { change(op, set) }
}

/// ReverseSequence: the axis that lengths run along, 1 by default. Negative ones count from the end.
///
/// # Safety
/// `op` is null or valid, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_operator_set_batch_axis(
    op: *mut Operator,
    axis: i64,
) -> Status {
    let set = |kind: &mut Kind| {
        kind.sequence("batch_axis")?.batch = axis;
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { change(op, set) }
}

/// ReverseSequence: only what this ONNX opset allows (10 or later): axes 0 and 1, its element types,
/// and lengths of type I64.
///
/// # Safety
/// `op` is null or valid, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_operator_set_onnx_opset(
    op: *mut Operator,
    opset: u32,
) -> Status {
    let set = |kind: &mut Kind| {
        if opset < 10 {
            return Err(Failure::from(retrograde::Error::Opset { opset }));
        }
        kind.sequence("onnx_opset")?.rules = Rules::Onnx(opset);
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { change(op, set) }
}

/// ReverseSubsequences and ReverseSegments: the axis, which may count from the end.
///
/// # Safety
/// `op` is null or valid, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_operator_set_axis(op: *mut Operator, axis: i64) -> Status {
    let set = |kind: &mut Kind| match kind {
        Kind::Subsequences { axis: place, .. } | Kind::Segments { axis: place, .. } => {
            *place = Some(axis);
            Ok(())
        }
        other => Err(other.has_no("axis")),
    };
    // SAFETY: as the caller promises.
    unsafe { change(op, set) }
}

/// Orient: the EXIF number of the images, 1 to 8, which become upright: 2 mirrors them, 3 turns by
/// half, 4 flips upside down, 5 transposes, 6 turns clockwise, 7 is the transverse, and 8 turns
/// counter-clockwise.
///
/// # Safety
/// `op` is null or valid, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_operator_set_orientation(
    op: *mut Operator,
    exif: u32,
) -> Status {
    let set = |kind: &mut Kind| {
        let Kind::Orient { orientation, .. } = kind else {
            return Err(kind.has_no("orientation"));
        };
        *orientation = Some(Orientation::from_exif(exif.into()).map_err(retrograde::Error::from)?);
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { change(op, set) }
}

/// ReverseSequence and ReverseSubsequences: what happens to a length beyond the axis.
///
/// # Safety
/// `op` is null or valid, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_operator_set_policy(
    op: *mut Operator,
    policy: Policy,
) -> Status {
    let set = |kind: &mut Kind| {
        let given = choice("policy", policy, [LengthPolicy::Strict, LengthPolicy::Clamp])?;
        kind.rule("policy")?.policy = given;
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { change(op, set) }
}

/// ReverseSequence and ReverseSubsequences: at which end of the axis sequences are.
///
/// # Safety
/// `op` is null or valid, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_operator_set_align(
    op: *mut Operator,
    align: Alignment,
) -> Status {
    let set = |kind: &mut Kind| {
        let given = choice("align", align, [Align::Start, Align::End])?;
        kind.rule("align")?.align = given;
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { change(op, set) }
}

/// ReverseSequence and ReverseSubsequences: what happens to the steps beyond a length.
///
/// # Safety
/// `op` is null or valid, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_operator_set_tail(op: *mut Operator, tail: Padding) -> Status {
    let set = |kind: &mut Kind| {
        let given = choice("tail", tail, [Tail::Keep, Tail::Zero])?;
        kind.rule("tail")?.tail = given;
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { change(op, set) }
}

/// ReverseSegments: whether offsets are marked: of type I64, each twice what it would be, and one more
/// where the segment that it starts is reversed. The others stay, as sequences and lanes do whose length
/// is 0.
///
/// # Safety
/// `op` is null or valid, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_operator_set_marked(op: *mut Operator, marked: u32) -> Status {
    let set = |kind: &mut Kind| {
        let given = choice("marked", marked, [false, true])?;
        match kind {
            Kind::Segments { marked, .. } => *marked = given,
            other => return Err(other.has_no("marked")),
        }
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { change(op, set) }
}

/// A table that elements are looked up in while they are reversed: 256 entries for elements of one
/// byte, 16 for packed elements of 4 bits, 4 for those of 2 bits. Elements that are not reversed keep
/// their value. None at all removes it.
///
/// # Safety
/// `op` is null or valid, and no other thread uses it; `entries` is null or has `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_operator_set_table(
    op: *mut Operator,
    entries: *const u8,
    count: usize,
) -> Status {
    guarded(|| {
        // SAFETY: as the caller promises.
        let (operator, entries) = unsafe { (handle_mut(op)?, slice(entries, count, "entries")?) };
        operator.table = if entries.is_empty() { None } else { Some(Table::new(entries)?) };
        Ok(())
    })
}

fn choice<T>(name: &str, value: u32, choices: [T; 2]) -> Result<T, Failure> {
    match (value, choices) {
        (0, [first, _]) => Ok(first),
        (1, [_, second]) => Ok(second),
        (other, _) => Err(Failure::argument(format!("{name} is {other}, expected 0 or 1"))),
    }
}
