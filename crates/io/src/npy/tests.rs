//! Valid files, files with false headers, and files that NumPy itself writes.

use super::*;
use retrograde::{DType, LayoutError};

/// A file with this header text, not padded.
fn file(version: u8, text: &str, data: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY".to_vec();
    file.extend([version, 0]);
    let length = text.len() as u32;
    let length = length.to_le_bytes();
    file.extend(if version == 1 { &length[..2] } else { &length[..] });
    file.extend(text.as_bytes());
    file.extend(data);
    file
}

/// Decodes from memory, with and without knowing the size.
fn decode_both(bytes: &[u8]) -> Result<NpyArray, NpyError> {
    let known = decode(&mut &bytes[..], Some(bytes.len() as u64));
    let unknown = decode(&mut &bytes[..], None);
    let plain = |result: Result<NpyArray, Failure>| {
        result.map_err(|failure| match failure {
            Failure::Npy(error) => error,
            Failure::Io(error) => panic!("memory cannot fail: {error}"),
        })
    };
    let (known, unknown) = (plain(known), plain(unknown));
    match (&known, &unknown) {
        // The two errors differ only in the known size.
        (Err(NpyError::DataTooLong { .. }), Err(NpyError::DataTooLong { available, .. })) => {
            assert_eq!(*available, None);
        }
        _ => assert_eq!(known, unknown),
    }
    known
}

fn header(text: &str) -> Result<Header, NpyError> {
    header::parse(text.as_bytes())
}

#[test]
fn all_versions_and_spellings_are_read() {
    let spellings = [
        "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }          \n",
        "{'shape':(2,),'descr':\"<i2\",'fortran_order':False}",
        " { 'shape' : ( 2L , ) ,\n 'fortran_order' : False , 'descr' : '<i2' } \n\n",
    ];
    for version in 1..=3 {
        for text in spellings {
            let array = decode_both(&file(version, text, &[1, 0, 2, 0])).unwrap();
            assert_eq!((array.shape(), array.descr().as_str()), (&[2][..], "<i2"));
            assert_eq!(array.layout().dtype(), DType::I16);
            assert_eq!(array.data(), [1, 0, 2, 0]);
        }
    }
}

#[test]
fn shapes_from_scalars_to_empty_ones_are_read() {
    let shape = |shape: &str, bytes: usize| {
        let text = format!("{{'descr': '|u1', 'fortran_order': True, 'shape': {shape}}}");
        decode_both(&file(1, &text, &vec![7; bytes])).map(|array| array.shape().to_vec())
    };
    assert_eq!(shape("()", 1), Ok(vec![]));
    assert_eq!(shape("(3, 4)", 12), Ok(vec![3, 4]));
    assert_eq!(shape("(3, 4,)", 12), Ok(vec![3, 4]));
    assert_eq!(shape("(0,)", 0), Ok(vec![0]));
    let most = usize::MAX;
    assert_eq!(shape(&format!("({most}, 0, {most})"), 0), Ok(vec![most, 0, most]));
}

#[test]
fn fortran_order_steps_along_the_first_axis() {
    let text = "{'descr': '<u2', 'fortran_order': True, 'shape': (2, 3)}";
    let array = decode_both(&file(1, text, &[0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0])).unwrap();
    assert_eq!(array.layout().grain_strides(), [2, 4]);
    assert_eq!(array.element(&[1, 2]), Some(&[5, 0][..]));
    assert_eq!(array.element(&[2, 0]), None);
    assert_eq!(array.element(&[0]), None);
}

