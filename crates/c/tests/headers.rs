//! The headers: generated from the sources, checked in, and compared here. After a change, write
//! them with `RETROGRADE_WRITE_HEADERS=1 cargo test -p retrograde-c --test headers`.

mod common;

use cbindgen::{Builder, Config, ItemType, Language, Style};
use common::{Compiler, Language as Source, crate_folder};
use retrograde_c::directml::types::*;
use retrograde_c::directml::{fault, iid};
use retrograde_c::tensor::Tensor;
use std::fmt::Write;
use std::fs;
use std::mem::offset_of;

const NOTICE: &str = "/* Generated from the sources of crates/c by its tests. Do not edit. */";

/// Names in the sources, and in retrograde.h.
const NAMES: [(&str, &str); 14] = [
    ("Status", "retrograde_status"),
    ("ElementType", "retrograde_dtype"),
    ("StrideUnit", "retrograde_stride_unit"),
    ("Tensor", "retrograde_tensor"),
    ("OperatorKind", "retrograde_kind"),
    ("Policy", "retrograde_policy"),
    ("Alignment", "retrograde_align"),
    ("Padding", "retrograde_tail"),
    ("Duplicates", "retrograde_duplicates"),
    ("Operator", "retrograde_operator"),
    ("Call", "retrograde_call"),
    ("Place", "retrograde_place"),
    ("Part", "retrograde_part"),
    ("Workers", "retrograde_workers"),
];

/// Types of retrograde_directml.h that `include/retrograde_directml_types.h` declares.
const DECLARED: [&str; 17] = [
    "UINT",
    "UINT64",
    "SIZE_T",
    "BOOL",
    "ULONG",
    "HRESULT",
    "WCHAR",
    "GUID",
    "DML_TENSOR_DATA_TYPE",
    "DML_TENSOR_TYPE",
    "DML_TENSOR_FLAGS",
    "DML_OPERATOR_TYPE",
    "DML_BINDING_TYPE",
    "DML_FEATURE",
    "DML_FEATURE_LEVEL",
    "DML_EXECUTION_FLAGS",
    "DML_CREATE_DEVICE_FLAGS",
];

/// Structs that functions reach only through a pointer to anything.
const REACHED: [&str; 9] = [
    "DML_BUFFER_TENSOR_DESC",
    "DML_TENSOR_DESC",
    "DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC",
    "DML_BUFFER_BINDING",
    "DML_BUFFER_ARRAY_BINDING",
    "DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT",
    "DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT",
    "DML_FEATURE_QUERY_FEATURE_LEVELS",
    "DML_FEATURE_DATA_FEATURE_LEVELS",
];

fn config(guard: &str) -> Config {
    Config {
        language: Language::C,
        style: Style::Both,
        cpp_compat: true,
        no_includes: true,
        usize_is_size_t: true,
        tab_width: 4,
        line_length: 100,
        include_guard: Some(guard.to_owned()),
        ..Config::default()
    }
}

fn generated(config: Config, sources: &[&str]) -> String {
    let folder = crate_folder();
    let mut builder = Builder::new().with_config(config);
    for source in sources {
        builder = builder.with_src(folder.join("src").join(source));
    }
    let mut text = Vec::new();
    builder.generate().expect("cbindgen understands the sources").write(&mut text);
    let text = String::from_utf8(text).expect("a header is text");
    text.replace("# Safety", "The caller guarantees:")
}

/// A header, or a part of one, that is written by hand.
fn written(path: &str) -> String {
    fs::read_to_string(crate_folder().join(path)).expect("a header")
}

fn version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let numbers: Vec<&str> = version.split(['.', '-']).collect();
    let mut text =
        format!("/* The version of this header. */\n#define RETROGRADE_VERSION \"{version}\"\n");
    for (name, number) in ["MAJOR", "MINOR", "PATCH"].iter().zip(numbers) {
        writeln!(text, "#define RETROGRADE_VERSION_{name} {number}").expect("a string");
    }
    text
}

fn retrograde_h() -> String {
    let mut config = config("RETROGRADE_H");
    config.header = Some(format!(
        "/* Retrograde reverses tensors. The documentation is docs/c.md. */\n{NOTICE}"
    ));
    config.sys_includes = vec!["stddef.h".to_owned(), "stdint.h".to_owned()];
    config.after_includes = Some(version());
    config.trailer = Some(written("headers/retrograde_trailer.h"));
    config.export.rename = NAMES.iter().map(|&(rust, c)| (rust.to_owned(), c.to_owned())).collect();
    let sources = [
        "version.rs",
        "status.rs",
        "guard.rs",
        "dtype.rs",
        "tensor.rs",
        "operator.rs",
        "call.rs",
        "workers.rs",
        "cuda.rs",
    ];
    generated(config, &sources)
}

