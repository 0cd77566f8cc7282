/* Retrograde reverses tensors. The documentation is docs/c.md. */
/* Generated from the sources of crates/c by its tests. Do not edit. */

#ifndef RETROGRADE_H
#define RETROGRADE_H

#include <stddef.h>
#include <stdint.h>
/* The version of this header. */
#define RETROGRADE_VERSION "0.1.0"
#define RETROGRADE_VERSION_MAJOR 0
#define RETROGRADE_VERSION_MINOR 1
#define RETROGRADE_VERSION_PATCH 0


/**
 * The version of the binary interface that this header describes. It changes when a program that
 * was compiled with an older header would no longer work. New functions, status codes and fields
 * do not change it.
 */
#define RETROGRADE_ABI_VERSION 1

/**
 * The most axes that a tensor may have.
 */
#define RETROGRADE_MAX_RANK 1024

/**
 * A prepared call. It is immutable: any number of threads may run it at the same time.
 */
typedef struct retrograde_call retrograde_call;

/**
 * An operator and its attributes.
 */
typedef struct retrograde_operator retrograde_operator;

/**
 * The result of a call: `RETROGRADE_OK` or the kind of error. `retrograde_last_error` has the
 * message. Codes keep their values; later versions may add some.
 */
typedef int32_t retrograde_status;

/**
 * An element type. Moving elements needs only its width. There are no tensors of strings.
 */
typedef uint32_t retrograde_dtype;

/**
 * What strides and offsets count.
 */
typedef uint32_t retrograde_stride_unit;

/**
 * The type, sizes and strides of a tensor, without its memory.
 *
 * `RETROGRADE_TENSOR(dtype, rank, shape)` initialises one that is dense and row-major. Later
 * versions may append fields, in which zero keeps today's meaning; `struct_bytes` says which
 * fields the caller knows.
 */
typedef struct retrograde_tensor {
    /**
     * `sizeof(retrograde_tensor)`.
     */
    size_t struct_bytes;
    /**
     * The element type.
     */
    retrograde_dtype dtype;
    /**
     * What `strides` and `offset` count: `RETROGRADE_ELEMENTS` or `RETROGRADE_STRIDE_BYTES`.
     */
    retrograde_stride_unit stride_unit;
    /**
     * The width of an element of `RETROGRADE_BYTES`; otherwise 0.
     */
    size_t element_bytes;
    /**
     * The number of axes; 0 for a scalar.
     */
    size_t rank;
    /**
     * The size of each axis; may be null if `rank` is 0.
     */
    const int64_t *shape;
    /**
     * The distance from one element to the next along each axis, which may be negative, or 0 in
     * inputs to repeat an element. Null for a dense row-major tensor.
     */
    const int64_t *strides;
    /**
     * Where element `[0, 0, ..]` is, counted from the start of the buffer.
     */
    size_t offset;
} retrograde_tensor;

/**
 * A kind of operator.
 */
typedef uint32_t retrograde_kind;

/**
 * What happens to an axis that is named twice.
 */
typedef uint32_t retrograde_duplicates;

/**
 * What happens to a length beyond the axis. A negative one is always an error.
 */
typedef uint32_t retrograde_policy;

/**
 * At which end of the axis sequences are.
 */
typedef uint32_t retrograde_align;

/**
 * What happens to the steps beyond a length.
 */
typedef uint32_t retrograde_tail;

/**
 * Runs one part of a call.
 */
typedef void (*retrograde_part)(void *job, size_t index);

/**
 * Threads of the caller's runtime, for calls that must not start others.
 *
 * Later versions may append fields, in which zero keeps today's meaning.
 */
typedef struct retrograde_workers {
    /**
     * `sizeof(retrograde_workers)`.
     */
    size_t struct_bytes;
    /**
     * About how many parts can run at the same time, the caller's thread included.
     */
    size_t threads;
    /**
     * Passed to `run`.
     */
    void *context;
    /**
     * Calls `part(job, index)` with each index below `parts` exactly once, on any threads, and
     * returns when all of these calls have returned. It must not throw.
     */
    void (*run)(void *context, size_t parts, retrograde_part part, void *job);
} retrograde_workers;

/**
 * Where lengths are.
 */
typedef uint32_t retrograde_place;

/**
 * The call succeeded.
 */
