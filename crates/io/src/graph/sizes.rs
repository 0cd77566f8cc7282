//! Checks values against what is declared about them. A named size has one value in a run.

use super::declared::{Declared, Dim};
use super::error::GraphError;
use super::view::View;
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

/// Checks that a value is a tensor, or is none, as declared. Nothing may be declared.
pub(super) fn check_container(
    what: &str,
    is_message: bool,
    declared: &Declared,
) -> Result<(), GraphError> {
    let free = *declared == Declared::default();
    if is_message == declared.container.is_some() || (free && is_message) {
        return Ok(());
    }
    let found = if is_message { "a sequence or an optional value" } else { "a tensor" };
    let (value, declared) = (short(what), declared.clone());
    Err(GraphError::OtherKind { value, found, declared })
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
        value: &View,
        declared: &Declared,
    ) -> Result<(), GraphError> {
        let is = value.value().is_message();
        check_container(what, is, declared)?;
        if is {
            return Ok(());
        }
        let (dtype, shape) = (value.dtype(), value.shape());
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
