//! Checks that the host and the kernels declare the same argument structs: the same fields, in the
//! same order, with the same types and offsets.

use super::*;

/// A field of an argument struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// The Rust type.
    pub(crate) kind: String,
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

/// Lists the fields of an argument struct, in declaration order.
pub(crate) trait Fields {
    fn fields() -> Vec<Field>;
}

/// The kernel sources that declare the structs.
const SOURCES: [&str; 9] = [
    include_str!("../../kernels/common.cuh"),
    include_str!("../../kernels/check.cuh"),
    include_str!("../../kernels/columns.cuh"),
    include_str!("../../kernels/packed.cuh"),
    include_str!("../../kernels/rows.cuh"),
    include_str!("../../kernels/scratch.cuh"),
    include_str!("../../kernels/segments.cuh"),
    include_str!("../../kernels/strided.cuh"),
    include_str!("../../kernels/tiles.cuh"),
];

/// The body of the struct `name`.
fn body(source: &str, name: &str) -> String {
    let start = source.split(&format!("\nstruct {name} {{\n")).nth(1);
    let body = start.and_then(|rest| rest.split("\n};").next()).unwrap_or_else(|| panic!("{name}"));
    let lines = body.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join(" ")
}

/// The fields of a struct in the kernels, with offsets by the C++ layout rules. `count` is the
/// value of `N`.
fn declared(source: &str, name: &str, count: usize) -> Vec<Field> {
    let mut at = 0usize;
    let declarations = body(source, name);
    let fields = declarations.split(';').map(str::trim).filter(|text| !text.is_empty());
    let fields = fields.map(|declaration| {
        let (kind, name) = declaration.rsplit_once(' ').unwrap();
        let (name, elements) = match name.split_once('[') {
            Some((name, elements)) => (name, Some(elements.trim_end_matches(']'))),
            None => (name, None),
        };
        let (kind, size, align) = kind_of(source, kind, count);
        let (kind, size) = match elements {
            Some("N") => (format!("[{kind}; N]"), size * count),
            Some(elements) => {
                (format!("[{kind}; {elements}]"), size * elements.parse::<usize>().unwrap())
            }
            None => (kind, size),
        };
        let offset = at.next_multiple_of(align);
        at = offset + size;
        // `type` is a keyword in Rust.
        let name = if name == "type" { "kind" } else { name }.to_owned();
        Field { name, kind, offset, size }
    });
    fields.collect()
}

/// The Rust equivalent of a type in the kernels, with its size and alignment.
fn kind_of(source: &str, kind: &str, count: usize) -> (String, usize, usize) {
    // The host stores device addresses as `u64`.
    if kind.ends_with('*') {
        return ("u64".to_owned(), 8, 8);
    }
    let (name, count, rust) = match kind.split_once('<') {
        None => (kind, count, kind.to_owned()),
        Some((name, "N>")) => (name, count, kind.to_owned()),
        Some((name, "6>")) => (name, FEW, format!("{name}<FEW>")),
        Some((name, "48>")) => (name, MANY, format!("{name}<MANY>")),
        Some(_) => panic!("{kind}"),
    };
    match name {
        "u32" => (rust, 4, 4),
        "u64" | "i64" => (rust, 8, 8),
        _ => {
            let fields = declared(source, name, count);
            let end = fields.last().map_or(0, |field| field.offset + field.size);
            // Every struct has a 64-bit field, so its alignment is 8.
            (rust, end.next_multiple_of(8), 8)
        }
    }
}

/// Every struct that the host and the kernels share: its fields here, and in `source`.
fn pairs(source: &str) -> Vec<(&'static str, Vec<Field>, Vec<Field>)> {
    let pair = |name, here, count| (name, here, declared(source, name, count));
    vec![
        pair("Axis", Axis::fields(), 0),
        pair("Loops", Loops::<FEW>::fields(), FEW),
        pair("Loops", Loops::<MANY>::fields(), MANY),
        pair("Lengths", Lengths::fields(), 0),
        pair("Rows", Rows::fields(), 0),
        pair("Segments", Segments::fields(), 0),
        pair("Strided", Strided::fields(), 0),
        pair("Gather", Gather::fields(), 0),
        pair("Columns", Columns::fields(), 0),
        pair("Passes", Passes::fields(), 0),
        pair("Tiles", Tiles::fields(), 0),
        pair("Packed", Packed::fields(), 0),
        pair("Report", Report::fields(), 0),
        pair("Check", Check::fields(), 0),
    ]
}

fn differences(source: &str) -> Vec<&'static str> {
    let differ = pairs(source).into_iter().filter(|(_, here, there)| here != there);
    differ.map(|(name, ..)| name).collect()
}

#[test]
fn the_kernels_declare_the_same_fields() {
    for (name, here, there) in pairs(&SOURCES.concat()) {
        assert_eq!(here, there, "{name}: the host's, and the kernels'");
    }
}

#[test]
fn a_field_on_one_side_only_or_of_another_type_or_order_is_found() {
    let source = SOURCES.concat();
    assert_eq!(differences(&source), [] as [&str; 0]);
    let edits = [
        // Size checks miss some of these edits, because the size of the struct stays the same.
        ("    u64 run;  // contiguous", "    u64 run;\n    u32 more;  //", "Gather"),
        ("    u32 uniform;", "", "Gather"),
        ("    u32 words;  // bytes", "    i64 words;  // bytes", "Tiles"),
        ("    i64 src_origin;", "    u64 src_origin;", "Packed"),
        ("    u32 src_back;  // of a row", "    u32 back;", "Packed"),
        (
            "    u32 bits_log2;\n    u32 high_first;",
            "    u32 high_first;\n    u32 bits_log2;",
            "Packed",
        ),
        ("    Loops<6> rows;", "    Loops<48> rows;", "Rows"),
        ("    Axis inner[2];", "    Axis inner[3];", "Gather"),
    ];
    for (old, new, name) in edits {
        assert!(source.contains(old), "{old}");
        assert_eq!(differences(&source.replacen(old, new, 1)), [name], "{new}");
    }
}
