//! Element types: one table with each type's width and its names in other formats.
//!
//! Moving elements needs only the width. The names and codes are here so that all interfaces
//! (files, models, Python, C) read them from the same rows.

use std::fmt;

/// The order in which packed elements fill a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BitOrder {
    /// The first element is in the least significant bits.
    LowFirst,
    /// The first element is in the most significant bits.
    HighFirst,
}

/// The smallest addressable unit: a byte, or one packed element.
///
/// Strides and offsets of a layout are counted in grains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grain {
    /// Elements are whole bytes; addresses count bytes.
    Byte,
    /// Several elements share a byte; addresses count elements.
    Packed {
        /// Width of one element: 1, 2 or 4 bits.
        bits: u8,
        /// Which end of the byte comes first.
        order: BitOrder,
    },
}

impl Grain {
    /// Width of one grain in bits: 1, 2, 4 or 8.
    pub const fn bits(self) -> usize {
        match self {
            Grain::Byte => 8,
            Grain::Packed { bits, .. } => bits as usize,
        }
    }

    /// Grains per byte: 8, 4, 2 or 1.
    pub const fn per_byte(self) -> usize {
        1 << self.shift()
    }

    /// The number of bytes that hold this many grains.
    pub(crate) const fn bytes_for(self, grains: usize) -> usize {
        (grains + (self.per_byte() - 1)) >> self.shift()
    }

    /// The byte that contains a grain.
    pub(crate) const fn byte_of(self, grain: usize) -> usize {
        grain >> self.shift()
    }

    /// [`per_byte`](Self::per_byte) as a shift: divisions are slow, and small calls do many.
    const fn shift(self) -> u32 {
        3 - self.bits().trailing_zeros()
    }
}

