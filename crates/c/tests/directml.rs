//! DirectML's interface as a program calls it: its documented examples, its rules, and that
//! misuse of a method that returns nothing removes the device.

use retrograde_c::directml::binding::*;
use retrograde_c::directml::buffer::*;
use retrograde_c::directml::compiled::*;
use retrograde_c::directml::device::*;
use retrograde_c::directml::dispatch::*;
use retrograde_c::directml::fault::*;
use retrograde_c::directml::iid;
use retrograde_c::directml::types::*;
use retrograde_c::directml::unknown::*;
use retrograde_c::guard::retrograde_last_error;
use retrograde_c::operator::*;
use retrograde_c::status::{RETROGRADE_BAD_HANDLE, RETROGRADE_OK};
use std::ffi::{CStr, c_void};
use std::ptr::{from_ref, null, null_mut};

const FLOAT32: u32 = 1;
const UINT32: u32 = 3;
const UINT64: u32 = 10;

fn message() -> String {
    // SAFETY: a string of this thread, until its next failure.
    unsafe { CStr::from_ptr(retrograde_last_error()) }.to_str().expect("UTF-8").to_owned()
}

/// A reference that is released.
struct Com<T>(*mut T);

impl<T> Drop for Com<T> {
    fn drop(&mut self) {
        // SAFETY: this reference is given back once.
        unsafe { retrograde_dml_release(self.0.cast()) };
    }
}

/// The object that a function makes, or its error.
fn made<T>(make: impl FnOnce(*mut *mut c_void) -> HRESULT) -> Result<Com<T>, HRESULT> {
    let mut place = null_mut();
    match make(&mut place) {
        S_OK => Ok(Com(place.cast())),
        error => {
            assert!(place.is_null());
            Err(error)
        }
    }
}

/// The device was removed by an error that says this.
fn lost(device: &Com<IDMLDevice>, text: &str) {
    assert_eq!(removed(device), E_INVALIDARG);
    assert!(message().contains(text), "{}", message());
}

fn device_at(level: u32) -> Com<IDMLDevice> {
    // SAFETY: the result can be written.
    made(|ppv| unsafe { retrograde_dml_create_device_at(level, &iid::DEVICE, ppv) })
        .expect("a device")
}

fn device() -> Com<IDMLDevice> {
    // SAFETY: the result can be written.
    let make = |ppv: *mut *mut c_void| unsafe {
        retrograde_dml_create_device(null_mut(), 0, 0x1000, &iid::DEVICE, ppv)
    };
    made(make).expect("a device")
}

/// A tensor descriptor with its arrays.
struct Desc {
    sizes: Vec<u32>,
    buffer: DML_BUFFER_TENSOR_DESC,
}

impl Desc {
    fn new(data_type: u32, sizes: &[u32]) -> Self {
        // SAFETY: the array has as many entries.
        let total = unsafe {
            retrograde_dml_calc_buffer_tensor_size(
                data_type,
                sizes.len() as u32,
                sizes.as_ptr(),
                null(),
            )
        };
        Desc {
            sizes: sizes.to_vec(),
            buffer: DML_BUFFER_TENSOR_DESC {
                DataType: data_type,
                Flags: 0,
                DimensionCount: sizes.len() as u32,
                Sizes: null(),
                Strides: null(),
                TotalTensorSizeInBytes: total,
                GuaranteedBaseOffsetAlignment: 0,
            },
        }
    }

    fn buffer(&self) -> DML_BUFFER_TENSOR_DESC {
        DML_BUFFER_TENSOR_DESC { Sizes: self.sizes.as_ptr(), ..self.buffer }
    }
}

/// A whole call.
struct Reverse {
    input: Desc,
    lengths: Desc,
    output: Desc,
    axis: u32,
}

impl Reverse {
    /// The second example of the documentation.
    fn example() -> Self {
        Reverse {
            input: Desc::new(FLOAT32, &[1, 1, 3, 4]),
            lengths: Desc::new(UINT32, &[1, 1, 1, 4]),
            output: Desc::new(FLOAT32, &[1, 1, 3, 4]),
            axis: 2,
        }
    }