#define RETROGRADE_OK 0

/**
 * A pointer that must not be null is null, or is not aligned for what it points to.
 */
#define RETROGRADE_BAD_POINTER 1

/**
 * A handle that is not of the expected kind, or has been destroyed.
 */
#define RETROGRADE_BAD_HANDLE 2

/**
 * An enum value, an attribute or a size that does not exist or is out of range.
 */
#define RETROGRADE_BAD_ARGUMENT 3

/**
 * A tensor description that is impossible: its sizes and strides overflow, or lead before the
 * start of the buffer.
 */
#define RETROGRADE_BAD_TENSOR 4

/**
 * Tensors that do not fit the operator or each other: shapes, types, rank.
 */
#define RETROGRADE_MISMATCH 5

/**
 * A buffer is smaller than its tensor.
 */
#define RETROGRADE_BUFFER_TOO_SMALL 6

/**
 * Buffers overlap without being the same tensor.
 */
#define RETROGRADE_OVERLAP 7

/**
 * A length or an offset is out of range; `retrograde_last_error_position` says which.
 */
#define RETROGRADE_LENGTH_OUT_OF_RANGE 8

/**
 * The call cannot run in place, because input and output have different layouts.
 */
#define RETROGRADE_NOT_IN_PLACE 9

/**
 * There is no CUDA driver, or no such device.
 */
#define RETROGRADE_NO_DEVICE 10

/**
 * The CUDA driver reported an error.
 */
#define RETROGRADE_CUDA_ERROR 11

/**
 * This build does not have the feature.
 */
#define RETROGRADE_UNSUPPORTED 12

/**
 * An error inside the library, which is a bug.
 */
#define RETROGRADE_INTERNAL 13

/**
 * Boolean, one byte.
 */
#define RETROGRADE_BOOL 1

/**
 * Unsigned 8-bit integer.
 */
#define RETROGRADE_U8 2

/**
 * Signed 8-bit integer.
 */
#define RETROGRADE_I8 3

/**
 * Unsigned 16-bit integer.
 */
#define RETROGRADE_U16 4

/**
 * Signed 16-bit integer.
 */
#define RETROGRADE_I16 5

/**
 * Unsigned 32-bit integer.
 */
#define RETROGRADE_U32 6

/**
 * Signed 32-bit integer.
 */
#define RETROGRADE_I32 7

/**
 * Unsigned 64-bit integer.
 */
#define RETROGRADE_U64 8

/**
 * Signed 64-bit integer.
 */
#define RETROGRADE_I64 9

/**
 * IEEE half-precision float.
 */
#define RETROGRADE_F16 10

/**
 * Brain float, 16 bits.
 */
#define RETROGRADE_BF16 11

/**
 * IEEE single-precision float.
 */
#define RETROGRADE_F32 12

/**
 * IEEE double-precision float.
 */
#define RETROGRADE_F64 13

/**
 * Complex number of two F32.
 */
#define RETROGRADE_C64 14

/**
 * Complex number of two F64.
 */
#define RETROGRADE_C128 15

/**
 * 8-bit float, 4 exponent bits, no infinities.
 */
#define RETROGRADE_F8E4M3FN 16

/**
 * As F8E4M3FN, with one zero and one NaN.
 */
#define RETROGRADE_F8E4M3FNUZ 17

/**
 * 8-bit float, 5 exponent bits.
 */
#define RETROGRADE_F8E5M2 18

/**
 * As F8E5M2, with one zero and one NaN.
 */
#define RETROGRADE_F8E5M2FNUZ 19

/**
 * 8-bit power of two (a block's scale).
 */
#define RETROGRADE_F8E8M0 20

/**
 * 4-bit float, two to a byte, the first in the low bits.
 */
#define RETROGRADE_F4E2M1 21

/**
 * 4-bit normal float, two to a byte.
 */
#define RETROGRADE_NF4 22

/**
 * Unsigned 4-bit integer, two to a byte.
 */
#define RETROGRADE_U4 23

/**
 * Signed 4-bit integer, two to a byte.
 */
#define RETROGRADE_I4 24

/**
 * Unsigned 2-bit integer, four to a byte.
 */
#define RETROGRADE_U2 25

/**
 * Signed 2-bit integer, four to a byte.
 */
#define RETROGRADE_I2 26