/// The names of one element type in other formats and runtimes.
///
/// `None` means that the format has no such type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeNames {
    /// Retrograde's own name, which `Display` prints and `FromStr` parses.
    pub name: &'static str,
    /// Width of one element in bits; `None` for strings.
    pub bits: Option<usize>,
    /// `TensorProto.DataType`: code and name.
    pub onnx: Option<(i32, &'static str)>,
    /// OpenVINO element type name, as its IR files spell it.
    pub openvino: Option<&'static str>,
    /// `DML_TENSOR_DATA_TYPE`: value and the name after `DML_TENSOR_DATA_TYPE_`.
    pub directml: Option<(u32, &'static str)>,
    /// NumPy dtype name (or that of the `ml_dtypes` extension, which uses a whole byte for each
    /// element of a packed type).
    pub numpy: Option<&'static str>,
    /// Safetensors dtype string.
    pub safetensors: Option<&'static str>,
    /// DLPack: `DLDataTypeCode` and bits.
    pub dlpack: Option<(u8, u8)>,
}

macro_rules! types {
    ($($variant:ident $name:literal bits $bits:expr,
        onnx $onnx:expr, openvino $ov:expr, directml $dml:expr,
        numpy $np:expr, safetensors $st:expr, dlpack $dl:expr;
        $doc:literal)*) => {
        /// An element type.
        ///
        /// Retrograde never interprets an element, so the type determines only its width, whether
        /// several share a byte, and its names in other formats.
        ///
        /// ```
        /// use retrograde::DType;
        ///
        /// assert_eq!(DType::BF16.bits(), Some(16));
        /// assert_eq!(DType::from_onnx(16), Some(DType::BF16));
        /// assert_eq!(DType::BF16.names().unwrap().safetensors, Some("BF16"));
        /// assert_eq!("f8e4m3fn".parse(), Ok(DType::F8E4M3FN));
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum DType {
            $(#[doc = $doc] $variant,)*
            /// Any other element of this many bytes: a record, a fixed-width string.
            Bytes(usize),
        }

        impl DType {
            /// Every named type, in the table's order.
            pub const ALL: &'static [DType] = &[$(DType::$variant),*];

            /// The type's row in the table; `None` for [`DType::Bytes`].
            pub const fn names(self) -> Option<&'static TypeNames> {
                match self {
                    $(DType::$variant => Some(&TypeNames {
                        name: $name, bits: $bits, onnx: $onnx, openvino: $ov, directml: $dml,
                        numpy: $np, safetensors: $st, dlpack: $dl,
                    }),)*
                    DType::Bytes(_) => None,
                }
            }
        }
    };
}

types! {
    Bool "bool" bits Some(8), onnx Some((9, "BOOL")), openvino Some("boolean"), directml None,
        numpy Some("bool"), safetensors Some("BOOL"), dlpack Some((6, 8)); "Boolean, one byte."
    U8 "u8" bits Some(8), onnx Some((2, "UINT8")), openvino Some("u8"), directml Some((5, "UINT8")),
        numpy Some("uint8"), safetensors Some("U8"), dlpack Some((1, 8)); "Unsigned 8-bit integer."
    I8 "i8" bits Some(8), onnx Some((3, "INT8")), openvino Some("i8"), directml Some((8, "INT8")),
        numpy Some("int8"), safetensors Some("I8"), dlpack Some((0, 8)); "Signed 8-bit integer."
    U16 "u16" bits Some(16), onnx Some((4, "UINT16")), openvino Some("u16"), directml Some((4, "UINT16")),
        numpy Some("uint16"), safetensors Some("U16"), dlpack Some((1, 16)); "Unsigned 16-bit integer."
    I16 "i16" bits Some(16), onnx Some((5, "INT16")), openvino Some("i16"), directml Some((7, "INT16")),
        numpy Some("int16"), safetensors Some("I16"), dlpack Some((0, 16)); "Signed 16-bit integer."
    U32 "u32" bits Some(32), onnx Some((12, "UINT32")), openvino Some("u32"), directml Some((3, "UINT32")),
        numpy Some("uint32"), safetensors Some("U32"), dlpack Some((1, 32)); "Unsigned 32-bit integer."
    I32 "i32" bits Some(32), onnx Some((6, "INT32")), openvino Some("i32"), directml Some((6, "INT32")),
        numpy Some("int32"), safetensors Some("I32"), dlpack Some((0, 32)); "Signed 32-bit integer."
    U64 "u64" bits Some(64), onnx Some((13, "UINT64")), openvino Some("u64"), directml Some((10, "UINT64")),
        numpy Some("uint64"), safetensors Some("U64"), dlpack Some((1, 64)); "Unsigned 64-bit integer."
    I64 "i64" bits Some(64), onnx Some((7, "INT64")), openvino Some("i64"), directml Some((11, "INT64")),
        numpy Some("int64"), safetensors Some("I64"), dlpack Some((0, 64)); "Signed 64-bit integer."
    F16 "f16" bits Some(16), onnx Some((10, "FLOAT16")), openvino Some("f16"), directml Some((2, "FLOAT16")),
        numpy Some("float16"), safetensors Some("F16"), dlpack Some((2, 16)); "IEEE half-precision float."
    BF16 "bf16" bits Some(16), onnx Some((16, "BFLOAT16")), openvino Some("bf16"), directml None,
        numpy Some("bfloat16"), safetensors Some("BF16"), dlpack Some((4, 16)); "Brain float, 16 bits."
    F32 "f32" bits Some(32), onnx Some((1, "FLOAT")), openvino Some("f32"), directml Some((1, "FLOAT32")),
        numpy Some("float32"), safetensors Some("F32"), dlpack Some((2, 32)); "IEEE single-precision float."
    F64 "f64" bits Some(64), onnx Some((11, "DOUBLE")), openvino Some("f64"), directml Some((9, "FLOAT64")),
        numpy Some("float64"), safetensors Some("F64"), dlpack Some((2, 64)); "IEEE double-precision float."
    C64 "c64" bits Some(64), onnx Some((14, "COMPLEX64")), openvino None, directml None,
        numpy Some("complex64"), safetensors Some("C64"), dlpack Some((5, 64)); "Complex number of two `f32`."
    C128 "c128" bits Some(128), onnx Some((15, "COMPLEX128")), openvino None, directml None,
        numpy Some("complex128"), safetensors None, dlpack Some((5, 128)); "Complex number of two `f64`."
    F8E4M3FN "f8e4m3fn" bits Some(8), onnx Some((17, "FLOAT8E4M3FN")), openvino Some("f8e4m3"), directml None,
        numpy Some("float8_e4m3fn"), safetensors Some("F8_E4M3"), dlpack Some((10, 8)); "8-bit float, 4 exponent bits, no infinities."
    F8E4M3FNUZ "f8e4m3fnuz" bits Some(8), onnx Some((18, "FLOAT8E4M3FNUZ")), openvino None, directml None,
        numpy Some("float8_e4m3fnuz"), safetensors Some("F8_E4M3FNUZ"), dlpack Some((11, 8)); "As F8E4M3FN, with one zero and one NaN."
    F8E5M2 "f8e5m2" bits Some(8), onnx Some((19, "FLOAT8E5M2")), openvino Some("f8e5m2"), directml None,
        numpy Some("float8_e5m2"), safetensors Some("F8_E5M2"), dlpack Some((12, 8)); "8-bit float, 5 exponent bits."
    F8E5M2FNUZ "f8e5m2fnuz" bits Some(8), onnx Some((20, "FLOAT8E5M2FNUZ")), openvino None, directml None,
        numpy Some("float8_e5m2fnuz"), safetensors Some("F8_E5M2FNUZ"), dlpack Some((13, 8)); "As F8E5M2, with one zero and one NaN."
    F8E8M0 "f8e8m0" bits Some(8), onnx Some((24, "FLOAT8E8M0")), openvino Some("f8e8m0"), directml None,
        numpy Some("float8_e8m0fnu"), safetensors Some("F8_E8M0"), dlpack Some((14, 8)); "8-bit power of two (a block's scale)."
    F4E2M1 "f4e2m1" bits Some(4), onnx Some((23, "FLOAT4E2M1")), openvino Some("f4e2m1"), directml None,
        numpy Some("float4_e2m1fn"), safetensors Some("F4"), dlpack Some((17, 4)); "4-bit float, two to a byte."
    NF4 "nf4" bits Some(4), onnx None, openvino Some("nf4"), directml None,
        numpy None, safetensors None, dlpack None; "4-bit normal float, two to a byte."
    U4 "u4" bits Some(4), onnx Some((21, "UINT4")), openvino Some("u4"), directml Some((12, "UINT4")),
        numpy Some("uint4"), safetensors None, dlpack Some((1, 4)); "Unsigned 4-bit integer, two to a byte."
    I4 "i4" bits Some(4), onnx Some((22, "INT4")), openvino Some("i4"), directml Some((13, "INT4")),
        numpy Some("int4"), safetensors None, dlpack Some((0, 4)); "Signed 4-bit integer, two to a byte."
    U2 "u2" bits Some(2), onnx Some((25, "UINT2")), openvino Some("u2"), directml None,
        numpy Some("uint2"), safetensors None, dlpack Some((1, 2)); "Unsigned 2-bit integer, four to a byte."
    I2 "i2" bits Some(2), onnx Some((26, "INT2")), openvino None, directml None,
        numpy Some("int2"), safetensors None, dlpack Some((0, 2)); "Signed 2-bit integer, four to a byte."
    U1 "u1" bits Some(1), onnx None, openvino Some("u1"), directml None,
        numpy None, safetensors None, dlpack None; "One bit, eight to a byte, the most significant bit first."
    String "string" bits None, onnx Some((8, "STRING")), openvino Some("string"), directml None,
        numpy Some("object"), safetensors None, dlpack None; "Text of any length: moved by the typed API, never through a byte view."
}

impl DType {
    /// Width of one element in bits; `None` for strings.
    pub const fn bits(self) -> Option<usize> {
        match self {
            DType::Bytes(bytes) => bytes.checked_mul(8),
            named => match named.names() {
                Some(row) => row.bits,
                None => None,
            },
        }
    }

    /// The grain that addresses of this type count; `None` for strings.
    pub const fn grain(self) -> Option<Grain> {
        match self {
            DType::Bytes(_) => Some(Grain::Byte),
            DType::U1 => Some(Grain::Packed { bits: 1, order: BitOrder::HighFirst }),
            named => match named.bits() {
                Some(bits) if bits < 8 => {
                    Some(Grain::Packed { bits: bits as u8, order: BitOrder::LowFirst })
                }
                Some(_) => Some(Grain::Byte),
                None => None,
            },
        }
    }

    /// Whether several elements share a byte.
    pub const fn is_packed(self) -> bool {
        matches!(self.grain(), Some(Grain::Packed { .. }))
    }

    /// Whether this is a whole-byte integer type, which can hold lengths or axes.
    pub const fn is_integer(self) -> bool {
        use DType::*;
        matches!(self, U8 | I8 | U16 | I16 | U32 | I32 | U64 | I64)
    }

    /// Grains in one element: its bytes, or 1 if packed; `None` for strings.
    pub(crate) const fn grains(self) -> Option<usize> {
        match (self.grain(), self) {
            (Some(Grain::Packed { .. }), _) => Some(1),
            (Some(Grain::Byte), DType::Bytes(bytes)) => Some(bytes),
            (Some(Grain::Byte), _) => match self.bits() {
                Some(bits) => Some(bits / 8),
                None => None,
            },
            (None, _) => None,
        }
    }

    /// The type with this `TensorProto.DataType` code.
    pub fn from_onnx(code: i32) -> Option<DType> {
        Self::find(|row| row.onnx.is_some_and(|(c, _)| c == code))
    }

    /// The type with this OpenVINO name.
    pub fn from_openvino(name: &str) -> Option<DType> {
        Self::find(|row| row.openvino == Some(name))
    }

    /// The type with this `DML_TENSOR_DATA_TYPE` value.
    pub fn from_directml(value: u32) -> Option<DType> {
        Self::find(|row| row.directml.is_some_and(|(v, _)| v == value))
    }

    /// The type with this NumPy (or `ml_dtypes`) dtype name.
    pub fn from_numpy(name: &str) -> Option<DType> {
        Self::find(|row| row.numpy == Some(name))
    }

    /// The type with this safetensors dtype string.
    pub fn from_safetensors(name: &str) -> Option<DType> {
        Self::find(|row| row.safetensors == Some(name))
    }

    /// The type with this DLPack type code and width.
    pub fn from_dlpack(code: u8, bits: u8) -> Option<DType> {
        Self::find(|row| row.dlpack == Some((code, bits)))
    }

    fn find(matches: impl Fn(&TypeNames) -> bool) -> Option<DType> {
        Self::ALL.iter().copied().find(|dtype| dtype.names().is_some_and(&matches))
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DType::Bytes(bytes) => write!(f, "bytes{bytes}"),
            named => f.pad(named.names().map_or("?", |row| row.name)),
        }
    }
}