    fn create(&self, device: &Com<IDMLDevice>) -> Result<Com<IDMLOperator>, HRESULT> {
        let buffers = [self.input.buffer(), self.lengths.buffer(), self.output.buffer()];
        let [input, lengths, output] = buffers
            .each_ref()
            .map(|buffer| DML_TENSOR_DESC { Type: 1, Desc: from_ref(buffer).cast() });
        let desc = DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC {
            InputTensor: &input,
            SequenceLengthsTensor: &lengths,
            OutputTensor: &output,
            Axis: self.axis,
        };
        let desc = DML_OPERATOR_DESC { Type: 106, Desc: from_ref(&desc).cast() };
        // SAFETY: the descriptors are complete.
        made(|ppv| unsafe { retrograde_dml_create_operator(device.0, &desc, &iid::OPERATOR, ppv) })
    }

    fn compile(&self, device: &Com<IDMLDevice>) -> Com<IDMLCompiledOperator> {
        let op = self.create(device).expect("a valid operator");
        // SAFETY: both are valid.
        let make = |ppv: *mut *mut c_void| unsafe {
            retrograde_dml_compile_operator(device.0, op.0, 0, &iid::COMPILED_OPERATOR, ppv)
        };
        made(make).expect("compiled")
    }
}

fn initializer(
    device: &Com<IDMLDevice>,
    op: &Com<IDMLCompiledOperator>,
) -> Com<IDMLOperatorInitializer> {
    // SAFETY: one valid operator.
    let make = |ppv: *mut *mut c_void| unsafe {
        let id = &iid::OPERATOR_INITIALIZER;
        retrograde_dml_create_operator_initializer(device.0, 1, &op.0, id, ppv)
    };
    made(make).expect("an initializer")
}

fn table<T>(
    device: &Com<IDMLDevice>,
    dispatchable: &Com<T>,
    room: u32,
) -> Result<Com<IDMLBindingTable>, HRESULT> {
    let desc = DML_BINDING_TABLE_DESC {
        Dispatchable: dispatchable.0.cast(),
        CPUDescriptorHandle: D3D12_CPU_DESCRIPTOR_HANDLE { ptr: 0 },
        GPUDescriptorHandle: D3D12_GPU_DESCRIPTOR_HANDLE { ptr: 0 },
        SizeInDescriptors: room,
    };
    // SAFETY: the dispatchable is valid.
    made(|ppv| unsafe {
        retrograde_dml_create_binding_table(device.0, &desc, &iid::BINDING_TABLE, ppv)
    })
}

fn recorder(device: &Com<IDMLDevice>) -> Result<Com<IDMLCommandRecorder>, HRESULT> {
    // SAFETY: the device is valid.
    made(|ppv| unsafe {
        retrograde_dml_create_command_recorder(device.0, &iid::COMMAND_RECORDER, ppv)
    })
}

fn record<T>(device: &Com<IDMLDevice>, dispatchable: &Com<T>, table: &Com<IDMLBindingTable>) {
    let recorder = match recorder(device) {
        Ok(recorder) => recorder,
        // A binding was wrong already.
        Err(error) => return assert_eq!(error, DXGI_ERROR_DEVICE_REMOVED),
    };
    let dispatchable = dispatchable.0.cast();
    // SAFETY: all are valid.
    unsafe { retrograde_dml_record_dispatch(recorder.0, null_mut(), dispatchable, table.0) };
}

fn removed(device: &Com<IDMLDevice>) -> HRESULT {
    // SAFETY: the device is valid.
    unsafe { retrograde_dml_get_device_removed_reason(device.0) }
}

fn initialise(device: &Com<IDMLDevice>, op: &Com<IDMLCompiledOperator>) {
    let initializer = initializer(device, op);
    let table = table(device, &initializer, 1).expect("a table");
    record(device, &initializer, &table);
}

