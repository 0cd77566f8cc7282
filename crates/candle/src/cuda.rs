//! Runs prepared calls on candle's CUDA storage, on candle's stream, with the kernels of
//! [`retrograde_cuda`].

use crate::layout::{dense, refused, strided};
use candle_core::backend::BackendStorage;
use candle_core::cuda_backend::cudarc::driver::{
    CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr, SyncOnDrop,
};
use candle_core::cuda_backend::{CudaDevice, CudaStorageSlice};
use candle_core::{CudaStorage, Layout, Result, Shape};
use retrograde::{Error, ExecuteError, LengthsOperator, Prepared};
use retrograde_cuda::{Cuda, CudaLengths, DeviceMut, DeviceRef, Stream};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Evaluates an expression for the slice in a storage.
macro_rules! for_slice {
    ($storage:expr, $slice:ident => $value:expr) => {
        for_slice!($storage, $slice => $value,
            U8 U32 I16 I32 I64 BF16 F16 F32 F64 F8E4M3 F6E2M3 F6E3M2 F4 F8E8M0)
    };
    ($storage:expr, $slice:ident => $value:expr, $($kind:ident)*) => {
        match $storage { $(CudaStorageSlice::$kind($slice) => $value,)* }
    };
}

/// The same, in the storage of a new tensor of the same type.
macro_rules! map_slice {
    ($storage:expr, $slice:ident => $value:expr) => {
        map_slice!($storage, $slice => $value,
            U8 U32 I16 I32 I64 BF16 F16 F32 F64 F8E4M3 F6E2M3 F6E3M2 F4 F8E8M0)
    };
    ($storage:expr, $slice:ident => $value:expr, $($kind:ident)*) => {
        match $storage { $(CudaStorageSlice::$kind($slice) => CudaStorageSlice::$kind($value),)* }
    };
}

/// Runs the call that `prepare` makes from the layouts of the input and of a new, dense output.
/// Its lengths, if it has any, are in host memory.
pub(crate) fn run<'l>(
    storage: &CudaStorage,
    at: &Layout,
    prepare: impl FnOnce(
        &retrograde::Layout,
        &retrograde::Layout,
    ) -> std::result::Result<Prepared<'l>, Error>,
) -> Result<(CudaStorage, Shape)> {
    let (input, output) = (strided(storage.dtype(), at)?, dense(storage.dtype(), at)?);
    let prepared = prepare(&input, &output).map_err(refused)?;
    into_new(storage, at, &output, |stream, src, dst| {
        stream.run(&prepared, src, None, dst).map_err(refused)
    })
}

/// Runs an operator with its lengths on the device. The device checks them, and the call waits for
/// the result of that, because the output would be uninitialised memory.
pub(crate) fn run_by<O: LengthsOperator>(
    storage: &CudaStorage,
    at: &Layout,
    lengths: &CudaStorage,
    lengths_at: &Layout,
    operator: &O,
) -> Result<(CudaStorage, Shape)> {
    let (input, output) = (strided(storage.dtype(), at)?, dense(storage.dtype(), at)?);
    let lengths_layout = strided(lengths.dtype(), lengths_at)?;
    let plan = operator.plan(&input, &lengths_layout, &output).map_err(refused)?;
    let explain = |error| match error {
        retrograde_cuda::Error::Execute(ExecuteError::LengthOutOfRange {
            ordinal,
            value,
            limit,
        }) => {
            let (operator, index) = (O::OPERATOR, coordinates(ordinal, lengths_layout.shape()));
            refused(Error::LengthOutOfRange { operator, index, value, limit })
        }
        retrograde_cuda::Error::Execute(ExecuteError::OffsetOutOfRange {
            ordinal: index,
            value,
            low,
            high,
        }) => refused(Error::OffsetOutOfRange { operator: O::OPERATOR, index, value, low, high }),
        error => refused(error),
    };
    let theirs = storage.device.cuda_stream();
    let (address, len, _read) = for_slice!(&lengths.slice, slice => bytes(slice, &theirs));
    into_new(storage, at, &output, |stream, src, dst| {
        // SAFETY: candle's memory of `len` bytes, which it keeps for the work on its stream.
        let memory = unsafe { DeviceRef::from_raw(address, len) };
        let lengths = CudaLengths::Device(lengths_layout.dtype(), memory);
        stream.execute(&plan, src, Some(lengths), dst).map_err(explain)?;
        match plan.lengths() {
            Some(lengths) if lengths.needs_check() => stream.check().map_err(explain),
            _ => Ok(()),
        }
    })
}

