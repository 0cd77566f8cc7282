//! The command recorder: runs what is bound, at once.

use super::device::{alive, same_device};
use super::fault::{Fault, S_OK, hresult};
use super::object::{Body, Bound, Compiled, Demand, Object, Table, clear, locked};
use super::types::{
    GUID, HRESULT, ID3D12CommandList, IDMLBindingTable, IDMLCommandRecorder, IDMLDevice,
    IDMLDispatchable,
};
use retrograde::{LengthsMemory, Memory, MemoryMut};
use std::ffi::c_void;

/// `IDMLDevice::CreateCommandRecorder`.
///
/// # Safety
/// `device` is null or valid; `riid` is null or an identifier; `ppv` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_create_command_recorder(
    device: *mut IDMLDevice,
    riid: *const GUID,
    ppv: *mut *mut c_void,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        let device = unsafe {
            clear(ppv)?;
            alive(device)?
        };
        // SAFETY: as the caller promises.
        unsafe { Object::new(Some(device), Body::Recorder).give(riid, ppv) }
    })
}

/// `IDMLCommandRecorder::RecordDispatch`. `command_list` must be null: there is no queue, and the
/// dispatchable has run when this returns. An error removes the device and writes nothing.
///
/// # Safety
/// The objects are null or valid; nothing else uses the memory of bound buffers meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_record_dispatch(
    recorder: *mut IDMLCommandRecorder,
    command_list: *mut ID3D12CommandList,
    dispatchable: *mut IDMLDispatchable,
    bindings: *mut IDMLBindingTable,
) {
    hresult(|| {
        // SAFETY: as the caller promises.
        let recorder = unsafe { Object::behind(recorder)? };
        if !matches!(recorder.body, Body::Recorder) {
            return Err(Fault::invalid("the object is not a command recorder"));
        }
        recorder.or_removed(|| {
            if !command_list.is_null() {
                let text = "the command list must be null: dispatches run at once";
                return Err(Fault::invalid(text));
            }
            // SAFETY: as the caller promises.
            let (dispatchable, table) =
                unsafe { (Object::behind(dispatchable)?, Object::behind(bindings)?) };
            same_device(recorder.parent(), dispatchable)?;
            same_device(recorder.parent(), table)?;
            let table = locked(table.table()?);
            let own = table.dispatchable.as_deref();
            if !own.is_some_and(|own| std::ptr::eq(own, dispatchable)) {
                return Err(Fault::invalid("the binding table is for another dispatchable"));
            }
            match &dispatchable.body {
                Body::Compiled(compiled) => execute(compiled, &table),
                Body::Initializer(initializer) => {
                    let targets = &locked(initializer).targets;
                    let compiled = targets.iter().filter_map(|target| match &target.body {
                        Body::Compiled(compiled) => Some(compiled),
                        _ => None,
                    });
                    initialise(&compiled.collect::<Vec<_>>(), &table)
                }
                _ => Err(Fault::invalid("the object is not a dispatchable")),
            }
        });
        Ok(S_OK)
    });
}

/// Initialises operators, all or none: copies the inputs that they own.
fn initialise(targets: &[&Compiled], table: &Table) -> Result<(), Fault> {
    let nothing = [None, None];
    let mut copies = Vec::with_capacity(targets.len());
    for (at, &compiled) in targets.iter().enumerate() {
        let again = targets[..at].iter().any(|&other| std::ptr::eq(other, compiled));
        if again || compiled.owned.get().is_some() {
            return Err(Fault::invalid("the operator is initialised for the second time"));
        }
        let bound = table.inputs.get(at).unwrap_or(&nothing);
        let copy = |demand: &Demand, bound: &Option<Bound>| match (demand.owned, bound) {
            (false, _) => Ok(None),
            (true, Some(bound)) => {
                // SAFETY: bindings checked that the range is inside its buffer, which the program
                // promises to be valid, and which the binding keeps alive.
                let bytes = unsafe { std::slice::from_raw_parts(bound.start(), bound.len()) };
                Ok(Some(bytes[..demand.total as usize].to_vec()))
            }
            (true, None) => Err(unbound(demand, "initialisation")),
        };
        let [one, two] = &compiled.inputs;
        copies.push([copy(one, &bound[0])?, copy(two, &bound[1])?]);
    }
    for (compiled, copy) in targets.iter().zip(copies) {
        if compiled.owned.set(copy).is_err() {
            return Err(Fault::invalid("the operator is initialised for the second time"));
        }
    }
    Ok(())
}

fn unbound(demand: &Demand, when: &str) -> Fault {
    Fault::invalid(format!("ReverseSubsequences: {} is not bound at {when}", demand.role))
}

/// Runs an operator.
fn execute(compiled: &Compiled, table: &Table) -> Result<(), Fault> {
    let Some(owned) = compiled.owned.get() else {
        return Err(Fault::invalid("the operator has not been initialised"));
    };
    let nothing = [None, None];
    let bound = table.inputs.first().unwrap_or(&nothing);
    let Some(output) = &table.output else { return Err(unbound(&compiled.output, "execution")) };
    let source = |at: usize| match (&owned[at], &bound[at]) {
        (Some(copy), _) => Ok(Memory::from(copy)),
        (None, Some(bound)) if bound.intersects(output) => Err(Fault::invalid(format!(
            "ReverseSubsequences: {} and OutputTensor are bound to ranges that intersect; the operator does not run in place",
            compiled.inputs[at].role
        ))),
        // SAFETY: bindings checked that the range is inside its buffer, which the program promises
        // to be valid, and which the binding keeps alive.
        (None, Some(bound)) => Ok(unsafe { Memory::from_raw(bound.start(), bound.len()) }),
        (None, None) => Err(unbound(&compiled.inputs[at], "execution")),
    };
    let (input, lengths) = (source(0)?, source(1)?);
    // SAFETY: as above; no input intersects it, as just checked.
    let output = unsafe { MemoryMut::from_raw(output.start(), output.len(), true) };
    // The descriptor says of which type the bytes of a binding are.
    let program = &compiled.program;
    let lengths = program.plan().lengths().map(|plan| LengthsMemory::new(plan.dtype, lengths));
    program
        .execute(input, lengths, output)
        .map_err(|error| Fault::invalid(format!("ReverseSubsequences: {error}")))
}