/// A device, a call that was initialised on it, and a table for its bindings.
fn initialised(
    call: &Reverse,
) -> (Com<IDMLDevice>, Com<IDMLCompiledOperator>, Com<IDMLBindingTable>) {
    let device = device();
    let op = call.compile(&device);
    initialise(&device, &op);
    let table = table(&device, &op, 3).expect("a table");
    (device, op, table)
}

/// A buffer with these bytes.
fn buffer(bytes: &[u8]) -> (Com<ID3D12Resource>, *mut u8) {
    let mut place = null_mut();
    let mut data = null_mut();
    // SAFETY: the buffer has as many bytes.
    unsafe {
        assert_eq!(retrograde_dml_allocate_buffer(bytes.len() as u64, &mut place), S_OK);
        assert_eq!(retrograde_dml_buffer_data(place, &mut data), S_OK);
        assert_eq!(retrograde_dml_buffer_size(place), bytes.len() as u64);
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast(), bytes.len());
    }
    (Com(place), data.cast())
}

fn bytes<T: Copy>(values: &[T]) -> Vec<u8> {
    // SAFETY: plain numbers.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }.to_vec()
}

/// Ranges of buffers, bound to a table: inputs and lengths, then the output.
fn bind(table: &Com<IDMLBindingTable>, ranges: [DML_BUFFER_BINDING; 3]) {
    let desc = |range: &DML_BUFFER_BINDING| DML_BINDING_DESC {
        Type: if range.Buffer.is_null() { 0 } else { 1 },
        Desc: from_ref(range).cast(),
    };
    let [input, lengths, output] = ranges.each_ref().map(desc);
    // SAFETY: two inputs and an output.
    unsafe {
        retrograde_dml_bind_inputs(table.0, 2, [input, lengths].as_ptr());
        retrograde_dml_bind_outputs(table.0, 1, &output);
    }
}

fn range(buffer: &Com<ID3D12Resource>, offset: u64, size: u64) -> DML_BUFFER_BINDING {
    DML_BUFFER_BINDING { Buffer: buffer.0, Offset: offset, SizeInBytes: size }
}

const NONE: DML_BUFFER_BINDING =
    DML_BUFFER_BINDING { Buffer: null_mut(), Offset: 0, SizeInBytes: 0 };

fn counted() -> Vec<f32> {
    (1..=12).map(|value| value as f32).collect()
}

const REVERSED: [f32; 12] = [5., 10., 3., 4., 1., 6., 7., 8., 9., 2., 11., 12.];

#[test]
fn the_documented_example_runs() {
    let (device, op, table) = initialised(&Reverse::example());
    let (input, _) = buffer(&bytes(&counted()));
    let (lengths, _) = buffer(&bytes(&[2u32, 3, 1, 0]));
    let (output, result) = buffer(&[0; 48]);
    bind(&table, [range(&input, 0, 48), range(&lengths, 0, 16), range(&output, 0, 48)]);
    record(&device, &op, &table);
    assert_eq!(removed(&device), S_OK, "{}", message());
    // SAFETY: twelve floats.
    let result = unsafe { std::slice::from_raw_parts(result.cast::<f32>(), 12) };
    assert_eq!(result, REVERSED);
}

#[test]
fn owned_lengths_are_bound_at_initialisation() {
    let device = device();
    let mut example = Reverse::example();
    example.lengths.buffer.Flags = 1;
    let op = example.compile(&device);
    let initializer = initializer(&device, &op);
    let binding = table(&device, &initializer, 1).expect("a table");
    let (lengths, values) = buffer(&bytes(&[2u32, 3, 1, 0]));
    let array = [NONE, range(&lengths, 0, 16)];
    let array = DML_BUFFER_ARRAY_BINDING { BindingCount: 2, Bindings: array.as_ptr() };
    let array = DML_BINDING_DESC { Type: 2, Desc: from_ref(&array).cast() };
    // SAFETY: one array of two.
    unsafe { retrograde_dml_bind_inputs(binding.0, 1, &array) };
    record(&device, &initializer, &binding);
    assert_eq!(removed(&device), S_OK, "{}", message());
    // The operator has a copy.
    // SAFETY: sixteen bytes.
    unsafe { values.write_bytes(0, 16) };
    let table = table(&device, &op, 3).expect("a table");
    let (input, _) = buffer(&bytes(&counted()));
    let (output, result) = buffer(&[0; 48]);
    bind(&table, [range(&input, 0, 48), NONE, range(&output, 0, 48)]);
    record(&device, &op, &table);
    assert_eq!(removed(&device), S_OK, "{}", message());
    // SAFETY: twelve floats.
    assert_eq!(unsafe { std::slice::from_raw_parts(result.cast::<f32>(), 12) }, REVERSED);
    // To bind it at execution is wrong.
    bind(&table, [range(&input, 0, 48), range(&lengths, 0, 16), range(&output, 0, 48)]);
    lost(&device, "OWNED_BY_DML");
}

