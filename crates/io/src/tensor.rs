//! A tensor in a memory-mapped file.

use crate::element::{ElementType, swap_numbers};
use crate::error::Error;
use crate::format::Format;
use crate::npy::{self, Kind, NpyError};
use crate::packed;
use crate::spool::{self, Map};
use crate::strings::{self, Strings};
use crate::text;
use crate::value::{Elements, Value};
use bytes::Bytes;
use retrograde::{DType, Layout, LayoutError, Reversal, Reverse, TensorMut, TensorRef};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A tensor that was opened.
///
/// Its elements are bytes of a mapped file, so that even a large tensor takes no memory of the
/// process.
#[derive(Debug, Clone)]
pub struct Tensor {
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    pub(crate) name: Option<String>,
    pub(crate) element: ElementType,
    pub(crate) fortran_order: bool,
    pub(crate) layout: Layout,
    /// The elements; for strings, their handles.
    pub(crate) data: Data,
    pub(crate) strings: Option<Strings>,
}

/// Where the bytes are.
#[derive(Debug, Clone)]
pub(crate) enum Data {
    /// A part of a mapped file.
    Mapped(Arc<Map>, Range<usize>),
    /// In memory, or in an external data file.
    Held(Bytes),
}

impl Data {
    /// A range of a file; `None` if it is out of bounds.
    pub(crate) fn part(map: Map, start: u64, len: usize) -> Option<Data> {
        let start = usize::try_from(start).ok()?;
        let range = start..start.checked_add(len)?;
        (range.end <= map.len()).then(|| Data::Mapped(Arc::new(map), range))
    }

    /// These bytes, as a range of the map if they are part of it.
    pub(crate) fn found(map: &Arc<Map>, bytes: Bytes) -> Data {
        let start = bytes.as_ptr().addr().wrapping_sub(map.as_ptr().addr());
        match start.checked_add(bytes.len()) {
            Some(end) if end <= map.len() => Data::Mapped(map.clone(), start..end),
            _ => Data::Held(bytes),
        }
    }

    /// All of it.
    pub(crate) fn whole(map: Map) -> Data {
        let range = 0..map.len();
        Data::Mapped(Arc::new(map), range)
    }
}

impl AsRef<[u8]> for Data {
    fn as_ref(&self) -> &[u8] {
        match self {
            Data::Mapped(map, range) => &map[range.clone()],
            Data::Held(bytes) => bytes,
        }
    }
}

impl Tensor {
    /// A tensor in memory: a list of integers.
    pub fn from_integers(values: &[i64]) -> Result<Tensor, Error> {
        let path = Path::new("-");
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let layout =
            Layout::dense(DType::I64, &[values.len()]).map_err(|error| Error::raw(path, error))?;
        Ok(Tensor {
            path: path.to_owned(),
            format: Format::Raw,
            name: None,
            element: ElementType::Plain(DType::I64),
            fortran_order: false,
            layout,
            data: Data::Held(bytes.into()),
            strings: None,
        })
    }

    /// A model's tensor.
    pub(crate) fn from_value(
        value: &Value,
        name: &str,
        (path, format): (&Path, Format),
    ) -> Result<Tensor, Error> {
        let path = path.to_owned();
        let (moving, data, strings) = match value.elements() {
            Elements::Bytes(bytes) => (value.dtype(), bytes.clone(), None),
            Elements::Strings(strings) => {
                (strings::HANDLE, strings.handles().clone(), Some(strings.clone()))
            }
        };
        let (element, data) = (ElementType::Plain(value.dtype()), Data::Held(data));
        let layout =
            Layout::dense(moving, value.shape()).map_err(|error| Error::raw(&path, error))?;
        let name = Some(name.to_owned()).filter(|name| !name.is_empty());
        Ok(Tensor { path, format, name, element, fortran_order: false, layout, data, strings })
    }