/**
 * One bit, eight to a byte, the most significant bit first.
 */
#define RETROGRADE_U1 27

/**
 * Any other element, of `element_bytes` bytes: a record, a pixel.
 */
#define RETROGRADE_BYTES 255

/**
 * Elements.
 */
#define RETROGRADE_ELEMENTS 0

/**
 * Bytes; not for types that pack several elements into a byte.
 */
#define RETROGRADE_STRIDE_BYTES 1

/**
 * Whole axes (OpenVINO Reverse-1). Needs `set_axes`, `set_mask` or `set_all_axes`.
 */
#define RETROGRADE_REVERSE 1

/**
 * The first steps of each sequence of a batch (ONNX ReverseSequence). Time is axis 0 and the batch
 * axis 1; a length beyond the time axis is an error.
 */
#define RETROGRADE_REVERSE_SEQUENCE 2

/**
 * The first elements of each lane (DirectML ReverseSubsequences). Needs `set_axis`; a length
 * beyond the axis is clamped.
 */
#define RETROGRADE_REVERSE_SUBSEQUENCES 3

/**
 * Segments of one axis, cut by offsets (cu_seqlens). Needs `set_axis`.
 */
#define RETROGRADE_REVERSE_SEGMENTS 4

/**
 * The orientations of images (EXIF). Needs `set_orientation`; `set_axes` names the axes of rows and
 * columns, 0 and 1 by default. The output has their sizes exchanged from orientation 5 on.
 */
#define RETROGRADE_ORIENT 5

/**
 * It is an error, and nothing is written.
 */
#define RETROGRADE_STRICT 0

/**
 * It is clamped to the size of the axis.
 */
#define RETROGRADE_CLAMP 1

/**
 * They start at step 0: the first steps are reversed.
 */
#define RETROGRADE_ALIGN_START 0

/**
 * They end at the last step (left-padded batches): the last steps are reversed.
 */
#define RETROGRADE_ALIGN_END 1

/**
 * They stay as they are.
 */
#define RETROGRADE_TAIL_KEEP 0

/**
 * They become zero bytes.
 */
#define RETROGRADE_TAIL_ZERO 1

/**
 * It is reversed once.
 */
#define RETROGRADE_DUPLICATES_ALLOW 0

/**
 * It is an error.
 */
#define RETROGRADE_DUPLICATES_ERROR 1

/**
 * In memory of the host. They are checked before anything is launched, and copied.
 */
#define RETROGRADE_HOST 0

/**
 * On the device. They are checked there, and `retrograde_cuda_check` reports invalid ones.
 */
#define RETROGRADE_DEVICE 1

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The `RETROGRADE_ABI_VERSION` of the library that is loaded. Compare it with the header's.
 */
uint32_t retrograde_abi_version(void);

/**
 * The version of the library, such as "0.1.0". The text is constant.
 */
const char *retrograde_version(void);

/**
 * The name of a status code, such as "RETROGRADE_MISMATCH"; "unknown status" for other values.
 * The text is constant.
 */
const char *retrograde_status_name(retrograde_status status);

/**
 * The message of the latest call on this thread that failed; "" if none did. It names the
 * operator, the argument, its value and the allowed range.
 *
 * The pointer is valid until another call fails on this thread, or the thread ends.
 */
const char *retrograde_last_error(void);

/**
 * Which length or offset the latest failure on this thread was about, counted in row-major order;
 * -1 if it was about something else.
 */
int64_t retrograde_last_error_position(void);

/**
 * The bytes that a buffer for this tensor must have at least: up to its last element.
 *
 * The caller guarantees:
 * `tensor` is null or points to a struct of `struct_bytes` bytes, whose arrays have `rank`
 * entries; `bytes` is null or can be written.
 */
retrograde_status retrograde_tensor_bytes(const struct retrograde_tensor *tensor, size_t *bytes);

/**
 * Makes an operator with its defaults. Destroy it with `retrograde_operator_destroy`.
 *
 * The caller guarantees:
 * `result` is null or can be written.
 */
retrograde_status retrograde_operator_create(retrograde_kind kind,
                                             struct retrograde_operator **result);

/**
 * Destroys an operator. Calls that were prepared from it stay valid. Null is ignored.
 *
 * The caller guarantees:
 * `op` is null or came from `retrograde_operator_create`, is destroyed once, and no other
 * thread uses it.
 */