#[test]
fn descriptors_must_follow_the_rules_of_the_feature_level() {
    let (old, new) = (device_at(0x2100), device());
    let refused = |device: &Com<IDMLDevice>, change: &dyn Fn(&mut Reverse), text: &str| {
        let mut call = Reverse::example();
        change(&mut call);
        assert_eq!(call.create(device).map(|_| ()), Err(E_INVALIDARG), "{text}");
        assert!(message().contains(text), "{}\n{text}", message());
    };
    assert!(Reverse::example().create(&old).is_ok());
    let wide = |call: &mut Reverse| call.lengths = Desc::new(UINT64, &[1, 1, 1, 4]);
    let mut call = Reverse::example();
    wide(&mut call);
    assert!(call.create(&new).is_ok());
    refused(&old, &wide, "feature level 2.1 allows UINT32");
    let five = |call: &mut Reverse| {
        call.input = Desc::new(FLOAT32, &[1, 1, 1, 3, 4]);
        call.output = Desc::new(FLOAT32, &[1, 1, 1, 3, 4]);
        call.lengths = Desc::new(UINT32, &[1, 1, 1, 1, 4]);
        call.axis = 3;
    };
    let mut call = Reverse::example();
    five(&mut call);
    assert!(call.create(&new).is_ok());
    refused(&old, &five, "DimensionCount");
    refused(&new, &|call| call.axis = 4, "Axis is 4");
    refused(&new, &|call| call.input.buffer.DimensionCount = 9, "DimensionCount is 9");
    refused(&new, &|call| call.input.buffer.Flags = 2, "Flags is 0x2");
    refused(&new, &|call| call.output.buffer.Flags = 1, "OWNED_BY_DML");
    refused(&new, &|call| call.input.buffer.DataType = 99, "DataType is 99");
    refused(&new, &|call| call.input.buffer.TotalTensorSizeInBytes = 47, "TotalTensorSizeInBytes");
    refused(&new, &|call| call.input.buffer.GuaranteedBaseOffsetAlignment = 24, "Alignment is 24");
    refused(&new, &|call| call.input.sizes[0] = 0, "is 0, expected at least 1");
    let wrong = |call: &mut Reverse| call.lengths = Desc::new(UINT32, &[1, 1, 3, 4]);
    refused(&new, &wrong, "SequenceLengthsTensor.Sizes are [1, 1, 3, 4]");
    refused(&new, &|call| call.output = Desc::new(UINT32, &[1, 1, 3, 4]), "OutputTensor.DataType");
    // The operator came with level 2.1.
    let older = device_at(0x2000);
    refused(&older, &|_| (), "does not exist at feature level 0x2000");
}

