//! Checks values against what is declared about them. A named size has one value in a run.

use super::declared::{Declared, Dim};
use super::error::GraphError;
use crate::words::short;
use retrograde::DType;
use std::collections::HashMap;

/// The values of named sizes, and where each was bound.
#[derive(Debug, Default)]
pub(super) struct Sizes(HashMap<String, (usize, String)>);

/// Checks a type against the declared one.
pub(super) fn check_type(what: &str, dtype: DType, declared: &Declared) -> Result<(), GraphError> {
    if declared.dtype.is_some_and(|declared| declared != dtype) {
        let (value, declared) = (short(what), declared.clone());
        return Err(GraphError::OtherType { value, dtype, declared });
    }
    Ok(())
}

/// Checks a shape against the declared one, without named sizes.
pub(super) fn check_shape(
    what: &str,
    shape: &[usize],
    declared: &Declared,
) -> Result<(), GraphError> {
    let Some(dims) = &declared.dims else { return Ok(()) };
    let fits = |(&size, dim): (&usize, &Dim)| match dim {
        Dim::Any | Dim::Named(_) => true,
        Dim::Fixed(fixed) => size == *fixed,
        Dim::Between(low, high) => (*low..=*high).contains(&size),
    };
    if shape.len() != dims.len() || !shape.iter().zip(dims).all(fits) {
        let (value, shape, declared) = (short(what), shape.to_vec(), declared.clone());
        return Err(GraphError::OtherShape { value, shape, declared });
    }
    Ok(())
}

impl Sizes {
    pub(super) fn check(
        &mut self,
        what: &str,
        dtype: DType,
        shape: &[usize],
        declared: &Declared,
    ) -> Result<(), GraphError> {
        check_type(what, dtype, declared)?;
        check_shape(what, shape, declared)?;
        let Some(dims) = &declared.dims else { return Ok(()) };
        for (axis, (&size, dim)) in shape.iter().zip(dims).enumerate() {
            let Dim::Named(name) = dim else { continue };
            let (bound, by) = self.0.entry(name.clone()).or_insert_with(|| (size, short(what)));
            if *bound != size {
                let (value, dim, by) = (short(what), dim.clone(), by.clone());
                return Err(GraphError::NamedSize { value, axis, size, dim, bound: *bound, by });
            }
        }
        Ok(())
    }
}