void retrograde_operator_destroy(struct retrograde_operator *op);

/**
 * Reverse: the axes to reverse. Negative ones count from the end. None at all copies the tensor.
 * Orient: the axes of rows and columns, which are two.
 *
 * The caller guarantees:
 * `op` is null or valid, and no other thread uses it; `axes` is null or has `count` values.
 */
retrograde_status retrograde_operator_set_axes(struct retrograde_operator *op,
                                               const int64_t *axes,
                                               size_t count);

/**
 * Reverse: one entry per axis; axes whose entry is not 0 are reversed.
 *
 * The caller guarantees:
 * `op` is null or valid, and no other thread uses it; `mask` is null or has `count` bytes.
 */
retrograde_status retrograde_operator_set_mask(struct retrograde_operator *op,
                                               const uint8_t *mask,
                                               size_t count);

/**
 * Reverse: all axes.
 *
 * The caller guarantees:
 * `op` is null or valid, and no other thread uses it.
 */
retrograde_status retrograde_operator_set_all_axes(struct retrograde_operator *op);

/**
 * Reverse: whether an axis may be named twice (the default) or that is an error.
 *
 * The caller guarantees:
 * `op` is null or valid, and no other thread uses it.
 */
retrograde_status retrograde_operator_set_duplicates(struct retrograde_operator *op,
                                                     retrograde_duplicates duplicates);

/**
 * ReverseSequence: the axis that is reversed, 0 by default. Negative ones count from the end.
 *
 * The caller guarantees:
 * `op` is null or valid, and no other thread uses it.
 */
retrograde_status retrograde_operator_set_time_axis(struct retrograde_operator *op, int64_t axis);

/**
 * ReverseSequence: the axis that lengths run along, 1 by default. Negative ones count from the end.
 *
 * The caller guarantees:
 * `op` is null or valid, and no other thread uses it.
 */
retrograde_status retrograde_operator_set_batch_axis(struct retrograde_operator *op, int64_t axis);

/**
 * ReverseSequence: only what this ONNX opset allows (10 or later): axes 0 and 1, its element types,
 * and lengths of type I64.
 *
 * The caller guarantees:
 * `op` is null or valid, and no other thread uses it.
 */
retrograde_status retrograde_operator_set_onnx_opset(struct retrograde_operator *op,
                                                     uint32_t opset);

/**
 * ReverseSubsequences and ReverseSegments: the axis, which may count from the end.
 *
 * The caller guarantees:
 * `op` is null or valid, and no other thread uses it.
 */
retrograde_status retrograde_operator_set_axis(struct retrograde_operator *op, int64_t axis);

/**
 * Orient: the EXIF number of the images, 1 to 8, which become upright: 2 mirrors them, 3 turns by
 * half, 4 flips upside down, 5 transposes, 6 turns clockwise, 7 is the transverse, and 8 turns
 * counter-clockwise.
 *
 * The caller guarantees:
 * `op` is null or valid, and no other thread uses it.
 */
retrograde_status retrograde_operator_set_orientation(struct retrograde_operator *op,
                                                      uint32_t exif);

/**
 * ReverseSequence and ReverseSubsequences: what happens to a length beyond the axis.
 *
 * The caller guarantees:
 * `op` is null or valid, and no other thread uses it.
 */
retrograde_status retrograde_operator_set_policy(struct retrograde_operator *op,
                                                 retrograde_policy policy);

/**
 * ReverseSequence and ReverseSubsequences: at which end of the axis sequences are.
 *
 * The caller guarantees:
 * `op` is null or valid, and no other thread uses it.
 */
retrograde_status retrograde_operator_set_align(struct retrograde_operator *op,
                                                retrograde_align align);

/**
 * ReverseSequence and ReverseSubsequences: what happens to the steps beyond a length.
 *
 * The caller guarantees:
 * `op` is null or valid, and no other thread uses it.
 */
retrograde_status retrograde_operator_set_tail(struct retrograde_operator *op,
                                               retrograde_tail tail);

/**
 * ReverseSegments: whether offsets are marked: of type I64, each twice what it would be, and one more
 * where the segment that it starts is reversed. The others stay, as sequences and lanes do whose length
 * is 0.
 *
 * The caller guarantees:
 * `op` is null or valid, and no other thread uses it.
 */