fn retrograde_directml_h() -> String {
    let mut config = config("RETROGRADE_DIRECTML_H");
    config.header = Some(format!(
        "/* DirectML's interface of ReverseSubsequences on host memory, on any operating system, in\n   the place of DirectML.h. The documentation is docs/c.md. */\n{NOTICE}"
    ));
    config.includes = vec!["retrograde.h".to_owned(), "retrograde_directml_types.h".to_owned()];
    config.trailer = Some("#include \"retrograde_directml_classes.h\"".to_owned());
    config.export.item_types = vec![ItemType::Structs, ItemType::Functions];
    config.export.include = REACHED.map(str::to_owned).to_vec();
    config.export.exclude = DECLARED.map(str::to_owned).to_vec();
    let sources = ["types", "unknown", "buffer", "compiled", "device", "binding", "dispatch"]
        .map(|name| format!("directml/{name}.rs"));
    generated(config, &sources.each_ref().map(String::as_str))
}

fn compare(name: &str, fresh: &str) {
    let path = crate_folder().join("include").join(name);
    if std::env::var_os("RETROGRADE_WRITE_HEADERS").is_some() {
        fs::write(&path, fresh).expect("the header can be written");
    }
    let current = fs::read_to_string(&path).unwrap_or_default();
    if current != fresh {
        let differs = |(old, new): &(&str, &str)| old != new;
        let first = current.lines().zip(fresh.lines()).find(differs);
        panic!(
            "include/{name} is stale: run RETROGRADE_WRITE_HEADERS=1 cargo test -p retrograde-c --test headers\nfirst difference: {first:?}"
        );
    }
}

#[test]
fn retrograde_h_is_current() {
    compare("retrograde.h", &retrograde_h());
}

#[test]
fn retrograde_directml_h_is_current() {
    compare("retrograde_directml.h", &retrograde_directml_h());
}

/// Every exported function is in a header, with the headers' names.
#[test]
fn every_function_is_declared() {
    let headers = retrograde_h() + &retrograde_directml_h();
    let mut functions = 0;
    let mut folders = vec![crate_folder().join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("the sources").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(path).expect("the sources");
            // Others are called back, by their address.
            let public = |start: &str| start.trim_start().starts_with("pub ");
            for line in text.lines().filter(|line| public(line)) {
                let Some((_, found)) = line.split_once("extern \"C\" fn ") else { continue };
                let name = found.split('(').next().unwrap_or_default();
                assert!(headers.contains(&format!("{name}(")), "{name} is not in a header");
                functions += 1;
            }
        }
    }
    assert!(functions > 40, "only {functions} functions were found");
}

#[test]
fn headers_compile_alone_in_c_and_cpp() {
    for header in ["retrograde.h", "retrograde_directml.h"] {
        // Twice, which must change nothing.
        let text =
            format!("#include <{header}>\n#include <{header}>\nint main(void) {{ return 0; }}\n");
        for standard in ["-std=c99", "-std=c11"] {
            Compiler::new(Source::C).strict().flag(standard).check(&text);
        }
        for standard in ["-std=c++11", "-std=c++17", "-std=c++20"] {
            Compiler::new(Source::Cpp).strict().flag(standard).check(&text);
        }
    }
    // Written by hand, for what C++ has since 2020.
    let text = "#include <retrograde.hpp>\n#include <retrograde.hpp>\nint main() {}\n";
    for standard in ["-std=c++20", "-std=c++23"] {
        Compiler::new(Source::Cpp).strict().flag(standard).check(text);
    }
}

