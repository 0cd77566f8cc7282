//! Sequences and optional values in `.pb` files: SequenceProto and OptionalProto. Their messages are
//! checked and then passed on as they are.

use super::error::TensorError;
use super::survey::Survey;
use super::wire;
use crate::error::Error;
use crate::graph::Container;
use crate::value::Value;
use bytes::Bytes;
use prost::encoding::WireType;
use std::path::Path;

/// The deepest accepted nesting of sequences.
const DEEPEST: usize = 16;

/// Reads a `.pb` file that holds a sequence or an optional value.
pub fn read_message(path: impl AsRef<Path>, container: Container) -> Result<Value, Error> {
    let path = path.as_ref();
    let content = crate::map::file(path).map_err(|error| Error::read(path, error))?;
    let expected = container.name();
    check(&content, DEEPEST)
        .map_err(|reason| Error::proto(path, TensorError::NotContainer { expected, reason }))?;
    Ok(Value::message(content))
}

/// Checks a message and those in it. Both kinds have the same fields: 3 holds tensors, 5 sequences,
/// 7 optional values. All others but the name and the type are refused.
fn check(content: &Bytes, left: usize) -> Result<(), String> {
    if left == 0 {
        return Err(format!("it is nested more than {DEEPEST} deep"));
    }
    for field in wire::fields(content) {
        let field = field?;
        let inner = || match field.kind {
            WireType::LengthDelimited => check(&content.slice(field.content.clone()), left - 1),
            _ => Err(format!("field {} is not a message", field.number)),
        };
        match field.number {
            1 | 2 => {}
            3 => {
                let tensor = content.slice(field.bytes()?);
                Survey::of(&tensor)?;
            }
            5 | 7 => inner()?,
            number => return Err(format!("field {number} is not a tensor or a sequence")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_hold_tensors_and_each_other() {
        let sequence = |bytes: &[u8]| check(&Bytes::copy_from_slice(bytes), DEEPEST);
        assert_eq!(sequence(&[]), Ok(()));
        // A name, a type, and two empty tensors.
        assert_eq!(sequence(&[0x0A, 1, b's', 0x10, 1, 0x1A, 2, 0x10, 1, 0x1A, 2, 0x10, 1]), Ok(()));
        assert_eq!(sequence(&[0x2A, 2, 0x1A, 0]), Ok(()));
        assert_eq!(sequence(&[0x22, 0]).unwrap_err(), "field 4 is not a tensor or a sequence");
        assert!(sequence(&[0x1A, 9]).is_err());
        let mut deep = vec![];
        for _ in 0..DEEPEST {
            deep = [vec![0x2A, deep.len() as u8], deep].concat();
        }
        assert_eq!(sequence(&deep).unwrap_err(), "it is nested more than 16 deep");
    }
}
