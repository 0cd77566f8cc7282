//! A call on WebGPU, as the dispatches that `package/webgpu.js` records.

use crate::call::Call;
use retrograde::{Reversal, Reverse};
use retrograde_wgpu::{
    Dispatch, Limits, ListedLengths, SOURCE, clear_reports, list, list_in_place, read_report,
};
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

/// The kernels in WGSL.
#[wasm_bindgen]
pub fn kernel_source() -> String {
    SOURCE.to_owned()
}

/// The content of a report on lengths that found nothing yet.
#[wasm_bindgen]
pub fn clear_report() -> Vec<u32> {
    clear_reports(1)
}

/// The number of the call whose lengths a report found invalid.
#[wasm_bindgen]
pub fn reported_call(report: &[u32]) -> Option<u32> {
    read_report(report).map(|finding| finding.call)
}

/// One dispatch.
#[wasm_bindgen]
#[derive(Debug)]
pub struct GpuStep {
    dispatch: Dispatch,
    reads_copy: bool,
    temporary: u64,
}

#[wasm_bindgen]
impl GpuStep {
    /// The entry point.
    #[wasm_bindgen(getter)]
    pub fn entry(&self) -> String {
        self.dispatch.entry().to_owned()
    }

    /// The names of the pipeline's constants.
    #[wasm_bindgen(getter)]
    pub fn constant_names(&self) -> Vec<String> {
        self.dispatch.constants().into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    /// Their values.
    #[wasm_bindgen(getter)]
    pub fn constant_values(&self) -> Vec<f64> {
        self.dispatch.constants().into_iter().map(|(_, value)| value).collect()
    }

    /// The content of the uniform buffer.
    #[wasm_bindgen(getter)]
    pub fn params(&self) -> Vec<u8> {
        self.dispatch.params().to_vec()
    }

    /// Workgroups, in two dimensions.
    #[wasm_bindgen(getter)]
    pub fn grid(&self) -> Vec<u32> {
        self.dispatch.grid().to_vec()
    }

    /// The first byte of the input to bind and the one after the last; empty if it is not read.
    #[wasm_bindgen(getter)]
    pub fn reads(&self) -> Vec<f64> {
        self.dispatch.src.iter().flat_map(|src| [src.start as f64, src.end as f64]).collect()
    }

    /// The same of the output; empty if it is not written.
    #[wasm_bindgen(getter)]
    pub fn writes(&self) -> Vec<f64> {
        self.dispatch.dst.iter().flat_map(|dst| [dst.start as f64, dst.end as f64]).collect()
    }

    /// Whether the temporary buffer takes the place of the input.
    #[wasm_bindgen(getter)]
    pub fn from_temporary(&self) -> bool {
        self.dispatch.from_temporary
    }

    /// Whether it takes the place of the output.
    #[wasm_bindgen(getter)]
    pub fn to_temporary(&self) -> bool {
        self.dispatch.to_temporary
    }

    /// The bytes of the temporary buffer of the call; 0 if it needs none.
    #[wasm_bindgen(getter)]
    pub fn temporary(&self) -> f64 {
        self.temporary as f64
    }

    /// Whether it must read a copy, because its output is the input.
    #[wasm_bindgen(getter)]
    pub fn reads_copy(&self) -> bool {
        self.reads_copy
    }
}

#[wasm_bindgen]
impl Call {
    /// The bytes of the tensor.
    pub fn byte_length(&self) -> f64 {
        self.layout().byte_len() as f64
    }

    /// The bytes of lengths or offsets, of which a mask is a part.
    pub fn lengths_bytes(&self) -> Result<Option<Vec<u8>>, JsError> {
        let bytes = self.with(|prepared| {
            // Reversed along no axis: copied.
            prepared.lengths().map(|lengths| Reverse::axes([]).to_bytes(&lengths)).transpose()
        });
        Ok(bytes?)
    }

    /// What a device with these limits would run, after all checks of the host. `unchecked` is the
    /// number of a call whose lengths are on the device, which checks them.
    pub fn gpu_steps(
        &self,
        in_place: bool,
        unchecked: Option<u32>,
        binding_size: f64,
        offset_alignment: f64,
        workgroups: u32,
    ) -> Result<Vec<GpuStep>, JsError> {
        // Limits are exact in JavaScript, and saturate here.
        let (binding_size, offset_alignment) = (binding_size as u64, offset_alignment as u64);
        let limits = Limits { binding_size, offset_alignment, workgroups };
        let lengths = unchecked.map_or(ListedLengths::Checked, ListedLengths::Unchecked);
        let listed = self.checked(|prepared| {
            let exchanged = match in_place {
                true => list_in_place(prepared, limits, lengths)?,
                false => None,
            };
            match exchanged {
                Some(listing) => Ok((listing, false)),
                None => Ok((list(prepared, limits, lengths)?, in_place)),
            }
        })?;
        let (listing, reads_copy) =
            listed.map_err(|error: retrograde_wgpu::Error| JsError::new(&error.to_string()))?;
        let temporary = listing.temporary;
        let step = |dispatch| GpuStep { dispatch, reads_copy, temporary };
        Ok(listing.dispatches.into_iter().map(step).collect())
    }

    /// The error that a report of the device means for this call, in the library's words.
    pub fn reported_error(&self, report: &[u32]) -> Result<Option<String>, JsError> {
        self.checked(|prepared| {
            let explained = |error| prepared.explain(error).to_string();
            read_report(report).map(|finding| explained(finding.error))
        })
    }

    /// How a GPU would run it.
    pub fn gpu_kernel(&self) -> Result<String, JsError> {
        self.checked(|prepared| retrograde_wgpu::kernel(prepared.plan()).to_string())
    }
}
