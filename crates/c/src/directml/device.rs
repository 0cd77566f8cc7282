//! The device: what it supports, and the objects that it makes.

use super::fault::{
    DXGI_ERROR_UNSUPPORTED, E_INVALIDARG, E_NOINTERFACE, Fault, S_OK, contained, hresult, report,
};
use super::object::{Body, Compiled, Device, Initializer, Object, clear, locked};
use super::types::{
    BOOL, CREATE_DEVICE_FLAGS_ALL, DML_BINDING_PROPERTIES, DML_CREATE_DEVICE_FLAGS,
    DML_EXECUTION_FLAGS, DML_FEATURE, DML_FEATURE_DATA_FEATURE_LEVELS,
    DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT, DML_FEATURE_LEVEL, DML_FEATURE_QUERY_FEATURE_LEVELS,
    DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT, DML_OPERATOR_DESC, EXECUTION_FLAGS_ALL,
    FEATURE_FEATURE_LEVELS, FEATURE_LEVELS, FEATURE_TENSOR_DATA_TYPE_SUPPORT, GUID, HRESULT,
    ID3D12Device, IDMLCompiledOperator, IDMLDevice, IDMLDispatchable, IDMLOperator,
    IDMLOperatorInitializer, IDMLPageable, UINT,
};
use crate::pointer::{reference, slice, write};
use retrograde::DType;
use retrograde_directml::{FeatureLevel, Role};
use std::ffi::c_void;
use std::sync::{Arc, Mutex};

/// `DMLCreateDevice1`. `parent` must be null: there is no Direct3D. The device has the rules of the
/// newest feature level, whatever the minimum is.
///
/// # Safety
/// `riid` is null or an identifier; `ppv` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_create_device(
    parent: *mut ID3D12Device,
    flags: DML_CREATE_DEVICE_FLAGS,
    minimum_feature_level: DML_FEATURE_LEVEL,
    riid: *const GUID,
    ppv: *mut *mut c_void,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        unsafe { clear(ppv)? };
        if !parent.is_null() {
            let text = "the device of Direct3D must be null: buffers are in host memory";
            return Err(Fault::invalid(text));
        }
        if flags & !CREATE_DEVICE_FLAGS_ALL != 0 {
            let text = format!("flags are {flags:#x}, expected 0 (NONE) or 1 (DEBUG)");
            return Err(Fault::invalid(text));
        }
        check_level(minimum_feature_level)?;
        // SAFETY: as the caller promises.
        unsafe { new_device(FEATURE_LEVELS[FEATURE_LEVELS.len() - 1], riid, ppv) }
    })
}

/// A device that has only the rules of one feature level, to test a program for older systems.
///
/// # Safety
/// `riid` is null or an identifier; `ppv` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_create_device_at(
    feature_level: DML_FEATURE_LEVEL,
    riid: *const GUID,
    ppv: *mut *mut c_void,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        unsafe { clear(ppv)? };
        check_level(feature_level)?;
        // SAFETY: as the caller promises.
        unsafe { new_device(feature_level, riid, ppv) }
    })
}

/// # Safety
/// As for [`Object::give`].
unsafe fn new_device(
    level: u32,
    riid: *const GUID,
    ppv: *mut *mut c_void,
) -> Result<HRESULT, Fault> {
    let device = Object::new(None, Body::Device(Device::new(level)));
    // SAFETY: as the caller promises.
    unsafe { device.give(riid, ppv) }
}

fn check_level(level: u32) -> Result<(), Fault> {
    let newest = FEATURE_LEVELS[FEATURE_LEVELS.len() - 1];
    match level {
        level if FEATURE_LEVELS.contains(&level) => Ok(()),
        level if level > newest => {
            let text = format!("feature level {level:#x} is not supported, {newest:#x} is");
            Err(Fault::new(DXGI_ERROR_UNSUPPORTED, text))
        }
        level => Err(Fault::invalid(format!("feature level {level:#x} does not exist"))),
    }
}

/// The device behind a handle, if it has not been removed.
///
/// # Safety
/// As for [`Object::shared`].
pub(crate) unsafe fn alive(device: *mut IDMLDevice) -> Result<Arc<Object>, Fault> {
    // SAFETY: as the caller promises.
    let object = unsafe { Object::shared(device)? };
    level(&object)?;
    object.alive()?;
    Ok(object)
}

fn level(device: &Object) -> Result<u32, Fault> {
    match &device.body {
        Body::Device(device) => Ok(device.level),
        _ => Err(Fault::invalid("the object is not a device")),
    }
}

/// Fails if an object was made by another device.
pub(crate) fn same_device(device: Option<&Arc<Object>>, object: &Object) -> Result<(), Fault> {
    match (device, object.parent()) {
        (Some(one), Some(other)) if Arc::ptr_eq(one, other) => Ok(()),
        _ => Err(Fault::invalid("the object was made by another device")),
    }
}

