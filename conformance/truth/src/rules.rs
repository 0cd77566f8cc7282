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

macro_rules! rules {
    ($(
        $id:literal: $sentence:literal $(, silent $silent:literal)?
        $(, $runtime:literal $does:literal $(($thread:literal))?)*;
    )+) => {
        /// Every rule, in the order of the report.
        pub const RULES: &[Rule] = &[$(Rule {
            id: $id,
            sentence: $sentence,
            silent: concat!($($silent)?),
            known: &[$(Known { runtime: $runtime, does: $does, thread: concat!($($thread)?) },)*],
        },)+];
    };
}

// An id and what holds; where the texts are silent; who is known to disagree, and the public thread.
rules! {
    "types.every": "Every element type that the operator lists can be reversed.",
        "onnxruntime" "has no kernel for complex64 and complex128",
        "openvino" "aborts the process on a string tensor (Reverse)",
        "openvino" "moves f4e2m1, nf4 and u2 as bytes and reads beyond the input (Reverse)",
        "iree" "does not compile reverse of unsigned integers",
        "tflite" "has no f64, u16, u32, u64 and complex types";
    "bits.nan-payload": "The payload and the sign of a quiet NaN are kept.",
        silent "No text says it. An operator that only moves elements has no reason to change one.";
    "bits.signalling-nan": "A signalling NaN stays signalling.",
        silent "No text says it. Loading a value into a floating-point register can quieten it, \
        so a runtime that moves floats as floats shows here.";
    "bits.negative-zero": "Negative zero keeps its sign.",
        silent "As for NaNs.";
    "bits.subnormal": "Subnormal numbers are not flushed to zero.",
        silent "As for NaNs.";
    "bits.wide-integer": "64-bit integers are kept beyond 32 and beyond 53 bits.",
        "openvino" "keeps the low 32 bits of i64 and u64 (Reverse)";
    "bits.integer-beyond-f32": "32-bit integers are kept beyond 24 bits.",
        "openvino" "goes through f32: 16777217 becomes 16777216 (ReverseSequence)";
    "bits.double": "64-bit floats keep all bits of their fraction and the range of their exponent.",
        "openvino" "rounds f64 to f32";
    "bits.every-byte": "Every pattern of an 8-bit type is kept, and the extremes of 16-bit \
        integers.",
        silent "Small floats have NaNs too; they are patterns like any other.";
    "strings.content": "Strings may be empty, long, not ASCII, and hold a zero byte.",
        silent "ONNX asks for UTF-8 and says nothing on zero bytes. A string has a length, so \
        they are ordinary bytes.";
    "packed.rows": "Elements of fewer than 8 bits are packed across the flattened tensor; rows \
        may start inside a byte.";
    "packed.tail": "The unused bits of the last byte of a packed tensor are zero.",
        silent "ONNX asks for zero padding in files; in memory no text says it. Equal tensors \
        then have equal bytes.";
    "shape.scalar": "A scalar without axes passes through with rank 0; any axis of a scalar is \
        refused.",
        silent "No text names rank 0. It follows from the range of axes, which is empty.",
        "tflite" "crashes on a scalar",
        "iree" "does not compile reverse of a scalar";
    "shape.one": "Axes of size 1 stay in the shape, and reversing one moves nothing.";
    "shape.empty": "A tensor with an axis of size 0 is valid and gives an empty tensor of its \
        shape.",
        silent "ONNX and OpenVINO do not exclude it. DirectML does, so its operator has no such \
        cases.",
        "tensorflow" "crashed for a first axis of size 0" ("tensorflow#42248"),
        "tflite" "crashes on ReverseSequence without lengths";
    "shape.high-rank": "Ranks 5 to 8 work like lower ones.",
        silent "No text has a limit.";
    "shape.long": "Axes and rows of hundreds of elements work like short ones.";
    "axes.several": "All axes that are given are reversed, and no other.",
        "openvino-tensorflow" "refuses ReverseV2 with several axes" ("openvino_tensorflow#432"),
        "tflite" "refuses axes that are not neighbours";
    "axes.negative": "A negative axis counts from the end.",
        "openvino-gpu" "ignores negative axes of Reverse",
        "tensorflow" "crashed on a negative seq_axis in compiled functions" ("tensorflow#58027"),
        "tflite" "refuses negative axes of ReverseSequence";
    "axes.none": "Without axes, and with a mask of false only, the tensor passes through.",
        silent "WebNN reverses all axes if the list is absent; an empty list is not absent.",
        "tflite" "crashes on an empty list";
    "axes.out-of-range": "An axis outside [-rank, rank) is refused.";
    "axes.duplicate-is-set": "OpenVINO Reverse: an axis that is named again, also as a negative \
        number, is reversed once; so there may be more entries than axes.",
        "openvino-gpu" "reverses the axis once for each entry";
    "axes.duplicate-refused": "Flip: an axis that is named again, also as a negative number, is \
        refused.";
    "axes.mask": "A mask reverses exactly the axes where it is true.";
    "axes.mask-refused": "A mask whose length is not the rank, or that is not boolean, is refused.";
    "axes.integer-types": "The list of axes may have any integer type.";
    "axes.kind-refused": "A list of axes that is not integer, or not of rank 1, is refused.";
    "sequence.axes": "Time axis 1 with batch axis 0 reverses along axis 1, with a length for each \
        entry of axis 0.",
        "iree" "used the wrong axis for one of the two orders" ("iree#24229"),
        "iree" "wrong result on the CPU" ("iree#20011");
    "sequence.axes-refused": "Equal time and batch axes are refused, and for ONNX any axis but 0 \
        and 1.";
    "sequence.any-axes": "Where any two axes are allowed, they may be any two.";
    "sequence.rank-refused": "An input of rank 0 or 1 is refused: there is no room for two axes.";
    "subsequences.axis": "Any axis can be reversed, with one length per lane.";
    "lengths.each": "Each entry (or lane) is reversed by its own length.";
    "lengths.tail": "The elements beyond a length stay, also if all lengths are shorter than the \
        axis.";
    "lengths.zero": "Length 0 leaves its entry as it is.",
        silent "ONNX says nothing on 0, OpenVINO's text begins at 1. The formula holds for 0.",
        "onnxruntime" "returned zeros until June 2026" ("onnxruntime#28490"),
        "openvino" "was reported for being right where ONNX Runtime was wrong" ("openvino#20872");
    "lengths.one": "Length 1 leaves its entry as it is.";
    "lengths.beyond-first": "A length beyond the axis is refused if it is the first.",
        silent "ONNX does not say what happens. Reading beyond the axis is never right, and \
        clamping hides the mistake; ONNX Runtime's CPU kernel refuses it too.",
        "onnx-reference" "clamps it",
        "onnxruntime-cuda" "does not check it and reads out of bounds" ("onnxruntime#24920"),
        "tensorflow-gpu" "does not check it and reads out of bounds" ("tensorflow#104257");
    "lengths.beyond-later": "A length beyond the axis is refused wherever it is.",
        silent "As for the first.",
        "tflite" "checks only the first length and writes out of bounds",
        "onnx-reference" "clamps it";
    "lengths.negative": "A negative length is refused.",
        silent "ONNX does not say it. No number of elements is negative.",
        "onnx-reference" "reads -1 as n-1",
        "tflite" "accepts it",
        "tensorflow" "crashed on large negative lengths" ("tensorflow#59363");
    "lengths.wide": "Lengths are compared in 64 bits: 2^32 + 2 is beyond the axis, and not 2.";
    "lengths.clamped": "DirectML: a length beyond the axis is taken as the size of the axis.";
    "lengths.shape-refused": "Lengths that are too few, too many or of another rank are refused.";
    "lengths.types": "Lengths may have every integer type that the operator lists: int32 and \
        int64, for DirectML uint32 and uint64.";
    "lengths.type-refused": "ONNX ReverseSequence: lengths of another type than int64 are refused.";
    "segments.each": "Every segment between two offsets is reversed; elements after the last \
        offset stay.",
        silent "No standard has this operator. Offsets are those of cu_seqlens and Arrow lists.";
    "segments.empty": "Equal neighbouring offsets are an empty segment.",
        silent "As above.";
    "segments.refused": "Offsets that do not begin at 0, decrease, or lead beyond the axis are \
        refused.",
        silent "As above.";
    "orient.each": "An image with an EXIF number from 1 to 8 becomes upright; from 5 on, the \
        sizes of its rows and columns are exchanged.";
    "orient.axes": "Any two axes may be those of rows and columns, in this order; negative ones \
        count from the end.",
        silent "EXIF has one image. Those of a batch are beside each other.";
    "orient.refused": "Other numbers are refused, and axes that are equal, out of range or not \
        two.",
        silent "EXIF reserves other numbers. To take them as 1 hides a file that is damaged.";
    "where.stays": "Sequences, lanes, segments and entries of axis 0 stay where the mask is \
        false; the others are reversed.",
        silent "No standard has masks.";
    "where.lengths": "Lengths of what stays are not looked at.",
        silent "As above.";
    "where.refused": "A mask with more or fewer entries is refused.",
        silent "As above.";
    "table.each": "Each element that is reversed becomes its entry of the table, also if it keeps \
        its place.",
        silent "No standard has tables.";
    "table.types": "A table has 256 entries for i8 and u8, 16 for i4 and u4, 4 for i2 and u2; the \
        bits of an element are the number of its entry.",
        silent "As above.";
    "table.stays": "Elements that are not reversed keep their value.",
        silent "As above.";
    "table.refused": "A table of another size, with an entry that has too many bits, or for \
        another type is refused.",
        silent "As above.";
}