#[test]
fn null_descriptors_and_other_operators_are_refused() {
    let device = device();
    let create = |desc: *const DML_OPERATOR_DESC| {
        // SAFETY: null pointers in it are refused.
        made::<IDMLOperator>(|ppv| unsafe {
            retrograde_dml_create_operator(device.0, desc, &iid::OPERATOR, ppv)
        })
        .map(|_| ())
    };
    assert_eq!(create(null()), Err(E_POINTER));
    assert_eq!(create(&DML_OPERATOR_DESC { Type: 106, Desc: null() }), Err(E_POINTER));
    assert_eq!(create(&DML_OPERATOR_DESC { Type: 2, Desc: null() }), Err(E_NOTIMPL));
    assert!(message().contains("only 106"), "{}", message());
    let desc = DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC {
        InputTensor: null(),
        SequenceLengthsTensor: null(),
        OutputTensor: null(),
        Axis: 0,
    };
    assert_eq!(
        create(&DML_OPERATOR_DESC { Type: 106, Desc: from_ref(&desc).cast() }),
        Err(E_POINTER)
    );
    assert_eq!(message(), "InputTensor is a null pointer");
    // A tensor of another type: its descriptor is not read.
    let other = DML_TENSOR_DESC { Type: 7, Desc: null() };
    let desc = DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC { InputTensor: &other, ..desc };
    assert_eq!(
        create(&DML_OPERATOR_DESC { Type: 106, Desc: from_ref(&desc).cast() }),
        Err(E_INVALIDARG)
    );
    // SAFETY: null is refused.
    unsafe {
        let mut place = null_mut();
        let status = retrograde_dml_create_operator(null_mut(), null(), &iid::OPERATOR, &mut place);
        assert_eq!(status, E_POINTER);
        assert_eq!(retrograde_dml_release(null_mut()), 0);
        assert_eq!(retrograde_dml_add_ref(null_mut()), 0);
    }
}

#[test]
fn devices_check_their_arguments() {
    let create = |parent: usize, flags: u32, level: u32, id: *const GUID| {
        // SAFETY: the parent is not used.
        made::<IDMLDevice>(|ppv| unsafe {
            retrograde_dml_create_device(parent as *mut _, flags, level, id, ppv)
        })
        .map(|_| ())
    };
    assert_eq!(create(0, 1, 0x6400, &iid::DEVICE), Ok(()));
    assert_eq!(create(0, 0, 0x6400, &iid::UNKNOWN), Ok(()));
    assert_eq!(create(16, 0, 0x1000, &iid::DEVICE), Err(E_INVALIDARG));
    assert_eq!(create(0, 2, 0x1000, &iid::DEVICE), Err(E_INVALIDARG));
    assert_eq!(create(0, 0, 0x1001, &iid::DEVICE), Err(E_INVALIDARG));
    assert_eq!(create(0, 0, 0x7000, &iid::DEVICE), Err(DXGI_ERROR_UNSUPPORTED));
    assert_eq!(create(0, 0, 0x1000, &iid::OPERATOR), Err(E_NOINTERFACE));
    assert_eq!(create(0, 0, 0x1000, null()), Err(E_POINTER));
    // SAFETY: no place for the result: only a check.
    let only =
        unsafe { retrograde_dml_create_device(null_mut(), 0, 0x1000, &iid::DEVICE, null_mut()) };
    assert_eq!(only, S_FALSE);
}

#[test]
fn features_are_those_of_the_level() {
    let supports = |device: &Com<IDMLDevice>, data_type: u32| {
        let query = DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT { DataType: data_type };
        let mut data = DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT { IsSupported: 7 };
        // SAFETY: the structs of this feature.
        let status = unsafe {
            let place = std::ptr::from_mut(&mut data).cast();
            retrograde_dml_check_feature_support(device.0, 0, 4, from_ref(&query).cast(), 4, place)
        };
        assert_eq!(status, S_OK);
        data.IsSupported
    };
    let (old, new) = (device_at(0x4000), device());
    assert_eq!([supports(&old, FLOAT32), supports(&old, UINT64), supports(&old, 99)], [1, 0, 0]);
    assert_eq!([supports(&new, FLOAT32), supports(&new, UINT64), supports(&new, 12)], [1, 1, 0]);
    let highest = |device: &Com<IDMLDevice>, levels: &[u32], size: u32| {
        let query = DML_FEATURE_QUERY_FEATURE_LEVELS {
            RequestedFeatureLevelCount: levels.len() as u32,
            RequestedFeatureLevels: levels.as_ptr(),
        };
        let mut data = DML_FEATURE_DATA_FEATURE_LEVELS { MaxSupportedFeatureLevel: 0 };
        // SAFETY: the structs of this feature.
        let status = unsafe {
            let place = std::ptr::from_mut(&mut data).cast();
            let query = from_ref(&query).cast();
            retrograde_dml_check_feature_support(device.0, 1, size, query, 4, place)
        };
        (status, data.MaxSupportedFeatureLevel)
    };
    let size = size_of::<DML_FEATURE_QUERY_FEATURE_LEVELS>() as u32;
    assert_eq!(highest(&old, &[0x2000, 0x4000, 0x5000], size), (S_OK, 0x4000));
    assert_eq!(highest(&new, &[0x2000, 0x6400], size), (S_OK, 0x6400));
    assert_eq!(highest(&old, &[0x5000], size), (DXGI_ERROR_UNSUPPORTED, 0));
    assert_eq!(highest(&new, &[0x5000], 4), (E_INVALIDARG, 0));
}

