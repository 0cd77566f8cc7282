//! Binding tables: which ranges of which buffers a dispatchable uses.

use super::buffer;
use super::device::{alive, binding_properties, same_device};
use super::fault::{Fault, S_OK, hresult};
use super::object::{Body, Bound, Compiled, Demand, Object, Table, clear, locked};
use super::types::{
    BINDING_TYPE_BUFFER, BINDING_TYPE_BUFFER_ARRAY, BINDING_TYPE_NONE, DML_BINDING_DESC,
    DML_BINDING_TABLE_DESC, DML_BUFFER_ARRAY_BINDING, DML_BUFFER_BINDING, GUID, HRESULT,
    IDMLBindingTable, IDMLDevice, UINT,
};
use crate::pointer::{reference, slice};
use retrograde_directml::BindError;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};

/// `IDMLDevice::CreateBindingTable`. `desc` may be null; then the table must be reset before use.
///
/// # Safety
/// `device` is null or valid; `desc` is null or a struct whose dispatchable is null or valid;
/// `riid` is null or an identifier; `ppv` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_create_binding_table(
    device: *mut IDMLDevice,
    desc: *const DML_BINDING_TABLE_DESC,
    riid: *const GUID,
    ppv: *mut *mut c_void,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        let (device, table) = unsafe {
            clear(ppv)?;
            let device = alive(device)?;
            let table = described(Some(&device), desc)?;
            (device, table)
        };
        // SAFETY: as the caller promises.
        unsafe { Object::new(Some(device), Body::Table(Mutex::new(table))).give(riid, ppv) }
    })
}

/// `IDMLBindingTable::Reset`: unbinds everything.
///
/// # Safety
/// `table` is null or valid; `desc` as for `retrograde_dml_create_binding_table`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_binding_table_reset(
    table: *mut IDMLBindingTable,
    desc: *const DML_BINDING_TABLE_DESC,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        let object = unsafe { Object::behind(table)? };
        object.alive()?;
        let (table, device) = (object.table()?, object.parent());
        // SAFETY: as the caller promises.
        let made = unsafe { described(device, desc)? };
        *locked(table) = made;
        Ok(S_OK)
    })
}

/// An empty table, for a dispatchable if `desc` is not null.
///
/// # Safety
/// `desc` is null or a struct whose dispatchable is null or valid.
unsafe fn described(
    device: Option<&Arc<Object>>,
    desc: *const DML_BINDING_TABLE_DESC,
) -> Result<Table, Fault> {
    if desc.is_null() {
        return Ok(Table::default());
    }
    // SAFETY: as the caller promises.
    let (dispatchable, room) = unsafe {
        let desc = reference(desc, "desc")?;
        (Object::shared(desc.Dispatchable)?, desc.SizeInDescriptors)
    };
    same_device(device, &dispatchable)?;
    let needed = binding_properties(&dispatchable)?.RequiredDescriptorCount;
    if room < needed {
        let text = format!("SizeInDescriptors is {room}, the dispatchable needs {needed}");
        return Err(Fault::invalid(text));
    }
    Ok(Table { dispatchable: Some(dispatchable), ..Table::default() })
}

/// Changes the bindings of a table. An error removes the device, because the methods return
/// nothing.
///
/// # Safety
/// `table` is null or valid.
unsafe fn bind(
    table: *mut IDMLBindingTable,
    bind: impl FnOnce(&mut Table, &Arc<Object>) -> Result<(), Fault>,
) {
    let body = || {
        // SAFETY: as the caller promises.
        let object = unsafe { Object::behind(table)? };
        let table = object.table()?;
        object.or_removed(|| {
            let mut table = locked(table);
            let Some(dispatchable) = table.dispatchable.clone() else {
                return Err(Fault::invalid("the binding table has no dispatchable: reset it"));
            };
            bind(&mut table, &dispatchable)
        });
        Ok(S_OK)
    };
    hresult(body);
}