    /// The tensor in the form that models use: row-major, little-endian, text as strings. If
    /// `declared` is a packed type, one byte of a `.npy` is one element, as in `ml_dtypes`. It
    /// shares the mapped file if no conversion is necessary.
    pub fn to_value(&self, declared: Option<DType>) -> Result<Value, Error> {
        self.to_value_in(declared, &spool::folder_beside(None))
    }

    /// As [`to_value`](Self::to_value), with a folder for temporary files.
    pub(crate) fn to_value_in(
        &self,
        declared: Option<DType>,
        folder: &Path,
    ) -> Result<Value, Error> {
        let wrong = |error: LayoutError| Error::raw(&self.path, error);
        if let Some(strings) = &self.strings {
            return Value::strings(self.shape(), strings.clone()).map_err(wrong);
        }
        let data = self.in_usual_order(folder)?;
        let (shape, dtype) = (self.shape(), self.element.dtype());
        match (self.element.kind(), declared) {
            (Kind::Text | Kind::Bytes, _) => {
                let element = self.element.to_little_endian();
                let data = Bytes::from_owner(data);
                let strings = text::strings_of(&element, data, self.layout.len(), folder)
                    .map_err(|reason| Error::Strings { path: self.path.clone(), reason })?;
                Value::strings(shape, strings).map_err(wrong)
            }
            (Kind::Void, Some(packed)) if packed.is_packed() && dtype.bits() == Some(8) => {
                Value::of_bytes(packed, shape, data.as_ref()).map_err(wrong)
            }
            _ => Value::new(dtype, shape, Bytes::from_owner(data)).map_err(wrong),
        }
    }

    /// The elements in row-major order, little-endian.
    fn in_usual_order(&self, folder: &Path) -> Result<Data, Error> {
        let column_major = self.fortran_order && self.shape().len() > 1;
        let swapped = self.element.is_big_endian() && self.element.number_bytes() > 1;
        if !column_major && !swapped {
            return Ok(self.data.clone());
        }
        let failed = |error| Error::read(&self.path, error);
        let other = |error: retrograde::Error| failed(std::io::Error::other(error.to_string()));
        let len = self.layout.byte_len();
        let mut data = spool::zeroed(len, folder).map_err(failed)?;
        let rows =
            Layout::dense(self.element.dtype(), self.shape()).map_err(|e| other(e.into()))?;
        let mut output =
            TensorMut::new(rows, &mut data[..]).map_err(|error| other(error.into()))?;
        let input = self.view().map_err(|error| other(error.into()))?;
        Reverse::axes([]).apply_view(&input, &mut output).map_err(other)?;
        if swapped {
            swap_numbers(&mut data, self.element.number_bytes());
        }
        Ok(Data::whole(data.freeze().map_err(failed)?))
    }

    /// The file it is in.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Its name, if the format has names.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Its element type.
    pub fn element_type(&self) -> &ElementType {
        &self.element
    }

    /// Sizes of the axes.
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// Whether the elements are in column-major order.
    pub fn fortran_order(&self) -> bool {
        self.fortran_order
    }

    /// The layout of the elements in the data.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The elements as bytes.
    pub fn data(&self) -> &[u8] {
        self.data.as_ref()
    }

