//! Reverse: whole axes, by the rules of OpenVINO Reverse-1.

use super::{ReverseBatch, check_output, resolve_axis};
use crate::dtype::DType;
use crate::error::{Error, Operator};
use crate::layout::Layout;
use crate::plan::{Flow, Plan};
use crate::tensor::TensorRef;
use smallvec::SmallVec;
use std::str::FromStr;

const OPERATOR: Operator = Operator::Reverse;

/// Reverses whole axes (OpenVINO `Reverse-1`).
///
/// Axes may count from the end, and naming one twice reverses it once. With no axes the
/// tensor is copied unchanged.
///
/// ```
/// use retrograde::prelude::*;
///
/// let x = [1, 2, 3,
///          4, 5, 6];
/// let y = Reverse::axes([-1]).to_vec(&x, &[2, 3])?;
/// assert_eq!(y, [3, 2, 1,
///                6, 5, 4]);
///
/// let y = Reverse::mask([true, false]).to_vec(&x, &[2, 3])?;
/// assert_eq!(y, [4, 5, 6,
///                1, 2, 3]);
/// # Ok::<(), retrograde::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reverse {
    which: Which,
    distinct: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Which {
    /// i128 holds every value of every integer type an axes tensor may have.
    Index(SmallVec<[i128; 4]>),
    Mask(SmallVec<[bool; 8]>),
    All,
}

/// How a tensor of axes is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReverseMode {
    /// It lists axes.
    Index,
    /// It has one boolean per axis.
    Mask,
}

impl FromStr for ReverseMode {
    type Err = Error;

    /// Reads the `mode` attribute.
    fn from_str(mode: &str) -> Result<Self, Error> {
        match mode {
            "index" => Ok(ReverseMode::Index),
            "mask" => Ok(ReverseMode::Mask),
            other => Err(Error::UnknownMode { mode: other.to_owned() }),
        }
    }
}

impl From<Which> for Reverse {
    fn from(which: Which) -> Self {
        Reverse { which, distinct: false }
    }
}

impl Reverse {
    /// Along these axes.
    pub fn axes(axes: impl IntoIterator<Item = i64>) -> Self {
        Which::Index(axes.into_iter().map(i128::from).collect()).into()
    }

    /// Along every axis whose entry is true; there must be one entry per axis.
    pub fn mask(mask: impl IntoIterator<Item = bool>) -> Self {
        Which::Mask(mask.into_iter().collect()).into()
    }

    /// Along all axes.
    pub fn all() -> Self {
        Which::All.into()
    }

    /// Makes it an error to name an axis twice, as in NumPy, PyTorch, TensorFlow and WebNN.
    ///
    /// ```
    /// use retrograde::prelude::*;
    ///
    /// let error = Reverse::axes([1, -1]).distinct().to_vec(&[1, 2], &[1, 2]).unwrap_err();
    /// let text = "Reverse: axes[1] is -1, the same axis as axes[0], expected distinct axes";
    /// assert_eq!(error.to_string(), text);
    /// ```
    #[must_use]
    pub fn distinct(mut self) -> Self {
        self.distinct = true;
        self
    }

    /// On a batch along this axis, of which a [mask](ReverseBatch::where_) says which entries are
    /// reversed.
    pub fn batch(self, batch_axis: i64) -> ReverseBatch {
        ReverseBatch::new(self, batch_axis)
    }

    /// Along the axes that a tensor names, as OpenVINO's second input does: 1-D, of any
    /// integer type for [`ReverseMode::Index`], of booleans for [`ReverseMode::Mask`].
    pub fn from_tensor(mode: ReverseMode, axes: &TensorRef<'_>) -> Result<Self, Error> {
        let dtype = axes.layout().dtype();
        match mode {
            ReverseMode::Index if !dtype.is_integer() => return Err(Error::AxesType { dtype }),
            ReverseMode::Mask if dtype != DType::Bool => return Err(Error::MaskType { dtype }),
            _ => {}
        }
        if axes.layout().rank() != 1 {
            return Err(Error::AxesRank { shape: axes.layout().shape().to_vec() });
        }
        let values = crate::integers::values(axes);
        Ok(match mode {
            ReverseMode::Index => Which::Index(values.collect()).into(),
            ReverseMode::Mask => Which::Mask(values.map(|v| v != 0).collect()).into(),
        })
    }

    /// Checks the operands and lowers them to a plan.
    pub fn plan(&self, src: &Layout, dst: &Layout) -> Result<Plan, Error> {
        let flips = self.flips(src.rank())?;
        check_output(OPERATOR, src, dst)?;
        let flow_of = |axis: usize| if flips[axis] { Flow::Flip } else { Flow::Keep };
        Ok(Plan::build(src, dst, flow_of, None))
    }

    /// Which axes of a tensor of this rank are reversed.
    pub(super) fn flips(&self, rank: usize) -> Result<SmallVec<[bool; 8]>, Error> {
        match &self.which {
            Which::All => Ok(SmallVec::from_elem(true, rank)),
            Which::Mask(mask) if mask.len() != rank => {
                Err(Error::MaskLength { len: mask.len(), rank })
            }
            Which::Mask(mask) => Ok(mask.clone()),
            Which::Index(axes) => {
                let mut flips = SmallVec::from_elem(false, rank);
                for (position, &axis) in axes.iter().enumerate() {
                    let argument = || format!("axes[{position}]");
                    let at = resolve_axis(OPERATOR, argument, axis, rank)?;
                    if flips[at] && self.distinct {
                        let same = |&&other: &&i128| other.rem_euclid(rank as i128) == at as i128;
                        let first = axes[..position].iter().take_while(|axis| !same(axis)).count();
                        return Err(Error::AxisTwice { position, value: axis, first });
                    }
                    flips[at] = true;
                }
                Ok(flips)
            }
        }
    }
}
