//! What `reverseComplement` needs beside a call with a table: the complements, and a look at letters.

use crate::call::Call;
use retrograde::Table;
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

/// What each letter becomes: of DNA, or of RNA.
#[wasm_bindgen]
pub fn complements(rna: bool) -> Vec<u8> {
    let table = if rna { Table::rna() } else { Table::dna() };
    table.byte_entries().to_vec()
}

#[wasm_bindgen]
impl Call {
    /// Refuses the first byte that is no letter among those that are reversed.
    pub fn check_letters(&self, input: &[u8]) -> Result<(), JsError> {
        self.check_bytes("input", input.len())?;
        match self.with(|prepared| prepared.stray(self.layout(), input))? {
            Some(stray) => Err(JsError::new(&format!("reverseComplement: input{stray}"))),
            None => Ok(()),
        }
    }
}