/// The compiler and the library agree on every struct and on every value.
#[test]
fn structs_and_values_agree_with_the_library() {
    let mut text = String::from("#include <stddef.h>\n#include <retrograde_directml.h>\n");
    let mut equal = |what: String, value: usize| {
        writeln!(text, "_Static_assert({what} == {value}, \"{what}\");").expect("a string");
    };
    macro_rules! structs {
        ($($name:ident $c:literal { $($field:ident),* })*) => {$(
            equal(format!("sizeof({})", $c), size_of::<$name>());
            $(equal(
                format!("offsetof({}, {})", $c, stringify!($field)),
                offset_of!($name, $field),
            );)*
        )*};
    }
    structs! {
        Tensor "retrograde_tensor" {
            struct_bytes, dtype, stride_unit, element_bytes, rank, shape, strides, offset
        }
        GUID "GUID" { Data1, Data2, Data3, Data4 }
        DML_BUFFER_TENSOR_DESC "DML_BUFFER_TENSOR_DESC" {
            DataType, Flags, DimensionCount, Sizes, Strides, TotalTensorSizeInBytes,
            GuaranteedBaseOffsetAlignment
        }
        DML_TENSOR_DESC "DML_TENSOR_DESC" { Type, Desc }
        DML_OPERATOR_DESC "DML_OPERATOR_DESC" { Type, Desc }
        DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC "DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC" {
            InputTensor, SequenceLengthsTensor, OutputTensor, Axis
        }
        DML_BINDING_DESC "DML_BINDING_DESC" { Type, Desc }
        DML_BUFFER_BINDING "DML_BUFFER_BINDING" { Buffer, Offset, SizeInBytes }
        DML_BUFFER_ARRAY_BINDING "DML_BUFFER_ARRAY_BINDING" { BindingCount, Bindings }
        DML_BINDING_PROPERTIES "DML_BINDING_PROPERTIES" {
            RequiredDescriptorCount, TemporaryResourceSize, PersistentResourceSize
        }
        DML_BINDING_TABLE_DESC "DML_BINDING_TABLE_DESC" {
            Dispatchable, CPUDescriptorHandle, GPUDescriptorHandle, SizeInDescriptors
        }
        DML_FEATURE_QUERY_FEATURE_LEVELS "DML_FEATURE_QUERY_FEATURE_LEVELS" {
            RequestedFeatureLevelCount, RequestedFeatureLevels
        }
    }
    equal("sizeof(WCHAR)".to_owned(), size_of::<WCHAR>());
    for (name, value) in [
        ("BINDING_TYPE_NONE", BINDING_TYPE_NONE),
        ("BINDING_TYPE_BUFFER", BINDING_TYPE_BUFFER),
        ("BINDING_TYPE_BUFFER_ARRAY", BINDING_TYPE_BUFFER_ARRAY),
        ("FEATURE_TENSOR_DATA_TYPE_SUPPORT", FEATURE_TENSOR_DATA_TYPE_SUPPORT),
        ("FEATURE_FEATURE_LEVELS", FEATURE_FEATURE_LEVELS),
        ("OPERATOR_REVERSE_SUBSEQUENCES", 106),
        ("TENSOR_TYPE_BUFFER", retrograde_directml::TENSOR_TYPE_BUFFER),
        ("TENSOR_FLAG_OWNED_BY_DML", retrograde_directml::TENSOR_FLAG_OWNED_BY_DML),
        ("FEATURE_LEVEL_6_4", FEATURE_LEVELS[FEATURE_LEVELS.len() - 1]),
    ] {
        equal(format!("DML_{name}"), value as usize);
    }
    for level in FEATURE_LEVELS {
        let name = format!("DML_FEATURE_LEVEL_{}_{}", level >> 12, level >> 8 & 15);
        equal(name, level as usize);
    }
    for dtype in retrograde::DType::ALL {
        if let Some((value, name)) = dtype.names().and_then(|row| row.directml) {
            equal(format!("DML_TENSOR_DATA_TYPE_{name}"), value as usize);
        }
    }
    for (name, code) in [
        ("S_OK", fault::S_OK),
        ("S_FALSE", fault::S_FALSE),
        ("E_NOTIMPL", fault::E_NOTIMPL),
        ("E_NOINTERFACE", fault::E_NOINTERFACE),
        ("E_POINTER", fault::E_POINTER),
        ("E_UNEXPECTED", fault::E_UNEXPECTED),
        ("E_HANDLE", fault::E_HANDLE),
        ("E_OUTOFMEMORY", fault::E_OUTOFMEMORY),
        ("E_INVALIDARG", fault::E_INVALIDARG),
        ("DXGI_ERROR_NOT_FOUND", fault::DXGI_ERROR_NOT_FOUND),
        ("DXGI_ERROR_MORE_DATA", fault::DXGI_ERROR_MORE_DATA),
        ("DXGI_ERROR_UNSUPPORTED", fault::DXGI_ERROR_UNSUPPORTED),
        ("DXGI_ERROR_DEVICE_REMOVED", fault::DXGI_ERROR_DEVICE_REMOVED),
    ] {
        equal(format!("(uint32_t){name}"), code as u32 as usize);
    }
    text.push_str("int main(void) { return 0; }\n");
    Compiler::new(Source::C).flag("-std=c11").check(&text);
}

/// The identifiers in the header are those of the library.
#[test]
fn interfaces_have_their_identifiers() {
    let header = written("include/retrograde_directml_classes.h");
    for (name, GUID { Data1, Data2, Data3, Data4 }) in [
        ("IUnknown", iid::UNKNOWN),
        ("IDMLObject", iid::OBJECT),
        ("IDMLDevice", iid::DEVICE),
        ("IDMLDeviceChild", iid::DEVICE_CHILD),
        ("IDMLPageable", iid::PAGEABLE),
        ("IDMLOperator", iid::OPERATOR),
        ("IDMLDispatchable", iid::DISPATCHABLE),
        ("IDMLCompiledOperator", iid::COMPILED_OPERATOR),
        ("IDMLOperatorInitializer", iid::OPERATOR_INITIALIZER),
        ("IDMLBindingTable", iid::BINDING_TABLE),
        ("IDMLCommandRecorder", iid::COMMAND_RECORDER),
        ("ID3D12Resource", iid::RESOURCE),
    ] {
        let (_, rest) = header.split_once(&format!("IID_{name} =")).expect("the identifier");
        let numbers: Vec<u64> = rest[..rest.find(';').expect("its end")]
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(|word| match word.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16).expect("a number"),
                None => word.parse().expect("a number"),
            })
            .collect();
        let mut expected = vec![u64::from(Data1), u64::from(Data2), u64::from(Data3)];
        expected.extend(Data4.map(u64::from));
        assert_eq!(numbers, expected, "{name}");
    }
}