/// `IDMLBindingTable::BindInputs`: for a compiled operator two buffers, NONE for a tensor that it
/// owns; for an initializer an array of two buffers for each operator. A count of 0 unbinds all.
///
/// # Safety
/// `table` is null or valid; `bindings` is null or has `count` bindings, whose structs and arrays
/// are as DirectML requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_bind_inputs(
    table: *mut IDMLBindingTable,
    count: UINT,
    bindings: *const DML_BINDING_DESC,
) {
    let body = |table: &mut Table, dispatchable: &Arc<Object>| {
        // SAFETY: as the caller promises.
        let bindings = unsafe { slice(bindings, count as usize, "bindings")? };
        table.inputs = match (&dispatchable.body, bindings) {
            (_, []) => Vec::new(),
            // SAFETY: as the caller promises.
            (Body::Compiled(compiled), [input, lengths]) => unsafe {
                let [one, two] = &compiled.inputs;
                vec![[at_execution(one, input)?, at_execution(two, lengths)?]]
            },
            (Body::Compiled(_), all) => {
                let text = format!("{} inputs are bound, the operator has 2", all.len());
                return Err(Fault::invalid(text));
            }
            (Body::Initializer(initializer), all) => {
                let targets = &locked(initializer).targets;
                if all.len() != targets.len() {
                    let (given, expected) = (all.len(), targets.len());
                    let text = format!("{given} inputs are bound for {expected} operators");
                    return Err(Fault::invalid(text));
                }
                let pairs = targets.iter().zip(all);
                let bound = |(target, binding): (&Arc<Object>, &DML_BINDING_DESC)| {
                    let Body::Compiled(compiled) = &target.body else { return Ok([None, None]) };
                    // SAFETY: as the caller promises.
                    unsafe { at_initialisation(compiled, binding) }
                };
                pairs.map(bound).collect::<Result<_, Fault>>()?
            }
            _ => return Err(Fault::invalid("the dispatchable has no inputs")),
        };
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { bind(table, body) }
}

/// `IDMLBindingTable::BindOutputs`: for a compiled operator one buffer; for an initializer NONE for
/// each operator, since none needs persistent memory. A count of 0 unbinds all.
///
/// # Safety
/// As for `retrograde_dml_bind_inputs`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_bind_outputs(
    table: *mut IDMLBindingTable,
    count: UINT,
    bindings: *const DML_BINDING_DESC,
) {
    let body = |table: &mut Table, dispatchable: &Arc<Object>| {
        // SAFETY: as the caller promises.
        let bindings = unsafe { slice(bindings, count as usize, "bindings")? };
        table.output = match (&dispatchable.body, bindings) {
            (_, []) => None,
            // SAFETY: as the caller promises.
            (Body::Compiled(compiled), [output]) => unsafe {
                at_execution(&compiled.output, output)?
            },
            (Body::Compiled(_), all) => {
                let text = format!("{} outputs are bound, the operator has 1", all.len());
                return Err(Fault::invalid(text));
            }
            (Body::Initializer(initializer), all) => {
                let expected = locked(initializer).targets.len();
                if all.len() != expected {
                    let given = all.len();
                    let text = format!("{given} outputs are bound for {expected} operators");
                    return Err(Fault::invalid(text));
                }
                for binding in all {
                    // SAFETY: as the caller promises.
                    unsafe { nothing("persistent", binding)? };
                }
                None
            }
            _ => return Err(Fault::invalid("the dispatchable has no outputs")),
        };
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { bind(table, body) }
}

/// `IDMLBindingTable::BindTemporaryResource` and `BindPersistentResource`: null or NONE, since no
/// operator needs any.
///
/// # Safety
/// `table` is null or valid; `binding` is null or a binding as DirectML requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_bind_no_resource(
    table: *mut IDMLBindingTable,
    binding: *const DML_BINDING_DESC,
) {
    let body = |_: &mut Table, _: &Arc<Object>| match binding.is_null() {
        true => Ok(()),
        // SAFETY: as the caller promises.
        false => unsafe { nothing("temporary or persistent", reference(binding, "binding")?) },
    };
    // SAFETY: as the caller promises.
    unsafe { bind(table, body) }
}

/// Fails unless a binding binds nothing.
///
/// # Safety
/// The struct that the binding leads to is as DirectML requires.
unsafe fn nothing(what: &str, binding: &DML_BINDING_DESC) -> Result<(), Fault> {
    let empty = match binding.Type {
        BINDING_TYPE_NONE => true,
        // SAFETY: as the caller promises; the type says which struct it is.
        BINDING_TYPE_BUFFER => unsafe {
            reference(binding.Desc.cast::<DML_BUFFER_BINDING>(), "binding")?.Buffer.is_null()
        },
        _ => false,
    };
    match empty {
        true => Ok(()),
        false => Err(Fault::invalid(format!("a {what} resource is bound, none is needed"))),
    }
}