/// `IDMLDevice::CheckFeatureSupport`.
///
/// # Safety
/// `device` is null or valid; the data is null or has as many bytes as stated, and is what the
/// feature requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_check_feature_support(
    device: *mut IDMLDevice,
    feature: DML_FEATURE,
    query_size: UINT,
    query: *const c_void,
    support_size: UINT,
    support: *mut c_void,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        let device = unsafe { alive(device)? };
        let level = level(&device)?;
        let sized = |name: &str, got: UINT, expected: usize| match got as usize == expected {
            true => Ok(()),
            false => Err(Fault::invalid(format!("{name} has {got} bytes, expected {expected}"))),
        };
        match feature {
            FEATURE_TENSOR_DATA_TYPE_SUPPORT => {
                type Query = DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT;
                type Data = DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT;
                sized("the query", query_size, size_of::<Query>())?;
                sized("the answer", support_size, size_of::<Data>())?;
                // SAFETY: as the caller promises; the sizes agree.
                let query = unsafe { reference(query.cast::<Query>(), "the query")? };
                let types =
                    FeatureLevel::from_value(level).map(|rules| rules.data_types(Role::Input));
                let known = DType::from_directml(query.DataType);
                let answer = known.is_some_and(|known| types.is_some_and(|t| t.contains(&known)));
                let answer = Data { IsSupported: BOOL::from(answer) };
                // SAFETY: as the caller promises; the sizes agree.
                unsafe { write(support.cast::<Data>(), answer, "the answer")? };
            }
            FEATURE_FEATURE_LEVELS => {
                type Query = DML_FEATURE_QUERY_FEATURE_LEVELS;
                type Data = DML_FEATURE_DATA_FEATURE_LEVELS;
                sized("the query", query_size, size_of::<Query>())?;
                sized("the answer", support_size, size_of::<Data>())?;
                // SAFETY: as the caller promises; the sizes agree.
                let query = unsafe { reference(query.cast::<Query>(), "the query")? };
                let count = query.RequestedFeatureLevelCount as usize;
                // SAFETY: as the caller promises: `count` levels.
                let levels = unsafe { slice(query.RequestedFeatureLevels, count, "the levels")? };
                let best = levels.iter().copied().filter(|&asked| asked <= level).max();
                let Some(best) = best else {
                    let text = format!("none of the levels {levels:#x?} is supported");
                    return Err(Fault::new(DXGI_ERROR_UNSUPPORTED, text));
                };
                let answer = Data { MaxSupportedFeatureLevel: best };
                // SAFETY: as the caller promises; the sizes agree.
                unsafe { write(support.cast::<Data>(), answer, "the answer")? };
            }
            other => return Err(Fault::invalid(format!("feature {other} does not exist"))),
        }
        Ok(S_OK)
    })
}

/// `IDMLDevice::CreateOperator`: checks every rule of the device's feature level.
///
/// # Safety
/// `device` is null or valid; `desc` and what it leads to is null or as DirectML requires; `riid`
/// is null or an identifier; `ppv` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_create_operator(
    device: *mut IDMLDevice,
    desc: *const DML_OPERATOR_DESC,
    riid: *const GUID,
    ppv: *mut *mut c_void,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        let device = unsafe {
            clear(ppv)?;
            alive(device)?
        };
        let level = level(&device)?;
        // SAFETY: as the caller promises.
        let operator = unsafe { Compiled::from_desc(desc, level)? };
        // SAFETY: as the caller promises.
        unsafe { Object::new(Some(device), Body::Operator(operator)).give(riid, ppv) }
    })
}

/// `IDMLDevice::CompileOperator`.
///
/// # Safety
/// `device` and `op` are null or valid; `riid` is null or an identifier; `ppv` is null or can
/// be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_compile_operator(
    device: *mut IDMLDevice,
    op: *mut IDMLOperator,
    flags: DML_EXECUTION_FLAGS,
    riid: *const GUID,
    ppv: *mut *mut c_void,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        let (device, operator) = unsafe {
            clear(ppv)?;
            (alive(device)?, Object::behind(op)?)
        };
        same_device(Some(&device), operator)?;
        let Body::Operator(checked) = &operator.body else {
            return Err(Fault::invalid("the object is not an operator"));
        };
        if flags & !EXECUTION_FLAGS_ALL != 0 {
            let text = format!("flags are {flags:#x}, expected those of DML_EXECUTION_FLAGS");
            return Err(Fault::invalid(text));
        }
        let compiled = Body::Compiled(checked.fresh());
        // SAFETY: as the caller promises.
        unsafe { Object::new(Some(device), compiled).give(riid, ppv) }
    })
}

/// `IDMLDevice::CreateOperatorInitializer`.
///
/// # Safety
/// `device` is null or valid; `operators` is null or has `count` valid operators; `riid` is null or
/// an identifier; `ppv` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_create_operator_initializer(
    device: *mut IDMLDevice,
    count: UINT,
    operators: *const *mut IDMLCompiledOperator,
    riid: *const GUID,
    ppv: *mut *mut c_void,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        let (device, targets) = unsafe {
            clear(ppv)?;
            let device = alive(device)?;
            let targets = targets(&device, count, operators)?;
            (device, targets)
        };
        let initializer = Body::Initializer(Mutex::new(Initializer { targets }));
        // SAFETY: as the caller promises.
        unsafe { Object::new(Some(device), initializer).give(riid, ppv) }
    })
}

