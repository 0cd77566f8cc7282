//! Encodes a model file with a single ReverseSequence directly: protobuf consists only of tags and
//! lengths, and this avoids a dependency.

/// The file for float inputs of this rank.
pub(crate) fn reverse_sequence(time: usize, rank: usize) -> Vec<u8> {
    let batch = 1 - time;
    let node = [
        text(1, "x"),
        text(1, "lengths"),
        text(2, "y"),
        text(4, "ReverseSequence"),
        field(5, &attribute("batch_axis", batch)),
        field(5, &attribute("time_axis", time)),
    ];
    const FLOAT: u64 = 1;
    const INT64: u64 = 7;
    let graph = [
        field(1, &node.concat()),
        text(2, "g"),
        field(11, &value("x", FLOAT, rank)),
        field(11, &value("lengths", INT64, 1)),
        field(12, &value("y", FLOAT, rank)),
    ];
    let opset = [text(1, ""), number(2, 17)];
    [number(1, 8), field(7, &graph.concat()), field(8, &opset.concat())].concat()
}

/// An attribute that is an integer.
fn attribute(name: &str, value: usize) -> Vec<u8> {
    const INT: u64 = 2;
    [text(1, name), number(3, value as u64), number(20, INT)].concat()
}

/// A tensor with axes of any size.
fn value(name: &str, element: u64, rank: usize) -> Vec<u8> {
    let dims: Vec<u8> =
        (0..rank).flat_map(|axis| field(1, &text(2, &format!("{name}{axis}")))).collect();
    let tensor = [number(1, element), field(2, &dims)].concat();
    [text(1, name), field(2, &field(1, &tensor))].concat()
}

fn text(tag: u64, text: &str) -> Vec<u8> {
    field(tag, text.as_bytes())
}

/// A length-delimited field.
fn field(tag: u64, bytes: &[u8]) -> Vec<u8> {
    [varint(tag << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

/// A varint field.
fn number(tag: u64, value: u64) -> Vec<u8> {
    [varint(tag << 3), varint(value)].concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}
