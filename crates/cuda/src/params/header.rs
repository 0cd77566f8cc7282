//! The header that the kernels include, `kernels/arguments.cuh`: written from the constants and the
//! structs here. `RETROGRADE_WRITE_HEADERS=1` writes it; otherwise the test says that it is stale.

use super::*;
use std::fmt::Write as _;
use std::path::Path;

/// A struct of arguments.
pub(crate) struct Struct {
    pub(crate) name: &'static str,
    /// The name of its parameter, or nothing.
    pub(crate) parameter: &'static str,
    pub(crate) fields: Vec<Field>,
    pub(crate) about: String,
}

pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// The Rust type.
    pub(crate) kind: &'static str,
    pub(crate) about: String,
}

/// What the kernels call a struct, and how it is declared there.
pub(crate) trait Declared {
    fn declared() -> Struct;
}

/// The longest line.
const WIDTH: usize = 100;

/// Text as comments of C++, in lines that are not too long.
fn comment(header: &mut String, indent: &str, text: &str) {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && indent.len() + 3 + line.len() + 1 + word.len() > WIDTH {
            writeln!(header, "{indent}// {line}").unwrap();
            line.clear();
        }
        let space = if line.is_empty() { "" } else { " " };
        write!(line, "{space}{word}").unwrap();
    }
    if !line.is_empty() {
        writeln!(header, "{indent}// {line}").unwrap();
    }
}

/// A declaration with its comment, behind it if there is room.
fn declare(header: &mut String, indent: &str, declaration: &str, about: &str) {
    let behind = format!("{indent}{declaration}  // {}", about.trim().trim_end_matches('.'));
    if about.is_empty() {
        writeln!(header, "{indent}{declaration}").unwrap();
    } else if behind.len() <= WIDTH && !about.trim_end_matches('.').contains(". ") {
        writeln!(header, "{behind}").unwrap();
    } else {
        comment(header, indent, about);
        writeln!(header, "{indent}{declaration}").unwrap();
    }
}

/// How the kernels declare a field.
fn declaration(Field { name, kind, .. }: &Field) -> String {
    if let Some((kind, count)) = kind.strip_prefix('[').and_then(|kind| kind.split_once("; ")) {
        let count = count.trim_end_matches(']');
        return format!("{kind} {name}[{count}];");
    }
    let kind = match *kind {
        "Input" => "const u8*",
        "Output" => "u8*",
        "Flag" => "const u32*",
        "Counter" => "u32*",
        "ReportAt" => "Report*",
        other => other,
    };
    format!("{kind} {name};")
}

/// The declaration of a struct, and the size that it must have.
fn structure<T: Declared>(header: &mut String) {
    let Struct { name, parameter, fields, about } = T::declared();
    header.push('\n');
    comment(header, "", &about);
    if !parameter.is_empty() {
        writeln!(header, "template <int {parameter}>").unwrap();
    }
    writeln!(header, "struct {name} {{").unwrap();
    for field in &fields {
        declare(header, "    ", &declaration(field), &field.about);
    }
    header.push_str("};\n");
    let of = if parameter.is_empty() { String::new() } else { "<FEW>".to_owned() };
    writeln!(header, "static_assert(sizeof({name}{of}) == {}, \"{name}\");", size_of::<T>())
        .unwrap();
}

/// The whole header.
fn header() -> String {
    let mut header = String::from(
        "// Constants and arguments that the host and the kernels share, written from src/constants.rs\n\
         // and src/params.rs by `scripts/build headers`. Do not edit.\n\
         #pragma once\n\n\
         typedef unsigned char u8;\n\
         typedef unsigned short u16;\n\
         typedef unsigned int u32;\n\
         typedef unsigned long long u64;\n\
         typedef signed char i8;\n\
         typedef short i16;\n\
         typedef int i32;\n\
         typedef long long i64;\n\n",
    );
    for constants::Constant { name, kind, value, about } in constants::shared() {
        declare(&mut header, "", &format!("const {kind} {name} = {value};"), &about);
    }
    let all: [fn(&mut String); 14] = [
        structure::<Axis>,
        structure::<Loops<FEW>>,
        structure::<Lengths>,
        structure::<Rows>,
        structure::<Segments>,
        structure::<Strided>,
        structure::<Gather>,
        structure::<Columns>,
        structure::<Strips>,
        structure::<Tiles>,
        structure::<Packed>,
        structure::<Report>,
        structure::<Check>,
        structure::<Table>,
    ];
    all.into_iter().for_each(|one| one(&mut header));
    header
}

#[test]
fn the_header_of_the_kernels_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/arguments.cuh");
    let made = header();
    if std::env::var_os("RETROGRADE_WRITE_HEADERS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let held = std::fs::read_to_string(&path).unwrap();
    assert!(held == made, "{} is stale: run scripts/build headers", path.display());
}

/// C++ lays out fields as `repr(C)` does if it declares the same ones; that no struct has padding shows
/// that none is left to its rules.
#[test]
fn structs_have_no_padding() {
    fn size(kind: &str) -> usize {
        match kind {
            "u32" => 4,
            "u64" | "i64" | "Input" | "Output" | "Flag" | "Counter" | "ReportAt" => 8,
            "Axis" => size_of::<Axis>(),
            "Lengths" => size_of::<Lengths>(),
            "Columns" => size_of::<Columns>(),
            "Loops<FEW>" => size_of::<Loops<FEW>>(),
            "Loops<MANY>" => size_of::<Loops<MANY>>(),
            "[Axis; N]" => FEW * size_of::<Axis>(),
            "[Axis; 2]" => 2 * size_of::<Axis>(),
            "[u32; TABLE_WORDS]" => 4 * TABLE_WORDS,
            other => panic!("{other}"),
        }
    }
    fn filled<T: Declared>() {
        let declared = T::declared();
        let sum: usize = declared.fields.iter().map(|field| size(field.kind)).sum();
        assert_eq!(sum, size_of::<T>(), "{}", declared.name);
    }
    filled::<Axis>();
    filled::<Loops<FEW>>();
    filled::<Lengths>();
    filled::<Rows>();
    filled::<Segments>();
    filled::<Strided>();
    filled::<Gather>();
    filled::<Columns>();
    filled::<Strips>();
    filled::<Tiles>();
    filled::<Packed>();
    filled::<Report>();
    filled::<Check>();
    filled::<Table>();
}
