//! The dispatches of a call in order: which kernels run, with which parameters, on which bytes. Needs
//! no device; [`call`](crate::Gpu::bind) records them, and [`list`](crate::list) returns them as data.

use crate::choose::{self, Kernel, Route, Where};
use crate::cut::Window;
use crate::error::Error;
use crate::params::{Grid, MOST_AXES, Params, Read, Site};
use crate::shape::Shape;
use retrograde::{LengthsPlan, Plan, Table};
use std::ops::Range;

/// What a pipeline is specialised for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// Moves; each invocation takes so many words.
    Move(Kernel, u32),
    /// Looks for invalid lengths, or offsets.
    Find { offsets: bool },
    /// Writes the report on lengths, or offsets.
    Conclude { offsets: bool },
}

/// One dispatch of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Dispatch {
    pub(crate) key: Key,
    pub(crate) params: Params,
    pub(crate) grid: Grid,
    /// The bytes of the input to bind; `None` if the kernel swaps elements of the output, or checks.
    pub src: Option<Range<u64>>,
    /// The bytes of the output to bind; `None` if the kernel checks.
    pub dst: Option<Range<u64>>,
    /// Whether the temporary buffer takes the place of the input.
    pub from_temporary: bool,
    /// Whether it takes the place of the output.
    pub to_temporary: bool,
}

impl Dispatch {
    /// The entry point.
    pub fn entry(&self) -> &'static str {
        self.key.entry()
    }

    /// The constants of the pipeline.
    pub fn constants(&self) -> Vec<(&'static str, f64)> {
        self.key.constants()
    }

    /// The parameters, for a uniform buffer.
    pub fn params(&self) -> &[u8] {
        bytemuck::bytes_of(&self.params)
    }

    /// Workgroups.
    pub fn grid(&self) -> [u32; 2] {
        [self.grid.x, self.grid.y]
    }
}

/// Collects the dispatches of a call.
#[derive(Debug)]
pub(crate) struct Dispatches<'a> {
    window: Window,
    words_each: u32,
    most_groups: u32,
    lengths: Option<(&'a LengthsPlan, Read)>,
    table: Option<&'a Table>,
    pub(crate) steps: Vec<Dispatch>,
    /// The bytes of the temporary buffer; 0 if none is needed.
    pub(crate) temporary: u64,
}

/// Refuses what the kernels' parameters cannot count.
pub(crate) fn check_counts(plan: &Plan) -> Result<(), Error> {
    let lengths = plan.lengths();
    let rank = plan.dims().len().max(lengths.map_or(0, |lengths| lengths.dims().len()));
    if rank > MOST_AXES {
        return Err(Error::TooManyDims { rank, most: MOST_AXES });
    }
    let most = u64::from(u32::MAX) - 1;
    let steps = lengths.map_or(0, |lengths| lengths.limit.max(lengths.count()) as u64);
    if steps > most {
        return Err(Error::TooManySteps { steps, most });
    }
    Ok(())
}

impl<'a> Dispatches<'a> {
    pub(crate) fn new(window: Window, words_each: u32, most_groups: u32) -> Self {
        let (lengths, table, steps, temporary) = (None, None, Vec::new(), 0);
        Dispatches { window, words_each, most_groups, lengths, table, steps, temporary }
    }

    /// What is reversed is looked up in this table.
    pub(crate) fn look_up(&mut self, plan: &Plan, table: &'a Table) {
        // Lengths that no dimension reads reverse nothing.
        let reads = plan.dims().iter().any(|dim| dim.flow.reads_lengths());
        self.table = (plan.lengths().is_none() || reads).then_some(table);
    }

    /// A plan as the kernels see it.
    pub(crate) fn shape(&self, plan: &Plan) -> Shape {
        Shape { looks_up: self.table.is_some(), ..Shape::of(plan) }
    }

    /// Moves read these lengths, which are checked first if `read` says so. The report then keeps
    /// the number of the call.
    pub(crate) fn read_lengths(&mut self, plan: &'a LengthsPlan, read: Read, number: u32) {
        self.lengths = Some((plan, read));
        if !read.checked {
            return;
        }
        let offsets = plan.meaning.is_offsets();
        let mut params = Params::check(plan, read);
        params.first = number;
        let grid = params.check_grid(self.most_groups);
        let one = Grid { x: 1, y: 1 };
        for (key, grid) in [(Key::Find { offsets }, grid), (Key::Conclude { offsets }, one)] {
            let (src, dst, from_temporary, to_temporary) = (None, None, false, false);
            self.steps.push(Dispatch { key, params, grid, src, dst, from_temporary, to_temporary });
        }
    }

    /// From one buffer to another. In one buffer only columns run, through a temporary one: a buffer
    /// that is written to cannot be bound a second time to be read. Otherwise returns false.
    pub(crate) fn apart(&mut self, plan: &Plan, place: Where) -> bool {
        let shape = self.shape(plan);
        match choose::choose(plan, &shape, place).route {
            Route::Nothing => {}
            Route::Columns => self.columns(&shape, place),
            _ if place.shared => return false,
            _ => self.gather(shape, place, false, false),
        }
        true
    }

    /// In place; false if the plan has to read a copy.
    pub(crate) fn in_place(&mut self, plan: &Plan, place: Where) -> bool {
        let shape = self.shape(plan);
        let fits = !plan.is_empty() && shape.fits(self.window, place.at, place.at);
        let (kernel, shape) = choose::choose_in_place(plan, shape, place, fits);
        match kernel.route {
            Route::Nothing => {}
            Route::Columns => self.columns(&shape, place),
            Route::Exchange | Route::Swap => {
                let one = self.dispatch(kernel, &shape, place);
                self.steps.push(Dispatch { src: None, ..one });
            }
            _ => return false,
        }
        true
    }

    /// Each piece of a shape, from one buffer to another. The temporary buffer begins with byte 0.
    pub(crate) fn gather(
        &mut self,
        shape: Shape,
        place: Where,
        from_temporary: bool,
        to_temporary: bool,
    ) {
        let from = if from_temporary { 0 } else { place.from };
        let at = if to_temporary { 0 } else { place.at };
        let place = Where { from, at, ..place };
        for piece in shape.pieces(self.window, from, at) {
            let (kernel, piece) = choose::choose_piece(piece, place);
            let one = self.dispatch(kernel, &piece, place);
            self.steps.push(Dispatch { from_temporary, to_temporary, ..one });
        }
    }

    /// Columns through a temporary buffer, which every group of them uses again.
    fn columns(&mut self, shape: &Shape, place: Where) {
        let Some(columns) = shape.columns(place) else { return };
        self.temporary = columns.bytes;
        for [to, from] in shape.through(columns) {
            self.gather(to, place, false, true);
            self.gather(from, place, true, false);
        }
    }

    /// One piece, in buffers from these bytes on.
    fn dispatch(&self, kernel: Kernel, shape: &Shape, place: Where) -> Dispatch {
        let per_byte = shape.grain.per_byte() as u64;
        let site = Site::of(shape, self.window, place.from, place.at);
        let mut params = Params::of(shape, self.lengths, site);
        if let Some(table) = self.table.filter(|_| shape.looks_up) {
            params.table = *table.byte_entries();
        }
        let grid = params.grid(self.words_each, self.most_groups);
        let bytes = |reach, offset| Some(self.window.bytes(&reach, per_byte, offset));
        Dispatch {
            key: Key::Move(kernel, self.words_each),
            params,
            grid,
            src: bytes(shape.src_reach(), place.from),
            dst: bytes(shape.dst_reach(), place.at),
            from_temporary: false,
            to_temporary: false,
        }
    }
}
