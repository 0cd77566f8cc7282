//! The rules: what each operator must do, in our own words, and who is known to do otherwise.
//!
//! Every case names one rule. The ids are stable: a rule that changes its meaning gets a new one.

/// A runtime that is known to break a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Known {
    /// The runtime.
    pub runtime: &'static str,
    /// What it does instead.
    pub does: &'static str,
    /// The public thread, such as `onnxruntime#28490`; empty if there is none that we know.
    pub thread: &'static str,
}

/// One rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its id.
    pub id: &'static str,
    /// What holds.
    pub sentence: &'static str,
    /// Where the texts are silent: what we hold, and why. Empty if they say it.
    pub silent: &'static str,
    /// Who is known to disagree.
    pub known: &'static [Known],
}

/// The rule with this id.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}

const fn known(runtime: &'static str, does: &'static str, thread: &'static str) -> Known {
    Known { runtime, does, thread }
}

const fn rule(
    id: &'static str,
    sentence: &'static str,
    silent: &'static str,
    known: &'static [Known],
) -> Rule {
    Rule { id, sentence, silent, known }
}

/// Every rule, in the order of the report.
pub const RULES: &[Rule] = &[
    rule(
        "types.every",
        "Every element type that the operator lists can be reversed.",
        "",
        &[
            known("onnxruntime", "has no kernel for complex64 and complex128", ""),
            known("openvino", "aborts the process on a string tensor (Reverse)", ""),
            known(
                "openvino",
                "moves f4e2m1, nf4 and u2 as bytes and reads beyond the input (Reverse)",
                "",
            ),
            known("iree", "does not compile reverse of unsigned integers", ""),
            known("tflite", "has no f64, u16, u32, u64 and complex types", ""),
        ],
    ),
    rule(
        "bits.nan-payload",
        "The payload and the sign of a quiet NaN are kept.",
        "No text says it. An operator that only moves elements has no reason to change one.",
        &[],
    ),
    rule(
        "bits.signalling-nan",
        "A signalling NaN stays signalling.",
        "No text says it. Loading a value into a floating-point register can quieten it, so a \
         runtime that moves floats as floats shows here.",
        &[],
    ),
    rule("bits.negative-zero", "Negative zero keeps its sign.", "As for NaNs.", &[]),
    rule("bits.subnormal", "Subnormal numbers are not flushed to zero.", "As for NaNs.", &[]),
    rule(
        "bits.wide-integer",
        "64-bit integers are kept beyond 32 and beyond 53 bits.",
        "",
        &[known("openvino", "keeps the low 32 bits of i64 and u64 (Reverse)", "")],
    ),
    rule(
        "bits.integer-beyond-f32",
        "32-bit integers are kept beyond 24 bits.",
        "",
        &[known("openvino", "goes through f32: 16777217 becomes 16777216 (ReverseSequence)", "")],
    ),
    rule(
        "bits.double",
        "64-bit floats keep all bits of their fraction and the range of their exponent.",
        "",
        &[known("openvino", "rounds f64 to f32", "")],
    ),
    rule(
        "bits.every-byte",
        "Every pattern of an 8-bit type is kept, and the extremes of 16-bit integers.",
        "Small floats have NaNs too; they are patterns like any other.",
        &[],
    ),
    rule(
        "strings.content",
        "Strings may be empty, long, not ASCII, and hold a zero byte.",
        "ONNX asks for UTF-8 and says nothing on zero bytes. A string has a length, so they are \
         ordinary bytes.",
        &[],
    ),
    rule(
        "packed.rows",
        "Elements of fewer than 8 bits are packed across the flattened tensor; rows may start \
         inside a byte.",
        "",
        &[],
    ),
    rule(
        "packed.tail",
        "The unused bits of the last byte of a packed tensor are zero.",
        "ONNX asks for zero padding in files; in memory no text says it. Equal tensors then have \
         equal bytes.",
        &[],
    ),
    rule(
        "shape.scalar",
        "A scalar without axes passes through with rank 0; any axis of a scalar is refused.",
        "No text names rank 0. It follows from the range of axes, which is empty.",
        &[
            known("tflite", "crashes on a scalar", ""),
            known("iree", "does not compile reverse of a scalar", ""),
        ],
    ),
    rule(
        "shape.one",
        "Axes of size 1 stay in the shape, and reversing one moves nothing.",
        "",
        &[],
    ),
    rule(
        "shape.empty",
        "A tensor with an axis of size 0 is valid and gives an empty tensor of its shape.",
        "ONNX and OpenVINO do not exclude it. DirectML does, so its operator has no such cases.",
        &[
            known("tensorflow", "crashed for a first axis of size 0", "tensorflow#42248"),
            known("tflite", "crashes on ReverseSequence without lengths", ""),
        ],
    ),
    rule("shape.high-rank", "Ranks 5 to 8 work like lower ones.", "No text has a limit.", &[]),
    rule("shape.long", "Axes and rows of hundreds of elements work like short ones.", "", &[]),
    rule(
        "axes.several",
        "All axes that are given are reversed, and no other.",
        "",
        &[
            known(
                "openvino-tensorflow",
                "refuses ReverseV2 with several axes",
                "openvino_tensorflow#432",
            ),
            known("tflite", "refuses axes that are not neighbours", ""),
        ],
    ),
    rule(
        "axes.negative",
        "A negative axis counts from the end.",
        "",
        &[
            known("openvino-gpu", "ignores negative axes of Reverse", ""),
            known(
                "tensorflow",
                "crashed on a negative seq_axis in compiled functions",
                "tensorflow#58027",
            ),
            known("tflite", "refuses negative axes of ReverseSequence", ""),
        ],
    ),
    rule(
        "axes.none",
        "Without axes, and with a mask of false only, the tensor passes through.",
        "WebNN reverses all axes if the list is absent; an empty list is not absent.",
        &[known("tflite", "crashes on an empty list", "")],
    ),
    rule("axes.out-of-range", "An axis outside [-rank, rank) is refused.", "", &[]),
    rule(
        "axes.duplicate-is-set",
        "OpenVINO Reverse: an axis that is named again, also as a negative number, is reversed \
         once; so there may be more entries than axes.",
        "",
        &[known("openvino-gpu", "reverses the axis once for each entry", "")],
    ),
    rule(
        "axes.duplicate-refused",
        "Flip: an axis that is named again, also as a negative number, is refused.",
        "",
        &[],
    ),
    rule("axes.mask", "A mask reverses exactly the axes where it is true.", "", &[]),
    rule(
        "axes.mask-refused",
        "A mask whose length is not the rank, or that is not boolean, is refused.",
        "",
        &[],
    ),
    rule("axes.integer-types", "The list of axes may have any integer type.", "", &[]),
    rule(
        "axes.kind-refused",
        "A list of axes that is not integer, or not of rank 1, is refused.",
        "",
        &[],
    ),
    rule(
        "sequence.axes",
        "Time axis 1 with batch axis 0 reverses along axis 1, with a length for each entry of \
         axis 0.",
        "",
        &[
            known("iree", "used the wrong axis for one of the two orders", "iree#24229"),
            known("iree", "wrong result on the CPU", "iree#20011"),
        ],
    ),
    rule(
        "sequence.axes-refused",
        "Equal time and batch axes are refused, and for ONNX any axis but 0 and 1.",
        "",
        &[],
    ),
    rule("sequence.any-axes", "Where any two axes are allowed, they may be any two.", "", &[]),
    rule(
        "sequence.rank-refused",
        "An input of rank 0 or 1 is refused: there is no room for two axes.",
        "",
        &[],
    ),
    rule("subsequences.axis", "Any axis can be reversed, with one length per lane.", "", &[]),
    rule("lengths.each", "Each entry (or lane) is reversed by its own length.", "", &[]),
    rule(
        "lengths.tail",
        "The elements beyond a length stay, also if all lengths are shorter than the axis.",
        "",
        &[],
    ),
    rule(
        "lengths.zero",
        "Length 0 leaves its entry as it is.",
        "ONNX says nothing on 0, OpenVINO's text begins at 1. The formula holds for 0.",
        &[
            known("onnxruntime", "returned zeros until June 2026", "onnxruntime#28490"),
            known(
                "openvino",
                "was reported for being right where ONNX Runtime was wrong",
                "openvino#20872",
            ),
        ],
    ),
    rule("lengths.one", "Length 1 leaves its entry as it is.", "", &[]),
    rule(
        "lengths.beyond-first",
        "A length beyond the axis is refused if it is the first.",
        "ONNX does not say what happens. Reading beyond the axis is never right, and clamping \
         hides the mistake; ONNX Runtime's CPU kernel refuses it too.",
        &[
            known("onnx-reference", "clamps it", ""),
            known(
                "onnxruntime-cuda",
                "does not check it and reads out of bounds",
                "onnxruntime#24920",
            ),
            known(
                "tensorflow-gpu",
                "does not check it and reads out of bounds",
                "tensorflow#104257",
            ),
        ],
    ),
    rule(
        "lengths.beyond-later",
        "A length beyond the axis is refused wherever it is.",
        "As for the first.",
        &[
            known("tflite", "checks only the first length and writes out of bounds", ""),
            known("onnx-reference", "clamps it", ""),
        ],
    ),
    rule(
        "lengths.negative",
        "A negative length is refused.",
        "ONNX does not say it. No number of elements is negative.",
        &[
            known("onnx-reference", "reads -1 as n-1", ""),
            known("tflite", "accepts it", ""),
            known("tensorflow", "crashed on large negative lengths", "tensorflow#59363"),
        ],
    ),
    rule(
        "lengths.wide",
        "Lengths are compared in 64 bits: 2^32 + 2 is beyond the axis, and not 2.",
        "",
        &[],
    ),
    rule(
        "lengths.clamped",
        "DirectML: a length beyond the axis is taken as the size of the axis.",
        "",
        &[],
    ),
    rule(
        "lengths.shape-refused",
        "Lengths that are too few, too many or of another rank are refused.",
        "",
        &[],
    ),
    rule(
        "lengths.types",
        "Lengths may have every integer type that the operator lists: int32 and int64, for \
         DirectML uint32 and uint64.",
        "",
        &[],
    ),
    rule(
        "lengths.type-refused",
        "ONNX ReverseSequence: lengths of another type than int64 are refused.",
        "",
        &[],
    ),
    rule(
        "segments.each",
        "Every segment between two offsets is reversed; elements after the last offset stay.",
        "No standard has this operator. Offsets are those of cu_seqlens and Arrow lists.",
        &[],
    ),
    rule("segments.empty", "Equal neighbouring offsets are an empty segment.", "As above.", &[]),
    rule(
        "segments.refused",
        "Offsets that do not begin at 0, decrease, or lead beyond the axis are refused.",
        "As above.",
        &[],
    ),
    rule(
        "orient.each",
        "An image with an EXIF number from 1 to 8 becomes upright; from 5 on, the sizes of its rows \
         and columns are exchanged.",
        "",
        &[],
    ),
    rule(
        "orient.axes",
        "Any two axes may be those of rows and columns, in this order; negative ones count from the \
         end.",
        "EXIF has one image. Those of a batch are beside each other.",
        &[],
    ),
    rule(
        "orient.refused",
        "Other numbers are refused, and axes that are equal, out of range or not two.",
        "EXIF reserves other numbers. To take them as 1 hides a file that is damaged.",
        &[],
    ),
    rule(
        "where.stays",
        "Sequences, lanes, segments and entries of axis 0 stay where the mask is false; the others are \
         reversed.",
        "No standard has masks.",
        &[],
    ),
    rule("where.lengths", "Lengths of what stays are not looked at.", "As above.", &[]),
    rule("where.refused", "A mask with more or fewer entries is refused.", "As above.", &[]),
    rule(
        "table.each",
        "Each element that is reversed becomes its entry of the table, also if it keeps its place.",
        "No standard has tables.",
        &[],
    ),
    rule(
        "table.types",
        "A table has 256 entries for i8 and u8, 16 for i4 and u4, 4 for i2 and u2; the bits of an element \
         are the number of its entry.",
        "As above.",
        &[],
    ),
    rule("table.stays", "Elements that are not reversed keep their value.", "As above.", &[]),
    rule(
        "table.refused",
        "A table of another size, with an entry that has too many bits, or for another type is refused.",
        "As above.",
        &[],
    ),
];