#[test]
fn malicious_headers_are_typed_errors() {
    let syntax = |position, expected, found: &str| NpyError::HeaderSyntax {
        position,
        expected,
        found: found.to_owned(),
    };
    let with_shape =
        |shape: &str| format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}");
    let with_descr =
        |descr: &str| format!("{{'fortran_order': False, 'shape': (), 'descr': {descr}}}");
    let size = |axis, size: &str| NpyError::SizeTooLarge { axis, size: size.to_owned() };
    let negative = |axis, size: &str| NpyError::NegativeSize { axis, size: size.to_owned() };
    let nines = "9".repeat(100_000);

    let cases = [
        (String::new(), syntax(0, "a dictionary", "nothing")),
        ("[]".to_owned(), syntax(0, "a dictionary", "\"[]\"")),
        ("(".repeat(100_000), syntax(0, "a dictionary", "\"((((((((((((((((((((...\"")),
        ("{".to_owned(), syntax(1, "a key in quotes, or '}'", "nothing")),
        ("{}".to_owned(), NpyError::MissingKey { key: "descr" }),
        ("{'descr': '<f4'} x".to_owned(), syntax(17, "the end of the header", "\"x\"")),
        ("{'descr': '<f4' 'shape'}".to_owned(), syntax(16, "',' or '}'", "\"'shape'}\"")),
        ("{'descr".to_owned(), syntax(1, "a string that ends", "\"'descr\"")),
        ("{'descr'}".to_owned(), syntax(8, "':'", "\"}\"")),
        ("{'a\\'b': 1}".to_owned(), syntax(1, "a string without escapes", r#""'a\\'b': 1}""#)),
        ("{'\x1b[2J': 1}".to_owned(), NpyError::UnknownKey { key: r#""\x1b[2J""#.to_owned() }),
        ("{'shape': (), 'shape': ()}".to_owned(), NpyError::DuplicateKey { key: "shape" }),
        ("{'descr': '<f4', 'shape': ()}".to_owned(), NpyError::MissingKey { key: "fortran_order" }),
        ("{'fortran_order': 1}".to_owned(), syntax(18, "True or False", "\"1}\"")),
        (with_shape("(-1,)"), negative(0, "-1")),
        (with_shape("(2, - 3)"), negative(1, "-3")),
        (with_shape("(18446744073709551616,)"), size(0, "18446744073709551616")),
        (with_shape(&format!("(1, {nines})")), size(1, &format!("{}...", &nines[..40]))),
        (with_shape("(3)"), syntax(52, "','", "\")}\"")),
        (with_shape("(3 4)"), syntax(53, "','", "\"4)}\"")),
        (with_shape("(3, 4 5)"), syntax(56, "',' or ')'", "\"5)}\"")),
        (with_shape("(,)"), syntax(51, "a size, or ')'", "\",)}\"")),
        (with_shape("(True,)"), syntax(51, "a size, or ')'", "\"True,)}\"")),
        (with_shape("(1.5,)"), syntax(52, "','", "\".5,)}\"")),
        (with_shape("(0x10,)"), syntax(52, "','", "\"x10,)}\"")),
        (with_shape("[3]"), syntax(50, "a tuple of sizes", "\"[3]}\"")),
        (with_shape("3"), syntax(50, "a tuple of sizes", "\"3}\"")),
        (with_descr("[('a', '|O')]"), NpyError::Objects { descr: "|O".to_owned() }),
        (with_descr("[('a', ('<f4', (2,)))]"), NpyError::Subarray),
        (with_descr("[('a', '<f4', (4611686018427387904, 4))]"), NpyError::FieldsTooLarge),
        (with_descr("[('a', '|V1152921504606846976')]"), NpyError::FieldsTooLarge),
        (
            with_descr(&format!("{}'<f4'{}", "[('a', ".repeat(33), ")]".repeat(33))),
            NpyError::FieldsTooDeep { limit: 32 },
        ),
        (with_descr("('<f4', (2,))"), NpyError::Subarray),
        (with_descr("'|O'"), NpyError::Objects { descr: "|O".to_owned() }),
        (with_descr("'f4'"), NpyError::UnknownType { descr: "f4".to_owned() }),
        (with_descr("''"), NpyError::UnknownType { descr: String::new() }),
        (
            with_descr(&format!("'<{nines}'")),
            NpyError::UnknownType { descr: format!("<{}", &nines[..39]) },
        ),
        (with_descr("None"), syntax(47, "a dtype in quotes", "\"None}\"")),
    ];
    for (text, expected) in cases {
        assert_eq!(header(&text), Err(expected), "{text:.80}");
    }
}

#[test]
fn no_prefix_of_a_good_file_is_read_and_none_panics() {
    let good = file(2, "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }\n", &[1; 6]);
    assert!(decode_both(&good).is_ok());
    for end in 0..good.len() {
        assert!(decode_both(&good[..end]).is_err(), "{end} bytes");
    }
}

#[test]
fn no_single_wrong_byte_panics() {
    let good = file(1, "{'descr': '<u2', 'fortran_order': False, 'shape': (3, 1), }\n", &[1; 6]);
    for position in 0..good.len() {
        for byte in 0..=255 {
            let mut bad = good.clone();
            bad[position] = byte;
            let _ = decode_both(&bad);
        }
    }
}

#[test]
fn files_that_are_something_else_say_what_they_begin_with() {
    let start = |bytes: &[u8]| decode_both(bytes).unwrap_err().to_string();
    assert_eq!(
        start(b"PK\x03\x04........"),
        "not a .npy file: it begins with \"PK\\x03\\x04....\", not with \\x93NUMPY \
         (an .npz archive? name it .npz)"
    );
    assert_eq!(start(b""), "not a .npy file: it begins with nothing, not with \\x93NUMPY");
    assert_eq!(
        decode_both(b"\x93NUMPY\x04\x01......"),
        Err(NpyError::Version { major: 4, minor: 1 })
    );
}

#[test]
fn lengths_of_headers_are_not_believed() {
    let mut long = file(2, "{}", &[]);
    long[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    let declared = u64::from(u32::MAX);
    assert_eq!(decode_both(&long), Err(NpyError::HeaderTooLong { declared, limit: 1 << 20 }));
    long[8..12].copy_from_slice(&1000u32.to_le_bytes());
    assert_eq!(decode_both(&long), Err(NpyError::HeaderCut { declared: 1000, available: 2 }));
    assert_eq!(
        decode_both(b"\x93NUMPY\x01\x00\x10"),
        Err(NpyError::HeaderCut { declared: 2, available: 1 })
    );
}

#[test]
fn shapes_are_not_believed() {
    let sized = |shape: &str, bytes: usize| {
        let text = format!("{{'descr': '<f8', 'fortran_order': True, 'shape': {shape}}}");
        decode_both(&file(1, &text, &vec![0; bytes]))
    };
    // The header claims a terabyte: it is compared with the file before anything is allocated.
    assert_eq!(
        sized("(1099511627776,)", 16).unwrap_err().to_string(),
        "shape [1099511627776] of \"<f8\" takes 8796093022208 bytes but the file has 16: \
         it is cut short"
    );
    assert_eq!(
        sized("(2,)", 17).unwrap_err().to_string(),
        "shape [2] of \"<f8\" takes 16 bytes but the file has 17: \
         either the shape is wrong or something was appended"
    );
    for shape in ["(4294967296, 4294967296)", "(9223372036854775807,)", "(2, 18446744073709551615)"]
    {
        let error = sized(shape, 16).unwrap_err();
        assert!(matches!(error, NpyError::Shape(LayoutError::TooLarge { .. })), "{error}");
    }
}

#[test]
fn elements_too_wide_to_address_are_errors() {
    let text = format!("{{'descr': '|V{}', 'fortran_order': True, 'shape': (1,)}}", usize::MAX);
    let error = decode_both(&file(1, &text, &[])).unwrap_err();
    assert!(matches!(error, NpyError::Shape(LayoutError::TooLarge { .. })), "{error}");
}

#[test]
fn elements_without_width_take_no_bytes() {
    let text = "{'descr': '|V0', 'fortran_order': False, 'shape': (3,)}";
    let array = decode_both(&file(1, text, &[])).unwrap();
    assert_eq!((array.shape(), array.element(&[2])), (&[3][..], Some(&[][..])));
}

#[test]
fn headers_are_what_numpy_writes() {
    // np.save(f, np.zeros((2, 3), '>i4')) and np.zeros((2, 2), order='F').
    let cases = [
        (">i4", false, &[2, 3][..], "{'descr': '>i4', 'fortran_order': False, 'shape': (2, 3), }"),
        ("<f8", true, &[2, 2], "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }"),
        ("<U2", false, &[3], "{'descr': '<U2', 'fortran_order': False, 'shape': (3,), }"),
        ("<M8[ns]", false, &[], "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (), }"),
    ];
    for (descr, fortran_order, shape, text) in cases {
        let header = header::encode(&descr.parse().unwrap(), fortran_order, shape);
        assert_eq!(header, [b"\x93NUMPY\x01\0v\0", format!("{text:117}\n").as_bytes()].concat());
    }
}

#[test]
fn long_headers_are_version_2_and_come_back() {
    let descr: Descr = "<f4".parse().unwrap();
    let shape = vec![1; 30_000];
    let bytes = header::encode(&descr, false, &shape);
    assert_eq!((bytes[6], bytes.len() % 64), (2, 0));
    let (header, length) = header::read(&mut &bytes[..]).unwrap();
    assert_eq!((header.shape, length), (shape, bytes.len() as u64));
}

#[test]
fn every_header_length_is_aligned_and_comes_back() {
    for rank in 0..64 {
        let (descr, shape): (Descr, _) = ("|S12".parse().unwrap(), vec![12345; rank]);
        let bytes = header::encode(&descr, true, &shape);
        assert_eq!((bytes[6], bytes.len() % 64, bytes.last()), (1, 0, Some(&b'\n')));
        let (header, _) = header::read(&mut &bytes[..]).unwrap();
        assert_eq!(header, Header { descr, fortran_order: true, shape });
    }
}

#[test]
fn new_arrays_must_fill_their_shape() {
    let error = NpyArray::new("<f4", &[2], false, vec![0; 7]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "impossible shape: shape [2] of f32 takes 8 bytes but the buffer has 7"
    );
}

#[test]
fn files_come_back_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let array = NpyArray::new(">c8", &[2, 1], true, (0..16).collect()).unwrap();
    write(&path, &array).unwrap();
    assert_eq!(read(&path).unwrap(), array);
    let error = read(folder.path().join("y.npy")).unwrap_err().to_string();
    assert!(error.starts_with("cannot read ") && !error.contains("os error"), "{error}");
    assert!(matches!(read(folder.path()), Err(Error::Read { .. })));
}

#[test]
fn records_are_fields_with_offsets_and_kept_to_the_letter() {
    let text =
        "[('x', '<f4'), ('', '|V4'), (('a title', 'y'), '>i2', (3,)), ('in', [('z', '|u1')])]";
    let descr: Descr = text.parse().unwrap();
    assert_eq!((descr.as_str(), descr.kind()), (text, Kind::Record));
    assert_eq!(descr.dtype(), DType::Bytes(15));
    assert!(descr.is_big_endian());
    let fields: Vec<_> =
        descr.fields().iter().map(|f| (f.name.as_str(), f.offset, f.shape.len())).collect();
    assert_eq!(fields, [("x", 0, 0), ("", 4, 0), ("y", 8, 1), ("in", 14, 0)]);
    assert_eq!(descr.fields()[3].descr.fields()[0].name, "z");
    for (text, bytes) in [("[]", 0), ("[('a', '<U2',)]", 8), ("[(\"it's\", '|i1'), ]", 1)] {
        assert_eq!(text.parse::<Descr>().unwrap().dtype(), DType::Bytes(bytes), "{text}");
    }
    for text in [
        "[",
        "[(",
        "[('a'",
        "[('a\\",
        "[('a', '<f4')",
        "[('a' '<f4')]",
        "['<f4']",
        "[('a', '<f4')]x",
    ] {
        assert!(matches!(text.parse::<Descr>(), Err(NpyError::HeaderSyntax { .. })), "{text}");
    }
}

#[test]
fn names_of_fields_choose_the_version() {
    // As `np.save` of NumPy 2.4.6 does: Latin-1 in version 1, everything else in version 3.
    for (name, version) in [("x", 1), ("größe", 1), ("размер", 3)] {
        let array =
            NpyArray::new(&format!("[('{name}', '|u1')]"), &[2], false, vec![1, 2]).unwrap();
        let mut bytes = header::encode(array.descr(), false, &[2]);
        assert_eq!((bytes[6], bytes.len() % 64), (version, 0), "{name}");
        bytes.extend(array.data());
        assert_eq!(decode_both(&bytes).unwrap(), array, "{name}");
    }
}