    /// The tensor as a view.
    pub fn view(&self) -> Result<TensorRef<'_>, LayoutError> {
        TensorRef::new(self.layout.clone(), self.data())
    }

    /// Advises the system that all of these bytes of the data will be read soon.
    pub fn will_read(&self, range: Range<usize>) {
        advise(&self.data, range, true);
    }

    /// Prefaults these bytes of the data for reading, if the system supports it.
    pub fn fetch(&self, range: Range<usize>) {
        advise(&self.data, range, false);
    }

    /// Advises the system that single pages will be read at random, so that it does not read ahead.
    pub fn will_scatter(&self) {
        #[cfg(target_os = "linux")]
        if let Data::Mapped(map, _) = &self.data {
            map.advise(memmap2::Advice::Random, 0, map.len());
        }
    }

    /// The bytes of one element; a packed element is returned as one byte. A string has its own
    /// length. `None` if the index is out of bounds.
    pub fn element(&self, index: &[usize]) -> Option<Vec<u8>> {
        let (shape, strides) = (self.shape(), self.layout.grain_strides());
        if index.len() != shape.len() || index.iter().zip(shape).any(|(at, size)| at >= size) {
            return None;
        }
        // In bounds, so nothing overflows; strides of a file are never negative.
        let start: usize = index.iter().zip(strides).map(|(at, step)| at * *step as usize).sum();
        if let Some(strings) = &self.strings {
            // Handles are contiguous.
            let width = self.layout.dtype().bits()? / 8;
            return strings.get(start / width).map(<[u8]>::to_vec);
        }
        let dtype = self.element.dtype();
        if dtype.is_packed() {
            return packed::element(self.data(), dtype, start).map(|element| vec![element]);
        }
        self.data().get(start..start + dtype.bits()? / 8).map(<[u8]>::to_vec)
    }

    /// One element as a number, if the elements are integers of whole bytes.
    pub fn integer(&self, index: &[usize]) -> Option<i128> {
        if !self.element.dtype().is_integer() {
            return None;
        }
        let mut bytes = self.element(index)?;
        if !self.element.is_big_endian() {
            bytes.reverse();
        }
        let signed = self.element.kind() == Kind::Int;
        let negative = signed && bytes.first().is_some_and(|first| *first >= 0x80);
        let fill = if negative { -1 } else { 0 };
        Some(bytes.iter().fold(fill, |number, byte| number << 8 | i128::from(*byte)))
    }

    /// The same integers in the native byte order, for use as lengths. Any other type is an error.
    pub fn to_native_integers(&self) -> Result<Tensor, Error> {
        let dtype = self.element.dtype();
        if !dtype.is_integer() {
            let descr = match &self.element {
                ElementType::Numpy(descr) => descr.to_string(),
                ElementType::Plain(dtype) => dtype.to_string(),
            };
            return Err(Error::npy(&self.path, NpyError::NotIntegers { descr }));
        }
        let native = self.element.to_native();
        if native.is_big_endian() == self.element.is_big_endian() || native.number_bytes() == 1 {
            return Ok(self.clone());
        }
        let failed = |error| Error::read(&self.path, error);
        let mut data =
            spool::zeroed(self.data().len(), &spool::folder_beside(None)).map_err(failed)?;
        data.copy_from_slice(self.data());
        swap_numbers(&mut data, native.number_bytes());
        let map = data.freeze().map_err(failed)?;
        Ok(Tensor { element: native, data: Data::whole(map), ..self.clone() })
    }

    /// The same elements with another shape; `None` if they are not in row-major order, or the
    /// number of elements differs.
    pub fn reshaped(&self, shape: &[usize]) -> Option<Tensor> {
        let layout = Layout::dense(self.layout.dtype(), shape).ok()?;
        let rows = self.shape().len() < 2 || !self.fortran_order;
        let same = rows && layout.len() == self.layout.len();
        same.then(|| Tensor { layout, fortran_order: false, ..self.clone() })
    }

    /// Sets the type of opaque elements; an error if the file has a different one.
    pub(crate) fn with_dtype(mut self, dtype: Option<DType>) -> Result<Tensor, Error> {
        let Some(dtype) = dtype else { return Ok(self) };
        let own = self.element.dtype();
        if own == dtype {
            return Ok(self);
        }
        let record = self.element.kind() == Kind::Record;
        let opaque = matches!(own, DType::Bytes(_)) && own.bits() == dtype.bits() && !record;
        if !opaque || dtype.is_packed() {
            let (path, element) = (self.path.clone(), self.element.to_string());
            return Err(Error::OtherType { path, element, dtype });
        }
        let shape = self.shape().to_vec();
        let element = ElementType::Plain(dtype);
        // The width is the same, so the strides are too.
        if let Some(Ok((_, layout))) =
            element.to_descr().map(|descr| npy::lay_out(&descr, self.fortran_order, &shape))
        {
            let strides = layout.grain_strides().to_vec();
            self.layout = Layout::byte_strided(dtype, &shape, &strides, 0)
                .map_err(|error| Error::npy(&self.path, error))?;
        }
        self.element = element;
        Ok(self)
    }
}

