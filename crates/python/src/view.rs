//! Where the elements of a caller's tensor are, independent of its library.

use crate::errors::raised;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use retrograde::{DType, Error, Operator, TensorMut, TensorRef};
use smallvec::SmallVec;

/// Sizes of the axes; no heap allocation up to rank 8.
pub(crate) type Shape = SmallVec<[usize; 8]>;
/// Strides of the axes, the same way.
pub(crate) type Strides = SmallVec<[isize; 8]>;

/// The location and layout of an operand's elements.
#[derive(Clone)]
pub(crate) struct View {
    pub(crate) dtype: DType,
    /// Element `[0, 0, ..]`.
    pub(crate) origin: *mut u8,
    pub(crate) shape: Shape,
    /// In bytes, or in elements of a packed type.
    pub(crate) strides: Strides,
    pub(crate) place: Place,
}

/// The memory that holds an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Memory that the CPU can access.
    Host,
    /// Memory of a CUDA device, by its number.
    Cuda(usize),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Host => f.write_str("the CPU"),
            Place::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

impl View {
    /// The size of the elements in bytes if they were dense.
    pub(crate) fn bytes(&self) -> usize {
        let bits = self.dtype.bits().unwrap_or(0);
        self.shape.iter().fold(bits, |all, &size| all.saturating_mul(size)).div_ceil(8)
    }

    /// # Safety
    /// The operand that this is a view of is alive for `'a`, and the caller does not let anything
    /// write to it meanwhile.
    pub(crate) unsafe fn tensor<'a>(&self, operator: Operator) -> PyResult<TensorRef<'a>> {
        // SAFETY: the library that created the operand guarantees that its strides stay inside its
        // memory; the caller promises the rest.
        unsafe { TensorRef::from_raw(self.dtype, self.origin, &self.shape, &self.strides) }
            .map_err(|source| raised(Error::Argument { operator, argument: "input", source }))
    }

    /// # Safety
    /// As for [`View::tensor`]; it is writable, and all of it is initialised or is not read.
    pub(crate) unsafe fn tensor_mut<'a>(&self, operator: Operator) -> PyResult<TensorMut<'a>> {
        // SAFETY: as above.
        unsafe { TensorMut::from_raw(self.dtype, self.origin, &self.shape, &self.strides) }
            .map_err(|source| raised(Error::Argument { operator, argument: "out", source }))
    }

    /// A description of the same elements whose [dense strides](Self::dense_strides) are row-major.
    /// Its own strides are not those of the elements.
    pub(crate) fn in_rows(&self) -> Self {
        View { strides: Strides::from_elem(0, self.shape.len()), ..self.clone() }
    }

    /// Strides of a dense tensor with the same memory order as this one, as in `numpy.copy`, to
    /// preserve locality.
    pub(crate) fn dense_strides(&self, operator: &str, width: usize) -> PyResult<Strides> {
        let mut order: Vec<usize> = (0..self.shape.len()).collect();
        // Axes of size 1 have no meaningful stride; a stable sort keeps their position.
        order.sort_by_key(|&axis| std::cmp::Reverse(self.strides[axis].unsigned_abs()));
        let mut strides = Strides::from_elem(0, self.shape.len());
        let mut step = width;
        for &axis in order.iter().rev() {
            strides[axis] = isize::try_from(step).map_err(|_| too_large(operator, &self.shape))?;
            step = step
                .checked_mul(self.shape[axis].max(1))
                .ok_or_else(|| too_large(operator, &self.shape))?;
        }
        isize::try_from(step).map_err(|_| too_large(operator, &self.shape))?;
        Ok(strides)
    }
}

fn too_large(operator: &str, shape: &[usize]) -> PyErr {
    PyValueError::new_err(format!("{operator}: an output of shape {shape:?} is too large"))
}
