//! A table (`--table`): what elements of 8, 4 or 2 bits become while they are reversed.

use crate::args::TableName;
use crate::load;
use anyhow::Result;
use retrograde::Table;
use retrograde_io::FilesRead;
use retrograde_program::report;

/// A table, and what it is called.
#[derive(Debug)]
pub(super) struct Lookup {
    pub(super) table: Table,
    pub(super) name: String,
}

impl Lookup {
    pub(super) fn load(name: &TableName, read: &FilesRead) -> Result<Lookup> {
        let table = load::table(name, read)?;
        let name = match name {
            TableName::Dna => "dna".to_owned(),
            TableName::Rna => "rna".to_owned(),
            TableName::File(location) => report::name(location),
        };
        Ok(Lookup { table, name })
    }

    /// Replaces an element, which takes a byte even if it is packed.
    pub(super) fn apply(&self, element: &mut [u8]) {
        let mask = (self.table.entries() - 1) as u8;
        for byte in element {
            *byte = self.table.byte_entries()[usize::from(*byte & mask)] & mask;
        }
    }
}