#[test]
fn bindings_must_follow_the_rules() {
    // Offset and size of the input, the lengths and the output.
    let cases: [(&str, [[u64; 2]; 3]); 6] = [
        ("offset 8, expected a multiple of 16", [[8, 48], [64, 16], [128, 48]]),
        ("TotalTensorSizeInBytes is 48", [[0, 47], [64, 16], [128, 48]]),
        ("of a buffer of 256 bytes", [[0, 48], [64, 16], [224, 48]]),
        ("of a buffer of 256 bytes", [[0, u64::MAX], [64, 16], [128, 48]]),
        ("ranges that intersect", [[0, 48], [64, 16], [32, 48]]),
        ("ranges that intersect", [[0, 48], [128, 16], [128, 48]]),
    ];
    for (text, [input, lengths, output]) in cases {
        let (device, op, table) = initialised(&Reverse::example());
        let (memory, data) = buffer(&[7; 256]);
        let at = |[offset, size]: [u64; 2]| range(&memory, offset, size);
        bind(&table, [at(input), at(lengths), at(output)]);
        record(&device, &op, &table);
        assert_eq!(removed(&device), E_INVALIDARG, "{text}");
        assert!(message().contains(text), "{}\n{text}", message());
        // SAFETY: as many bytes; nothing was written.
        assert_eq!(unsafe { std::slice::from_raw_parts(data, 256) }, [7; 256]);
        // Now every method fails.
        assert_eq!(Reverse::example().create(&device).map(|_| ()), Err(DXGI_ERROR_DEVICE_REMOVED));
    }
}

#[test]
fn messages_say_what_was_wrong_with_a_binding() {
    let (_device, _op, table) = initialised(&Reverse::example());
    let name: Vec<WCHAR> = "words\0".chars().map(|letter| letter as WCHAR).collect();
    // SAFETY: the string ends with a zero.
    assert_eq!(unsafe { retrograde_dml_set_name(table.0.cast(), name.as_ptr()) }, S_OK);
    let (memory, _) = buffer(&[0; 256]);
    let wrong = range(&memory, 8, 48);
    let wrong = DML_BINDING_DESC { Type: 1, Desc: from_ref(&wrong).cast() };
    // SAFETY: one output.
    unsafe { retrograde_dml_bind_outputs(table.0, 1, &wrong) };
    assert_eq!(
        message(),
        "words: ReverseSubsequences: OutputTensor is bound at offset 8, expected a multiple of 16"
    );
}

#[test]
fn a_larger_guaranteed_alignment_is_required_too() {
    let mut example = Reverse::example();
    example.output.buffer.GuaranteedBaseOffsetAlignment = 64;
    let (device, op, table) = initialised(&example);
    let (memory, _) = buffer(&[0; 256]);
    bind(&table, [range(&memory, 0, 48), range(&memory, 48, 16), range(&memory, 64, 48)]);
    record(&device, &op, &table);
    assert_eq!(removed(&device), S_OK, "{}", message());
    bind(&table, [range(&memory, 0, 48), range(&memory, 48, 16), range(&memory, 80, 48)]);
    lost(&device, "a multiple of 64");
}