/// The binding of a tensor when its operator runs.
///
/// # Safety
/// The struct that the binding leads to is as DirectML requires.
unsafe fn at_execution(
    demand: &Demand,
    binding: &DML_BINDING_DESC,
) -> Result<Option<Bound>, Fault> {
    let role = demand.role;
    let bound = match binding.Type {
        BINDING_TYPE_NONE => None,
        BINDING_TYPE_BUFFER => {
            // SAFETY: as the caller promises; the type says which struct it is.
            let binding = unsafe {
                reference(binding.Desc.cast::<DML_BUFFER_BINDING>(), &format!("{role}"))?
            };
            // SAFETY: as the caller promises.
            unsafe { range(demand, binding)? }
        }
        other => {
            let text =
                format!("{role}: the binding has type {other}, expected 0 (NONE) or 1 (BUFFER)");
            return Err(Fault::invalid(text));
        }
    };
    if demand.owned && bound.is_some() {
        let text = format!("{role} is OWNED_BY_DML, so it is bound at initialisation only");
        return Err(Fault::invalid(text));
    }
    Ok(bound)
}

/// The bindings of an operator's inputs when it is initialised.
///
/// # Safety
/// As for [`at_execution`].
unsafe fn at_initialisation(
    compiled: &Compiled,
    binding: &DML_BINDING_DESC,
) -> Result<[Option<Bound>; 2], Fault> {
    let array = match binding.Type {
        BINDING_TYPE_NONE => return Ok([None, None]),
        // SAFETY: as the caller promises; the type says which struct it is.
        BINDING_TYPE_BUFFER_ARRAY => unsafe {
            let array = binding.Desc.cast::<DML_BUFFER_ARRAY_BINDING>();
            let array = reference(array, "the buffer array")?;
            slice(array.Bindings, array.BindingCount as usize, "Bindings")?
        },
        other => {
            let text = format!(
                "the binding of an initializer has type {other}, expected 0 (NONE) or 2 (BUFFER_ARRAY)"
            );
            return Err(Fault::invalid(text));
        }
    };
    if array.is_empty() {
        return Ok([None, None]);
    }
    let [input, lengths] = array else {
        let text = format!("the buffer array has {} bindings, the operator 2 inputs", array.len());
        return Err(Fault::invalid(text));
    };
    let one = |demand: &Demand, binding: &DML_BUFFER_BINDING| {
        // SAFETY: as the caller promises.
        let bound = unsafe { range(demand, binding)? };
        if bound.is_some() && !demand.owned {
            let role = demand.role;
            let text = format!("{role} is not OWNED_BY_DML, so it is bound at execution only");
            return Err(Fault::invalid(text));
        }
        Ok(bound)
    };
    Ok([one(&compiled.inputs[0], input)?, one(&compiled.inputs[1], lengths)?])
}

/// A bound range, checked against its buffer and the tensor's descriptor.
///
/// # Safety
/// The buffer is null or valid.
unsafe fn range(demand: &Demand, binding: &DML_BUFFER_BINDING) -> Result<Option<Bound>, Fault> {
    let &DML_BUFFER_BINDING { Buffer, Offset: offset, SizeInBytes: size } = binding;
    if Buffer.is_null() {
        return Ok(None);
    }
    let &Demand { role: tensor, total, alignment, .. } = demand;
    // SAFETY: as the caller promises.
    let object = unsafe { Object::shared(Buffer)? };
    let buffer = buffer::of(&object)?.len;
    if offset.checked_add(size).is_none_or(|end| end > buffer as u64) {
        return Err(Fault::invalid(BindError::OutsideBuffer { tensor, offset, size, buffer }));
    }
    if size < total {
        return Err(Fault::invalid(BindError::TooSmall { tensor, size, total }));
    }
    if !offset.is_multiple_of(alignment) {
        let text = format!(
            "ReverseSubsequences: {tensor} is bound at offset {offset}, expected a multiple of {alignment}"
        );
        return Err(Fault::invalid(text));
    }
    // Both are at most the size of the buffer.
    Ok(Some(Bound { buffer: object, offset: offset as usize, len: size as usize }))
}