retrograde_status retrograde_operator_set_marked(struct retrograde_operator *op,
                                                 uint32_t marked);

/**
 * A table that elements are looked up in while they are reversed: 256 entries for elements of one
 * byte, 16 for packed elements of 4 bits, 4 for those of 2 bits. Elements that are not reversed keep
 * their value. None at all removes it.
 *
 * The caller guarantees:
 * `op` is null or valid, and no other thread uses it; `entries` is null or has `count` bytes.
 */
retrograde_status retrograde_operator_set_table(struct retrograde_operator *op,
                                                const uint8_t *entries,
                                                size_t count);

/**
 * Checks tensors against an operator and plans the call.
 *
 * `lengths` describes the lengths of ReverseSequence (one per batch entry) and of
 * ReverseSubsequences (the input's shape with 1 at the axis), and the offsets of ReverseSegments
 * (one more than segments), of any integer type. It is null for Reverse. The descriptions are not
 * kept. Destroy the result with `retrograde_call_destroy`.
 *
 * The caller guarantees:
 * `op` is null or valid; the descriptions are null or structs of `struct_bytes` bytes, whose
 * arrays have `rank` entries; `result` is null or can be written.
 */
retrograde_status retrograde_prepare(const struct retrograde_operator *op,
                                     const struct retrograde_tensor *input,
                                     const struct retrograde_tensor *lengths,
                                     const struct retrograde_tensor *output,
                                     struct retrograde_call **result);

/**
 * Destroys a prepared call. Null is ignored. Work that it launched on a CUDA stream goes on.
 *
 * The caller guarantees:
 * `call` is null or came from `retrograde_prepare`, is destroyed once, and no other thread uses
 * it.
 */
void retrograde_call_destroy(struct retrograde_call *call);

/**
 * Runs a call from one buffer to another.
 *
 * Sizes are checked against the tensors, all lengths against the policy, and buffers for overlap,
 * before anything is written: on an error the output is unchanged. If input and output are the
 * same tensor in the same memory, it runs in place. `lengths` is null and `lengths_bytes` 0 for
 * Reverse. A buffer of 0 bytes may be null.
 *
 * `lengths` are values of the type that was described to `retrograde_prepare`. If they have no gaps,
 * `lengths_bytes` is exactly their size, so that values of another width are refused.
 *
 * Packed elements of a tensor that is not dense share bytes with their neighbours, which are kept:
 * such an output must be initialised.
 *
 * The caller guarantees:
 * `call` is null or valid; each buffer has as many bytes as stated, and no other thread writes to
 * them, or reads the output, during the call.
 */
retrograde_status retrograde_run(const struct retrograde_call *call,
                                 const void *input,
                                 size_t input_bytes,
                                 const void *lengths,
                                 size_t lengths_bytes,
                                 void *output,
                                 size_t output_bytes);

/**
 * Reverses axes of a tensor, from one buffer to another that is described the same: Reverse in one
 * call, for a program that does not run it often. Negative axes count from the end; none at all
 * copies the tensor. If both buffers are one, it runs in place.
 *
 * The caller guarantees:
 * `tensor` is null or a struct of `struct_bytes` bytes, whose arrays have `rank` entries; `axes` is
 * null or has `count` values; buffers are as for `retrograde_run`.
 */
retrograde_status retrograde_flip(const struct retrograde_tensor *tensor,
                                  const int64_t *axes,
                                  size_t count,
                                  const void *input,
                                  size_t input_bytes,
                                  void *output,
                                  size_t output_bytes);

/**
 * Runs a call whose input and output have the same layout on one buffer.
 *
 * The caller guarantees:
 * As for `retrograde_run`, for `data` as for its output.
 */
retrograde_status retrograde_run_in_place(const struct retrograde_call *call,
                                          const void *lengths,
                                          size_t lengths_bytes,
                                          void *data,
                                          size_t data_bytes);

/**
 * Writes what a call moves, as text for people, into `text`: at most `capacity` bytes including
 * the final zero. `needed`, which may be null, receives the bytes of the whole text, so that a
 * call with a null `text` and capacity 0 tells how much to allocate.
 *
 * The caller guarantees:
 * `call` is null or valid; `text` is null or has `capacity` bytes; `needed` is null or can be
 * written.
 */