/// `IDMLOperatorInitializer::Reset`.
///
/// # Safety
/// `initializer` is null or valid; `operators` is null or has `count` valid operators.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_initializer_reset(
    initializer: *mut IDMLOperatorInitializer,
    count: UINT,
    operators: *const *mut IDMLCompiledOperator,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        let object = unsafe { Object::behind(initializer)? };
        object.alive()?;
        let (Body::Initializer(initializer), Some(device)) = (&object.body, object.parent()) else {
            return Err(Fault::invalid("the object is not an operator initializer"));
        };
        // SAFETY: as the caller promises.
        let targets = unsafe { targets(device, count, operators)? };
        locked(initializer).targets = targets;
        Ok(S_OK)
    })
}

/// The operators of an initializer.
///
/// # Safety
/// `operators` is null or has `count` valid operators.
unsafe fn targets(
    device: &Arc<Object>,
    count: UINT,
    operators: *const *mut IDMLCompiledOperator,
) -> Result<Vec<Arc<Object>>, Fault> {
    // SAFETY: as the caller promises.
    let operators = unsafe { slice(operators, count as usize, "operators")? };
    let target = |&operator: &*mut IDMLCompiledOperator| {
        // SAFETY: as the caller promises.
        let operator = unsafe { Object::shared(operator)? };
        same_device(Some(device), &operator)?;
        match &operator.body {
            Body::Compiled(_) => Ok(operator),
            _ => Err(Fault::invalid("the object is not a compiled operator")),
        }
    };
    operators.iter().map(target).collect()
}

/// `IDMLDispatchable::GetBindingProperties`; zeros if `dispatchable` is not one.
///
/// # Safety
/// `dispatchable` is null or valid; `result` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_get_binding_properties(
    dispatchable: *mut IDMLDispatchable,
    result: *mut DML_BINDING_PROPERTIES,
) {
    let body = || {
        // SAFETY: as the caller promises.
        unsafe { write(result, DML_BINDING_PROPERTIES::default(), "result")? };
        // SAFETY: as the caller promises.
        let properties = binding_properties(unsafe { Object::behind(dispatchable)? })?;
        // SAFETY: as the caller promises.
        unsafe { write(result, properties, "result")? };
        Ok(())
    };
    if let Err(fault) = contained(body) {
        report(fault);
    }
}

/// What a dispatchable needs to be bound.
pub(crate) fn binding_properties(dispatchable: &Object) -> Result<DML_BINDING_PROPERTIES, Fault> {
    match &dispatchable.body {
        Body::Compiled(compiled) => Ok(compiled.properties()),
        // One per operator, for the inputs that it owns.
        Body::Initializer(initializer) => Ok(DML_BINDING_PROPERTIES {
            RequiredDescriptorCount: locked(initializer).targets.len() as UINT,
            ..Default::default()
        }),
        _ => Err(Fault::invalid("the object is not a dispatchable")),
    }
}

/// `IDMLDevice::Evict` and `IDMLDevice::MakeResident`: checks the objects, which are in host memory
/// and stay there.
///
/// # Safety
/// `device` is null or valid; `objects` is null or has `count` valid objects.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_page(
    device: *mut IDMLDevice,
    count: UINT,
    objects: *const *mut IDMLPageable,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        let (device, objects) =
            unsafe { (alive(device)?, slice(objects, count as usize, "objects")?) };
        for &object in objects {
            // SAFETY: as the caller promises.
            let object = unsafe { Object::behind(object)? };
            same_device(Some(&device), object)?;
            if !object.is_pageable() {
                return Err(Fault::invalid("the object is not pageable"));
            }
        }
        Ok(S_OK)
    })
}

/// `IDMLDevice::GetDeviceRemovedReason`: `S_OK` if it was not removed. A method that returns
/// nothing removes the device if its arguments are invalid.
///
/// # Safety
/// `device` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_get_device_removed_reason(
    device: *mut IDMLDevice,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        match &unsafe { Object::behind(device)? }.body {
            Body::Device(device) => Ok(device.reason()),
            _ => Ok(E_INVALIDARG),
        }
    })
}

/// `IDMLDevice::GetParentDevice`: there is none.
///
/// # Safety
/// `device` is null or valid; `ppv` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_get_parent_device(
    device: *mut IDMLDevice,
    riid: *const GUID,
    ppv: *mut *mut c_void,
) -> HRESULT {
    hresult(|| {
        // SAFETY: as the caller promises.
        unsafe {
            clear(ppv)?;
            alive(device)?;
            reference(riid, "riid")?;
        }
        Err(Fault::new(E_NOINTERFACE, "there is no device of Direct3D"))
    })
}