/// The index of the `ordinal`-th element in row-major order.
fn coordinates(mut ordinal: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, &size) in index.iter_mut().zip(shape).rev() {
        (*at, ordinal) = (ordinal % size.max(1), ordinal / size.max(1));
    }
    index
}

/// A slice's address and number of bytes, for work on a stream of candle's. It waits for what wrote
/// the slice before; the work has to be launched before the guard is dropped.
fn bytes<'a, T>(slice: &'a CudaSlice<T>, on: &'a CudaStream) -> (u64, usize, SyncOnDrop<'a>) {
    let (address, guard) = slice.device_ptr(on);
    (address, slice.num_bytes(), guard)
}

/// A new tensor that `call` fills from the storage.
fn into_new(
    storage: &CudaStorage,
    at: &Layout,
    output: &retrograde::Layout,
    call: impl Fn(&Stream, DeviceRef<'_>, DeviceMut<'_>) -> Result<()>,
) -> Result<(CudaStorage, Shape)> {
    let device = storage.device.clone();
    let slice = map_slice!(&storage.slice, slice => filled(slice, &device, output, &call)?);
    Ok((CudaStorage { slice, device }, at.shape().clone()))
}

fn filled<T: DeviceRepr>(
    input: &CudaSlice<T>,
    device: &CudaDevice,
    output: &retrograde::Layout,
    call: &impl Fn(&Stream, DeviceRef<'_>, DeviceMut<'_>) -> Result<()>,
) -> Result<CudaSlice<T>> {
    let theirs = device.cuda_stream();
    let ours = ours(theirs.context().ordinal())?;
    // SAFETY: the stream belongs to candle's device, which has the primary context too, and lives as
    // long as `theirs`.
    let stream = unsafe { ours.borrow_stream(theirs.cu_stream() as usize) }.map_err(refused)?;
    // A width that is not the type's would leave elements unwritten.
    assert_eq!(output.byte_len(), output.len() * size_of::<T>(), "elements of another width");
    // The driver does not allocate 0 bytes.
    // SAFETY: if `call` succeeds, it writes all elements; if it fails, the memory is dropped.
    let mut new = unsafe { device.alloc::<T>(output.len().max(1))? };
    let (from, len, read) = bytes(input, &theirs);
    let (to, written) = new.device_ptr_mut(&theirs);
    // SAFETY: candle's memory of `len` bytes, which it keeps for the work on its stream.
    let src = unsafe { DeviceRef::from_raw(from, len) };
    // SAFETY: allocated above on the same stream, at least as large, and used by nobody else.
    let dst = unsafe { DeviceMut::from_raw(to, output.byte_len()) };
    call(&stream, src, dst)?;
    drop((read, written));
    Ok(new)
}

/// Our handle of a device. Opening one loads the kernels, so they are kept.
fn ours(ordinal: usize) -> Result<Cuda> {
    static OPEN: LazyLock<Mutex<HashMap<usize, Cuda>>> = LazyLock::new(Mutex::default);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cuda) = open.get(&ordinal) {
        return Ok(cuda.clone());
    }
    let cuda = Cuda::device(ordinal).map_err(refused)?;
    open.insert(ordinal, cuda.clone());
    Ok(cuda)
}