#[test]
fn operators_are_initialised_once_and_before_they_run() {
    let ready = device();
    let op = Reverse::example().compile(&ready);
    let table_of_op = table(&ready, &op, 3).expect("a table");
    record(&ready, &op, &table_of_op);
    assert_eq!(removed(&ready), E_INVALIDARG);
    assert_eq!(message(), "the operator has not been initialised");

    let twice = device();
    let op = Reverse::example().compile(&twice);
    initialise(&twice, &op);
    assert_eq!(removed(&twice), S_OK);
    initialise(&twice, &op);
    assert_eq!(removed(&twice), E_INVALIDARG);

    let (unbound, op, table_of_op) = initialised(&Reverse::example());
    record(&unbound, &op, &table_of_op);
    lost(&unbound, "is not bound at execution");

    let list = device();
    let op = Reverse::example().compile(&list);
    let table_of_op = table(&list, &op, 3).expect("a table");
    // SAFETY: the command list is refused.
    unsafe {
        let fake = 16 as *mut ID3D12CommandList;
        let recorder = recorder(&list).expect("a recorder");
        retrograde_dml_record_dispatch(recorder.0, fake, op.0.cast(), table_of_op.0);
    }
    assert_eq!(removed(&list), E_INVALIDARG);
}

#[test]
fn tables_need_room_and_fit_one_dispatchable() {
    let one = device();
    let op = Reverse::example().compile(&one);
    let mut properties = DML_BINDING_PROPERTIES::default();
    // SAFETY: the operator is valid.
    unsafe { retrograde_dml_get_binding_properties(op.0.cast(), &mut properties) };
    assert_eq!(
        properties,
        DML_BINDING_PROPERTIES { RequiredDescriptorCount: 3, ..Default::default() }
    );
    assert_eq!(table(&one, &op, 2).map(|_| ()), Err(E_INVALIDARG));
    // An object of another device.
    let other = device();
    assert_eq!(table(&other, &op, 3).map(|_| ()), Err(E_INVALIDARG));
    // A table of another operator.
    let second = Reverse::example().compile(&one);
    let table = table(&one, &second, 3).expect("a table");
    record(&one, &op, &table);
    assert_eq!(removed(&one), E_INVALIDARG);
    assert_eq!(message(), "the binding table is for another dispatchable");
}

#[test]
fn objects_count_references_and_know_their_interfaces() {
    let device = device();
    let op = Reverse::example().create(&device).expect("an operator");
    // SAFETY: all are valid.
    unsafe {
        assert_eq!(retrograde_dml_add_ref(op.0.cast()), 2);
        assert_eq!(retrograde_dml_release(op.0.cast()), 1);
        let query = |id: &GUID| {
            made::<c_void>(|ppv| retrograde_dml_query_interface(op.0.cast(), id, ppv)).map(|_| ())
        };
        assert_eq!(query(&iid::DEVICE_CHILD), Ok(()));
        assert_eq!(query(&iid::DISPATCHABLE), Err(E_NOINTERFACE));
        let parent: Com<IDMLDevice> =
            made(|ppv| retrograde_dml_get_device(op.0.cast(), &iid::DEVICE, ppv))
                .expect("its device");
        assert_eq!(parent.0, device.0);
        // Data that a program attaches.
        let (mut size, mut data) = (0u32, [0u8; 4]);
        let place = data.as_mut_ptr().cast();
        let id = &iid::OBJECT;
        let get =
            |size: &mut u32, place| retrograde_dml_get_private_data(op.0.cast(), id, size, place);
        assert_eq!(get(&mut size, null_mut()), DXGI_ERROR_NOT_FOUND);
        let set = retrograde_dml_set_private_data(op.0.cast(), id, 4, b"data".as_ptr().cast());
        assert_eq!(set, S_OK);
        assert_eq!(get(&mut size, null_mut()), S_OK);
        assert_eq!(size, 4);
        size = 3;
        assert_eq!(get(&mut size, place), DXGI_ERROR_MORE_DATA);
        assert_eq!(get(&mut size, place), S_OK);
        assert_eq!(&data, b"data");
        let set = retrograde_dml_set_private_data_interface(op.0.cast(), id, device.0.cast());
        assert_eq!(set, S_OK);
        let mut held: *mut c_void = null_mut();
        size = size_of::<usize>() as u32;
        assert_eq!(get(&mut size, std::ptr::from_mut(&mut held).cast()), S_OK);
        assert_eq!(held, device.0.cast());
        retrograde_dml_release(held);
    }
    // The device lives as long as its children.
    drop(device);
    // SAFETY: the operator is valid.
    let parent = made::<IDMLDevice>(|ppv| unsafe {
        retrograde_dml_get_device(op.0.cast(), &iid::DEVICE, ppv)
    });
    assert!(Reverse::example().create(&parent.expect("its device")).is_ok());
}