retrograde_status retrograde_call_describe(const struct retrograde_call *call,
                                           char *text,
                                           size_t capacity,
                                           size_t *needed);

/**
 * As `retrograde_run`, on these threads and the caller's only. Small calls do not ask for them.
 *
 * The caller guarantees:
 * As for `retrograde_run`; `workers` is null or points to a struct of `struct_bytes` bytes, whose
 * function does what it says. Null runs the call on the caller's thread.
 */
retrograde_status retrograde_run_with(const struct retrograde_call *call,
                                      const struct retrograde_workers *workers,
                                      const void *input,
                                      size_t input_bytes,
                                      const void *lengths,
                                      size_t lengths_bytes,
                                      void *output,
                                      size_t output_bytes);

/**
 * How many CUDA devices there are. Without a driver or a device this is `RETROGRADE_NO_DEVICE`.
 *
 * The caller guarantees:
 * `count` is null or can be written.
 */
retrograde_status retrograde_cuda_device_count(size_t *count);

/**
 * Runs a call on a CUDA device, asynchronously on a stream: a `CUstream` or `cudaStream_t` of the
 * device's primary context, or null for the default stream.
 *
 * Addresses are those of the device. Errors that the host can see are returned, and nothing is
 * launched. If a length on the device is invalid, the output is unchanged and
 * `retrograde_cuda_check` reports it. If input and output are the same tensor, it runs in place.
 * With lengths on the device, and except for packed elements and tables in place, nothing is
 * allocated, so that a CUDA graph can capture the call; run one such call before.
 *
 * The caller guarantees:
 * `call` is null or valid; `stream` is a stream of the device's primary context; buffers have as
 * many bytes as stated, until the stream has finished the call; host lengths until this returns.
 */
retrograde_status retrograde_run_cuda(const struct retrograde_call *call,
                                      size_t device,
                                      void *stream,
                                      const void *input,
                                      size_t input_bytes,
                                      const void *lengths,
                                      size_t lengths_bytes,
                                      retrograde_place lengths_place,
                                      void *output,
                                      size_t output_bytes);

/**
 * Runs a call whose input and output have the same layout on one buffer of a CUDA device.
 *
 * The caller guarantees:
 * As for `retrograde_run_cuda`, for `data` as for its output.
 */
retrograde_status retrograde_run_cuda_in_place(const struct retrograde_call *call,
                                               size_t device,
                                               void *stream,
                                               const void *lengths,
                                               size_t lengths_bytes,
                                               retrograde_place lengths_place,
                                               void *data,
                                               size_t data_bytes);

/**
 * As `retrograde_run_cuda`, to an output that is uninitialised: an invalid length on the device is
 * clamped, so that all of the output is written, and reported in the same way.
 *
 * The caller guarantees:
 * As for `retrograde_run_cuda`.
 */
retrograde_status retrograde_run_cuda_new(const struct retrograde_call *call,
                                          size_t device,
                                          void *stream,
                                          const void *input,
                                          size_t input_bytes,
                                          const void *lengths,
                                          size_t lengths_bytes,
                                          retrograde_place lengths_place,
                                          void *output,
                                          size_t output_bytes);

/**
 * Reports an invalid length of an earlier call on the device that is known by now, once. It waits for
 * nothing, and finds nothing while a CUDA graph is being captured from the stream.
 *
 * The caller guarantees:
 * `stream` is a stream of the device's primary context, or null.
 */
retrograde_status retrograde_cuda_earlier(size_t device,
                                          void *stream);

/**
 * Waits for everything on a stream, and reports the first invalid length of the calls on it since
 * the last check.
 *
 * The caller guarantees:
 * `stream` is a stream of the device's primary context, or null.
 */
retrograde_status retrograde_cuda_check(size_t device, void *stream);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* RETROGRADE_H */

/**
 * Initialises the description of a dense row-major tensor:
 *
 *     int64_t shape[] = {3, 8};
 *     retrograde_tensor rows = RETROGRADE_TENSOR(RETROGRADE_F32, 2, shape);
 */
#define RETROGRADE_TENSOR(dtype, rank, shape)                                                      \
    {sizeof(retrograde_tensor), (dtype), RETROGRADE_ELEMENTS, 0, (rank), (shape), NULL, 0}
