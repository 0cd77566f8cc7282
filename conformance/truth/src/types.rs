//! Element types of the cases: widths, and their names in the formats that cases are exported to.
//!
//! The engine has a table of its own; a test of the command compares the two.

/// How the bits of an element are read, for values and for printing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 0 or 1 in a byte.
    Bool,
    /// Two's complement.
    Signed,
    /// Unsigned integer.
    Unsigned,
    /// Binary float with this many bits of exponent and of fraction, IEEE infinities and NaNs.
    Float(u32, u32),
    /// Two floats of this form.
    Complex(u32, u32),
    /// A small float without the IEEE rules for its largest exponent; cases treat it as bits.
    Small,
    /// Text of any length.
    Text,
}

/// One element type.
#[derive(Debug, PartialEq, Eq)]
pub struct Type {
    /// Our name, which requests of the protocol use.
    pub name: &'static str,
    /// Width in bits; 0 for text.
    pub bits: usize,
    /// What the bits mean.
    pub kind: Kind,
    /// `TensorProto.DataType`.
    pub onnx: Option<u64>,
    /// The name in an OpenVINO IR.
    pub openvino: Option<&'static str>,
    /// The `descr` of a `.npy` file for a whole-byte type that NumPy knows.
    pub npy: Option<&'static str>,
    /// The MLIR type.
    pub mlir: Option<&'static str>,
    /// The WebNN data type.
    pub webnn: Option<&'static str>,
    /// The name after `DML_TENSOR_DATA_TYPE_`.
    pub directml: Option<&'static str>,
}

impl Type {
    /// The type with this name.
    pub fn named(name: &str) -> Option<&'static Type> {
        TYPES.iter().find(|row| row.name == name)
    }

    /// Whether several elements share a byte.
    pub fn is_packed(&self) -> bool {
        self.bits != 0 && self.bits < 8
    }

    /// Whether this is text.
    pub fn is_text(&self) -> bool {
        self.kind == Kind::Text
    }

    /// Whether this is an integer of whole bytes, which can hold lengths and axes.
    pub fn is_integer(&self) -> bool {
        matches!(self.kind, Kind::Signed | Kind::Unsigned) && self.bits >= 8
    }

    /// Bytes that this many elements take.
    pub fn bytes_for(&self, count: usize) -> usize {
        (count * self.bits).div_ceil(8)
    }
}

/// The type with this name; the name is one of the table.
///
/// # Panics
///
/// If there is no such type: names in the kit are literals.
pub fn of(name: &str) -> &'static Type {
    Type::named(name).unwrap_or_else(|| panic!("no element type {name}"))
}

macro_rules! table {
    ($($name:literal $bits:literal $kind:expr, $onnx:expr, $openvino:expr, $npy:expr, $mlir:expr,
        $webnn:expr, $directml:expr;)*) => {
        /// Every type.
        pub const TYPES: &[Type] = &[$(Type {
            name: $name, bits: $bits, kind: $kind, onnx: $onnx, openvino: $openvino, npy: $npy,
            mlir: $mlir, webnn: $webnn, directml: $directml,
        }),*];
    };
}

use Kind::{Bool, Complex, Float, Signed, Small, Text, Unsigned};
const NO: Option<&str> = None;

table! {
    // name, bits, kind, ONNX, OpenVINO, npy, MLIR, WebNN, DirectML
    "bool" 8 Bool, Some(9), Some("boolean"), Some("|b1"), Some("i1"), NO, NO;
    "u8" 8 Unsigned, Some(2), Some("u8"), Some("|u1"), Some("ui8"), Some("uint8"), Some("UINT8");
    "i8" 8 Signed, Some(3), Some("i8"), Some("|i1"), Some("i8"), Some("int8"), Some("INT8");
    "u16" 16 Unsigned, Some(4), Some("u16"), Some("<u2"), Some("ui16"), NO, Some("UINT16");
    "i16" 16 Signed, Some(5), Some("i16"), Some("<i2"), Some("i16"), NO, Some("INT16");
    "u32" 32 Unsigned, Some(12), Some("u32"), Some("<u4"), Some("ui32"), Some("uint32"), Some("UINT32");
    "i32" 32 Signed, Some(6), Some("i32"), Some("<i4"), Some("i32"), Some("int32"), Some("INT32");
    "u64" 64 Unsigned, Some(13), Some("u64"), Some("<u8"), Some("ui64"), Some("uint64"), Some("UINT64");
    "i64" 64 Signed, Some(7), Some("i64"), Some("<i8"), Some("i64"), Some("int64"), Some("INT64");
    "f16" 16 Float(5, 10), Some(10), Some("f16"), Some("<f2"), Some("f16"), Some("float16"), Some("FLOAT16");
    "bf16" 16 Float(8, 7), Some(16), Some("bf16"), NO, Some("bf16"), NO, NO;
    "f32" 32 Float(8, 23), Some(1), Some("f32"), Some("<f4"), Some("f32"), Some("float32"), Some("FLOAT32");
    "f64" 64 Float(11, 52), Some(11), Some("f64"), Some("<f8"), Some("f64"), NO, Some("FLOAT64");
    "c64" 64 Complex(8, 23), Some(14), NO, Some("<c8"), Some("complex<f32>"), NO, NO;
    "c128" 128 Complex(11, 52), Some(15), NO, Some("<c16"), Some("complex<f64>"), NO, NO;
    "f8e4m3fn" 8 Small, Some(17), Some("f8e4m3"), NO, Some("f8E4M3FN"), NO, NO;
    "f8e4m3fnuz" 8 Small, Some(18), NO, NO, Some("f8E4M3FNUZ"), NO, NO;
    "f8e5m2" 8 Small, Some(19), Some("f8e5m2"), NO, Some("f8E5M2"), NO, NO;
    "f8e5m2fnuz" 8 Small, Some(20), NO, NO, Some("f8E5M2FNUZ"), NO, NO;
    "f8e8m0" 8 Small, Some(24), Some("f8e8m0"), NO, Some("f8E8M0FNU"), NO, NO;
    "f4e2m1" 4 Small, Some(23), Some("f4e2m1"), NO, Some("f4E2M1FN"), NO, NO;
    "nf4" 4 Small, None, Some("nf4"), NO, NO, NO, NO;
    "u4" 4 Unsigned, Some(21), Some("u4"), NO, Some("ui4"), Some("uint4"), Some("UINT4");
    "i4" 4 Signed, Some(22), Some("i4"), NO, Some("i4"), Some("int4"), Some("INT4");
    "u2" 2 Unsigned, Some(25), Some("u2"), NO, Some("ui2"), NO, NO;
    "i2" 2 Signed, Some(26), NO, NO, Some("i2"), NO, NO;
    "u1" 1 Unsigned, None, Some("u1"), NO, NO, NO, NO;
    "string" 0 Text, Some(8), Some("string"), NO, NO, NO, NO;
}
