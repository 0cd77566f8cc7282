//! What a device runs.

use crate::error::Error;
use retrograde::{Plan, Prepared, Table};

/// What a device runs: a plan, or a prepared call, which also has lengths, masks and tables. Errors of
/// a plan name no operator.
#[derive(Debug, Clone, Copy)]
pub struct Movement<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) prepared: Option<&'a Prepared<'a>>,
}

impl<'a> From<&'a Plan> for Movement<'a> {
    fn from(plan: &'a Plan) -> Self {
        Movement { plan, prepared: None }
    }
}

impl<'a> From<&'a Prepared<'a>> for Movement<'a> {
    fn from(prepared: &'a Prepared<'a>) -> Self {
        Movement { plan: prepared.plan(), prepared: Some(prepared) }
    }
}

impl<'a> Movement<'a> {
    pub(crate) fn table(&self) -> Option<&'a Table> {
        self.prepared.and_then(Prepared::table)
    }

    /// Adds what a plan does not know: the operator, and the index of a wrong length.
    pub(crate) fn explain(&self, error: Error) -> Error {
        match (self.prepared, error) {
            (Some(prepared), Error::Execute(source)) => Error::Call(prepared.explain(source)),
            (_, error) => error,
        }
    }
}