/// Objects of the two interfaces differ in size: Miri sees a check that reads more than the tag.
#[test]
fn handles_of_the_other_interface_are_refused() {
    let device = device();
    let mut op = null_mut();
    // SAFETY: both are objects of the library, whose tags differ; the operator is destroyed once.
    unsafe {
        assert_eq!(retrograde_operator_create(RETROGRADE_REVERSE, &mut op), RETROGRADE_OK);
        assert_eq!(retrograde_dml_set_name(op.cast(), null()), E_HANDLE);
        assert_eq!(message(), "the object is not a handle of that kind, or has been destroyed");
        assert_eq!(retrograde_dml_release(op.cast()), 0);
        assert_eq!(retrograde_operator_set_all_axes(device.0.cast()), RETROGRADE_BAD_HANDLE);
        retrograde_operator_destroy(device.0.cast());
        assert_eq!(retrograde_operator_set_all_axes(op), RETROGRADE_OK, "refused, so not freed");
        retrograde_operator_destroy(op);
    }
}

#[test]
fn buffers_wrap_aligned_memory_of_the_program() {
    #[repr(align(16))]
    struct Aligned([u8; 32]);
    let mut memory = Aligned([0; 32]);
    let data = memory.0.as_mut_ptr();
    let mut place = null_mut();
    // SAFETY: as many bytes, or the arguments are refused.
    unsafe {
        assert_eq!(retrograde_dml_wrap_buffer(data.cast(), 32, &mut place), S_OK);
        assert_eq!(retrograde_dml_buffer_size(place), 32);
        assert_eq!(retrograde_dml_release(place.cast()), 0);
        let odd = data.add(8).cast();
        assert_eq!(retrograde_dml_wrap_buffer(odd, 16, &mut place), E_INVALIDARG);
        assert!(place.is_null());
        assert_eq!(retrograde_dml_wrap_buffer(null_mut(), 16, &mut place), E_POINTER);
        assert_eq!(retrograde_dml_wrap_buffer(data.cast(), 0, &mut place), E_INVALIDARG);
        assert_eq!(retrograde_dml_wrap_buffer(data.cast(), u64::MAX, &mut place), E_INVALIDARG);
        assert_eq!(retrograde_dml_allocate_buffer(0, &mut place), E_INVALIDARG);
        // Miri ends the program where the system refuses.
        if !cfg!(miri) {
            assert_eq!(retrograde_dml_allocate_buffer(1 << 62, &mut place), E_OUTOFMEMORY);
        }
    }
}

#[test]
fn minimum_sizes_are_those_of_the_documentation() {
    let size = |data_type: u32, sizes: &[u32], strides: Option<&[u32]>| {
        let strides = strides.map_or(null(), <[u32]>::as_ptr);
        // SAFETY: as many entries.
        unsafe {
            let count = sizes.len() as u32;
            retrograde_dml_calc_buffer_tensor_size(data_type, count, sizes.as_ptr(), strides)
        }
    };
    assert_eq!(size(5, &[1, 1, 1, 5], None), 8);
    assert_eq!(size(FLOAT32, &[2, 3], Some(&[8, 1])), 44);
    assert_eq!(size(99, &[2, 3], None), 0);
    assert_eq!(size(FLOAT32, &[2, 0], None), 0);
    assert_eq!(size(FLOAT32, &[1; 9], None), 0);
}