/// Passes advice to the system (`madvise`). A refusal only costs time.
fn advise(data: &Data, range: Range<usize>, ahead: bool) {
    #[cfg(target_os = "linux")]
    {
        use memmap2::Advice;
        let Data::Mapped(map, whole) = data else { return };
        let start = (whole.start + range.start).min(whole.end);
        let len = range.len().min(whole.end - start);
        let advice = if ahead { Advice::WillNeed } else { Advice::PopulateRead };
        if len > 0 {
            map.advise(advice, start, len);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (data, range, ahead);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npy::NpyArray;
    use crate::{Location, Opening, open};

    fn opened(array: &NpyArray) -> Tensor {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        npy::write(&path, array).unwrap();
        open(&Location::file(path), &Opening::default()).unwrap()
    }

    fn value(array: &NpyArray, declared: Option<DType>) -> Value {
        opened(array).to_value(declared).unwrap()
    }

    #[test]
    fn integers_of_either_order_become_native() {
        for (descr, bytes, values) in [
            (">i2", vec![0x00, 0x05, 0xff, 0xfe], [5, -2]),
            ("<i2", vec![0x05, 0x00, 0xfe, 0xff], [5, -2]),
            (">u4", vec![0, 0, 1, 0, 0xff, 0xff, 0xff, 0xff], [256, 0xffff_ffff]),
            ("|u1", vec![3, 255], [3, 255]),
            ("|i1", vec![3, 255], [3, -1]),
        ] {
            let tensor = opened(&NpyArray::new(descr, &[2], false, bytes).unwrap());
            let native = tensor.to_native_integers().unwrap();
            for tensor in [&tensor, &native] {
                let found = [tensor.integer(&[0]), tensor.integer(&[1])];
                assert_eq!(found, values.map(Some), "{descr}");
            }
            let is_big = native.element_type().is_big_endian();
            assert_eq!(is_big, cfg!(target_endian = "big"), "{descr}");
        }
        let floats = opened(&NpyArray::new(">f4", &[1], false, vec![0; 4]).unwrap());
        let refused = floats.to_native_integers().unwrap_err().to_string();
        assert!(
            refused.ends_with("its elements are \">f4\", expected integers such as '<i8' or '|u1'")
        );
        assert_eq!(floats.integer(&[0]), None);
    }

    #[test]
    fn elements_of_a_byte_are_packed_as_declared() {
        let bytes = NpyArray::new("|V1", &[3], false, vec![1, 2, 3]).unwrap();
        let packed = Value::new(DType::U4, &[3], vec![0x21, 0x03]).unwrap();
        assert_eq!(value(&bytes, Some(DType::U4)), packed);
    }

    #[test]
    fn values_have_the_usual_order_of_bytes_and_axes() {
        let array = NpyArray::new(">i2", &[2, 2], true, vec![0, 1, 0, 2, 0, 3, 0, 4]).unwrap();
        let usual = Value::new(DType::I16, &[2, 2], vec![1, 0, 3, 0, 2, 0, 4, 0]).unwrap();
        assert_eq!(value(&array, None), usual);
        let array = NpyArray::new(">c8", &[1], false, (0..8).collect()).unwrap();
        let usual = Value::new(DType::C64, &[1], vec![3, 2, 1, 0, 7, 6, 5, 4]).unwrap();
        assert_eq!(value(&array, None), usual);
        let text = [0, 0, 0, 0x41, 0, 0, 0, 0, 0, 0, 0, 0x42, 0, 0, 0, 0x43];
        let array = NpyArray::new(">U2", &[2], false, text.to_vec()).unwrap();
        let usual = Value::strings(&[2], Strings::from_iter(["A".into(), "BC".into()])).unwrap();
        assert_eq!(value(&array, None), usual);
    }
}
