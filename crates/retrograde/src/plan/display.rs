//! A plan in words: what will move, how, and what will be read to decide it.

use super::{Dim, Flow, LengthsPlan, Meaning, Plan, Unit};
use crate::dtype::Grain;
use crate::lengths::{LengthPolicy, Tail};
use std::fmt::{self, Display, Formatter};

impl Display for Plan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            f.write_str("nothing to move")?;
        } else {
            write!(f, "{}: {}", self.verb(), self.amount())?;
            for dim in &self.dims {
                write!(f, "\n  {}", Line { dim, grain: self.unit.grain })?;
            }
        }
        if let Some(lengths) = &self.lengths {
            write!(f, "\n  {}", LengthsLine { lengths, moot: self.keeps_order() })?;
        }
        Ok(())
    }
}

impl Plan {
    fn verb(&self) -> &'static str {
        let any = |flow| self.dims.iter().any(|dim| dim.flow == flow);
        if any(Flow::FlipSegments) {
            return if any(Flow::Flip) {
                "reverse each segment, and whole axes"
            } else {
                "reverse each segment"
            };
        }
        match (any(Flow::FlipPrefix), any(Flow::Flip), self.dims.is_empty()) {
            (true, false, _) => "reverse the start of each lane",
            (true, true, _) => "reverse the start of each lane, and whole axes",
            (false, true, _) => "reverse whole axes",
            (false, false, true) => "copy one block",
            (false, false, false) => "copy, order kept",
        }
    }

    fn amount(&self) -> String {
        match self.units() {
            1 => format!("1 unit of {}", Width(self.unit)),
            units => format!("{units} units of {} each", Width(self.unit)),
        }
    }
}

/// A unit's width: bytes, or bits where it is packed.
struct Width(Unit);

impl Display for Width {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0.grain {
            Grain::Byte => write!(f, "{} B", self.0.count),
            Grain::Packed { .. } => write!(f, "{} bit", self.0.bits()),
        }
    }
}

/// One dimension.
struct Line<'a> {
    dim: &'a Dim,
    grain: Grain,
}

impl Display for Line<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Dim { len, src, dst, lengths, flow } = *self.dim;
        let flow = match flow {
            Flow::Keep => "keep",
            Flow::Flip => "flip",
            Flow::FlipPrefix => "flip prefix",
            Flow::FlipSegments => "flip segments",
        };
        let grain = match self.grain {
            Grain::Byte => "B",
            Grain::Packed { .. } => "elements",
        };
        write!(f, "{len:>10} x {flow:<11}  step {src} {grain} in, {dst} {grain} out")?;
        if lengths != 0 {
            write!(f, ", a length each (step {lengths} B)")?;
        }
        Ok(())
    }
}

/// The lengths and what is done about bad ones.
struct LengthsLine<'a> {
    lengths: &'a LengthsPlan,
    moot: bool,
}

impl Display for LengthsLine<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let LengthsPlan { meaning, dtype, limit, policy, tail, .. } = self.lengths;
        let count = self.lengths.count();
        match (meaning, policy) {
            (Meaning::Offsets, _) => {
                write!(f, "offsets: {count} of {dtype}, ascending from 0 to at most {limit}")?;
            }
            (Meaning::MarkedOffsets, _) => {
                write!(f, "marked offsets: {count}, ascending from 0 to at most {limit}; ")?;
                f.write_str("only marked segments are reversed")?;
            }
            (Meaning::Lengths, LengthPolicy::Strict) => {
                write!(f, "lengths: {count} of {dtype}, each must be in [0, {limit}]")?;
            }
            (Meaning::Lengths, LengthPolicy::Clamp) => {
                write!(f, "lengths: {count} of {dtype}, clamped to {limit}")?;
            }
        }
        if *tail == Tail::Zero {
            f.write_str("; the rest becomes zero")?;
        }
        if self.moot {
            f.write_str(" (checked, but nothing depends on them)")?;
        }
        Ok(())
    }
}
