//! How a plan moves on this processor: kernel, loops, what threads share, what is staged. Pure data, made
//! from a plan alone; what runs it chooses nothing.
//!
//! Threads and memory are those of the call: how many parts there are, and whether a buffer can be had.

mod in_place;
mod kernel;
mod packed;
mod units;

pub(super) use in_place::{InPlace, Swapped, lanes_aside};
pub use kernel::Kernel;
pub(super) use packed::{Buffered, Packed, PackedKernel, Spread, Way, unfolded};
pub(super) use units::{Along, Units, UnitsKernel, column_room};

use super::schedule::Hint;
use crate::dtype::{DType, Grain};
use crate::error::{Error, Operator};
use crate::plan::{Flow, Plan};
use crate::table::Table;
use std::fmt;

/// A plan, with how it moves here: chosen once, run often.
///
/// ```
/// use retrograde::cpu::{Kernel, Program};
/// use retrograde::{DType, Layout, Reverse};
///
/// let rows = Layout::dense(DType::U8, &[2, 3])?;
/// let program = Program::new(Reverse::axes([1]).plan(&rows, &rows)?);
/// assert_eq!(program.kernel(), Kernel::Rows);
///
/// let mut out = [0u8; 6];
/// program.execute(b"abcdef".into(), None, (&mut out).into())?;
/// assert_eq!(&out, b"cbafed");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Program {
    pub(super) plan: Plan,
    pub(super) route: Route,
    /// If the plan fits in place.
    pub(super) in_place: Option<InPlace>,
    /// What is looked up in what is reversed.
    pub(super) table: Option<Table>,
}

/// Programs of equal plans are equal.
impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        self.plan == other.plan && self.table == other.table
    }
}

impl Eq for Program {}

impl Program {
    /// The program of a plan.
    #[inline]
    pub fn new(plan: Plan) -> Self {
        let (route, in_place) = (Route::of(&plan), InPlace::of(&plan));
        Program { plan, route, in_place, table: None }
    }

    /// The same with lengths of another type, as [`Plan::with_lengths_type`] has them.
    pub(crate) fn with_lengths_type(self, dtype: DType) -> Self {
        let hint = match &self.route {
            Route::Nothing => None,
            Route::Units(units) => units.hint,
            Route::Packed(packed) => packed.hint,
        };
        let program = Program::new(self.plan.with_lengths_type(dtype));
        let program = Program { table: self.table, ..program };
        match hint {
            Some(hint) => program.hint(hint),
            None => program,
        }
    }

    /// The same with a table for elements of this type, from a plan that was made
    /// [for one](crate::LengthsOperator::plan_for_table), or has no lengths.
    pub fn looking_up(
        self,
        table: &Table,
        operator: Operator,
        elements: DType,
    ) -> Result<Self, Error> {
        table.check(operator, elements)?;
        Ok(self.table(Some(table.clone())))
    }

    /// The same with a table, which was checked.
    pub(crate) fn table(self, table: Option<Table>) -> Self {
        Program { table, ..self }
    }

    /// Runs it out of place as this says of its output, instead of by its size.
    #[must_use]
    pub fn hint(mut self, hint: Hint) -> Self {
        match &mut self.route {
            Route::Nothing => {}
            Route::Units(units) => units.hint = Some(hint),
            Route::Packed(packed) => packed.set_hint(hint),
        }
        self
    }

    /// What elements are looked up in, if in anything.
    pub fn looked_up_in(&self) -> Option<&Table> {
        self.table.as_ref()
    }

    /// What it moves.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The kernel for most of the plan, out of place.
    pub fn kernel(&self) -> Kernel {
        self.route.kernel()
    }

    /// What the kernel does, on units of how many bytes, and what is staged.
    pub fn about(&self) -> String {
        let about = self.kernel().about();
        match &self.route {
            Route::Nothing => about.to_owned(),
            Route::Units(units) => {
                let mut text = format!("{about}, ");
                let axis = self.plan.dims().iter().find(|dim| dim.flow == Flow::FlipPrefix);
                // Writing to a string cannot fail.
                let _ = units.describe(axis, &mut text);
                text
            }
            Route::Packed(packed) => format!("{about}{packed}"),
        }
    }

    /// The kernel in place, if the plan fits.
    pub fn kernel_in_place(&self) -> Option<Kernel> {
        self.in_place.as_ref().map(InPlace::kernel)
    }
}

/// One line: `kernel: what it does`.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kernel(), self.about())
    }
}

/// How a plan is run out of place.
#[derive(Debug, Clone)]
pub(super) enum Route {
    Nothing,
    Units(Units),
    Packed(Packed),
}

impl Route {
    #[inline]
    pub(super) fn of(plan: &Plan) -> Self {
        match plan.unit().grain {
            _ if plan.is_empty() => Route::Nothing,
            Grain::Byte => Route::Units(Units::of(plan)),
            Grain::Packed { .. } => Route::Packed(Packed::of(plan)),
        }
    }

    fn kernel(&self) -> Kernel {
        match self {
            Route::Nothing => Kernel::None,
            Route::Units(units) => units.kernel.named(),
            Route::Packed(packed) => packed.kernel(),
        }
    }
}
