//! A tensor in a file, mapped into memory where it lies.

use crate::element::{ElementType, swap_numbers};
use crate::error::{Error, NpyError};
use crate::format::Format;
use crate::npy::{self, Kind};
use crate::spool;
use memmap2::{Mmap, MmapMut};
use retrograde::{BitOrder, DType, Grain, Layout, LayoutError, TensorRef};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A tensor that was opened.
///
/// Its elements are bytes of a mapped file, so that even a large one takes no memory of its
/// own.
#[derive(Debug, Clone)]
pub struct Tensor {
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    pub(crate) name: Option<String>,
    pub(crate) element: ElementType,
    pub(crate) fortran_order: bool,
    pub(crate) layout: Layout,
    pub(crate) data: Data,
}

/// Where the bytes are.
#[derive(Debug, Clone)]
pub(crate) struct Data {
    map: Arc<Mmap>,
    range: Range<usize>,
}

impl Data {
    /// A part of a file; `None` if it is not inside.
    pub(crate) fn part(map: Mmap, start: u64, len: usize) -> Option<Data> {
        let start = usize::try_from(start).ok()?;
        let range = start..start.checked_add(len)?;
        (range.end <= map.len()).then(|| Data { map: Arc::new(map), range })
    }

    /// All of it.
    pub(crate) fn whole(map: Mmap) -> Data {
        let range = 0..map.len();
        Data { map: Arc::new(map), range }
    }
}

impl Tensor {
    /// A tensor in memory, one axis of integers.
    pub fn from_integers(values: &[i64]) -> Result<Tensor, Error> {
        let path = Path::new("-");
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let mut map = MmapMut::map_anon(bytes.len()).map_err(|e| Error::read(path, e))?;
        map.copy_from_slice(&bytes);
        let map = map.make_read_only().map_err(|e| Error::read(path, e))?;
        let layout = Layout::dense(DType::I64, &[values.len()])
            .map_err(|source| Error::Raw { path: path.to_owned(), source: source.into() })?;
        Ok(Tensor {
            path: path.to_owned(),
            format: Format::Raw,
            name: None,
            element: ElementType::Plain(DType::I64),
            fortran_order: false,
            layout,
            data: Data::whole(map),
        })
    }

    /// The file it is in.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Its name, where tensors have names.
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

    /// Whether the elements lie in column-major order.
    pub fn fortran_order(&self) -> bool {
        self.fortran_order
    }

    /// Where the elements lie in the data.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The elements, byte for byte.
    pub fn data(&self) -> &[u8] {
        &self.data.map[self.data.range.clone()]
    }

    /// The tensor as retrograde reads it.
    pub fn view(&self) -> Result<TensorRef<'_>, LayoutError> {
        TensorRef::new(self.layout.clone(), self.data())
    }

    /// Tells the system that these bytes of the data will be read soon, all of them.
    pub fn will_read(&self, range: Range<usize>) {
        advise(&self.data, range, true);
    }

    /// Has these bytes of the data at hand when this returns, if the system can do that.
    pub fn fetch(&self, range: Range<usize>) {
        advise(&self.data, range, false);
    }

    /// Tells the system that single pages will be read from all over, so that it does not read
    /// what lies around each of them as well.
    pub fn will_scatter(&self) {
        #[cfg(target_os = "linux")]
        let _ = self.data.map.advise(memmap2::Advice::Random);
    }

    /// The bytes of one element; a packed one is the value of a byte. `None` if there is no
    /// such index.
    pub fn element(&self, index: &[usize]) -> Option<Vec<u8>> {
        let (shape, strides) = (self.shape(), self.layout.grain_strides());
        if index.len() != shape.len() || index.iter().zip(shape).any(|(at, size)| at >= size) {
            return None;
        }
        // Inside the layout, so nothing overflows; strides of a file are never negative.
        let start: usize = index.iter().zip(strides).map(|(at, step)| at * *step as usize).sum();
        let bits = self.element.dtype().bits()?;
        let Grain::Packed { order, .. } = self.layout.grain() else {
            return self.data().get(start..start + bits / 8).map(<[u8]>::to_vec);
        };
        let per_byte = 8 / bits;
        let place = match order {
            BitOrder::LowFirst => start % per_byte,
            BitOrder::HighFirst => per_byte - 1 - start % per_byte,
        };
        let byte = self.data().get(start / per_byte)?;
        Some(vec![byte >> (place * bits) & ((1 << bits) - 1) as u8])
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

    /// The same integers in the byte order of this machine, so that they can be read as
    /// numbers: lengths are. Everything but integers is refused.
    pub fn to_native_integers(&self) -> Result<Tensor, Error> {
        let dtype = self.element.dtype();
        if !dtype.is_integer() {
            let descr = match &self.element {
                ElementType::Numpy(descr) => descr.to_string(),
                ElementType::Plain(dtype) => dtype.to_string(),
            };
            let source = NpyError::NotIntegers { descr };
            return Err(Error::Npy { path: self.path.clone(), source });
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
        let map = data.make_read_only().map_err(failed)?;
        Ok(Tensor { element: native, data: Data::whole(map), ..self.clone() })
    }

    /// The same elements in another shape of as many; `None` if they are not in row-major
    /// order, or not as many.
    pub fn reshaped(&self, shape: &[usize]) -> Option<Tensor> {
        let layout = Layout::dense(self.element.dtype(), shape).ok()?;
        let rows = self.shape().len() < 2 || !self.fortran_order;
        let same = rows && layout.len() == self.layout.len();
        same.then(|| Tensor { layout, fortran_order: false, ..self.clone() })
    }

    /// Says what opaque elements are; an error if the file itself says something else.
    pub(crate) fn with_dtype(mut self, dtype: Option<DType>) -> Result<Tensor, Error> {
        let Some(dtype) = dtype else { return Ok(self) };
        let own = self.element.dtype();
        if own == dtype {
            return Ok(self);
        }
        let opaque = matches!(own, DType::Bytes(_)) && own.bits() == dtype.bits();
        if !opaque || dtype.is_packed() {
            let (path, element) = (self.path.clone(), self.element.to_string());
            return Err(Error::OtherType { path, element, dtype });
        }
        let shape = self.shape().to_vec();
        let element = ElementType::Plain(dtype);
        // The same width, so the same strides.
        if let Some(Ok((_, layout))) =
            element.to_descr().map(|descr| npy::lay_out(&descr, self.fortran_order, &shape))
        {
            let strides = layout.grain_strides().to_vec();
            self.layout = Layout::byte_strided(dtype, &shape, &strides, 0)
                .map_err(|e| Error::Npy { path: self.path.clone(), source: e.into() })?;
        }
        self.element = element;
        Ok(self)
    }
}

/// Advice may be refused; then nothing is lost but time.
fn advise(data: &Data, range: Range<usize>, ahead: bool) {
    #[cfg(target_os = "linux")]
    {
        use memmap2::Advice;
        let start = (data.range.start + range.start).min(data.range.end);
        let len = range.len().min(data.range.end - start);
        let advice = if ahead { Advice::WillNeed } else { Advice::PopulateRead };
        if len > 0 {
            let _ = data.map.advise_range(advice, start, len);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (data, range, ahead);
}