/// A name that is not an element type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no element type is called {0:?} (try bool, u8 ... i64, f16, bf16, f32, f64, c64, f8e4m3fn, u4, bytes12)"
)]
pub struct UnknownType(pub String);

impl std::str::FromStr for DType {
    type Err = UnknownType;

    /// Parses what `Display` prints.
    fn from_str(name: &str) -> Result<Self, UnknownType> {
        if let Some(bytes) = name.strip_prefix("bytes").and_then(|n| n.parse().ok()) {
            return Ok(DType::Bytes(bytes));
        }
        Self::find(|row| row.name == name).ok_or_else(|| UnknownType(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_name_and_code_leads_back_to_its_row() {
        for &dtype in DType::ALL {
            let row = dtype.names().unwrap();
            assert_eq!(row.name.parse(), Ok(dtype));
            assert_eq!(dtype.to_string(), row.name);
            if let Some((code, _)) = row.onnx {
                assert_eq!(DType::from_onnx(code), Some(dtype));
            }
            if let Some(name) = row.openvino {
                assert_eq!(DType::from_openvino(name), Some(dtype));
            }
            if let Some((value, _)) = row.directml {
                assert_eq!(DType::from_directml(value), Some(dtype));
            }
            if let Some(name) = row.numpy {
                assert_eq!(DType::from_numpy(name), Some(dtype));
            }
            if let Some(name) = row.safetensors {
                assert_eq!(DType::from_safetensors(name), Some(dtype));
            }
            if let Some((code, bits)) = row.dlpack {
                assert_eq!(DType::from_dlpack(code, bits), Some(dtype));
                assert_eq!(row.bits, Some(bits as usize));
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let names: HashSet<_> = DType::ALL.iter().map(|d| d.to_string()).collect();
        assert_eq!(names.len(), DType::ALL.len());
    }

    #[test]
    fn opaque_types_have_the_width_they_say() {
        assert_eq!(DType::Bytes(12).bits(), Some(96));
        assert_eq!("bytes12".parse(), Ok(DType::Bytes(12)));
        assert_eq!(DType::Bytes(12).to_string(), "bytes12");
        assert_eq!(DType::Bytes(usize::MAX).bits(), None);
    }

    #[test]
    fn unknown_names_are_errors_that_repeat_the_name() {
        let error = "float".parse::<DType>().unwrap_err();
        assert!(error.to_string().contains("\"float\""));
    }
}
