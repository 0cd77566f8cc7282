//! What `reverseComplement` needs beside a call with a table: the complements, and a look at letters.

use crate::call::Call;
use retrograde::Table;
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

/// The letters of nucleic acids, those of IUPAC included.
const LETTERS: &str = "ACGTURYSWKMBDHVN";

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
        let is_stray = |byte: &u8| !LETTERS.as_bytes().contains(&byte.to_ascii_uppercase());
        let mut strays: Vec<u8> = input.iter().map(|byte| u8::from(is_stray(byte))).collect();
        if !strays.contains(&1) {
            return Ok(());
        }
        // The engine knows what is reversed: it counts strays there. After two runs each is where it was.
        let count =
            Table::bytes(&std::array::from_fn(|stray| [0, 2, 3].get(stray).map_or(0, |&n| n)));
        let counting = self.with_table(count);
        for _ in 0..2 {
            counting.run_in_place(&mut strays)?;
        }
        let Some(at) = strays.iter().position(|&stray| stray == 3) else { return Ok(()) };
        let shape = self.layout().shape();
        let mut index = vec![0; shape.len()];
        let mut rest = at;
        for (place, size) in index.iter_mut().zip(shape).rev() {
            (*place, rest) = (rest % size, rest / size);
        }
        let byte = input[at];
        Err(JsError::new(&format!(
            "reverseComplement: input{index:?} is {:?} ({byte}), expected one of {LETTERS}, in either case",
            char::from(byte)
        )))
    }
}
